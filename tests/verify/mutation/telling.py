"""Mutants with what was found of each in; a table by operator, and figures, out."""

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
    """One mistake in one file: what running it showed, what the verifier says."""

    file: str
    operator: str
    ran: Row
    judged: Row

    @property
    def is_wrong(self) -> bool:
        """Whether calls that know nothing of the verifier show it to be wrong."""
        return bool(self.ran["outcome"] == "wrong")

    @property
    def is_broken(self) -> bool:
        """Whether it does not run, or takes too long."""
        return self.ran["outcome"] in ("raises", "slow")

    @property
    def shown(self) -> frozenset[str]:
        """What running says of the witnesses, overflow apart."""
        return frozenset(
            one["shown"] for one in self.judged["refuted"] if one["layer"] != "overflow"
        )

    @property
    def is_refuted(self) -> bool:
        """Whether it is refuted by something else than overflow."""
        return bool(self.shown)

    @property
    def is_confirmed(self) -> bool:
        """Whether running it shows a witness to be one."""
        return any(one in SHOWN for one in self.shown)

    @property
    def verdict(self) -> str:
        """What the verifier says of it as a whole."""
        return str(self.judged["verdict"])


Test = Callable[[Mutant], bool]
# What is counted, by operator.
COLUMNS: Mapping[str, Test] = {
    "mutants": lambda one: True,
    "do not run": lambda one: one.is_broken,
    "wrong": lambda one: one.is_wrong,
    "refuted": lambda one: one.is_wrong and one.is_refuted,
    "confirmed": lambda one: one.is_wrong and one.is_confirmed,
    "unknown": lambda one: one.is_wrong and one.verdict == "unknown",
    "proved": lambda one: one.is_wrong and one.verdict == "proved",
    "seen right": lambda one: not one.is_wrong and not one.is_broken,
    "of which refuted": lambda one: (
        not one.is_wrong and not one.is_broken and one.verdict == "refuted"
    ),
    "and confirmed": lambda one: not one.is_wrong and not one.is_broken and one.is_confirmed,
    "of which proved": lambda one: (
        not one.is_wrong and not one.is_broken and one.verdict == "proved"
    ),
}


def counts(found: Sequence[Mutant]) -> dict[str, int]:
    """How many there are of each column."""
    return {name: sum(map(test, found)) for name, test in COLUMNS.items()}


def figures(found: Sequence[Mutant]) -> dict[str, Any]:
    """What is said of all of them."""
    wrong = [one for one in found if one.is_wrong]
    confirmed = [one for one in wrong if one.is_confirmed]
    unseen = {one.name for one in OPERATORS if one.unseen}
    right = [one for one in found if not one.is_wrong and not one.is_broken]
    share = f"{len(confirmed) / len(wrong):.1%}" if wrong else "-"
    return {
        "mutants": len(found),
        "operators": len({one.operator for one in found}),
        "wrong, as running them shows": len(wrong),
        "of which refuted, by a witness that running confirms": len(confirmed),
        "that is": share,
        "of which unknown": sum(one.verdict == "unknown" for one in wrong),
        "of which refuted for overflow alone": sum(
            one.verdict == "refuted" and not one.is_refuted for one in wrong
        ),
        "of which proved": sum(one.verdict == "proved" for one in wrong),
        "that do not run, and are proved": sum(
            one.is_broken and one.verdict == "proved" for one in found
        ),
        "right in all calls": len(right),
        "that are right, refuted, and a witness shows them wrong": sum(
            one.is_confirmed for one in right
        ),
        "that are right, refuted, and no witness does": sum(
            one.is_refuted and not one.is_confirmed and one.operator not in unseen for one in right
        ),
        "that are right, refuted for what the interpreter does not show": sum(
            one.verdict == "refuted" and not one.is_confirmed and one.operator in unseen
            for one in right
        ),
        "that are right, proved": sum(one.verdict == "proved" for one in right),
        "that are right, proved, and more calls show them wrong": sum(
            one.judged["more"] not in ("", "right") for one in right
        ),
        "witnesses that running does not show": sum("not shown" in one.shown for one in found),
        "witnesses of no call": sum("no such call" in one.shown for one in found),
        "witnesses too large to run": sum("too large to run" in one.shown for one in found),
    }


def told(command: str, versions: Mapping[str, str], found: Sequence[Mutant]) -> dict[str, Any]:
    """Everything, as it is recorded."""
    return {
        "what": "emitted kernels and wrappers with one mistake each: whether Triton's "
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
        return not one.is_confirmed
    return (
        (one.is_broken and one.verdict == "proved")
        or bool({"not shown", "no such call"} & one.shown)
        or one.judged["more"] not in ("", "right")
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
        "unknown": one.judged["unknown"][:2],
        "more": one.judged["more"],
    }


def table(found: Sequence[Mutant]) -> Table:
    """By operator."""
    made = Table("operator", *COLUMNS, title="mutants by operator")
    for name in dict.fromkeys(one.operator for one in found):
        row = counts([one for one in found if one.operator == name])
        made.add_row(name, *map(str, row.values()))
    made.add_section()
    made.add_row("all", *map(str, counts(found).values()))
    return made
