"""Lists the elementwise operations and the reductions that an expression may use, by name."""

from enum import StrEnum

from dtpoly.frozen import dataclass


class ResultRule(StrEnum):
    """The rule by which the dtype of a result follows from the dtypes of the operands."""

    PROMOTED = "promoted"  # the operands' promoted dtype
    FLOAT = "float"  # the promoted dtype, f32 where that is not a float
    BOOL = "bool"
    LONG = "i64"  # each operand becomes an i64 by itself
    SINGLE = "f32"  # so it does here
    LISTED = "listed"  # that of the first operand, a list: the second one is a place in it
    PLACE = "place"  # i64; the first operand is a list, too
    CHOSEN = "chosen"  # promoted over all operands but the first, which is a condition


@dataclass(frozen=True, slots=True)
class Operation:
    """An elementwise operation; if it has a symbol, it is written as an operator."""

    name: str
    arity: int
    result: ResultRule
    symbol: str = ""
    precedence: int = 0  # higher binds tighter; 0 for a call
    operands_are_bool: bool = False
    operands_are_whole: bool = False  # no operand is a float
    takes_bools: bool = True  # only for whole numbers: whether all operands may be bools, too
    doc: str = ""


# The precedences of the operators, and ATOM for names, literals and calls, which bind tightest.
# The order is Python's.
OR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = range(1, 13)

_PROMOTED, _FLOAT, _BOOL = ResultRule.PROMOTED, ResultRule.FLOAT, ResultRule.BOOL

OPERATIONS: tuple[Operation, ...] = (
    Operation("neg", 1, _PROMOTED, "-", SIGN),
    Operation("invert", 1, _PROMOTED, "~", SIGN, operands_are_whole=True),
    Operation("not", 1, _BOOL, "not", NOT, operands_are_bool=True),
    Operation("mul", 2, _PROMOTED, "*", PRODUCT),
    Operation("div", 2, _FLOAT, "/", PRODUCT),
    Operation("quotient", 2, _PROMOTED, "//", PRODUCT, operands_are_whole=True, takes_bools=False),
    Operation("mod", 2, _PROMOTED, "%", PRODUCT),
    Operation("add", 2, _PROMOTED, "+", SUM),
    Operation("sub", 2, _PROMOTED, "-", SUM),
    Operation("shl", 2, _PROMOTED, "<<", SHIFT, operands_are_whole=True, takes_bools=False),
    Operation("shr", 2, _PROMOTED, ">>", SHIFT, operands_are_whole=True, takes_bools=False),
    Operation("bitand", 2, _PROMOTED, "&", BIT_AND, operands_are_whole=True),
    Operation("bitxor", 2, _PROMOTED, "^", BIT_XOR, operands_are_whole=True),
    Operation("bitor", 2, _PROMOTED, "|", BIT_OR, operands_are_whole=True),
    Operation("lt", 2, _BOOL, "<", COMPARISON),
    Operation("le", 2, _BOOL, "<=", COMPARISON),
    Operation("gt", 2, _BOOL, ">", COMPARISON),
    Operation("ge", 2, _BOOL, ">=", COMPARISON),
    Operation("eq", 2, _BOOL, "==", COMPARISON),
    Operation("ne", 2, _BOOL, "!=", COMPARISON),
    Operation("and", 2, _BOOL, "and", AND, operands_are_bool=True),
    Operation("or", 2, _BOOL, "or", OR, operands_are_bool=True),
    Operation("abs", 1, _PROMOTED, doc="absolute value"),
    Operation("cdiv", 2, _PROMOTED, doc="whole-number division, rounded up"),
    Operation("ceil", 1, _PROMOTED, doc="rounded up to a whole number"),
    Operation("clamp", 3, _PROMOTED, doc="limited to the range of the 2nd and 3rd argument"),
    Operation("cos", 1, _FLOAT, doc="cosine"),
    Operation("div_rn", 2, _FLOAT, doc="division, correctly rounded"),
    Operation("erf", 1, _FLOAT, doc="error function"),
    Operation("exp", 1, _FLOAT, doc="e to the power"),
    Operation("exp2", 1, _FLOAT, doc="2 to the power"),
    Operation("fdiv", 2, _FLOAT, doc="division, fast"),
    Operation("floor", 1, _PROMOTED, doc="rounded down to a whole number"),
    Operation("fma", 3, _PROMOTED, doc="1st times 2nd plus 3rd, rounded once"),
    Operation("log", 1, _FLOAT, doc="natural logarithm"),
    Operation("log2", 1, _FLOAT, doc="logarithm to base 2"),
    Operation("maximum", 2, _PROMOTED, doc="the larger; NaN wins"),
    Operation("minimum", 2, _PROMOTED, doc="the smaller; NaN wins"),
    Operation("pow", 2, _PROMOTED, doc="power; a small whole exponent is a product"),
    Operation(
        "random",
        3,
        ResultRule.SINGLE,
        operands_are_whole=True,
        takes_bools=False,
        doc="a random number from 0 on, below 1, of a seed and labels",
    ),
    Operation(
        "random_bits",
        3,
        ResultRule.LONG,
        operands_are_whole=True,
        takes_bools=False,
        doc="a whole number of 64 random bits, of a seed and labels",
    ),
    Operation("rargtopk", 2, ResultRule.PLACE, doc="index of the j-th largest; see rtopk"),
    Operation("rtopk", 2, ResultRule.LISTED, doc="the j-th largest, counted from 0; NaN is first"),
    Operation("round", 1, _PROMOTED, doc="the nearest whole number; halves go to the even one"),
    Operation("rsqrt", 1, _FLOAT, doc="1 over the square root"),
    Operation("sigmoid", 1, _FLOAT, doc="1 / (1 + exp(-e))"),
    Operation("sin", 1, _FLOAT, doc="sine"),
    Operation("sqrt", 1, _FLOAT, doc="square root"),
    Operation("sqrt_rn", 1, _FLOAT, doc="square root, correctly rounded"),
    Operation("tanh", 1, _FLOAT, doc="hyperbolic tangent"),
    Operation("trunc", 1, _PROMOTED, doc="rounded towards 0 to a whole number"),
    Operation(
        "where", 3, ResultRule.CHOSEN, doc="2nd argument where the 1st is true, else the 3rd"
    ),
)
# Functions of a seed and two numbers: what is drawn is the same for the same three.
DRAWN = ("random", "random_bits")
# What is taken from a place of a list: the value, or its index. `rtopk(e, k, j)` is the operation
# on a list, the reduction LIST of e over k, and the index of j.
FROM_LIST = ("rargtopk", "rtopk")
OPERATION = {operation.name: operation for operation in OPERATIONS}
FUNCTIONS = {o.name: o for o in OPERATIONS if not o.symbol and o.name not in FROM_LIST}
PREFIX = {o.symbol: o for o in OPERATIONS if o.symbol and o.arity == 1}
INFIX = {o.symbol: o for o in OPERATIONS if o.symbol and o.arity == 2}


