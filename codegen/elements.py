"""Finds the type in which each array of a Model is computed, and the identity of each reduction.

`elements_of` looks at all statements of the Model. The identity, such as 0 for a sum, is what an
accumulator starts with.
"""

from collections.abc import Mapping

from dtpoly.algorithm.dtypes import DType, is_integer
from dtpoly.algorithm.expressions import Dot, Expr, Read, Reduce
from dtpoly.algorithm.inference import LARGEST
from dtpoly.algorithm.operations import LIST, PLACES
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import (
    I64,
    Element,
    ValueKind,
    computed,
    join,
    kind_of,
    kind_of_reduction,
    kinds_of,
    widest,
)
from dtpoly.poly.model import Model, Role

from .storage import INDEX

# Reductions whose accumulators are a value and its index, or lists of these.
PAIRED = (*PLACES, LIST)
# Where no value was taken yet, its index is this one, which is larger than all indices.
NOWHERE = 2**63 - 1
# Such an accumulator also has the values that it compares: their name ends with this.
VALUE = "!value"


@dataclass(frozen=True, slots=True)
class ElementKinds:
    """Kinds of inputs, Funcs and accumulators by name; `numbers` is the type of weak floats."""

    kinds: Mapping[str, ValueKind]
    numbers: Element

    def kind(self, expr: Expr) -> ValueKind:
        """Return the kind of an expression of a statement."""
        return kind_of(expr, self.kinds)

    def of(self, name: str) -> Element:
        """Return the type in which an input's or an array's values are computed."""
        return self.of_kind(self.kinds[name])

    def of_kind(self, kind: ValueKind) -> Element:
        """Return the type in which values of a kind are computed."""
        return computed(kind, self.numbers)

    def in_scratch(self, name: str) -> Element:
        """Return the type of an array in scratch memory.

        For an accumulator that compares values, it is the type of these values.
        """
        return self.of(name + VALUE if name + VALUE in self.kinds else name)


def elements_of(program: Program, model: Model) -> ElementKinds:
    """Return the kinds of everything that statements read and write, private copies included."""
    kinds = kinds_of(program)
    for statement in model.statements:
        array = model.arrays[statement.writes.array]
        match statement.role, statement.body:
            case Role.UPDATE, Reduce(operand=Read(tensor=part), labels=labels) if (
                model.parts.keys() >= set(labels) and array.reduction not in PAIRED
            ):
                # A sum of partial results has their type: with more bits it would be another sum.
                kind = kinds[part]
            case Role.UPDATE, Reduce(operation=operation, operand=operand):
                kind = kind_of_reduction(operation, kind_of(operand, kinds))
            case Role.SCAN, Reduce() as scan:
                kind = kind_of(scan, kinds)
                assert statement.scan is not None
                kinds[statement.scan.carry] = kind
            case Role.UPDATE, Dot(left=left, right=right):
                both = join(kind_of(left, kinds), kind_of(right, kinds))
                kind = kind_of_reduction("rsum", both)
            case Role.VALUE, Read(tensor=accumulator) if array.is_paired:
                kind = kinds[accumulator + VALUE]
                kinds[array.name + INDEX] = I64
            case ((Role.VALUE | Role.STORE), body) if body is not None:
                is_func = _is_func(array.name, array.func)
                kind = kinds[array.func] if is_func else kind_of(body, kinds)
            case _:
                continue
        if array.name not in kinds:
            kinds[array.name] = kind
        if array.reduction in PAIRED and isinstance(statement.body, Reduce):
            kinds[array.name + INDEX] = I64
            kinds[array.name + VALUE] = kind_of(statement.body.operand, kinds)
    return ElementKinds(kinds, widest(program))


def _is_func(array: str, func: str) -> bool:
    """Return whether it holds the Func's values: the Func itself, or a private copy."""
    return array == func or array.startswith(f"{func}@")


def identity(reduction: str, element: Element) -> int | float:
    """Give the value that changes nothing when the reduction combines it with another."""
    match reduction:
        case "rsum" | "rany":
            return 0
        case "rprod" | "rall":
            return 1
        case "rmax" | "rargmax" | "rlist":
            return _lowest(element)
        case "rmin" | "rargmin":
            return _highest(element)
        case _:
            raise AssertionError(reduction)


def _lowest(element: Element) -> int | float:
    if element is DType.BOOL or element is DType.U8:
        return 0
    if isinstance(element, DType) and is_integer(element):
        return -LARGEST[element] - 1
    return float("-inf")


def _highest(element: Element) -> int | float:
    if element is DType.BOOL:
        return 1
    if isinstance(element, DType) and is_integer(element):
        return LARGEST[element]
    return float("inf")
