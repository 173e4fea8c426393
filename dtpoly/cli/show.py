"""`dtpoly show FILE`: a file in, one stage of its way through the pipeline out."""

import json
import sys
from collections.abc import Iterable

import click

from dtpoly.algorithm.show import show
from dtpoly.algorithm.sizes import size_rules
from dtpoly.cli.files import file_name
from dtpoly.cli.output import report, write
from dtpoly.compile import check
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.reading import read_file
from dtpoly.render.tree import show_tree, tree_data
from dtpoly.schedule.resolve import scheduled
from dtpoly.schedule.tree_text import show_tree as show_schedule

VERSION = 1  # of the JSON document


@click.command(
    short_help="Print a file as the compiler understands it.",
    epilog="""\b
Examples:
  dtpoly show softmax.dt
  dtpoly show --stage syntax softmax.dt
  dtpoly show --stage tree softmax.dt
  dtpoly show --stage program --json softmax.dt""",
)
@file_name
@click.option(
    "--stage",
    type=click.Choice(["syntax", "program", "tree"]),
    default="program",
    show_default=True,
    help="What is written; the Program: resolved, as .dt text again; or its schedule tree.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(file: str, stage: str, as_json: bool) -> int:
    """Print a .dt file as the compiler understands it.

    The Program comes with a comment on where each size comes from. What is wrong with the
    file goes to standard error.
    """
    checked = check(read_file(file))
    with deep_recursion():
        if stage == "syntax":
            text, data = lines(show_tree(checked.file)), tree_data(checked.file)
        elif checked.program is None:
            raise DtpolyError(checked.diagnostics)
        elif stage == "tree":
            kernels = scheduled(checked.program).kernels
            text = lines(show_schedule(kernels).splitlines())
            data = [tree_data(kernel) for kernel in kernels]
        else:
            sizes = lines(f"# size of {rule}" for rule in size_rules(checked.program))
            text = "\n".join(part for part in (show(checked.program), sizes) if part)
            data = tree_data(checked.program)
    if as_json:
        text = json.dumps({"version": VERSION, "stage": stage, stage: data}, indent=2) + "\n"
    write(text)
    if not has_errors(checked.diagnostics):
        return 0
    report(checked.diagnostics, sys.stderr)
    return 1


def lines(words: Iterable[str]) -> str:
    """Each on a line of its own."""
    return "".join(f"{word}\n" for word in words)
