"""Implements `dtpoly show FILE`, which prints one stage of the pipeline for a file."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from math import prod
from pathlib import Path
from types import ModuleType

import click

from dtpoly.algorithm.filling import with_fixed
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import Checked, check
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.output import report, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.saving import save
from dtpoly.cli.seconds_option import timed
from dtpoly.cli.size_option import parse_sizes
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frozen import dataclass
from dtpoly.pictures import dependence_picture, map_picture, map_sections, tree_picture
from dtpoly.render.cell_tables import show_grids
from dtpoly.render.shown_tree import show_tree, tree_data
from dtpoly.schedule.applied_directives import scheduled, with_results
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.dependence_text import dependence_data, isl_dependences, show_dependences
from dtpoly.schedule.element_table import LISTED, SizesError, TooLongError
from dtpoly.schedule.fused_table import map_data
from dtpoly.schedule.links import graph
from dtpoly.schedule.model_text import isl_model, model_data, show_model
from dtpoly.schedule.state import State
from dtpoly.schedule.tree_text import show_tree as show_schedule

VERSION = 1  # of the JSON document


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """A checked file, and the sizes of labels for pictures at concrete sizes."""

    checked: Checked
    words: tuple[str, ...]

    @property
    def program(self) -> Program:
        """Return the Program, even if its schedule is refused."""
        checked = self.checked
        if checked.program is not None:
            return checked.program
        if checked.verdict is not None:
            return checked.verdict.scheduled.sized
        raise DtpolyError(checked.diagnostics)

    @property
    def with_results(self) -> Program:
        """Return the Program, which knows what its functions return."""
        program = self.program
        return with_results(program, bind(program.directives, self.checked.primitives).primitives)

    @property
    def state(self) -> State:
        """Return the scheduled Program."""
        verdict = self.checked.verdict
        return (
            verdict.scheduled
            if verdict is not None
            else scheduled(self.program, self.checked.primitives)
        )

    @property
    def sizes(self) -> dict[str, int]:
        """Return the sizes that are given or fixed."""
        given = parse_sizes(self.words, [label.name for label in self.program.labels])
        used = self.state.model.size_of
        fixed = with_fixed(self.program, given)
        return {label: size for label, size in fixed.items() if label in given or label in used}


# The forms in which each stage can be written; the text comes first. Data become a JSON document.
STAGES: Mapping[str, Mapping[str, Callable[[ShowRequest], object]]] = {
    "syntax": {
        "text": lambda asked: lines(show_tree(asked.checked.file)),
        "json": lambda asked: tree_data(asked.checked.file),
    },
    "program": {
        "text": lambda asked: _program(asked.program),
        "json": lambda asked: tree_data(asked.program),
    },
    "model": {
        "text": lambda asked: lines(show_model(asked.with_results)),
        "isl": lambda asked: isl_model(asked.with_results),
        "json": lambda asked: model_data(asked.with_results),
    },
    "deps": {
        "text": lambda asked: lines(show_dependences(graph(asked.with_results))),
        "isl": lambda asked: isl_dependences(graph(asked.with_results)),
        "svg": lambda asked: dependence_picture(graph(asked.with_results)),
        "json": lambda asked: dependence_data(graph(asked.with_results)),
    },
    "tree": {
        "text": lambda asked: lines(show_schedule(asked.state.kernels).splitlines()),
        "svg": lambda asked: tree_picture(asked.state.kernels),
        "json": lambda asked: [tree_data(kernel) for kernel in asked.state.kernels],
    },
    "map": {
        "text": lambda asked: lines(show_grids(map_sections(asked.state, asked.sizes))),
        "svg": lambda asked: map_picture(asked.state, asked.sizes),
        "json": lambda asked: map_data(asked.state, asked.sizes),
    },
    "loops": {
        "text": lambda asked: _code().show_loops(asked.checked),
        "json": lambda asked: _code().loops_data(asked.checked),
    },
    "storage": {
        "text": lambda asked: _code().show_storage(asked.checked),
        "json": lambda asked: _code().storage_data(asked.checked),
    },
    "kernel": {
        "text": lambda asked: _code().show_kernels(asked.checked),
        "json": lambda asked: _code().kernels_data(asked.checked),
    },
    "triton": {"text": lambda asked: _code().show_triton(asked.checked)},
}
FORMS = tuple(dict.fromkeys(form for forms in STAGES.values() for form in forms))


@click.command(
    short_help="Print a file as the compiler understands it.",
    epilog="""\b