@dataclass(frozen=True, slots=True)
class Reduction:
    """An associative operation over one or more labels."""

    name: str
    operands_are_bool: bool = False
    has_identity: bool = True
    has_parts: bool = True  # whether a second kernel can combine what blocks of the label give
    doc: str = ""


REDUCTIONS: tuple[Reduction, ...] = (
    Reduction("rsum", doc="sum; of nothing it is 0"),
    Reduction("rprod", doc="product; of nothing it is 1"),
    Reduction("rmax", doc="largest; NaN wins; of nothing it is the smallest value there is"),
    Reduction("rmin", doc="smallest; NaN wins; of nothing it is the largest value there is"),
    Reduction("rany", operands_are_bool=True, doc="true if any is; of nothing it is false"),
    Reduction("rall", operands_are_bool=True, doc="true if all are; of nothing it is true"),
    Reduction("rargmax", has_identity=False, doc="index of the first largest; NaN wins"),
    Reduction("rargmin", has_identity=False, doc="index of the first smallest; NaN wins"),
)
# The largest values with their indices, in order. No file calls it: it stands inside of FROM_LIST.
LIST = "rlist"
LONGEST_LIST = 64
REDUCTION = {
    **{reduction.name: reduction for reduction in REDUCTIONS},
    LIST: Reduction(LIST, has_parts=False),
}
# Reductions that have no value where there is nothing to reduce.
WITHOUT_IDENTITY = frozenset(one.name for one in REDUCTIONS if not one.has_identity)
# Reductions of which no second kernel can combine what blocks give.
WITHOUT_PARTS = frozenset(one.name for one in REDUCTION.values() if not one.has_parts)
# Reductions whose partial results are pairs: a value, and the index where it is.
PLACES = ("rargmax", "rargmin")

# Functions that reduce up to each index, and the reduction that each of them does.
# The last one is the recurrence h = a * h + b, whose steps have an order.
SCAN_AFFINE, RECURRENCE = "scan_affine", "raffine"
SCANS = {
    **{"scan_sum": "rsum", "scan_prod": "rprod", "scan_max": "rmax", "scan_min": "rmin"},
    SCAN_AFFINE: RECURRENCE,
}
SCAN = {reduction: scan for scan, reduction in SCANS.items()}
# Words behind the labels of a scan.
BEFORE, REVERSE = "before", "reverse"

# Words that are called like functions but have a node of their own.
SPECIAL_CALLS = ("cast", "len", "pad", "program_id", "rdot", "reshape")
REDUCTION_CALLS = tuple(reduction.name for reduction in REDUCTIONS)
CALL_NAMES = (*FUNCTIONS, *REDUCTION_CALLS, *SCANS, *FROM_LIST, *SPECIAL_CALLS)
