"""The command `dtpoly check FILE...`, which reports everything that is wrong with files."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

import click

from dtpoly import __version__
from dtpoly.checking import check
from dtpoly.cli.file_arguments import file_names
from dtpoly.cli.lazy import load
from dtpoly.cli.output import report, write
from dtpoly.cli.plugin_files import plugin_files
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.seconds_option import limited, seconds_option
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity, has_errors
from dtpoly.plugins import with_plugins
from dtpoly.remarks import MOST_KERNELS, Remarked, remarked_soon
from dtpoly.schedule.bound_primitives import Primitives

WITHOUT_CODE = f"; the code of more than {MOST_KERNELS} kernels is only looked at by dtpoly compile"


@click.command(
    short_help="Say what is wrong with files.",
    epilog="""\b
Examples:
  dtpoly check softmax.dt
  dtpoly check --quiet kernels/*.dt
  dtpoly check --plugin skew.py softmax.dt
  dtpoly check --sarif softmax.dt > softmax.sarif
  cat softmax.dt | dtpoly check -""",
)
@file_names
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print a SARIF 2.1.0 log.")
@point_option
@plugin_files
@seconds_option
@click.option("--quiet", "-q", is_flag=True, help="Leave out warnings and notes.")
def command(
    files: tuple[str, ...],
    as_json: bool,
    as_sarif: bool,
    point: str | None,
    plugins: tuple[str, ...],
    seconds: float,
    quiet: bool,
) -> int:
    """Say what is wrong with .dt files; the exit code is 1 if one has an error."""
    if as_json and as_sarif:
        raise click.UsageError("--json and --sarif exclude each other")
    remarks = list(_check_all(files, point, plugins, seconds))
    found = [diagnostic for one in remarks for diagnostic in one.diagnostics]
    if quiet:
        found = [diagnostic for diagnostic in found if diagnostic.severity is Severity.ERROR]
    if as_json:
        as_text: Callable[[Sequence[Diagnostic]], str] = load("dtpoly.render.as_json").render
        write(as_text(found))
    elif as_sarif:
        as_log: Callable[..., str] = load("dtpoly.render.sarif").render
        descriptions: dict[str, str] = load("dtpoly.catalogue").descriptions()
        write(as_log(found, descriptions, __version__))
    elif found:
        report(found, sys.stdout)
    elif not quiet:
        is_partial = any(one.is_partial for one in remarks)
        write(f"no errors{WITHOUT_CODE if is_partial else ''}\n")
    return 1 if has_errors(found) else 0


def _check_all(
    files: Iterable[str], point: str | None, plugins: Iterable[str], seconds: float
) -> Iterator[Remarked]:
    """Yield what is wrong with each file; if a plugin is wrong, the files cannot be checked."""
    try:
        primitives = with_plugins(plugins)
    except DtpolyError as error:
        yield Remarked(error.diagnostics)
        return
    for path in dict.fromkeys(files):
        with limited(seconds):
            found = _check(path, point, primitives)
        yield found


def _check(path: str, point: str | None, primitives: Primitives) -> Remarked:
    try:
        return remarked_soon(check(read_source(path, point), primitives))
    except DtpolyError as error:
        return Remarked(error.diagnostics)
