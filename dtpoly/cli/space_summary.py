"""Counts the points of a space and those that each rule removes, as rows and as data."""

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dtpoly.algorithm.choices import Alternatives, Item
from dtpoly.algorithm.show_choices import show_option
from dtpoly.catalogue import CATALOGUE
from dtpoly.explore.legality.rules import EXACT, SAMPLE, Constrained, RuleTally, constrained, shown
from dtpoly.explore.legality.verdicts import Rule, SpaceQuestion, decided
from dtpoly.explore.space.count import point_at, sample
from dtpoly.explore.space.space import Space, SpaceParameter, parents
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.system.alarm import ringing
from dtpoly.system.apart import tidying_up

CHOICES = ("choice", "options", "in")
RULES = ("points", "", "why")
WIDEST = 72  # characters of a list of options

WORDS = {
    Rule.CHECK: "wrong",
    Rule.LIMIT: "too large for Triton",
    Rule.LEGALITY: "not legal",
}


@dataclass(frozen=True, slots=True)
class Telling:
    """The wishes of the user: what to find out about a space, and how."""

    seed: int
    looked_at: int | None
    recheck: int
    workers: int | None
    seconds: float | None
    primitives: Primitives


@dataclass(frozen=True, slots=True)
class SpaceSummary:
    """The numbers that are known about a space; some are missing if the count was interrupted."""

    constrained: Constrained
    tally: RuleTally
    is_interrupted: bool
    is_late: bool = False  # True if the time was used up before all points were looked at

    @property
    def is_exact(self) -> bool:
        """True if every point was looked at."""
        return self.tally.known == self.constrained.left.count


def summarise(space: Space, telling: Telling) -> SpaceSummary:
    """Count the points, then apply the rules to all of them or to a sample. Raises DtpolyError."""
    found = constrained(space)
    left = found.left
    size = telling.looked_at or (left.count if left.count <= EXACT else SAMPLE)
    size = min(size, left.count)
    numbers = range(size) if size == left.count else sample(left, size, telling.seed)
    tally = RuleTally(size)
    points = [point_at(left, number) for number in numbers]
    asked = SpaceQuestion(space, telling.primitives)
    try:
        answers = decided(asked, points, telling.recheck, telling.seed, telling.workers)
        with ringing(telling.seconds, TimeIsOverError()), closing(answers), _progress() as bar:
            task = bar.add_task("proving schedules", total=size)
            for one in answers:
                tally.add(one)
                text = "deciding a sample again" if one.is_again else "proving schedules"
                bar.update(task, completed=tally.known, description=text)
    except TimeIsOverError:
        return SpaceSummary(found, tally, False, True)
    except KeyboardInterrupt:
        tidying_up()
        return SpaceSummary(found, tally, True)
    return SpaceSummary(found, tally, False)


class TimeIsOverError(Exception):
    """Raised when the time for a summary is used up."""


def _progress() -> Progress:
    """Return a progress bar for a terminal, which disappears at the end.

    Elsewhere it shows nothing.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    hidden = not sys.stderr.isatty()
    return Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=hidden
    )


def choice_rows(space: Space) -> list[tuple[str, str, str]]:
    """List each parameter: its name in a point, its options, and the alternative that has it."""
    names = [str(parameter) for parameter in space.parameters]
    listed = iter(_alternatives(space.items))
    rows: list[tuple[str, str, str]] = []
    for parameter, parent in zip(space.parameters, parents(space), strict=True):
        where = "" if parent is None else f"{names[parent[0]]}={parent[1] + 1}"
        first, *others = _options(parameter, next(listed) if parameter.is_alternatives else None)
        rows.append((str(parameter), first, where))
        rows.extend(("", other, "") for other in others)
    return rows


def _alternatives(items: tuple[Item, ...]) -> Iterator[Alternatives]:
    """Yield all alternatives, in the order of their parameters."""
    for item in items:
        if isinstance(item, Alternatives):
            yield item
            for option in item.options:
                yield from _alternatives(option)


def _options(parameter: SpaceParameter, listed: Alternatives | None) -> list[str]:
    """Return the options in one line; alternatives have a line each."""
    if listed is not None:
        options = enumerate(map(show_option, listed.options), 1)
        return [f"{at}: {text or 'nothing'}" for at, text in options]
    words = [str(option) for option in parameter.options]
    text = ", ".join(words)
    return [text if len(text) <= WIDEST else f"{', '.join(words[:6])}, ..., {words[-1]}"]


def rule_rows(found: SpaceSummary) -> Iterator[tuple[str, str, str]]:
    """Yield rows with the number of points, the number that each rule removes, and the rest."""
    yield f"{found.constrained.all:,}", "", "all that can be chosen"
    for constraint, count in found.constrained.removed:
        yield f"-{count:,}", "", shown(constraint)
    left, tally = found.constrained.left.count, found.tally
    if found.constrained.removed:
        yield f"{left:,}", "", "points of the space"
    if not found.is_exact:
        yield f"{tally.known:,}", "", "looked at"
    for rule, code, count in tally.by_rule:
        yield f"-{count:,}", _share(count, tally.known), f"{WORDS[rule]}: {_title(code)}"
    yield f"{tally.legal:,}", _share(tally.legal, tally.known), "legal"


def _share(count: int, all_of_them: int) -> str:
    return f"{100 * count / all_of_them:.1f} %" if all_of_them else ""


def _title(code: str) -> str:
    if code == "DT300":
        return f"a tile of more than 1,048,576 elements ({code})"
    return f"{CATALOGUE[code].title} ({code})"


def remarks(found: SpaceSummary) -> Iterator[str]:
    """Yield the remarks that a reader of the numbers needs."""
    tally, left = found.tally, found.constrained.left.count
    if found.is_interrupted:
        yield f"interrupted: {tally.known:,} of {tally.asked:,} points were looked at"
    elif found.is_late:
        yield f"the time is over: {tally.known:,} of {tally.asked:,} points were looked at"
    elif not found.is_exact:
        yield f"a sample of {tally.known:,} of {left:,} points; shares are estimates"
    if tally.shared:
        points = "1 point shares" if tally.shared == 1 else f"{tally.shared:,} points share"
        again = f"{tally.again:,} of them were decided again by themselves"
        if tally.again == 1:
            again = f"{'it' if tally.shared == 1 else '1 of them'} was decided again by itself"
        yield f"{points} the verdict of another one; {again}"


def as_data(space: Space, found: SpaceSummary) -> dict[str, Any]:
    """Return the summary as data for JSON."""
    tally = found.tally
    return {
        "choices": [
            {
                "name": str(parameter),
                "options": list(parameter.options),
                "is_alternatives": parameter.is_alternatives,
                "in": None if parent is None else [str(space.parameters[parent[0]]), parent[1] + 1],
            }
            for parameter, parent in zip(space.parameters, parents(space), strict=True)
        ],
        "all": found.constrained.all,
        "constraints": [
            {"constraint": shown(constraint), "removed": count}
            for constraint, count in found.constrained.removed
        ],
        "count": found.constrained.left.count,
        "looked_at": tally.known,
        "is_exact": found.is_exact,
        "is_interrupted": found.is_interrupted,
        "is_late": found.is_late,
        "refused": [
            {"rule": rule, "code": code, "points": count} for rule, code, count in tally.by_rule
        ],
        "legal": tally.legal,
        "shared": tally.shared,
        "decided_again": tally.again,
    }
