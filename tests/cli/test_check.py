"""`dtpoly check`: what it says about files, in three forms."""

import json
from pathlib import Path

import pytest

from dtpoly.catalogue import CATALOGUE
from dtpoly.checking import Checked
from dtpoly.cli import check_command
from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.frontend.parse import parse
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source, Span
from tests.cli.conftest import Entry
from tests.cli.process import SOFTMAX, WRONG


def test_good_file(call: Entry, good: Path) -> None:
    assert call("check", str(good)) == (0, "no errors\n", "")
    assert call("check", "--quiet", str(good)) == (0, "", "")


def test_wrong_file_names_the_place(call: Entry, wrong: Path) -> None:
    code, out, err = call("check", str(wrong))
    assert (code, err) == (1, "")
    head, place, line, caret, *_ = out.splitlines()
    assert head.startswith("error[DT1")
    assert place == f" --> {wrong}:4:15"
    assert line == "4 | f[x] = A[x] + q;"
    assert caret.startswith("  |               ^")
    assert out.endswith("\n\n1 error\n")


def test_every_file_is_checked(call: Entry, good: Path, wrong: Path, tmp_path: Path) -> None:
    code, out, _ = call("check", str(tmp_path / "no.dt"), str(wrong), str(good), str(tmp_path))
    assert code == 1
    assert out.count("error[DT100]") == 2
    assert f"{wrong}:4:15" in out
    assert out.endswith("\n\n3 errors\n")


def test_a_file_named_twice_is_checked_once(call: Entry, wrong: Path) -> None:
    _, out, _ = call("check", str(wrong), str(wrong))
    assert out.endswith("\n\n1 error\n")


def test_standard_input(call: Entry) -> None:
    assert call("check", "-", stdin=SOFTMAX.encode()) == (0, "no errors\n", "")
    code, out, _ = call("check", "-", stdin=WRONG.encode())
    assert code == 1
    assert " --> <stdin>:4:15\n" in out


def test_json(call: Entry, wrong: Path, good: Path) -> None:
    code, out, err = call("check", "--json", str(wrong), str(good))
    assert (code, err) == (1, "")
    document = json.loads(out)
    assert document["version"] == 1
    (found,) = document["diagnostics"]
    assert found["severity"] == "error"
    assert found["place"]["start"] == {"line": 4, "column": 15, "offset": 35}
    assert call("check", "--json", str(good)) == (
        0,
        '{\n  "version": 1,\n  "diagnostics": []\n}\n',
        "",
    )


def test_an_unreadable_file_is_in_the_json_too(call: Entry, tmp_path: Path) -> None:
    code, out, _ = call("check", "--json", str(tmp_path / "no.dt"))
    assert code == 1
    assert [d["code"] for d in json.loads(out)["diagnostics"]] == ["DT100"]


