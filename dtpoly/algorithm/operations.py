"""Lists the elementwise operations and the reductions that an expression may use, by name."""

from enum import StrEnum

from dtpoly.frozen import dataclass


class Result(StrEnum):
    """How the dtype of a result follows from the dtypes of the operands."""

    PROMOTED = "promoted"  # the operands' promoted dtype
    FLOAT = "float"  # the promoted dtype, f32 where that is not a float
    BOOL = "bool"
    CHOSEN = "chosen"  # promoted over all operands but the first, which is a condition


@dataclass(frozen=True, slots=True)
class Operation:
    """An elementwise operation; if it has a symbol, it is written as an operator."""

    name: str
    arity: int
    result: Result
    symbol: str = ""
    precedence: int = 0  # higher binds tighter; 0 for a call
    operands_are_bool: bool = False
    doc: str = ""


# The precedences of the operators, and ATOM for names, literals and calls, which bind tightest.
OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, ATOM = range(1, 9)

_PROMOTED, _FLOAT, _BOOL = Result.PROMOTED, Result.FLOAT, Result.BOOL

OPERATIONS: tuple[Operation, ...] = (
    Operation("neg", 1, _PROMOTED, "-", SIGN),
    Operation("not", 1, _BOOL, "not", NOT, operands_are_bool=True),
    Operation("mul", 2, _PROMOTED, "*", PRODUCT),
    Operation("div", 2, _FLOAT, "/", PRODUCT),
    Operation("mod", 2, _PROMOTED, "%", PRODUCT),
    Operation("add", 2, _PROMOTED, "+", SUM),
    Operation("sub", 2, _PROMOTED, "-", SUM),
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
    Operation("rsqrt", 1, _FLOAT, doc="1 over the square root"),
    Operation("sigmoid", 1, _FLOAT, doc="1 / (1 + exp(-e))"),
    Operation("sin", 1, _FLOAT, doc="sine"),
    Operation("sqrt", 1, _FLOAT, doc="square root"),
    Operation("sqrt_rn", 1, _FLOAT, doc="square root, correctly rounded"),
    Operation("tanh", 1, _FLOAT, doc="hyperbolic tangent"),
    Operation("where", 3, Result.CHOSEN, doc="2nd argument where the 1st is true, else the 3rd"),
)
OPERATION = {operation.name: operation for operation in OPERATIONS}
FUNCTIONS = {o.name: o for o in OPERATIONS if not o.symbol}
PREFIX = {o.symbol: o for o in OPERATIONS if o.symbol and o.arity == 1}
INFIX = {o.symbol: o for o in OPERATIONS if o.symbol and o.arity == 2}


@dataclass(frozen=True, slots=True)
class Reduction:
    """An associative operation over one or more labels."""

    name: str
    operands_are_bool: bool = False
    has_identity: bool = True
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
REDUCTION = {reduction.name: reduction for reduction in REDUCTIONS}

# Words that are called like functions but have a node of their own.
SPECIAL_CALLS = ("cast", "len", "pad", "program_id", "rdot", "reshape")
CALL_NAMES = (*FUNCTIONS, *REDUCTION, *SPECIAL_CALLS)
