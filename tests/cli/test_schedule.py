"""`dtpoly schedule`: what it says and writes, and what it does not need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click import BadParameter

from dtpoly.autoschedule.unscheduled_source import algorithm_of
from dtpoly.cli.order_option import parse_orders
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.source import Source
from tests.cli.conftest import Entry
from tests.cli.process import environment

SUM = b"# Sums.\nFunc f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y);\n"
SIZES = ("--size", "x=4096,y=4096")


def test_the_text_is_the_algorithm_with_a_schedule(call: Entry, tmp_path: Path) -> None:
    code, out, err = call("schedule", "-", *SIZES, "--budget", "0", stdin=SUM)
    assert (code, err) == (0, "")
    assert out.startswith(SUM.decode())
    assert "# For x=4096, y=4096 in f32 on NVIDIA H200 SXM: about " in out
    assert out.endswith("f.compile();\n")
    path = tmp_path / "f.dt"
    path.write_text(out)
    assert call("check", str(path))[0] == 0


def test_a_schedule_that_is_there_is_left_aside(call: Entry) -> None:
    text = SUM + b"f.block(x:64); f.tensorize(x:0, y:4); f.compile();\n"
    code, out, err = call("schedule", "-", *SIZES, "--budget", "0", stdin=text)
    assert (code, err) == (0, "note: the 2 directives of '<stdin>' are left aside\n")
    assert "x:64" not in out
    assert out.count("f.compile();") == 1


def test_one_that_is_wrong_too(call: Entry) -> None:
    text = SUM + b"f.block(z:64); { f.num_warps(4) | f.num_warps({1, 2}) }; where block.z < 4;\n"
    code, out, _ = call("schedule", "-", *SIZES, "--budget", "0", stdin=text)
    assert code == 0
    assert "z:64" not in out


def test_precision_is_kept_or_asked_for(call: Entry) -> None:
    product = b"Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);\n"
    asked = ("schedule", "-", "--size", "m=64,n=64,k=64", "--budget", "0")
    kept = product + b"f.precision(tf32x3); f.compile();"
    assert "f.precision(tf32x3);" in call(*asked, stdin=kept)[1]
    assert "precision" not in call(*asked, "--precision", "ieee", stdin=kept)[1]


@pytest.mark.parametrize("sizes", ["x=0,y=4096", "x=4096,y=0"])
def test_where_there_is_nothing_to_do_that_is_told(call: Entry, sizes: str) -> None:
    code, out, err = call("schedule", "-", "--size", sizes, "--budget", "0", stdin=SUM)
    assert (code, out) == (2, "")
    assert "is 0: then there is nothing to do, and no schedule is better" in err


def test_a_list_has_a_line_for_each(call: Entry) -> None:
    code, out, _ = call("schedule", "-", *SIZES, "--budget", "0", "--list", "3", stdin=SUM)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["1", "2", "3"]


def test_json_and_files(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "fast.dt"
    given = ("schedule", "-", *SIZES, "--budget", "0", "--list", "3", "--json", "-o", str(path))
    code, out, err = call(*given, stdin=SUM)
    document = json.loads(out)
    assert (code, err) == (0, f"wrote {path}\n")
    assert (document["version"], document["chosen"], document["measured_on"]) == (1, 0, None)
    assert len(document["candidates"]) == 3
    assert path.read_text() == document["text"]
    first = document["candidates"][0]
    assert first["schedule"][0]["directive"].startswith("f.block(x:")
    assert first["schedule"][0]["why"]


@pytest.mark.long
def test_times_are_measured(call: Entry) -> None:
    given = ("schedule", "-", *SIZES, "--place", "simulated", "--budget", "3", "--json")
    code, out, _ = call(*given, stdin=SUM)
    document = json.loads(out)
    times = [one["measured_ms"] for one in document["candidates"]]
    assert (code, document["measured_on"], len(times)) == (0, "simulated", 3)
    assert times[document["chosen"]] == min(times)
    assert ", the best of 3 measured." in document["text"]


def test_without_a_gpu_the_model_decides(call: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dtpoly.system.drivers.has_driver", lambda: False)
    code, out, err = call("schedule", "-", *SIZES, stdin=SUM)
    assert (code, err) == (0, "note: there is no GPU here: chosen by the cost model alone\n")
    assert "not measured" in out


def test_what_is_wrong(call: Entry) -> None:
    code, _, err = call("schedule", "-", "--size", "x=4", "--budget", "0", stdin=SUM)
    assert code == 2
    assert "error[DT170]: the size of 'y' must be passed" in err
    code, _, err = call("schedule", "-", *SIZES, "--budget", "0", stdin=SUM.replace(b"A[x", b"B[x"))
    assert code == 1
    assert "error[" in err
    assert call("schedule", "-", *SIZES, "--budget", "soon", stdin=SUM)[0] == 2
    assert call("schedule", "-", *SIZES, "--device", "abacus", stdin=SUM)[0] == 2


def test_neither_torch_nor_rich_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "f.dt"
    path.write_bytes(SUM)
    code = (
        "import sys; from dtpoly.cli.main import entry; "
        f"entry(['schedule', {str(path)!r}, '--size', 'x=4096,y=4096', '--budget', '0']); "
        "print(sorted({'torch', 'rich', 'numpy', 'triton'} & set(sys.modules)), file=sys.stderr)"
    )
    ran = [sys.executable, "-c", code]
    done = subprocess.run(ran, capture_output=True, text=True, check=True, env=environment())
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("A", "is not of the form"),
        ("B=1,0", "no input 'B'"),
        ("A=1,1", "name each once"),
        ("A=0", "'A' has 2 axes"),
    ],
)
def test_an_order_names_each_axis(word: str, why: str) -> None:
    program = algorithm_of(Source("sum.dt", SUM.decode()), DIRECTIVES).program
    with pytest.raises(BadParameter, match=why):
        parse_orders(program, [word])


def test_an_order_as_it_is_written_says_nothing() -> None:
    program = algorithm_of(Source("sum.dt", SUM.decode()), DIRECTIVES).program
    assert parse_orders(program, ["A=0,1"]) == {}
    assert parse_orders(program, ["A = 1, 0"]) == {"A": (1, 0)}


def test_rows_with_the_same_bits_are_asked_for(call: Entry) -> None:
    asked = ("schedule", "-", *SIZES, "--budget", "0", "--same-bits", "x")
    code, out, err = call(*asked, stdin=SUM)
    assert (code, err) == (0, "")
    assert "Rows along x have the same bits in each batch: that is proved." in " ".join(
        out.replace("#", "").split()
    )
    assert "f.same_bits(x);" in out
    document = json.loads(call(*asked, "--json", stdin=SUM)[1])
    assert document["same_bits"]["rows"] == [{"function": "f", "label": "x"}]
    assert document["same_bits"]["given_up"] is None
    # The file may ask for it, too; then it still does in what is written.
    code, again, err = call(*asked[:-2], stdin=SUM + b"f.same_bits(x); f.compile();\n")
    assert (code, err) == (0, "")
    assert "f.same_bits(x);" in again
    assert "proved" in again


def test_rows_along_what_no_result_has(call: Entry) -> None:
    asked = ("schedule", "-", *SIZES, "--budget", "0", "--same-bits", "x,y")
    code, _, err = call(*asked, stdin=SUM)
    assert code == 2
    assert "no result has a label 'y'; it has x" in err


@pytest.mark.long
def test_what_is_given_up_for_the_same_bits_is_told(call: Entry) -> None:
    """A row of the result is a sum over what the batch is made of, for each schedule."""
    softmax = b"Func f, t; In A; Var x; RVar y; t[x] = rsum(A[x, y], y); "
    softmax += b"f[x, y] = A[x, y] / reshape(t[x], x, 1);"
    asked = ("schedule", "-", "--size", "x=2,y=64", "--budget", "0", "--same-bits", "y")
    code, out, err = call(*asked, stdin=softmax)
    assert (code, out) == (1, "")
    assert "whose rows along y are proved to have the same bits" in err
