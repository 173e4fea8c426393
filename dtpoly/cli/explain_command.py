"""Implements `dtpoly explain`, which says what each directive of a file does.

With the code of a diagnostic instead of a file, it says what the diagnostic means.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType

import click
from click.core import ParameterSource

from dtpoly.algorithm.filling import with_fixed
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.checking import Checked, check
from dtpoly.cli.file_arguments import complete_files
from dtpoly.cli.lazy import load
from dtpoly.cli.output import report, shown, terminal_width, wants_colour, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.seconds_option import timed
from dtpoly.cli.size_option import parse_sizes
from dtpoly.cli.tuned_option import tuned_options
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.explained_directives import Explanation, explain

VERSION = 1  # of the JSON document
CODE = re.compile(r"DT\d{3}", re.IGNORECASE)  # of a message


@click.command(
    short_help="Say what each directive does, or what a code means.",
    epilog="""\b
Examples:
  dtpoly explain softmax.dt
  dtpoly explain softmax.dt --size x=4096,y=1000
  dtpoly explain softmax.dt --code
  dtpoly explain softmax.dt --tuned fast.dts --on 'NVIDIA H200' --size x=4096
  dtpoly explain softmax.dt --json
  dtpoly explain DT203""",
)
@click.argument("file", metavar="FILE|CODE", shell_complete=complete_files)
@click.option(
    "--size",
    "words",
    multiple=True,
    metavar="x=..,y=..",
    help="Sizes of labels, to print numbers beside the formulas.",
)
@click.option(
    "--code", is_flag=True, help="Instead, say where each line of the generated kernels comes from."
)
@point_option
@tuned_options
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@timed
@click.pass_context
def command(
    context: click.Context,
    file: str,
    words: tuple[str, ...],
    code: bool,
    point: str | None,
    tuned: str | None,
    device: str | None,
    dtype: str,
    primitives: Primitives,
    as_json: bool,
) -> int:
    """Say what each directive of a .dt file does.

    Directives have no order, so each is compared with the same schedule without it. The output
    says what the directive changes, which dependences it reorders, with distances in steps of
    loops, and what is computed more than once. At the end it describes each kernel. pow2(y) is y
    rounded up to a power of two.

    With the code of a message, such as DT203, it says what that message means, with an example and
    the way out. A file with such a name is written ./DT203.
    """
    if CODE.fullmatch(file):
        _check_alone(context)
        shown_page: Callable[..., int] = load("dtpoly.cli.code_page").explain_code
        return shown_page(file, as_json=as_json)
    if tuned is None:
        source = read_source(file, point)
    else:
        source = load("dtpoly.cli.tuned_option").tuned_source(file, tuned, device, dtype, words)
    checked = check(source, primitives)
    if checked.verdict is None and checked.program is None:
        raise DtpolyError(checked.diagnostics)
    if code:
        if words:
            raise click.BadParameter("the code is the same for all sizes", param_hint="--size")
        return _explain_code(file, checked, as_json)
    explanation, known = Explanation(), dict[str, int]()
    if checked.verdict is not None:
        state = checked.verdict.scheduled
        explanation = explain(state.sized, checked.verdict, checked.primitives)
        size_of = state.model.size_of
        given = with_fixed(state.sized, parse_sizes(words, list(size_of)))
        known = equal_sizes({v: n for v, n in given.items() if v in size_of}, size_of)
    if as_json:
        told: ModuleType = load("dtpoly.explanation")
        document = {"version": VERSION, "file": file, **told.explanation_data(explanation, known)}
        write(json.dumps(document, indent=2) + "\n")
    else:
        write(_text(explanation, known))
    if not has_errors(checked.diagnostics):
        return 0
    report(checked.diagnostics, sys.stderr)
    return 1


def _check_alone(context: click.Context) -> None:
    """Refuse options that are about a file, where a code is explained. Raises UsageError."""
    for option in context.command.params:
        name = option.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name not in ("file", "as_json", "seconds"):
            raise click.UsageError(f"{option.opts[0]} is about a file, and not about a code")


def _explain_code(file: str, checked: Checked, as_json: bool) -> int:
    """Print the origin of each line of the kernels; a refused schedule has no lines."""
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    told: ModuleType = load("dtpoly.cli.code_lines")
    verdict = checked.verdict
    name = checked.file.source.name
    lines = () if verdict is None else told.mapped(verdict.scheduled, name)
    if as_json:
        document = {"version": VERSION, "file": file, "lines": told.lines_data(lines)}
        write(json.dumps(document, indent=2) + "\n")
    elif lines:
        table: Callable[..., str] = load("dtpoly.render.text_table").table
        colour = wants_colour(sys.stdout, os.environ)
        width = terminal_width(sys.stdout)
        write(table(told.HEAD, told.rows(lines), width, colour=colour))
    if checked.diagnostics:
        report(checked.diagnostics, sys.stderr)
    return 0


def equal_sizes(sizes: Sizes, size_of: Mapping[str, str]) -> dict[str, int]:
    """Return the sizes of all labels that share a parameter with a label whose size is given."""
    given: dict[str, str] = {}
    for label in sizes:
        other = given.setdefault(size_of[label], label)
        if sizes[other] != sizes[label]:
            raise click.BadParameter(
                f"{other} and {label} have the same size in this program, "
                f"not {sizes[other]} and {sizes[label]}",
                param_hint="--size",
            )
    return {label: sizes[given[param]] for label, param in size_of.items() if param in given}


def _text(explanation: Explanation, sizes: Sizes) -> str:
    told: ModuleType = load("dtpoly.explanation")
    width = terminal_width(sys.stdout)
    parts: list[str] = []
    if explanation.directives:
        parts.append(shown(told.lines(explanation.directives, sizes, width), sys.stdout))
    if explanation.kernels:
        table: Callable[..., str] = load("dtpoly.render.text_table").table
        found = [row for kernel in explanation.kernels for row in told.rows(kernel, sizes)]
        colour = wants_colour(sys.stdout, os.environ)
        parts.append(table(told.HEAD, found, width, colour=colour))
        launches = told.launches(explanation.kernels, sizes)
        parts.extend(["".join(f"{line}\n" for line in launches)] if launches else [])
    if explanation.recomputed:
        known = explanation.panels
        again = (told.show_recomputed(one, known, sizes) for one in explanation.recomputed)
        parts.append("".join(f"{line}\n" for line in again))
    if explanation.ranges:
        parts.append("".join(f"{one}\n" for one in explanation.ranges))
    return "\n".join(parts)
