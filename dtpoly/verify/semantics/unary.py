"""Make the table's entries of operators and functions of one operand."""

from __future__ import annotations

from dtpoly.verify.semantics.row import NO, OperationRow, done, element
from dtpoly.verify.semantics.types import STANDARD, TRUTH, is_constant, is_float, is_signed, tensor

# Functions that are computed in f32 and f64 alone.
MATH = {
    "exp": "math.exp",
    "exp2": "math.exp2",
    "log": "math.log",
    "log2": "math.log2",
    "sin": "math.sin",
    "cos": "math.cos",
    "sqrt": "math.sqrt",
    "rsqrt": "math.rsqrt",
    "erf": "math.erf",
    "floor": "math.floor",
    "ceil": "math.ceil",
}
WIDE = STANDARD[2:]
# The type of the opposite of a constant: Python turns a truth into a whole number first.
WIDER = {"bool": "int", "int": "int|long", "long": "int|long"}


def unary(name: str, of: str) -> OperationRow:
    """Return the entry of an operation on one operand."""
    match name:
        case "neg" | "pos" if is_constant(of):
            # Python turns a truth into a whole number.
            return OperationRow(WIDER.get(of, of))
        case "invert" if is_constant(of):
            # Python does so for a truth too: `~True` is -2 and `~False` is -1, which
            # are both true.
            return NO if is_float(of) else OperationRow("int|long")
        case "not" if is_constant(of):
            return OperationRow("bool")
        case "pos":
            return NO
        case "neg" if is_float(of):
            return OperationRow(of, of, f"arith.negf {element(of)}", f"arith.subf {element(of)}")
        case "neg":
            return done(of, of, "arith.subi")
        case "invert":
            return NO if is_float(of) else done(of, of, "arith.xori")
        case "not":
            return done(TRUTH, TRUTH, "arith.xori") if of == TRUTH else NO
        case "abs":
            made = tensor(of)
            if is_float(made):
                return done(made, made, "math.absf")
            return done(made, made, "math.absi") if is_signed(made) else OperationRow(made, made)
        case "sqrt_rn":
            made = tensor(of)
            return (
                done(made, made, "tt.precise_sqrt")
                if made == "tl.float32" or of == "double"
                else NO
            )
        case "sigmoid":
            made = tensor(of)
            return done(made, made, "arith.divf") if made in WIDE else NO
        case _:
            made = tensor(of)
            return done(made, made, MATH[name]) if made in WIDE else NO
