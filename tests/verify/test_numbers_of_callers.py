"""`any` and `next_power_of_2` of a launch: each says no more than what its callers keep."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_by_hand import is_proved
from tests.verify.texts import written

STRIDED = """\
import triton
import triton.language as tl

# verify: k[({grid})](X, f, len(i){given})
# assume: len(i) <= 2**30


@triton.jit
def k(X, out, n{parameters}):
    for block in range(tl.program_id(0), tl.cdiv(n, 128), {step}):
        i = block * 128 + tl.arange(0, 128)
        m = (i < n){more}
        tl.store(out + i, tl.load(X + i, mask=m), mask=m)
"""
FIRST = " & (tl.program_id(1) == 0)"


def strided(grid: str, step: str, more: str = "", given: str = "", parameters: str = "") -> Report:
    """Return what is proved of a loop over programs that goes on by a step."""
    program = written("Func f; In X; Var i; f[i] = X[i]; f.compile();")
    text = STRIDED.format(grid=grid, step=step, more=more, given=given, parameters=parameters)
    return verify(program, text)


@pytest.mark.parametrize(
    ("grid", "step", "more", "given", "parameters"),
    [
        ("any, any", "tl.num_programs(1)", FIRST, "", ""),
        ("any, any, any", "tl.num_programs(2)", f"{FIRST} & (tl.program_id(2) == 0)", "", ""),
        ("any,", "programs", "", ", any", ", programs"),
        ("any,", "programs", "", ", programs=any", ", programs"),
        ("any, any", "programs", FIRST, ", any", ", programs"),
        ("any,", "tl.num_programs(1)", "", "", ""),
    ],
)
def test_each_any_is_a_number_of_its_own(
    grid: str, step: str, more: str, given: str, parameters: str
) -> None:
    assert strided(grid, step, more, given, parameters).verdict is not LayerVerdict.PROVED


def test_the_number_of_programs_is_the_step() -> None:
    assert is_proved(strided("any,", "tl.num_programs(0)"))
    assert is_proved(strided("any, any", "tl.num_programs(0)", FIRST))


ROWS = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](X, f, X.stride(0), len(j), POWER=next_power_of_2(len(j)))
# assume: reach(X) < 2**31, len(j) <= 2**28


@triton.jit
def k(X, out, stride, n, POWER{constant}):
    row = tl.program_id(0)
    {lines}
    total = tl.zeros((128,), tl.float32)
    for start in range(0, {end}, 128):
        j = start + tl.arange(0, 128)
        total += tl.load(X + row * stride + j, mask=j < n, other=0.0)
    tl.store(out + row, tl.sum(total, 0))
"""


def of_rows(end: str, *lines: str, constant: str = "") -> Report:
    """Return what is proved of a sum of rows that goes to an end."""
    program = written("Func f; In X; Var i; RVar j; f[i] = rsum(X[i, j], j); f.compile();")
    text = ROWS.format(end=end, lines="\n    ".join(lines or ("pass",)), constant=constant)
    return verify(program, text)


CONSTANT = ": tl.constexpr"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("end", "lines", "constant"),
    [
        ("1048576", (), ""),
        ("1048576", (), CONSTANT),
        ("min(POWER, 1048576)", (), ""),
        ("min(POWER, 1048576)", (), CONSTANT),
        ("tl.minimum(n, 1048576)", (), ""),
        ("1048576", ("if n < 0:", "    lanes = tl.arange(0, 128) + POWER"), ""),
        ("1048576", ("if 1 == 2:", "    lanes = tl.arange(0, POWER)"), CONSTANT),
        ("1048576", ("for _ in tl.static_range(0, 0):", "    a = tl.arange(0, POWER)"), CONSTANT),
        ("1048576", ("for _ in tl.static_range(3, 1):", "    a = tl.arange(0, POWER)"), CONSTANT),
        ("POWER - 1048576", (), ""),
        ("POWER // 2", (), ""),
    ],
)
def test_a_power_of_two_is_no_tile_by_itself(
    end: str, lines: tuple[str, ...], constant: str
) -> None:
    """Only where a tile of so many lanes is made are there not more than Triton makes."""
    assert of_rows(end, *lines, constant=constant).verdict is not LayerVerdict.PROVED


def test_a_power_of_two_may_be_an_end() -> None:
    assert is_proved(of_rows("POWER"))
    assert is_proved(of_rows("POWER", constant=CONSTANT))


def test_a_tile_of_so_many_lanes_bounds_the_size() -> None:
    assert is_proved(of_rows("1048576", "lanes = tl.arange(0, POWER)", constant=CONSTANT))


def test_promises_that_no_tile_keeps_prove_nothing() -> None:
    program = written("Func f; In X; Var i; f[i] = X[i] + X[i]; f.compile();")
    text = (
        "import triton\nimport triton.language as tl\n\n"
        "# verify: k[(1,)](X, f, len(i), B=next_power_of_2(len(i)))\n"
        "# assume: len(i) >= 2**22, len(i) <= 2**28\n\n\n"
        "@triton.jit\ndef k(X, out, n, B: tl.constexpr):\n"
        "    i = tl.arange(0, B)\n"
        "    tl.store(out + i, tl.load(X + i, mask=i < n), mask=i < n)\n"
    )
    report = verify(program, text)
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "no call keeps" in report.layers[0].why
