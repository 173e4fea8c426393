"""`dtpoly show FILE`: a file in, one stage of its way through the pipeline out."""

import json
import sys

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
from dtpoly.schedule.tree import Kernel
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
    root: object = checked.file if stage == "syntax" else checked.program
    if root is None:
        raise DtpolyError(checked.diagnostics)
    kernels: tuple[Kernel, ...] = ()
    if checked.program is not None and stage == "tree":
        kernels = scheduled(checked.program).kernels
    with deep_recursion():
        if as_json:
            data = [tree_data(kernel) for kernel in kernels] if kernels else tree_data(root)
            document = {"version": VERSION, "stage": stage, stage: data}
            write(json.dumps(document, indent=2) + "\n")
        elif stage == "syntax":
            write("".join(f"{line}\n" for line in show_tree(root)))
        elif kernels:
            write(show_schedule(kernels) + "\n")
        elif checked.program is not None:
            sizes = "".join(f"# size of {rule}\n" for rule in size_rules(checked.program))
            write("\n".join(part for part in (show(checked.program), sizes) if part))
    if not has_errors(checked.diagnostics):
        return 0
    report(checked.diagnostics, sys.stderr)
    return 1
