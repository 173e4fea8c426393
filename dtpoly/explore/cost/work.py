"""Counts what each unit of a multiprocessor has to do for the statements of a kernel."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from dtpoly.algorithm.expressions import (
    Apply,
    Dot,
    Expr,
    Float,
    Integer,
    Read,
    Reduce,
    ScalarRead,
    Size,
    children,
    free_labels,
)
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.joined_loops import is_corrected
from dtpoly.explore.accesses.list_steps import list_steps
from dtpoly.explore.accesses.tile_counts import (
    StatementWalk,
    cut_steps,
    goes_by_index,
    instances,
    lanes_of,
    steps,
)
from dtpoly.explore.needs.product_units import DEFAULT_WARPS, unit_of
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Role

# Instructions of one lane, counted in the machine code that Triton 3.9 makes for sm_90 of
# `f[x] = op(A[x])` in f32; and how many of them the special-function unit takes.
INSTRUCTIONS: Mapping[str, tuple[float, float]] = {
    "exp": (5, 1),
    "exp2": (1, 1),
    "log": (25, 0),
    "log2": (27, 0),
    "tanh": (13, 2),
    "sigmoid": (11, 2),
    "div": (8, 1),
    "fdiv": (8, 1),
    "div_rn": (16, 1),
    "sqrt": (1, 1),
    "sqrt_rn": (14, 1),
    "rsqrt": (1, 1),
    "erf": (28, 1),
    "sin": (118, 0),
    "cos": (120, 0),
    "pow": (126, 1),
    "where": (2, 0),
    "clamp": (2, 0),
    "mod": (20, 0),
    "cdiv": (20, 0),
    "quotient": (34, 0),
    "shl": (4, 0),
    "shr": (4, 0),
    "round": (14, 0),
    "random": (60, 0),
    "random_bits": (62, 0),
    "trunc": (4, 0),
}
# One element of a load or store: where several go at once, and where each goes alone, with its own
# address and its own test. Counted alike.
MOVED, ALONE = 1.2, 5.0
OPERAND_ALONE = (
    10.0  # that of a product, which goes on into shared memory, by an address of its own
)
# Of an element that lanes scan together: of one value, of a factor with it, and of each again where
# several warps do, since each adds what the warps before it have. Counted alike, rows of 512 to
# 2048 with 1 to 8 warps: 10 to 22 for sums, 18 to 32 with a factor.
SCANNED, SCANNED_FACTOR, BY_WARPS = 10.0, 8.0, 1.8
LOOKED_AT = 3  # instructions of a sum of which is asked whether it is a nan
PLAIN = "f32"  # products without tensor cores
SMALL_POWER = 8  # up to which a power is written as products


@dataclass(slots=True)
class Work:
    """Operations of a kernel, over all programs; lanes that a mask leaves out count too.

    `products` are multiplications and additions of tensor cores by dtype, `useful` those that the
    algorithm asks for, also where a product has to do without (`f32`). `special` are instructions
    of the special-function unit, `instructions` all that a lane issues.
    """

    products: dict[str, int] = field(default_factory=dict[str, int])
    useful: dict[str, int] = field(default_factory=dict[str, int])
    instructions: float = 0.0
    special: float = 0.0


def work_of(kernel: CostedKernel) -> Work:
    """Count the operations that a kernel computes."""
    work = Work()
    known = dict[tuple[str, ...], set[Expr]]()
    for walk in kernel.walks:
        seen = known.setdefault(walk.joined, set()) if walk.joined else set[Expr]()
        lanes = _Lanes(walk, seen)
        body, statement = walk.statement.body, walk.statement
        if isinstance(body, Dot) and statement.role is Role.UPDATE:
            _multiply(work, kernel, lanes, body)
            for side in (body.left, body.right):
                _compute(work, lanes, side)
        elif body is not None:
            _compute(work, lanes, body)
        if statement.role is Role.UPDATE and not isinstance(body, Dot):
            work.instructions += lanes.of(statement.labels)
        if statement.role is Role.SCAN:
            work.instructions += _of_scan(kernel, lanes, body) * lanes.of(statement.labels)
        if is_corrected(walk):
            work.instructions += lanes.of(statement.free)
    work.instructions += sum(one.instructions for one in list_steps(kernel))
    for stream in kernel.streams:
        alone = OPERAND_ALONE if stream.is_operand else ALONE
        each = MOVED * max(stream.size, 4) / 4 if stream.is_wide else alone
        if not stream.is_operand or not stream.is_wide:
            work.instructions += each * stream.lanes
    return work


def _of_scan(kernel: CostedKernel, lanes: "_Lanes", body: Expr | None) -> float:
    """Return the instructions of an element that lanes scan; of one that loops scan, none more."""
    scan = lanes.walk.statement.scan
    if scan is None or lanes_of(lanes.walk, (scan.label,)) == 1:
        return 0.0
    has_factor = isinstance(body, Reduce) and body.scan is not None and body.scan.factor is not None
    warps = kernel.launch.num_warps or DEFAULT_WARPS
    each = SCANNED + SCANNED_FACTOR * has_factor
    return each * (BY_WARPS if warps > 1 else 1)


def _multiply(work: Work, kernel: CostedKernel, lanes: "_Lanes", body: Dot) -> None:
    name = lanes.walk.statement.name
    dtype = kernel.operand_dtypes.get(name)
    many = lanes.of(lanes.walk.statement.labels)
    precision = kernel.launch.precision
    unit = None if dtype is None else unit_of(dtype, precision)
    key = unit or PLAIN
    work.useful[key] = work.useful.get(key, 0) + 2 * instances(lanes.walk)
    if unit is None:
        work.instructions += many
        return
    # Tiles through which a range goes may be multiplied without tensor cores, but in joined loops.
    tiles = 0 if lanes.walk.joined else cut_steps(lanes.walk)
    if goes_by_index(lanes.walk, body):
        cut = tiles * lanes_of(lanes.walk, lanes.walk.statement.labels)
        work.instructions += cut
    else:
        cut = 0
        looks = 0 if body.hides else tiles
        work.instructions += LOOKED_AT * looks * lanes_of(lanes.walk, lanes.walk.statement.free)
    # `tf32x3` is three products.
    times = 3 if precision == "tf32x3" else 1
    work.products[unit] = work.products.get(unit, 0) + 2 * times * max(many - cut, 0)


def _compute(work: Work, lanes: "_Lanes", body: Expr) -> None:
    """Count each operation, once for all lanes that share its value.

    In joined loops, what two statements compute alike is computed once.
    """
    for node in _operations(body):
        if lanes.walk.joined and node in lanes.seen:
            continue
        lanes.seen.add(node)
        many = lanes.of(free_labels(node))
        instructions, special = cost_of(node)
        work.instructions += instructions * many
        work.special += special * many


def _operations(body: Expr) -> Iterator[Apply]:
    pending: list[Expr] = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, Apply):
            yield node
        if not isinstance(node, Read):
            pending.extend(children(node))


def cost_of(node: Apply) -> tuple[float, float]:
    """Instructions of a lane, and how many of them are special functions."""
    if node.operation == "pow" and isinstance(node.operands[1], Integer):
        exponent = node.operands[1].value
        if exponent <= SMALL_POWER:
            return max(exponent.bit_length() - 2 + exponent.bit_count(), 1), 0
    if node.operation in ("shl", "shr") and isinstance(node.operands[1], Integer):
        return 1, 0
    if node.operation in ("div", "fdiv") and _is_uniform(node.operands[1]):
        return 1, 0  # times the reciprocal
    return INSTRUCTIONS.get(node.operation, (1, 0))


def _is_uniform(node: Expr) -> bool:
    return isinstance(node, Integer | Float | ScalarRead | Size)


class _Lanes:
    """The numbers of lanes that execute something of a statement, by the labels it varies along.

    `seen` are operations that are already counted in joined loops around it.
    """

    def __init__(self, walk: StatementWalk, seen: set[Expr]) -> None:
        self.walk, self.seen = walk, seen
        self.steps = steps(walk)

    def of(self, labels: Iterable[str]) -> int:
        """Lanes, over all programs, where lanes along other labels share a value."""
        return self.steps * lanes_of(self.walk, labels)
