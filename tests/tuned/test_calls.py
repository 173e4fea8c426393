"""At a call the nearest schedule is taken, and it says which one; here in Triton's interpreter."""

import warnings
from pathlib import Path

import pytest
import torch

import dtpoly
from dtpoly.tuned.call_sizes import CPU

ALGORITHM = """\
Func softmax, total;
In A;
Var x;
RVar y;

total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
{schedule}
"""
OWN = "softmax.tensorize(x:1, y:0);\ntotal.fuse_at(softmax, x);\nsoftmax.compile();"
TUNED = f"""\
algorithm "softmax.dt";

{{
    # for {CPU}, f32: x = 4, y = 16
    softmax.block(x:2), softmax.tensorize(x:0, y:0), total.fuse_at(softmax, x), softmax.compile()
|
    # for {CPU}, f32: x = 4, y = 100..200
    # 3 ms at x = 4, y = 100
    softmax.tensorize(x:1, y:32), total.fuse_at(softmax, x), softmax.compile()
|
    # for NVIDIA H200, f32: x = 4, y = 16
    softmax.block(x:4), softmax.tensorize(x:0, y:0), total.fuse_at(softmax, x), softmax.compile()
}};
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "softmax.dt").write_text(ALGORITHM.replace("{schedule}", OWN))
    (tmp_path / "tuned.dts").write_text(TUNED)
    return tmp_path


def test_each_call_takes_the_nearest_and_says_so(folder: Path) -> None:
    k = dtpoly.load(folder / "softmax.dt", tuned=folder / "tuned.dts")
    assert "3 schedules" in repr(k)
    assert "last taken" not in repr(k)
    for size, where in ((16, "y = 16"), (24, "y = 16"), (150, "y = 100..200")):
        A = torch.randn(4, size)
        torch.testing.assert_close(k(A), A.softmax(1))
        assert repr(k).endswith(f"last taken: {CPU}, f32: x = 4, {where}>")
    assert "* cpu, in Triton's interpreter, f32: x = 4, y = 100..200\n    3 ms" in k.explain()
    # By name too.
    torch.testing.assert_close(k(A=torch.zeros(4, 16)), torch.full((4, 16), 1 / 16))


def test_what_is_taken_can_be_asked(folder: Path) -> None:
    k = dtpoly.load(folder / "softmax.dt", tuned=folder / "tuned.dts")
    found = k.schedule_for("NVIDIA H200", x=4, y=16)
    assert found.is_legal
    assert "softmax.block(x:4);" in str(found)
    assert k.schedule_for("NVIDIA H200", x=4, y=16) is found
    assert k.pick("NVIDIA A100", x=4, y=16) is None
    # Of a device without schedules it is the algorithm's own.
    assert k.schedule_for("NVIDIA A100", x=4, y=16) == dtpoly.load(folder / "softmax.dt")


def test_a_guess_is_warned_of_once(folder: Path) -> None:
    k = dtpoly.load(folder / "softmax.dt", tuned=folder / "tuned.dts")
    A = torch.randn(32, 16)
    with pytest.warns(
        UserWarning, match=r"tuned.dts has none for such a call: x = 32 is far from 4"
    ):
        k(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        k(A)
    with pytest.warns(UserWarning, match="it is for f32, not for f64"):
        k(torch.randn(4, 16, dtype=torch.float64))


def test_without_a_schedule_for_the_device_the_algorithm_has_its_own(folder: Path) -> None:
    path = folder / "tuned.dts"
    path.write_text(TUNED.replace(CPU, "NVIDIA A100"))
    k = dtpoly.load(folder / "softmax.dt", tuned=path)
    A = torch.randn(4, 16)
    with pytest.warns(UserWarning, match="has no schedule for 'cpu, in Triton's interpreter'"):
        torch.testing.assert_close(k(A), A.softmax(1))
    assert k.picked is None


def test_schedules_of_another_algorithm_are_refused(folder: Path) -> None:
    other = folder / "other.dt"
    other.write_text(ALGORITHM.replace("{schedule}", OWN).replace("rsum(", "rmax("))
    with pytest.raises(ValueError, match="are for another algorithm"):
        dtpoly.load(other, tuned=folder / "tuned.dts")


TWO = """\
Func f, g;
In A;
Var x;
f[x] = A[x] + 1.0;
g[x] = f[x] * 2.0;
"""


@pytest.mark.parametrize(
    ("own", "tuned", "is_same"),
    [
        ("g.compile();", "f.compile()", False),
        ("g.compile();", "f.compile(), g.compile()", False),
        ("f.compile();", "f.block(x:16)", False),
        ("g.compile();", "g.block(x:16)", True),  # the last one is compiled where none is
        ("", "g.block(x:16), g.compile()", True),
        ("f.compile(); g.compile();", "g.compile(), f.compile()", True),
    ],
)
def test_a_tuned_schedule_computes_what_the_algorithm_does(
    tmp_path: Path, own: str, tuned: str, is_same: bool
) -> None:
    (tmp_path / "two.dt").write_text(TWO + own)
    entry = f"{{\n# for {CPU}, f32: x = 4\n{tuned}\n}};\n"
    (tmp_path / "tuned.dts").write_text(f'algorithm "two.dt";\n{entry}')
    if not is_same:
        with pytest.raises(ValueError, match=r"x = 4 compiles .*, where '.*two.dt' compiles"):
            dtpoly.load(tmp_path / "two.dt", tuned=tmp_path / "tuned.dts")
        return
    k = dtpoly.load(tmp_path / "two.dt", tuned=tmp_path / "tuned.dts")
    assert k.schedule_for(CPU, x=4).is_legal
    if "f.compile" not in own:
        torch.testing.assert_close(k(torch.ones(4)), torch.full((4,), 4.0))
