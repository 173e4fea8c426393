"""The methods of tensors that a kernel may call, wherever it runs.

A method must exist in each version of Triton and in its interpreter, and the value must be a tensor
in all of them.
"""

from __future__ import annotations

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import TileValue, Unread, Value

# Functions that are also methods of tensors, but Triton's interpreter cannot call these methods
# before 3.9.
LATE = frozenset(
    ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "sin", "cos", "erf", "ceil", "floor")
)
# The other methods that tensors of Triton 3.6 to 3.9 have. Each is the function of that name, with
# the tensor as its first argument.
METHODS = frozenset(
    (
        *("abs", "atomic_add", "atomic_max", "atomic_min", "broadcast_to", "cast", "cdiv"),
        *("expand_dims", "max", "min", "permute", "reduce", "reshape", "sigmoid", "split"),
        *("store", "sum", "to", "trans"),
    )
)


def check(value: Value, word: str, line: int) -> None:
    """Raise Unread unless a value has a method in each version of Triton and in its interpreter.

    A size of 1, a truth of sizes and the counter of a loop may be numbers of Python. These have no
    method `to`, for example; `tl.cast` accepts them. A float that a kernel is given is a tensor
    wherever a kernel is compiled. Where it is none, in some interpreters, `to` ends in an error.
    """
    is_given_float = (
        isinstance(value, TileValue) and value.kind == kinds.NUMBER and not value.is_counter
    )
    if is_given_float and word == "to":
        return
    if word in LATE:
        what = f"'.{word}()', which Triton's interpreter has not before 3.9"
        raise Unread(line, f"{what}: write tl.{word}(...)")
    if word not in METHODS:
        raise Unread(line, f"'.{word}', which tensors have not")
    if isinstance(value, TileValue) and value.is_number_of_python:
        what = f"'.{word}' of what may be a number of Python's, which has no such method"
        raise Unread(line, f"{what}: write tl.{'cast' if word == 'to' else word}(...)")