Stages:
  syntax   what is written
  program  the Program: resolved, as .dt text again
  model    its statements: over which indices, what they read and write
  deps     its dependences: sentences, --form isl, or a graph with --form svg
  tree     its schedule as a tree of loops
  map      which program instance, iteration and lane computes which element
  loops    the loops of one program, without lanes
  storage  where each value is kept, and why there
  kernel   each kernel as a tile program, spelled apart from Triton
  triton   the kernels as Triton code; compile adds plans and the runtime

\b
Examples:
  dtpoly show softmax.dt
  dtpoly show --stage tree softmax.dt
  dtpoly show --stage deps --form isl softmax.dt
  dtpoly show --stage map --size x=8,y=8 softmax.dt
  dtpoly show --stage kernel softmax.dt
  dtpoly show --stage map --size x=8,y=8 -o map.svg softmax.dt""",
)
@file_name
@click.option(
    "--stage",
    type=click.Choice(list(STAGES)),
    metavar="STAGE",
    default="program",
    show_default=True,
    help=f"The stage of compilation to print: {', '.join(STAGES)}.",
)
@click.option("--form", type=click.Choice(FORMS), help="The form to print it in.  [default: text]")
@click.option("--json", "as_json", is_flag=True, help="The same as --form json.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="x=..,y=..",
    help="For --stage map: sizes of labels.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to this file; a name that ends in .svg or .json also chooses the form.",
)
@point_option
@plugin_option
@timed
def command(
    file: str,
    stage: str,
    form: str | None,
    as_json: bool,
    sizes: tuple[str, ...],
    output: str | None,
    point: str | None,
    primitives: Primitives,
) -> int:
    """Print a .dt file as the compiler understands it.

    The Program has comments that say where each size comes from. Errors of the file go to standard
    error; a file that is refused is printed, too.
    """
    chosen = _form(stage, form, as_json, output)
    if sizes and stage != "map":
        raise click.BadParameter(f"stage {stage} is the same for all sizes", param_hint="--size")
    asked = ShowRequest(check(read_source(file, point), primitives), sizes)
    checked = asked.checked
    with deep_recursion():
        try:
            made = STAGES[stage][chosen](asked)
        except TooLongError as error:
            is_listed = chosen != "json" and prod(asked.sizes.values()) <= LISTED.elements
            lists = (
                f"; --json lists tables of up to {LISTED.elements} elements" if is_listed else ""
            )
            raise click.BadParameter(f"{error}{lists}", param_hint="--size") from None
        except SizesError as error:
            raise click.BadParameter(str(error), param_hint="--size") from None
    if not isinstance(made, str) or chosen == "json":
        made = json.dumps({"version": VERSION, "stage": stage, stage: made}, indent=2) + "\n"
    if output is None:
        write(made)
    elif not save(Path(output), made.encode()):
        return 1
    if not has_errors(checked.diagnostics):
        return 0
    report(checked.diagnostics, sys.stderr)
    return 1


def _form(stage: str, form: str | None, as_json: bool, output: str | None) -> str:
    """Return the form that is asked for.

    Raises click.BadParameter if the stage does not have it.
    """
    ending = Path(output).suffix.removeprefix(".") if output else ""
    asked = form or ("json" if as_json else ending if ending in ("svg", "json") else "text")
    if as_json and asked != "json":
        raise click.BadParameter(f"--json and --form {form} are two forms", param_hint="--form")
    if asked not in STAGES[stage]:
        has = ", ".join(STAGES[stage])
        raise click.BadParameter(
            f"stage {stage} has no form {asked}; it has {has}", param_hint="--form"
        )
    return asked


def _program(program: Program) -> str:
    sizes = lines(f"# size of {rule}" for rule in size_rules(program))
    return "\n".join(part for part in (show(program), sizes) if part)


def _code() -> ModuleType:
    """Load the module that shows the stages of code generation, which only some calls need."""
    stages: ModuleType = load("dtpoly.cli.code_stages")
    return stages


def lines(words: Iterable[str]) -> str:
    """Return each word on a line of its own."""
    return "".join(f"{word}\n" for word in words)
