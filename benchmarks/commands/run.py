"""`python -m benchmarks run FOLDER -o FILE`: what was prepared, timed on a GPU beside its peers."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import click

from benchmarks.commands.report import show
from benchmarks.gpu.following import following
from benchmarks.gpu.processes import LOST, OWN, STOPPED, in_processes
from benchmarks.gpu.results import Results
from benchmarks.gpu.rows import KINDS, USUAL
from benchmarks.terminal import console
from dtpoly.cli.lazy import load

ROUNDS, TINY_ROUNDS = 5, 2


@click.command(short_help="Time what was prepared, and all peers, on this machine's GPU.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The JSON file of results; what it has already is not measured again.",
)
@click.option(
    *("--kernels", "--only", "kernels"),
    multiple=True,
    help="Only this kernel, file, family or row, or all that match it (moe*); may be given again.",
)
@click.option("--seconds", type=float, default=540.0, show_default=True, help="For everything.")
@click.option("--each", type=float, default=0.3, show_default=True, help="For each candidate.")
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=ROUNDS,
    show_default=True,
    help="In which candidates take turns, each in another order.",
)
@click.option("--row", type=float, default=90.0, show_default=True, help="At most, for a row.")
@click.option(
    "--peers",
    default=",".join(USUAL),
    show_default=True,
    help=f"Of {', '.join(KINDS)}; or none.",
)
@click.option("--host/--no-host", default=True, help="Also the host's time of a call.")
@click.option("--again", is_flag=True, help="Try what failed again.")
@click.option(
    "--ahead",
    type=click.IntRange(0),
    default=0,
    help="So many processes first compile everything.  [default: none]",
)
@click.option("--tiny", is_flag=True, help="Tiny shapes instead, to see that all runs.")
@click.option("--device", type=click.Choice(("cuda", "cpu")), default="cuda", show_default=True)
@click.option("--here", is_flag=True, hidden=True, help="In this process, not in one of its own.")
@click.pass_obj
def command(
    given: Sequence[str],
    folder: Path,
    output: Path,
    kernels: tuple[str, ...],
    seconds: float,
    each: float,
    rounds: int,
    row: float,
    peers: str,
    host: bool,
    again: bool,
    ahead: int,
    tiny: bool,
    device: str,
    here: bool,
) -> int:
    """Check and time every text of FOLDER, which `prepare` wrote, beside all installed peers.

    Each row is written to the file when it is done: whoever stops the run loses one row, and the
    same command goes on where it was. On a machine without a GPU, `--device cpu --tiny` and
    TRITON_INTERPRET=1 show that all runs; its times say nothing.

    Exit codes: 0 all was measured; 1 something of ours failed or is wrong; 130 stopped.
    """
    kinds = tuple(word for word in peers.split(",") if word and word != "none")
    if unknown := [word for word in kinds if word not in KINDS]:
        raise click.UsageError(f"no peers are called {', '.join(unknown)}")
    if not here:
        return in_processes(given, output, seconds)
    session: ModuleType = load("benchmarks.gpu.session")
    measure: ModuleType = load("benchmarks.gpu.measure")
    failures: ModuleType = load("dtpoly.timing.failures")
    chosen = session.Chosen(
        folder,
        output,
        " ".join(("python", "-m", "benchmarks", *typed(given))),
        kinds,
        measure.Plan(each, row, TINY_ROUNDS if tiny else rounds),
        kernels,
        seconds,
        device,
        again,
        host,
        tiny,
        ahead,
    )
    out = console()
    try:
        with following(out) as tell:
            results: Results = session.session(chosen, tell)
    except session.OtherMachine as error:
        raise click.ClickException(str(error)) from error
    except failures.LostDevice as error:
        out.print(f"the device is lost, so a new process goes on: {error}", highlight=False)
        return LOST
    except KeyboardInterrupt:
        out.print("stopped; the same command goes on where it was")
        return STOPPED
    show(results, output, out)
    return 1 if has_failed(results) else 0


def typed(given: Sequence[str]) -> Sequence[str]:
    """Return the arguments without those that were added for a process of its own."""
    own = len(OWN)
    return given[:-own] if tuple(given[-own:-1]) == OWN[:-1] else given


def has_failed(results: Results) -> bool:
    """Return whether a text is missing, could not be prepared, is wrong, or could not be run."""
    timed = (one for row in results.rows for one in row.times)
    return (
        bool(results.missing)
        or any(text.failure for text in results.texts)
        or any(one.is_ours and one.failure for one in timed)
    )
