"""`--plugin FILE`, and directives of installed packages, in every command that reads .dt files."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Entry
from tests.cli.process import ROOT, dtpoly

SKEW = str(ROOT / "examples" / "skew.py")
SUM = "Func total; In A; Var x; RVar k;\ntotal[x] = rsum(A[x, k], k);\ntotal.compile();\n"

COMMANDS = {
    "check": ("check",),
    "show": ("show", "--stage", "tree"),
    "explain": ("explain",),
    "run": ("run", "--reference", "--size", "x=2,k=3"),
}


@pytest.fixture
def legal(tmp_path: Path) -> str:
    """Return a file with a directive of the plugin that is legal."""
    path = tmp_path / "sum.dt"
    path.write_text(SUM + "total.skew(k, x);\n")
    return str(path)


@pytest.fixture
def illegal(tmp_path: Path) -> str:
    """Return a file with a directive of the plugin that is refused."""
    path = tmp_path / "sum.dt"
    path.write_text(SUM + "total.interchange(x, k);\n")
    return str(path)


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """Return a plugin that fails in `apply`."""
    path = tmp_path / "broken.py"
    path.write_text(Path(SKEW).read_text().replace("loop_value(self.func", "loop_value(self.fun"))
    return str(path)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_directive_of_a_plugin(name: str, call: Entry, legal: str) -> None:
    code, out, err = call(*COMMANDS[name], "--plugin", SKEW, legal)
    assert (code, err) == (0, "")
    assert out
    code, out, err = call(*COMMANDS[name], legal)
    assert code == 1
    assert "error[DT180]: unknown directive 'skew'" in out + err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_plugin_that_is_missing(name: str, call: Entry, legal: str) -> None:
    code, out, err = call(*COMMANDS[name], "--plugin", "missing.py", legal)
    assert code == 1
    assert "error[DT220]: cannot read the plugin 'missing.py'" in out + err


def test_a_link_to_what_is_no_plugin(call: Entry, legal: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("nobody may see this line\n")
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / "secret.txt")
    code, out, err = call("check", "--plugin", str(link), legal)
    assert code == 1
    assert "it is a link to a file whose name does not end in '.py'" in out + err
    assert "nobody may see" not in out + err


def test_a_pipe_is_not_waited_for(call: Entry, legal: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    code, out, err = call("check", "--plugin", str(tmp_path / "pipe.py"), legal)
    assert code == 1
    assert "it is a pipe, and a plugin is read again" in out + err


@pytest.mark.parametrize("target", ["link.py", "skew.py"])
def test_other_links(call: Entry, legal: str, tmp_path: Path, target: str) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / target if target == "link.py" else Path(SKEW))
    code, out, err = call("check", "--plugin", str(link), legal)
    assert code == (1 if target == "link.py" else 0), out + err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_plugin_that_fails(name: str, call: Entry, legal: str, broken: str) -> None:
    code, out, err = call(*COMMANDS[name], "--plugin", broken, legal)
    assert code == 1
    assert "error[DT226]: the primitive 'skew' fails: AttributeError" in out + err
    assert f"--> {broken}:" in out + err
    assert "Traceback" not in out + err


@pytest.mark.parametrize("name", ["check", "show", "explain", "run"])
def test_a_refused_use(name: str, call: Entry, illegal: str) -> None:
    code, out, err = call(*COMMANDS[name], "--plugin", SKEW, illegal)
    assert code == 1
    assert "error[DT201]" in out + err
    assert "total.interchange(x, k);" in out + err


def test_questions(call: Entry, legal: str) -> None:
    code, out, _ = call("why-not", "--plugin", SKEW, legal, "total.interchange(x, k)")
    assert code == 1
    assert "error[DT201]" in out
    code, out, _ = call("legal", "--plugin", SKEW, legal, "total")
    assert code == 0
    assert "total.interchange(x, k);" in out


def test_what_is_wrong_with_a_plugin_is_in_the_document(
    call: Entry, legal: str, broken: str
) -> None:
    for plugin, expected in (("missing.py", "DT220"), (broken, "DT226")):
        code, out, err = call("check", "--json", "--plugin", plugin, legal)
        assert (code, err) == (1, "")
        assert [d["code"] for d in json.loads(out)["diagnostics"]] == [expected]


def test_what_a_plugin_prints_does_not_spoil_the_document(
    call: Entry, legal: str, tmp_path: Path
) -> None:
    chatty = tmp_path / "chatty.py"
    chatty.write_text(Path(SKEW).read_text() + "\nprint('hello')\n")
    code, out, err = call("check", "--json", "--plugin", str(chatty), legal)
    assert (code, err) == (0, "hello\n")
    assert json.loads(out)["diagnostics"] == []
    text = Path(SKEW).read_text()
    assert "        def swap(" in text
    chatty.write_text(
        text.replace("        def swap(", "        print('hello')\n\n        def swap(")
    )
    file = tmp_path / "f.dt"
    file.write_text(Path(legal).read_text().replace(".skew(", ".interchange("))
    code, out, err = call("check", "--json", "--plugin", str(chatty), str(file))
    assert set(err.splitlines()) == {"hello"}
    assert json.loads(out)["version"] == 1


def test_two_plugins(call: Entry, legal: str, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(Path(SKEW).read_text().replace('"skew"', '"lean"').replace("change", "chain"))
    code, out, err = call("check", "--plugin", SKEW, "--plugin", str(other), legal)
    assert (code, out, err) == (0, "no errors\n", "")
    code, out, err = call("check", "--plugin", SKEW, "--plugin", SKEW, legal)
    assert (code, out, err) == (0, "no errors\n", "")


def test_a_process_with_a_plugin(legal: str) -> None:
    done = dtpoly("check", "--plugin", SKEW, legal)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"no errors\n", b"")
