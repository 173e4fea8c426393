"""Shows the progress of an exploration in a line, and at the end its results."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dtpoly.explore.run.emission import Emission
from dtpoly.explore.run.exploration import Ended
from dtpoly.explore.run.progress import Snapshot
from dtpoly.explore.store.measured_question import Question
from dtpoly.explore.store.results import Outcome

KINDS = 6  # lines of the histogram
WIDTH = 24  # of its longest bar
REFRESH = 4.0  # a second


@contextmanager
def following(quiet: bool) -> Generator[Callable[[Snapshot | Emission], None]]:
    """Show the progress on standard error, if that is a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with Live(console=console, refresh_per_second=REFRESH, transient=True) as live:
        yield lambda now: live.update(picture(now))


def picture(now: Snapshot | Emission) -> RenderableType:
    """Return a picture of the progress.

    It shows the best time, the rate, the time left, and why schedules have no time.
    """
    if isinstance(now, Emission):
        return Text(emission_line(now))
    bar = ProgressBar(total=1.0, completed=now.share or 0.0, width=40)
    head = Table.grid(padding=(0, 2))
    head.add_row(bar, Text(line(now)))
    parts: list[RenderableType] = [head]
    if now.best is not None:
        parts.append(Text(f"best {now.best:.4g} ms{compared(now)}  {now.best_point}"))
    kinds = sorted(now.kinds.items(), key=lambda item: (-item[1], item[0]))
    most = max((count for _, count in kinds), default=1)
    table = Table.grid(padding=(0, 1))
    for (outcome, kind), count in islice(kinds, KINDS):
        length = max(1, round(WIDTH * count / most))
        table.add_row(Text(f"{outcome}: {kind}"), Text("█" * length, "yellow"), Text(f"{count:,}"))
    if len(kinds) > KINDS:
        table.add_row(Text(f"and {len(kinds) - KINDS} other reasons"))
    return Group(*parts, table)


def emission_line(now: Emission) -> str:
    """Return a line such as `emitted 6 texts, 2 refused, 5 proved, 1 not proved`."""
    words = [f"emitted {now.texts:,} texts", f"{now.refused:,} refused"]
    if now.proved or now.unproved or now.refuted:
        words += [f"{now.proved:,} proved", f"{now.unproved:,} not proved"]
    if now.known:
        words.append(f"{now.known:,} points known before")
    if now.refuted:
        words.append(f"{now.refuted:,} refuted, which is a bug of dtpoly")
    return ", ".join(words)


def line(now: Snapshot) -> str:
    """Return a line such as `120 of 2,000 points, 3.1/s, 10:12 left`."""
    known = f" ({now.known:,} known before)" if now.known else ""
    left = f", {clock(now.left)} left" if now.left is not None else ""
    return f"{now.looked_at:,} of {now.points:,} points{known}, {now.rate:.1f}/s{left}"


def clock(seconds: float) -> str:
    """Return a time such as `1:02:03` or `2:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def compared(now: Snapshot) -> str:
    """Return how fast the best schedule is compared with the best baseline."""
    if now.best is None or not now.baselines:
        return ""
    name, time = min(now.baselines.items(), key=lambda item: item[1])
    return f", {time / now.best:.2f} times as fast as {name}"


def told(question: Question, ended: Ended, path: Path) -> str:
    """Return the results in a few lines."""
    now, asked = ended.snapshot, question.asked
    sizes = ", ".join(f"{label} = {size}" for label, size in asked.sizes.items())
    lines = [f"{asked.name}: {sizes}, {asked.dtype}, on {question.facts.device}"]
    timed = sum(now.outcomes.get(one, 0) for one in (Outcome.MEASURED, Outcome.SLOW))
    known = f", {now.known:,} of them known before" if now.known else ""
    lines.append(f"{now.looked_at:,} of {now.points:,} points{known}; {timed:,} have a time")
    for (outcome, kind), count in sorted(now.kinds.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"  {outcome} {count:,}: {kind}")
    if now.best is not None:
        lines += [f"best: {now.best:.4g} ms{compared(now)}", f"  {now.best_point}"]
    if now.outcomes.get(Outcome.UNPROVED):
        lines.append("times of what is not proved do not count")
    if now.outcomes.get(Outcome.BUG):
        lines.append("kernels that are refuted are a bug of dtpoly: please report it")
    if ended.is_interrupted:
        lines.append("interrupted: the same command goes on")
    lines.append(f"kept in {path}: dtpoly report {path} -o {path.with_suffix('.html')}")
    return "\n".join(lines) + "\n"
