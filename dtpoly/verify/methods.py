"""Methods of tensors: which values have them, wherever a kernel may run."""

from __future__ import annotations

from dtpoly.verify import kinds
from dtpoly.verify.values import Tile, Unread, Value

# Functions that are methods of tensors, too; but Triton's interpreter cannot call those before 3.9.
LATE = frozenset(
    ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "sin", "cos", "erf", "ceil", "floor")
)
# What else tensors of Triton 3.6 to 3.9 have: the functions of these names, without the tensor.
METHODS = frozenset(
    (
        *("abs", "atomic_add", "atomic_max", "atomic_min", "broadcast_to", "cast", "cdiv"),
        *("expand_dims", "max", "min", "permute", "reduce", "reshape", "sigmoid", "split"),
        *("store", "sum", "to", "trans"),
    )
)
# Kinds of what may be a number of Python's where it has no lanes.
PYTHONS = (kinds.WEAK, kinds.SIZE, kinds.TRUTH, kinds.NUMBER)


def check(value: Value, word: str, line: int) -> None:
    """That a value has such a method, in each version of Triton and in its interpreter.

    A size of 1, a truth of sizes and a counter of a loop may be numbers of Python's, which have no
    `to`: `tl.cast` takes them. Raises Unread.
    """
    if word in LATE:
        what = f"'.{word}()', which Triton's interpreter has not before 3.9"
        raise Unread(line, f"{what}: write tl.{word}(...)")
    if word not in METHODS:
        raise Unread(line, f"'.{word}', which tensors have not")
    if isinstance(value, Tile) and not value.axes and (value.is_counter or value.kind in PYTHONS):
        what = f"'.{word}' of what may be a number of Python's, which has no such method"
        raise Unread(line, f"{what}: write tl.{'cast' if word == 'to' else word}(...)")
