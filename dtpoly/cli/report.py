"""`dtpoly report RUN.sqlite`: a file of results in; a page or pictures of them, out."""

from pathlib import Path
from types import ModuleType

import click

from dtpoly.cli.files import complete_files
from dtpoly.cli.lazy import load
from dtpoly.cli.saving import save, tell_error
from dtpoly.explore.extras import MissingExtra
from dtpoly.explore.report.study import studies
from dtpoly.explore.store.database import StoreError
from dtpoly.explore.store.store import open_store
from dtpoly.render.printable import printable

SUFFIXES = (".html", ".png")
# What is no drawing; with the option that makes SQLite's own command write it.
TABLES = {".csv": "-csv -header", ".json": "-json"}


@click.command(
    short_help="Show what was measured: a page, or pictures.",
    epilog="""\b
Examples:
  dtpoly report softmax.sqlite -o softmax.html
  dtpoly report softmax.sqlite -o softmax.png""",
)
@click.argument(
    "file", metavar="RUN.sqlite", type=click.Path(path_type=Path), shell_complete=complete_files
)
@click.option(
    "-o", "output", type=click.Path(path_type=Path), help="A .html or .png.  [default: RUN.html]"
)
def command(file: Path, output: Path | None) -> int:
    """Draw what `dtpoly explore` measured, one part for each algorithm, sizes and device.

    Schedules by run time with the baselines as lines; parameters against time; expected against
    measured; the ten best and how they differ. The page is one file that loads nothing else.
    """
    path = output or file.with_suffix(".html")
    if path.suffix not in SUFFIXES:
        raise click.BadParameter(_refusal(path, file), param_hint="-o")
    try:
        store = open_store(file, is_new=False)
        try:
            given = studies(store)
        finally:
            store.close()
        if not any(study.timed for study in given):
            tell_error(f"'{file}' has no schedule with a time")
            return 1
        data = _drawn(path.suffix, given, file.name)
    except (StoreError, MissingExtra) as error:
        tell_error(str(error))
        return 1
    return 0 if save(path, data) else 1


def _refusal(path: Path, file: Path) -> str:
    """What can be written, and how to get what cannot."""
    said = f"'{path}' must end in .html or .png"
    if path.suffix == ".svg":
        return f"{said}; each figure in the .html page is an SVG picture of its own"
    if path.suffix in TABLES:
        how = TABLES[path.suffix]
        return f"{said}; '{file}' is a database: sqlite3 {how} '{file}' 'select * from result'"
    return said


def _drawn(suffix: str, given: object, name: str) -> bytes:
    if suffix == ".png":
        figures: ModuleType = load("dtpoly.explore.report.figures")
        png: bytes = figures.as_png(given)
        return png
    page: ModuleType = load("dtpoly.explore.report.page")
    text: str = page.page(given, f"What was measured: {printable(name)}")
    return text.encode(errors="backslashreplace")