def test_sarif(call: Entry, wrong: Path) -> None:
    code, out, _ = call("check", "--sarif", str(wrong))
    assert code == 1
    run = json.loads(out)["runs"][0]
    (result,) = run["results"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == result["ruleId"]
    assert CATALOGUE[result["ruleId"]].remedy in rule["help"]["text"]
    assert result["level"] == "error"


def test_json_and_sarif_exclude_each_other(call: Entry, wrong: Path) -> None:
    code, out, err = call("check", "--json", "--sarif", str(wrong))
    assert (code, out) == (2, "")
    assert "exclude each other" in err


def test_a_warning_is_shown_but_is_no_error(
    call: Entry, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warn(source: Source, primitives: Primitives) -> Checked:
        found = Diagnostic("DT145", Severity.WARNING, "odd", Span(source, 0, 4), "this")
        return Checked(parse(source).file, None, (found,))

    monkeypatch.setattr(check_command, "check", warn)
    code, out, _ = call("check", str(good))
    assert code == 0
    assert out.startswith("warning[DT145]: odd\n")
    assert out.endswith("\n\n1 warning\n")
    assert call("check", "--quiet", str(good)) == (0, "", "")


def test_not_utf8(call: Entry) -> None:
    code, out, _ = call("check", "-", stdin=b"Func \xff;")
    assert code == 1
    assert "1 | Func \ufffd\n  |      ^ byte 0xff\n" in out


def test_a_null_character_in_the_path(call: Entry) -> None:
    code, out, err = call("check", "a\0.dt")
    assert (code, out) == (2, "")
    assert "an argument holds a null character" in err


PRODUCT = """\
Func mm;
In A, B;
Var m, n;
RVar k;

mm[m, n] = rdot(A[m, k], B[k, n], k);

mm.compile();
"""


@pytest.mark.parametrize(
    ("directive", "code"),
    [
        *((f"mm.{word};", "DT198") for word in ("warp_specialize()", "align(A)", "alternate(k)")),
        ("mm.tensorize(m:0, n:0, k:0);", ""),
        ("mm.block(m:65536, n:65536); mm.tensorize(m:65536, n:65536);", "DT300"),
    ],
)
def test_it_says_what_compile_says(call: Entry, tmp_path: Path, directive: str, code: str) -> None:
    path = tmp_path / "mm.dt"
    path.write_text(PRODUCT + directive + "\n")
    _, told, _ = call("check", str(path))
    wrong = 1 if code == "DT300" else 0
    compiled, _, err = call("compile", str(path), "-o", str(tmp_path / "mm.py"))
    assert (call("check", str(path))[0], compiled) == (wrong, wrong)
    said = told if told != "no errors\n" else ""
    assert err.startswith(said)
    assert (f"[{code}]" in said) == bool(code)


def test_of_many_kernels_the_code_is_not_generated(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "many.dt"
    funcs = [f"f{at}" for at in range(13)]
    lines = [f"f{at}[x] = {f'f{at - 1}[x]' if at else 'A[x]'} + 1;" for at in range(13)]
    path.write_text(
        "\n".join([f"Func {', '.join(funcs)};", "In A;", "Var x;", *lines, "f12.compile();"])
    )
    code, out, err = call("check", str(path))
    assert (code, err) == (0, "")
    assert out.startswith("no errors; the code of more than 12 kernels")


def test_a_link_to_a_file_of_another_kind_is_not_quoted(call: Entry, tmp_path: Path) -> None:
    secret, link = tmp_path / "secret.txt", tmp_path / "link.dt"
    secret.write_text("secret = 1;")
    link.symlink_to(secret)
    code, out, _ = call("check", str(link))
    assert code == 1
    assert out.startswith(f"error[DT100]: cannot read '{link}'\n")
    assert "secret = 1" not in out
    good = tmp_path / "good.dt"
    good.write_text(PRODUCT)
    link.unlink()
    link.symlink_to(good)
    assert call("check", str(link))[0] == 0


@pytest.mark.parametrize("name", ["secret.txt", "../secret.txt", "/etc/passwd", ".dt/x", "x"])
def test_an_algorithm_of_another_kind_is_not_quoted(call: Entry, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("secret = 1;")
    space = tmp_path / "space.dts"
    space.write_text(f'algorithm "{name}"; f.compile();')
    code, out, err = call("space", str(space))
    assert code == 1
    assert "is no .dt file" in out + err
    assert "secret = 1" not in out + err


def test_a_file_that_is_not_there_may_be_another_one(call: Entry, good: Path) -> None:
    meant = good.with_name("softmx.dt")
    assert f"hint: did you mean '{good}'?" in call("check", str(meant))[1]
    assert "hint: check the path" in call("check", str(good.with_name("zebra.dt")))[1]
    assert "hint: no file matches this pattern" in call("check", str(good.with_name("q*.dt")))[1]
    assert "hint: check the path" in call("check", str(good.parent / "absent" / "softmax.dt"))[1]
