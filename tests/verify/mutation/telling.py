"""Sums up the results of mutants: a table by operator, and figures."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from tests.verify.mutation.operators import OPERATORS
from tests.verify.mutation.streaming import Row

SHOWN = ("confirmed", "raises")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake in one file: what running it showed, and what the verifier says."""

    file: str
    operator: str
    ran: Row
    judged: Row

    @property
    def is_wrong(self) -> bool:
        """True if calls that know nothing of the verifier show that it is wrong."""
        return bool(self.ran["outcome"] == "wrong")

    @property
    def is_broken(self) -> bool:
        """True if it does not run, or takes too long."""
        return self.ran["outcome"] in ("raises", "slow")

    @property
    def shown(self) -> frozenset[str]:
        """Return what running shows of the witnesses, except those of overflow."""
        return frozenset(
            one["shown"] for one in self.judged["refuted"] if one["layer"] != "overflow"
        )

    @property
    def is_refuted(self) -> bool:
        """True if it is refuted by something else than overflow."""
        return bool(self.shown)

    @property
    def is_confirmed(self) -> bool:
        """True if running it confirms a witness."""
        return any(one in SHOWN for one in self.shown)

    @property
    def is_right(self) -> bool:
        """True if all calls that know nothing of the verifier are right."""
        return bool(self.ran["outcome"] == "right")

    @property
    def is_tried_wrong(self) -> bool:
        """True if a layer is unknown, and running it in the ring refutes it."""
        return bool(self.judged["tried"] == "refuted")

    @property
    def verdict(self) -> str:
        """Return the verifier's verdict on the whole mutant."""
        return str(self.judged["verdict"])


Test = Callable[[Mutant], bool]
# These are counted by operator.
COLUMNS: Mapping[str, Test] = {
    "mutants": lambda one: True,
    "do not run": lambda one: one.is_broken,
    "wrong": lambda one: one.is_wrong,
    "refuted by proof": lambda one: one.is_wrong and one.is_confirmed,
    "else in the ring": lambda one: one.is_wrong and not one.is_confirmed and one.is_tried_wrong,
    "unknown": lambda one: one.is_wrong and not one.is_confirmed and not one.is_tried_wrong,
    "proved": lambda one: one.is_wrong and one.verdict == "proved",
    "seen right": lambda one: one.is_right,
    "shown wrong": lambda one: one.is_right and one.is_confirmed,
    "right, refuted": lambda one: one.is_right and one.verdict == "refuted",
    "right, proved": lambda one: one.is_right and one.verdict == "proved",
}


def counts(found: Sequence[Mutant]) -> dict[str, int]:
    """Return the number of mutants for each column."""
    return {name: sum(map(test, found)) for name, test in COLUMNS.items()}


def figures(found: Sequence[Mutant]) -> dict[str, Any]:
    """Return the sentences about all of them."""
    wrong = [one for one in found if one.is_wrong]
    by_proof = [one for one in wrong if one.is_confirmed]
    in_ring = [one for one in wrong if not one.is_confirmed and one.is_tried_wrong]
    right = [one for one in found if one.is_right]
    unseen = {one.name for one in OPERATORS if one.unseen}
    refuted = [one for one in right if one.verdict == "refuted" and not one.is_confirmed]
    return {
        "mutants": len(found),
        "operators": len({one.operator for one in found}),
        "wrong, as running them shows": len(wrong),
        "of these refuted by proof, with a witness that running confirms": len(by_proof),
        "of these refuted by proof, as a share": _share(len(by_proof), len(wrong)),
        "of the others refuted in the ring, by sizes at which it differs": len(in_ring),
        "of these refuted by either, as a share": _share(len(by_proof) + len(in_ring), len(wrong)),
        "of these unknown": sum(COLUMNS["unknown"](one) for one in wrong),
        "of these proved": sum(one.verdict == "proved" for one in wrong),
        "that do not run": sum(one.is_broken for one in found),
        "that do not run, and are proved": sum(
            one.is_broken and one.verdict == "proved" for one in found
        ),
        "right in all calls": len(right),
        "right ones refuted, and the witness shows them wrong": sum(
            one.is_confirmed for one in right
        ),
        "right ones refuted for what the interpreter does not show": sum(
            one.operator in unseen or not one.is_refuted for one in refuted
        ),
        "right ones refuted otherwise": sum(
            one.operator not in unseen and one.is_refuted for one in refuted
        ),
        "right ones proved": sum(one.verdict == "proved" for one in right),
        "right ones proved, and more calls show them wrong": sum(
            one.judged["more"].startswith("wrong") for one in right
        ),
        "with a witness that running does not show": sum("not shown" in one.shown for one in found),
        "with a witness of no call": sum("no such call" in one.shown for one in found),
        "with a witness too large to run": sum("too large to run" in one.shown for one in found),
    }


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def told(command: str, versions: Mapping[str, str], found: Sequence[Mutant]) -> dict[str, Any]:
    """Return everything as it is recorded."""
    return {
        "what": "emitted kernels and plans with one mistake each: whether Triton's "
        "interpreter, with memory and races watched, shows them to be wrong, and what the "
        "verifier says",
        "command": command,
        "versions": dict(versions),
        "seconds": round(
            sum(one.ran["seconds"] for one in found) + sum(one.judged["seconds"] for one in found)
        ),
        "figures": figures(found),
        "operators": {
            name: counts([one for one in found if one.operator == name])
            for name in dict.fromkeys(one.operator for one in found)
        },
        "unknown because": _sorted(
            [one for one in found if one.is_wrong and one.verdict == "unknown"]
        ),
        "not as it should be": [_shown(one) for one in found if _is_bad(one)],
    }


def _sorted(found: Sequence[Mutant]) -> dict[str, int]:
    whys = [one.judged["unknown"][-1] if one.judged["unknown"] else "" for one in found]
    return dict(
        Counter(why.partition(" (line")[0].partition(": ")[2] for why in whys).most_common()
    )


def _is_bad(one: Mutant) -> bool:
    if one.is_wrong:
        return not one.is_confirmed and not one.is_tried_wrong
    return (
        (one.is_broken and one.verdict == "proved")
        or bool({"not shown", "no such call"} & one.shown)
        or one.judged["more"].startswith("wrong")
    )


def _shown(one: Mutant) -> dict[str, Any]:
    return {
        "file": one.file,
        "operator": one.operator,
        "line": one.ran["line"],
        "what": one.ran["what"],
        "ran": f"{one.ran['outcome']}: {one.ran['why']} {one.ran['probe']}"[:300],
        "verdict": one.verdict,
        "refuted": one.judged["refuted"],
        "unknown": one.judged["unknown"][-2:],
        "in the ring": one.judged["tried"],
        "more": one.judged["more"],
    }


def table(found: Sequence[Mutant]) -> Table:
    """Return the mutants by operator."""
    made = Table("operator", *COLUMNS, title="mutants by operator")
    for name in dict.fromkeys(one.operator for one in found):
        row = counts([one for one in found if one.operator == name])
        made.add_row(name, *map(str, row.values()))
    made.add_section()
    made.add_row("all", *map(str, counts(found).values()))
    return made
