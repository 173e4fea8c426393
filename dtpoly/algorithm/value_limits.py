"""Limits sizes so that whole numbers made only of indices and sizes fit 64 bits.

`2147483648 * k` needs more than 64 bits where k reaches 4294967296. A tensor may be that long, and
a call may pass such a size. Functions refuse these sizes, by the limits that are found here. The
lanes of a tile that are past the last index count as indices, too.
"""

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.dtypes import INTEGERS, DType
from dtpoly.algorithm.expressions import Apply, Cast, Expr, Index, Integer, ProgramId, Size, walk
from dtpoly.algorithm.label_sizes import used_labels
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_expr
from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.frozen import dataclass

# No memory can hold a tensor with this many elements.
NO_SIZE = 2**48
LARGEST = 2**63 - 1
LAST_PROGRAM = 2**31 - 2
# A tile has at most this many lanes, and the last tile of a block may lie past the end of the size.
LANES = 2**20


@dataclass(frozen=True, slots=True)
class Reach:
    """An upper bound of the absolute value of a whole number: a sum of sizes times factors.

    No factor is below 0, and neither is the constant.
    """

    sizes: Mapping[str, int]
    constant: int

    def __add__(self, other: "Reach") -> "Reach":
        labels = {*self.sizes, *other.sizes}
        total = {v: self.sizes.get(v, 0) + other.sizes.get(v, 0) for v in labels}
        return Reach(total, self.constant + other.constant)

    def times(self, factor: int) -> "Reach":
        """Return the bound of the product with a number."""
        by = abs(factor)
        return Reach({v: by * c for v, c in self.sizes.items() if by}, by * self.constant)

    def either(self, other: "Reach") -> "Reach":
        """Return the bound of a value that is one of two values."""
        labels = {*self.sizes, *other.sizes}
        most = {v: max(self.sizes.get(v, 0), other.sizes.get(v, 0)) for v in labels}
        return Reach(most, max(self.constant, other.constant))

    @property
    def limit(self) -> int | None:
        """Return the largest number that all sizes of the bound may be.

        None if all real sizes fit.
        """
        factor = sum(self.sizes.values())
        if self.constant + factor * (NO_SIZE - 1) <= LARGEST:
            return None
        return (LARGEST - self.constant) // factor if factor else 0


def largest_sizes(program: Program) -> dict[str, tuple[int, Expr]]:
    """Return the largest size of each label that has a limit, and the value that sets the limit."""
    used = used_labels(program)
    found: dict[str, tuple[int, Expr]] = {}
    for func in program.funcs:
        for node, reach in _reaches(func.body, program.fixed):
            if (limit := reach.limit) is not None:
                for label in used.intersection(reach.sizes):
                    if label not in found or limit < found[label][0]:
                        found[label] = limit, node
    return found


def check_values(program: Program) -> list[Diagnostic]:
    """Report an error for each value that never fits, and a note for each size with a limit."""
    errors = [
        Diagnostic(
            "DT131",
            Severity.ERROR,
            f"'{show_expr(node)}' is too large",
            node.span,
            f"does not fit 64 bits for an index of {LANES}",
            hint="write smaller numbers: a tile may have so many lanes past the last index",
        )
        for func in program.funcs
        for node, reach in _reaches(func.body, program.fixed)
        if (limit := reach.limit) is not None and limit <= 0
    ]
    limits = largest_sizes(program).items()
    innermost = sorted(errors, key=lambda one: len(one.title))
    return innermost[:1] or [
        Diagnostic(
            "DT131",
            Severity.NOTE,
            f"the size of '{label}' may be at most {limit}",
            node.span,
            "must fit 64 bits",
        )
        for label, (limit, node) in limits
    ]


def _reaches(body: Expr, fixed: Mapping[str, int]) -> Iterator[tuple[Expr, Reach]]:
    """Yield the values in an expression that consist of indices and sizes, with their bounds."""
    for node in walk(body):
        if isinstance(node, Apply) and (reach := _reach(node, fixed)) is not None:
            yield node, reach


def _reach(expr: Expr, fixed: Mapping[str, int]) -> Reach | None:
    """Return the bound of a value, or None if it is not made only of indices and sizes.

    Products of several sizes have no bound either: they wrap, as whole numbers of tensors do. The
    largest number of 64 bits has none, because it usually stands for "no number yet".
    """
    match expr:
        case Integer(value=value):
            return None if value == LARGEST else Reach({}, abs(value))
        case Index(label=label) if label in fixed:
            return Reach({}, fixed[label] + LANES)
        case Size(label=label) if label in fixed:
            return Reach({}, fixed[label])
        case Index(label=label):
            return Reach({label: 1}, LANES)
        case Size(label=label):
            return Reach({label: 1}, 0)
        case ProgramId():
            return Reach({}, LAST_PROGRAM)
        case Cast(operand=operand, dtype=dtype) if dtype in INTEGERS:
            reach = _reach(operand, fixed)
            # An index that is cast to fewer bits wraps, as whole numbers of tensors do.
            return reach if dtype is DType.I64 or reach is None or not reach.sizes else None
        case Apply("pow", (base, Integer(value=exponent))):
            reach = _reach(base, fixed)
            if exponent == 1 or reach is None:
                return reach
            # A power of 2 with a larger exponent does not fit either, and this one is computed
            # quickly.
            return None if reach.sizes else Reach({}, reach.constant ** min(exponent, 64))
        case Apply(operation=operation, operands=operands):
            # The first operand of `where` is a condition and not one of its values.
            chosen = operands[1:] if operation == "where" else operands
            parts = [_reach(operand, fixed) for operand in chosen]
            known = [part for part in parts if part is not None]
            return _of(operation, known) if len(known) == len(parts) else None
        case _:
            return None


def _of(operation: str, parts: list[Reach]) -> Reach | None:
    match operation, parts:
        case (("neg" | "abs" | "ceil" | "floor" | "round" | "trunc"), [one]):
            return one
        case (("add" | "sub"), [left, right]):
            return left + right
        case (("mul" | "fma"), [left, right, *more]):
            product = _product(left, right)
            return product + more[0] if product is not None and more else product
        case (("mod" | "cdiv" | "quotient" | "maximum" | "minimum" | "where"), [left, right]):
            return left.either(right)
        case "clamp", [one, low, high]:
            return one.either(low).either(high)
        case _:
            return None


def _product(left: Reach, right: Reach) -> Reach | None:
    if not left.sizes:
        return right.times(left.constant)
    return None if right.sizes else left.times(right.constant)
