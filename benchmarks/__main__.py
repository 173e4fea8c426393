"""`python -m benchmarks COMMAND` runs the command of that name and returns its exit code."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from benchmarks.gpu.results import NotResults
from dtpoly.cli.lazy import LazyGroup

PROGRAM = "python -m benchmarks"
COMMANDS = (
    "legality",
    "cost",
    "fit",
    "registers",
    "blind",
    "schedule",
    "prepare",
    "run",
    "report",
    "compare",
    "merge",
    "scheduled",
    "unseen",
    "bits",
    "spaces",
    "evaluation",
)


@click.group(
    cls=LazyGroup,
    modules="benchmarks.commands.{}",
    names=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
On a machine with isl:
  python -m benchmarks prepare build/gpu
On a machine with a GPU, which needs no isl:
  python -m benchmarks run build/gpu -o results.json
Anywhere:
  python -m benchmarks report results.json""",
)
def group() -> None:
    """Measure the compiler, and the kernels that it writes beside what a user would take else."""


def main(arguments: Sequence[str]) -> int:
    """Run one command and answer with its exit code."""
    try:
        with group.make_context(PROGRAM, [*arguments], obj=tuple(arguments)) as context:
            answer: Any = group.invoke(context)
        return answer if isinstance(answer, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except NotResults as error:
        click.ClickException(str(error)).show()
        return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
