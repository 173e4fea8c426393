"""Implements `dtpoly report RUN.sqlite`, which draws the results of an exploration."""

from pathlib import Path

import click

from dtpoly.cli.file_arguments import complete_files
from dtpoly.cli.output import write
from dtpoly.cli.saving import save, tell_error
from dtpoly.explore.extras import MissingExtra
from dtpoly.explore.report.study import studies
from dtpoly.explore.report.written_report import SUFFIXES, TABLES, written_report
from dtpoly.explore.store.database import StoreError
from dtpoly.explore.store.result_store import open_store


@click.command(
    short_help="Show what was measured, as a page, pictures, or a table.",
    epilog="""\b
Examples:
  dtpoly report softmax.sqlite -o softmax.html
  dtpoly report softmax.sqlite -o softmax.png
  dtpoly report softmax.sqlite -o softmax.csv
  dtpoly report softmax.sqlite --json""",
)
@click.argument(
    "file", metavar="RUN.sqlite", type=click.Path(path_type=Path), shell_complete=complete_files
)
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    help="The file to write: .html, .png, .svg, .pdf, .csv or .json.  [default: RUN.html]",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document instead.")
def command(file: Path, output: Path | None, as_json: bool) -> int:
    """Draw what `dtpoly explore` measured, in a part for each algorithm, sizes and device.

    The figures show the schedules by run time, with the baselines as lines; the parameters and the
    times; the expected and the measured times; and how the ten best schedules differ. A page is
    one file that loads nothing else. A picture has all figures, one below the other. A table has
    one row for each schedule.
    """
    if as_json and output is not None:
        raise click.UsageError("--json prints what '-o FILE.json' writes: say one of both")
    path = output or file.with_suffix(".json" if as_json else ".html")
    if path.suffix not in SUFFIXES:
        message = f"'{path}' must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise click.BadParameter(message, param_hint="-o")
    try:
        store = open_store(file, is_new=False)
        try:
            given = studies(store)
        finally:
            store.close()
        if path.suffix not in TABLES and not any(study.timed for study in given):
            tell_error(f"'{file}' has no schedule with a time")
            return 1
        data = written_report(path.suffix, given, file.name)
    except (StoreError, MissingExtra) as error:
        tell_error(str(error))
        return 1
    if as_json:
        write(data.decode())
        return 0
    return 0 if save(path, data) else 1
