"""One entry of the table, and how Triton's instructions name the types of their elements."""

from __future__ import annotations

from dtpoly.frozen import dataclass
from dtpoly.verify.semantics.types import EIGHTS, REFUSED, STANDARD, TRUTH, bits, is_whole

_IN_IR = {
    **dict(zip(EIGHTS, ("f8E4M3FN", "f8E5M2"), strict=True)),
    **dict(zip(STANDARD, ("f16", "bf16", "f32", "f64"), strict=True)),
}


@dataclass(frozen=True, slots=True)
class Row:
    """What an operation gives: the type of its result, and the instruction that computes it.

    `within` is the type to which operands are brought first, and in which each step is rounded.
    The instruction is nothing where Python computes a constant, or no value changes. Some versions
    of Triton take `also` another one, which gives the same value (of 0 perhaps another sign).
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


NO = Row(REFUSED)


def element(of: str) -> str:
    """A type as it is named in Triton's instructions, which do not say signs."""
    if of == TRUTH:
        return "i1"
    return f"i{bits(of)}" if is_whole(of) else _IN_IR[of]


def done(result: str, within: str, instruction: str) -> Row:
    """An entry whose instruction names the type that it computes in."""
    return Row(result, within, f"{instruction} {element(within)}")
