"""Makes random algorithms of floats, and sizes for them: those of the oracle, with functions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Expr,
    Float,
    Integer,
    Read,
    Reduce,
    map_children,
)
from dtpoly.algorithm.inference import InferredType, types_of
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.algorithm.show import show
from dtpoly.diagnostics import DtpolyError
from tests.gradient.comparing import read
from tests.gradient.random_mixtures import mixture_case
from tests.gradient.random_texts import formula_case, layer_case
from tests.oracle.cases import (
    Case,
    along_case,
    case,
    data_case,
    dividing_case,
    elementwise_case,
    in_place_case,
    indirect_case,
    listing_case,
    placed_case,
    ranged_case,
    scanning_case,
    started_case,
)
from tests.oracle.chains import chain


def chain_case(seed: int) -> Case:
    """Return a case with running maxima, and sums that depend on them."""
    random = Random(f"running {seed}")
    program = read(chain(seed).text)
    sizes = {"x": random.choice((0, 1, 2, 3, 5)), "y": random.choice((1, 2, 3, 5)), "n": 2, "k": 3}
    return Case(program, {one.name: sizes[one.name] for one in program.labels})


KINDS: dict[str, Callable[[int], Case]] = {
    "plain": case,
    "ranged": ranged_case,
    "dividing": dividing_case,
    "scanning": scanning_case,
    "indirect": indirect_case,
    "listing": listing_case,
    "in_place": in_place_case,
    "placed": placed_case,
    "started": started_case,
    "data": data_case,
    "along": along_case,
    "elementwise": elementwise_case,
    "running": chain_case,
    "formulas": formula_case,
    "layers": layer_case,
    "mixtures": mixture_case,
}
WRITTEN = (
    "formulas",
    "layers",
    "mixtures",
)  # have functions already, and numbers that have gradients

SEVERAL, TIES = 0.25, 0.3  # shares of algorithms with several results, and with equal elements


@dataclass(frozen=True)
class Drawn:
    """A random algorithm, sizes, results, and the inputs that it may be differentiated by."""

    program: Program
    sizes: dict[str, int]
    of: tuple[str, ...]
    by: tuple[str, ...]
    has_ties: bool = False


def drawn(kind: str, seed: int) -> Drawn:
    """Return the random algorithm of a seed."""
    for attempt in range(1000):
        random = Random(f"{kind} {seed} {attempt}")
        made = KINDS[kind](random.randrange(10**6))
        bare = replace(made.program, directives=())
        funcs = bare.funcs
        if kind not in WRITTEN:
            funcs = tuple(replace(one, body=_changed(random, one.body)) for one in funcs)
        try:
            program = read(show(replace(bare, funcs=funcs)))
        except DtpolyError:
            continue
        of: tuple[str, ...] = (
            random.choice((program.funcs[-1].name, random.choice(program.funcs).name)),
        )
        by = tuple(
            one.name
            for one in program.inputs
            if one.dtype is None and (isinstance(one, Tensor) or kind in WRITTEN)
        )
        types = types_of(program)
        floats = [one.name for one in program.funcs if _is_float(types[one.name])]
        if random.random() < SEVERAL:
            of = (*dict.fromkeys((*of, *random.sample(floats, min(2, len(floats))))),)
        of = tuple(one for one in of if one in floats)
        if by and of:
            return Drawn(program, made.sizes, of, by, random.random() < TIES)
    raise AssertionError(seed)


def _is_float(kind: InferredType) -> bool:
    return kind.dtype is None or is_float(kind.dtype)


def _changed(random: Random, expr: Expr) -> Expr:
    """Return an expression with other operations, and with functions around some parts."""
    made = map_children(expr, lambda one: one if _is_fixed(expr) else _changed(random, one))
    match made:
        case Apply(operation="mul", operands=(left, right)) if random.random() < 0.6:
            return _joined(random, left, right)
        case Read() | Reduce() if made.padding is None if isinstance(made, Read) else True:
            return _around(random, made) if random.random() < 0.3 else made
        case _:
            return made


def _is_fixed(expr: Expr) -> bool:
    """Return whether the operands of a node are indices or conditions, which stay as they are."""
    if isinstance(expr, Read):
        return True
    return isinstance(expr, Apply) and expr.operation in ("minimum", "rtopk", "rargtopk")


def _joined(random: Random, left: Expr, right: Expr) -> Expr:
    match random.randrange(7):
        case 0:
            return Apply("add", (left, right))
        case 1:
            return Apply("sub", (left, right))
        case 2:
            return Apply("div", (left, Apply("add", (Integer(3), Apply("sin", (right,))))))
        case 3:
            return Apply("maximum", (left, right))
        case 4:
            return Apply("minimum", (left, Apply("neg", (right,))))
        case 5:
            condition = Apply("lt", (left, right))
            return Apply("where", (condition, left, Apply("mul", (right, Float(0.5)))))
        case _:
            return Apply("fma", (left, right, left))


def _around(random: Random, expr: Expr) -> Expr:
    match random.randrange(11):
        case 0:
            return Apply("exp", (Apply("sin", (expr,)),))
        case 1:
            return Apply("sqrt", (Apply("add", (Integer(1), Apply("mul", (expr, expr)))),))
        case 2:
            return Apply("rsqrt", (Apply("add", (Integer(2), Apply("cos", (expr,)))),))
        case 3:
            return Apply("pow", (expr, Integer(random.choice((1, 2, 3)))))
        case 4:
            return Apply("log", (Apply("add", (Float(1.5), Apply("abs", (expr,)))),))
        case 5:
            low = Apply("neg", (Float(0.5),))
            return Apply("clamp", (expr, low, Float(0.75)))
        case 6:
            return Apply("mul", (expr, Apply("floor", (expr,))))
        case 7:
            return Cast(expr, DType.F64)
        case 8:
            return Apply("mul", (Cast(Cast(expr, DType.I64), DType.F64), expr))
        case name:
            return Apply(("sigmoid", "tanh")[name % 2], (expr,))
