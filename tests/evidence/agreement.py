"""Compares the oracle and isl on random programs of each kind, and runs some that are compiled."""

from collections import Counter
from collections.abc import Callable, Mapping

from dtpoly.schedule.verdict import Verdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.at_data import tried
from tests.codegen.random_programs import text_or_none
from tests.evidence.constructs import Construct, used
from tests.oracle.cases import (
    Case,
    along_case,
    data_case,
    dividing_case,
    elementwise_case,
    in_place_case,
    indirect_case,
    listing_case,
    parted_scan_case,
    placed_case,
    ranged_case,
    returning_case,
    scanning_case,
    started_case,
)
from tests.schedule.agreement import LEGAL, agreed

CASES: Mapping[str, Callable[[int], Case]] = {
    "returning": returning_case,
    "along": along_case,
    "in place": in_place_case,
    "placed": placed_case,
    "started": started_case,
    "data": data_case,
    "indirect": indirect_case,
    "ranged": ranged_case,
    "dividing": dividing_case,
    "scanning": scanning_case,
    "parted scans": parted_scan_case,
    "listing": listing_case,
    "elementwise": elementwise_case,
}
PROGRAMS, DISAGREE = "programs", "disagree"
Counts = Mapping[str, Mapping[str, int]]


def constructs_of(case: Case) -> frozenset[Construct]:
    """Return what the Program of a case uses, and whether tables say where a range ends."""
    more = {Construct.DATA_RANGES} if case.ends is not None else set[Construct]()
    return used(case.program) | more


def compared(kind: str, first: int, last: int) -> Counter[str]:
    """Return how often which construct has which verdict, that of the oracle and of isl.

    All programs count under `programs`; those on which the two disagree, as that.
    """
    found = Counter[str]()
    for seed in range(first, last):
        case = CASES[kind](seed)
        try:
            word = _word(agreed(case))
        except AssertionError:
            word = DISAGREE
        found.update(f"{one}: {word}" for one in (PROGRAMS, *constructs_of(case)))
    return found


def _word(verdict: Verdict) -> str:
    return LEGAL if verdict.is_legal else "refused"


def compiled(kind: str, first: int, last: int) -> tuple[Counter[str], Counter[str]]:
    """Compile, run and verify random programs, and count by construct; and why some are unknown.

    Raises AssertionError if one computes something else than the reference, or is refuted.
    """
    found, reasons = Counter[str](), Counter[str]()
    for seed in range(first, last):
        case = CASES[kind](seed)
        came = tried(seed, CASES[kind])
        word = came[-1]
        mine = constructs_of(case)
        found.update(f"{one}: {word}" for one in (PROGRAMS, *mine))
        if word == "unknown":
            why = _reason(case)
            reasons.update(f"{one}: {why}" for one in mine)
    return found, reasons


def _reason(case: Case) -> str:
    text = text_or_none(case.program)
    assert text is not None
    for function in verify(case.program, text, seconds=20).functions:
        for layer in function.layers:
            # A layer that needs another one says so.
            if str(layer.verdict) == "unknown" and not layer.why.startswith("not looked at"):
                return f"{layer.name}: {layer.why}"
    return "time"
