"""The operations of torch that the language has, and how it writes them."""

UNARY = {
    "exp": "exp({})",
    "exp2": "exp2({})",
    "log": "log({})",
    "log2": "log2({})",
    "sqrt": "sqrt({})",
    "rsqrt": "rsqrt({})",
    "sin": "sin({})",
    "cos": "cos({})",
    "tanh": "tanh({})",
    "sigmoid": "sigmoid({})",
    "erf": "erf({})",
    "abs": "abs({})",
    "floor": "floor({})",
    "ceil": "ceil({})",
    "trunc": "trunc({})",
    "neg": "(-{})",
    "relu": "maximum({}, 0)",
    "reciprocal": "(1 / {})",
    "square": "({0} * {0})",
    "logical_not": "(not {})",
}
BINARY = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "rsub": "({} - {})",
    "mul": "({} * {})",
    "div": "({} / {})",
    "maximum": "maximum({}, {})",
    "minimum": "minimum({}, {})",
    "logical_and": "({} and {})",
    "logical_or": "({} or {})",
}
COMPARED = {
    "lt": "({} < {})",
    "le": "({} <= {})",
    "gt": "({} > {})",
    "ge": "({} >= {})",
    "eq": "({} == {})",
    "ne": "({} != {})",
}
# The operand, the labels that are reduced, and how many elements they have.
REDUCED = {
    "sum": "rsum({0}, {1})",
    "mean": "rsum({0}, {1}) / ({2})",
    "amax": "rmax({0}, {1})",
    "amin": "rmin({0}, {1})",
    "prod": "rprod({0}, {1})",
}


def number_text(value: bool | int | float) -> str:
    """Return a number as the language writes it."""
    if isinstance(value, bool):
        return "1 == 1" if value else "1 == 0"
    text = repr(value)
    text = {"inf": "inf", "-inf": "(-inf)", "nan": "nan"}.get(text, text)
    return f"({text})" if text.startswith("-") else text
