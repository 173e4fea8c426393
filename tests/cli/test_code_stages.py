"""`dtpoly show` of the stages of code generation, and `dtpoly explain --code`."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Entry
from tests.cli.process import ROOT
from tests.conftest import Golden

THESIS = ROOT / "tests" / "data" / "thesis"
FILES = [*sorted(THESIS.glob("*.dt")), *sorted((ROOT / "examples").glob("*.dt"))]
SHOWN = {
    "matmul": ROOT / "examples" / "matmul.dt",
    "swish": THESIS / "listing_3_14_swish_partly_fused.dt",
    "sum_block": THESIS / "listing_3_20_sum_block.dt",
}
STAGES = ("loops", "storage", "kernel", "triton")
REFUSED = b"""\
Func g, f; In A; Var x, y;
g[x, y] = A[x, y];
f[x, y] = g[x, y] + g[x, 0];
g.fuse_at(f, y); f.tensorize(y:4); f.compile();
"""


@pytest.mark.parametrize("stage", STAGES[:3])
@pytest.mark.parametrize("name", SHOWN)
def test_as_it_was(call: Entry, name: str, stage: str, golden: Golden) -> None:
    code, out, err = call("show", "--stage", stage, str(SHOWN[name]))
    assert (code, err) == (0, "")
    golden(f"show/{name}.{stage}.txt", out)


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_stage_of_every_listing(call: Entry, path: Path) -> None:
    for stage in STAGES:
        code, out, _ = call("show", "--stage", stage, str(path))
        assert code == 0
        assert out.endswith("\n")
    for stage in STAGES[:3]:
        document = json.loads(call("show", "--stage", stage, "--json", str(path))[1])
        assert document[stage]


@pytest.mark.parametrize(("name", "count"), [("good", 4), ("ragged_matmul", 4)])
def test_the_kernel_is_that_of_the_file(call: Entry, good: Path, name: str, count: int) -> None:
    """Also that which two kernels share."""
    path = str(good if name == "good" else ROOT / "examples" / f"{name}.dt")
    kernels = call("show", "--stage", "triton", path)[1]
    file = call("compile", "-o", "-", "--no-verify", path)[1]
    parts = [part for part in kernels.split("@triton.jit\n") if part]
    assert len(parts) == count
    assert all(part.strip() in file for part in parts)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("ragged_matmul", "kernel columns, launched with lines"),
        (
            "tf32_matmul",
            "kernel tf32_matmul, as many programs as run at once, rows aligned, "
            "in panels of 1024 of n",
        ),
    ],
)
def test_loops_say_how_they_are_launched(call: Entry, name: str, head: str) -> None:
    path = ROOT / "examples" / f"{name}.dt"
    assert head in call("show", "--stage", "loops", str(path))[1].splitlines()


def test_loops_as_data(call: Entry) -> None:
    document = json.loads(call("show", "--stage", "loops", "--json", str(SHOWN["matmul"]))[1])
    (kernel,) = document["loops"]
    kinds = [node["kind"] for node in kernel["body"]]
    assert kinds == ["tile", "for", "if", "tile", "tile"]
    loop = kernel["body"][1]
    assert (loop["axis"], loop["start"], loop["step"]) == ("matmul.k", "0", 32)
    assert loop["stop"] == "len(k) - 31"
    assert loop["body"][0]["statement"] == "matmul.k.update"


def test_the_plan_says_why(call: Entry) -> None:
    document = json.loads(call("show", "--stage", "storage", "--json", str(SHOWN["swish"]))[1])
    reasons = {one["array"]: one["reason"] for one in document["storage"]}
    assert reasons["swish_out"] is None
    assert "before it is read" in reasons["tmp@swish_out"]


@pytest.mark.parametrize("stage", STAGES)
def test_a_refused_schedule_has_none(call: Entry, stage: str) -> None:
    code, out, err = call("show", "--stage", stage, "-", stdin=REFUSED)
    assert (code, out) == (1, "")
    assert "error[DT2" in err


@pytest.mark.parametrize("stage", STAGES)
def test_without_a_func(call: Entry, stage: str) -> None:
    assert call("show", "--stage", stage, "-", stdin=b"Var x;") == (0, "", "")


def test_triton_has_one_form(call: Entry, good: Path) -> None:
    code, _, err = call("show", "--stage", "triton", "--json", str(good))
    assert code == 2
    assert "stage triton has no form json; it has text" in err


def test_a_picture_is_written_whole(
    call: Entry, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tree.svg"
    path.write_text("before")

    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    code, _, err = call("show", "--stage", "tree", "-o", str(path), str(good))
    assert code == 1
    assert err == f"error: cannot write '{path}': no space left on device\n"
    assert path.read_text() == "before"


def test_lines_are_explained(call: Entry, good: Path) -> None:
    code, out, err = call("explain", "--code", str(ROOT / "examples" / "softmax.dt"))
    assert (code, err) == (0, "")
    head, _, *rows = out.splitlines()
    assert head.split("  ")[0] == "line"
    load = next(row for row in rows if "A_tile = tl.load(" in row)
    assert load.split()[-4:] == ["16", "total.fuse_at(softmax,", "x);", "26"]
    block = next(row for row in rows if "x_start = pid * 4" in row)
    assert block.split()[-2:] == ["softmax.block(x:4);", "24"]


def test_lines_as_data(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "softmax.dt"
    path.write_bytes((ROOT / "examples" / "softmax.dt").read_bytes())
    document = json.loads(call("explain", "--code", "--json", str(path))[1])
    file: list[str] = call("compile", "-o", "-", str(path))[1].splitlines()
    lines = document["lines"]
    assert [file[line["line"] - 1] for line in lines] == [line["text"] for line in lines]
    assert {line["kernel"] for line in lines} == {"softmax"}
    loop = next(line for line in lines if "tl.range" in line["text"])
    assert loop["directive"] == "softmax.tensorize(x:0, y:512);"
    assert loop["place"]["start"]["line"] == 25
    assert loop["source"] is None


def test_lines_of_a_refused_schedule(call: Entry) -> None:
    code, out, err = call("explain", "--code", "-", stdin=REFUSED)
    assert (code, out) == (1, "")
    assert "error[DT2" in err
    assert call("explain", "--code", "-", stdin=b"Var x;")[:2] == (0, "")


def test_lines_are_the_same_for_all_sizes(call: Entry, good: Path) -> None:
    code, _, err = call("explain", "--code", "--size", "x=4", str(good))
    assert code == 2
    assert "the code is the same for all sizes" in err


def test_a_kernel_says_how_it_is_launched(call: Entry) -> None:
    text = (
        b"Func f, g; In A; Var x; g[x] = A[x]; f[x] = exp(g[x]); g.block(x:64); f.block(x:64);"
        b"g.persistent(3); f.panels(x:7); f.compile();"
    )
    first, second = call("show", "--stage", "kernel", "-", stdin=text)[1].split("\n\n")
    launched = "  as many programs as run at once, 3 for each multiprocessor"
    assert first.splitlines()[1] == launched
    assert second.splitlines()[1] == "  in panels of 7 of x"
