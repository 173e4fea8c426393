"""List the operations of the table: how each is written, and with which operands it is checked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from dtpoly.frozen import dataclass
from dtpoly.verify.semantics.types import STANDARD, TENSORS, TRUTH, TYPES


@dataclass(frozen=True, slots=True)
class TableOperation:
    """An operation, written as in a kernel, with `{0}`, `{1}` and `{2}` for its operands.

    `kinds` says for each operand what it may be: `value` (a tensor or a constant), `tensor`,
    `truth`, `type` (the name of a type), `sum type` (the type in which is summed), `address` (of
    elements of a type) or `matrix`.
    """

    name: str
    text: str
    kinds: tuple[str, ...]

    def operands(self) -> Iterator[tuple[str, ...]]:
        """Yield the types of operands; each choice of types is an entry of the table."""
        if self.name == "dot onto":
            yield from ONTO
            return
        if len(self.kinds) == 3 and self.kinds.count("value") == 3:
            yield from _threes()
            return
        yield from product(*(KINDS[one] for one in self.kinds))


KINDS = {
    "value": TYPES,
    "tensor": TENSORS,
    "truth": (TRUTH, "bool"),
    "type": TENSORS,
    "address": TENSORS,
    "matrix": TENSORS,
    "sum type": (*STANDARD, "tl.int32"),
}


def _threes() -> Iterator[tuple[str, str, str]]:
    """Yield types of three operands: all of one type, or one of another type at any place."""
    for one, other in product(TYPES, TYPES):
        yield from dict.fromkeys(((one, one, other), (one, other, one), (other, one, one)))


# The types of tiles to which a product of matrices may be added. With other types Triton reports no
# mistake, but does not add.
ONTO = (
    ("tl.int8", "tl.int32"),
    *product(("tl.float8e4nv", "tl.float8e5", "tl.float16"), ("tl.float16", "tl.float32")),
    *((one, "tl.float32") for one in ("tl.bfloat16", "tl.float32")),
    ("tl.float64", "tl.float64"),
)
TWO = ("value", "value")
BINARY = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "floordiv": "{0} // {1}",
    "mod": "{0} % {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "shl": "{0} << {1}",
    "shr": "{0} >> {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "both": "{0} and {1}",
    "either": "{0} or {1}",
    "pow": "{0} ** {1}",
    "maximum": "tl.maximum({0}, {1})",
    "minimum": "tl.minimum({0}, {1})",
    "maximum of all": "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    "minimum of all": "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    "max of python": "max({0}, {1})",
    "min of python": "min({0}, {1})",
    "fdiv": "tl.fdiv({0}, {1})",
    "div_rn": "tl.div_rn({0}, {1})",
    "cdiv": "tl.cdiv({0}, {1})",
}
UNARY = {
    "neg": "-{0}",
    "pos": "+{0}",
    "invert": "~{0}",
    "not": "not {0}",
    "abs": "tl.abs({0})",
    **{
        one: f"tl.{one}({{0}})"
        for one in (
            *("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt", "erf"),
            *("floor", "ceil", "sigmoid"),
        )
    },
}
REDUCTIONS = {
    "sum": "tl.sum({0}, 0)",
    "max": "tl.max({0}, 0)",
    "min": "tl.min({0}, 0)",
    "xor_sum": "tl.xor_sum({0}, 0)",
    "argmax": "tl.argmax({0}, 0)",
    "argmin": "tl.argmin({0}, 0)",
    "max with index": "tl.max({0}, 0, return_indices=True)[0]",
    "min with index": "tl.min({0}, 0, return_indices=True)[0]",
    "reduce": "tl.reduce({0}, 0, added)",
    "cumsum": "tl.cumsum({0}, 0)",
}
OPERATIONS = (
    *(TableOperation(name, text, TWO) for name, text in BINARY.items()),
    *(TableOperation(name, text, ("value",)) for name, text in UNARY.items()),
    *(TableOperation(name, text, ("tensor",)) for name, text in REDUCTIONS.items()),
    # A name that is set to a constant holds a tensor afterwards.
    TableOperation("assign", "c = {0}; c", ("value",)),
    TableOperation("cast", "{0}.to({1})", ("tensor", "type")),
    TableOperation("bitcast", "{0}.to({1}, bitcast=True)", ("tensor", "type")),
    TableOperation("full", "tl.full([16], {0}, {1})", ("value", "type")),
    TableOperation("zeros", "tl.zeros([16], {0})", ("type",)),
    TableOperation("where", "tl.where({0}, {1}, {2})", ("truth", "value", "value")),
    TableOperation("sum as", "tl.sum({0}, 0, dtype={1})", ("tensor", "type")),
    TableOperation("fma", "tl.fma({0}, {1}, {2})", ("value", "value", "value")),
    TableOperation("clamp", "tl.clamp({0}, {1}, {2})", ("value", "value", "value")),
    TableOperation("load", "tl.load({0})", ("address",)),
    TableOperation("load other", "tl.load({0}, mask=mask, other={1})", ("address", "value")),
    TableOperation("store", "tl.store({0}, {1})", ("address", "value")),
    TableOperation("atomic_add", "tl.atomic_add({0}, {1})", ("address", "value")),
    TableOperation("atomic_max", "tl.atomic_max({0}, {1})", ("address", "value")),
    TableOperation("atomic_min", "tl.atomic_min({0}, {1})", ("address", "value")),
    TableOperation("dot", "tl.dot({0}, {1})", ("matrix", "matrix")),
    TableOperation("dot as", "tl.dot({0}, {0}, out_dtype={1})", ("matrix", "sum type")),
    TableOperation("dot onto", "tl.dot({0}, {0}, {1})", ("matrix", "matrix")),
)
BY_NAME = {one.name: one for one in OPERATIONS}
