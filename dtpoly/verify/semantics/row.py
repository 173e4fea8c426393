"""Define an entry of the table, and how Triton's instructions name the types of elements."""

from __future__ import annotations

from dtpoly.frozen import dataclass
from dtpoly.verify.semantics.types import EIGHTS, REFUSED, STANDARD, TRUTH, bits, is_whole

_IN_IR = {
    **dict(zip(EIGHTS, ("f8E4M3FN", "f8E5M2"), strict=True)),
    **dict(zip(STANDARD, ("f16", "bf16", "f32", "f64"), strict=True)),
}


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An entry: the type of an operation's result, and the instruction that computes it.

    `within` is the type to which operands are brought first, and in which each step is rounded. The
    instruction is empty if Python computes a constant, or if no value changes. Some versions of
    Triton use the instruction in `also` instead, which gives the same value (only a 0 may have
    another sign).
    """

    result: str
    within: str = ""
    instruction: str = ""
    also: str = ""

    @property
    def is_refused(self) -> bool:
        """True if Triton does not compile it."""
        return self.result == REFUSED

    def __str__(self) -> str:
        also = f" or {self.also}" if self.also else ""
        return f"{self.result} in {self.within or '-'} by {self.instruction or '-'}{also}"


NO = OperationRow(REFUSED)


def element(of: str) -> str:
    """Return a type as Triton's instructions name it, which does not say whether it has a sign."""
    if of == TRUTH:
        return "i1"
    return f"i{bits(of)}" if is_whole(of) else _IN_IR[of]


def done(result: str, within: str, instruction: str) -> OperationRow:
    """Return an entry whose instruction names the type that it computes in."""
    return OperationRow(result, within, f"{instruction} {element(within)}")
