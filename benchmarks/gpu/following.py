"""Prints a line for each row of a session, and one line of progress."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.gpu.results import RowResult
from benchmarks.gpu.steps import Step


@contextmanager
def following(console: Console) -> Generator[Callable[[Step], None]]:
    """Yield a progress line below what is done; only what is done, where nobody looks."""
    columns = (MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn())
    text = TextColumn("{task.description}")
    with Progress(*columns, text, console=console, transient=True) as progress:
        task = progress.add_task("")

        def tell(step: Step) -> None:
            progress.update(task, completed=step.done, total=step.of, description=step.what)
            if step.row is not None:
                progress.console.print(line(step.row), highlight=False, soft_wrap=True)
            elif not step.is_row:
                progress.console.print(step.what, highlight=False)

        yield tell


def line(row: RowResult) -> str:
    """`dyt 128x65536 bf16: dyt 0.0153, compile 0.0157; Liger failed (4.1 s, 3.0 s of it ready)`."""
    timed = sorted((one for one in row.times if one.median), key=lambda one: one.median)
    said = [f"{one.name} {one.median:.4f}" for one in timed]
    failed = [f"{one.name}: {one.failure}" for one in row.times if one.failure and not one.is_unfit]
    told = "; ".join([", ".join(said), *failed])
    return f"{row.name}: {told} ({row.seconds:.1f} s, {row.prepared:.1f} s to make ready)"
