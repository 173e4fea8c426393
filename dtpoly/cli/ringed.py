"""Decides whether kernels agree with their Program in the ring, at small sizes.

It imports torch and triton.
"""

import sys
from collections.abc import Mapping
from typing import assert_never

from dtpoly.algorithm.program import Program
from dtpoly.ring import trying
from dtpoly.ring.trying import Equal, NotRun, WrongTrial, shown
from dtpoly.verify.proof.report import CallWitness, FunctionReport, Layer, LayerVerdict, LineRun
from dtpoly.verify.triton.said import is_by_hand

NAME = "ring"
BY_HAND = "it runs functions that call kernels, and a file that is written by hand has none"


def tried(program: Program, text: str, function: FunctionReport, seconds: float) -> Layer:
    """Return whether a function computes the algorithm, bit for bit, on elements of the ring."""

    def begin(sizes: Mapping[str, int]) -> None:
        _tell(f"{function.name} in the ring at {shown(sizes)}")

    if is_by_hand(text):
        return Layer(NAME, LayerVerdict.UNKNOWN, 0, BY_HAND)
    # If a proof failed at some sizes, a run at these sizes may show why.
    doubtful = [dict(one.witness.sizes) for one in function.layers if one.witness is not None]
    try:
        found = trying.tried(program, text, function.name, seconds, doubtful, begin)
    finally:
        _tell("")
    match found:
        case Equal(sizes=sizes):
            return Layer(
                NAME, LayerVerdict.TESTED, 0, f"equal at {'; at '.join(map(shown, sizes))}"
            )
        case WrongTrial(sizes=wrong, line=line, what=what):
            witness = CallWitness(tuple(wrong.items()), LineRun())
            return Layer(
                NAME, LayerVerdict.REFUTED, line, f"at {shown(wrong)}, {what}", witness=witness
            )
        case NotRun(why=why):
            return Layer(NAME, LayerVerdict.UNKNOWN, 0, why)
        case _:
            assert_never(found)


def _tell(words: str) -> None:
    """Show the present step to a user who waits at a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words}")
        sys.stderr.flush()
