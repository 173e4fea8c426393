"""How values move with their frames: what is derived is what happens when the frames are moved."""

import math
from collections.abc import Callable, Mapping
from random import Random

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.motion import STILL, Motion
from dtpoly.ir.tile_values import Call, Converted, LiteralNumber, Masked, Merged, Value, Variable
from dtpoly.ir.value_motion import TangledError, motion

F32 = DType.F32
FRAMES, DATA = ("top", "low"), ("a", "b", "c")
MOVES = {name: Motion({name: 1.0}) for name in FRAMES}


def added(a: float, b: float) -> float:
    return a + b


def less(a: float, b: float) -> float:
    return a - b


def times(a: float, b: float) -> float:
    return a * b


def divided(a: float, b: float) -> float:
    return a / b


def negated(a: float) -> float:
    return -a


def larger(a: float, b: float) -> float:
    return max(a, b)


def smaller(a: float, b: float) -> float:
    return min(a, b)


def is_below(a: float, b: float) -> float:
    return float(a < b)


def chosen(test: float, a: float, b: float) -> float:
    return a if test else b


# What a computer of real numbers would give; where there is no number, a try ends.
COMPUTED: Mapping[str, Callable[..., float]] = {
    "add": added,
    "sub": less,
    "mul": times,
    "div": divided,
    "neg": negated,
    "exp": math.exp,
    "log": math.log,
    "maximum": larger,
    "minimum": smaller,
    "abs": math.fabs,
    "floor": math.floor,
    "where": chosen,
    "lt": is_below,
}


def variable(name: str) -> Variable:
    return Variable(name, (), F32)


def call(operation: str, *operands: Value) -> Call:
    return Call(operation, operands, (), F32)


def known(name: str) -> Motion:
    return MOVES.get(name, STILL)


def computed(value: Value, numbers: Mapping[str, float]) -> float:
    """Compute a value; what is masked counts as it is."""
    match value:
        case Variable(name=name):
            return numbers[name]
        case LiteralNumber(value=number):
            return number
        case Call(operation=operation, operands=operands):
            return COMPUTED[operation](*(computed(one, numbers) for one in operands))
        case Converted(value=inner) | Masked(value=inner):
            return computed(inner, numbers)
        case Merged(left=left, right=right):
            return max(computed(left, numbers), computed(right, numbers))
        case _:
            raise AssertionError(value)


def drawn(random: Random, depth: int) -> Value:
    """Draw a value; most are such as programs have."""
    if depth == 0 or random.random() < 0.1:
        leaf = random.random()
        if leaf < 0.4:
            return variable(random.choice(FRAMES))
        return variable(random.choice(DATA)) if leaf < 0.9 else LiteralNumber(random.choice((0, 2)))
    inner = [drawn(random, depth - 1) for _ in range(2)]
    match random.randrange(12):
        case 0 | 1 | 2:
            return call("sub", variable(random.choice(DATA)), variable(random.choice(FRAMES)))
        case 3:
            return call("exp", inner[0])
        case 4:
            return call("log", inner[0])
        case 5:
            return call(random.choice(("mul", "div")), *inner)
        case 6:
            return call(random.choice(("add", "sub")), *inner)
        case 7:
            return call("neg", inner[0])
        case 8:
            return call(random.choice(("maximum", "minimum")), *inner)
        case 9:
            test = call("lt", variable("a"), variable("b"))
            return call("where", test, *inner)
        case 10:
            return call(random.choice(("abs", "floor")), inner[0])
        case _:
            return Merged("rmax", inner[0], inner[1], (), F32)


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(8))
def test_a_random_value_moves_as_is_said(part: int) -> None:
    random = Random(part)
    moving = 0
    for _ in range(4000):
        value = drawn(random, random.randint(1, 5))
        try:
            found = motion(value, known)
        except TangledError:
            continue
        numbers = {name: random.uniform(0.5, 3) for name in (*FRAMES, *DATA)}
        by = {name: random.uniform(-0.5, 0.5) for name in FRAMES}
        moved = numbers | {name: numbers[name] + by[name] for name in FRAMES}
        try:
            before, after = computed(value, numbers), computed(value, moved)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        way = sum(rate * by[name] for name, rate in found.rates.items())
        wanted = before * math.exp(way) if found.is_factor else before + way
        assert math.isclose(after, wanted, rel_tol=1e-9, abs_tol=1e-9), value
        moving += not found.is_still
    assert moving > 500


TOP, A = variable("top"), variable("a")
APART = call("exp", call("sub", A, TOP))
BY_HAND: tuple[tuple[Value, Motion], ...] = (
    (APART, Motion({"top": -1.0}, is_factor=True)),
    (call("mul", APART, variable("b")), Motion({"top": -1.0}, is_factor=True)),
    (call("div", APART, APART), STILL),
    (call("add", call("log", APART), TOP), STILL),
    (call("mul", call("sub", A, TOP), LiteralNumber(0.5)), Motion({"top": -0.5})),
    (Converted(APART, (), DType.BF16), Motion({"top": -1.0}, is_factor=True)),
    (Masked(APART, (), 0, (), F32), Motion({"top": -1.0}, is_factor=True)),
    (Masked(call("sub", A, TOP), (), -math.inf, (), F32), Motion({"top": -1.0})),
    (
        call("where", call("lt", A, A), call("sub", A, TOP), call("neg", LiteralNumber(math.inf))),
        Motion({"top": -1.0}),
    ),
)
TANGLED: tuple[Value, ...] = (
    call("floor", call("div", A, TOP)),
    call("abs", call("sub", A, TOP)),
    call("mul", call("sub", A, TOP), call("sub", A, TOP)),
    call("add", APART, LiteralNumber(1)),
    call("exp", APART),
    call("exp", call("mul", A, TOP)),
    call("maximum", APART, A),
    call("where", call("lt", A, TOP), A, A),
    Masked(APART, (), 1, (), F32),
    Masked(call("sub", A, TOP), (), 0, (), F32),
    Converted(APART, (), DType.I32),
)


@pytest.mark.parametrize(("value", "wanted"), BY_HAND, ids=str)
def test_by_hand(value: Value, wanted: Motion) -> None:
    assert motion(value, known) == wanted


@pytest.mark.parametrize("value", TANGLED, ids=str)
def test_tangled(value: Value) -> None:
    with pytest.raises(TangledError):
        motion(value, known)
