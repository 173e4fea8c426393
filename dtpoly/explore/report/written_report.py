"""Writes studies in the form that the ending of a file asks for: a page, a picture, or a table."""

from collections.abc import Sequence

from dtpoly.explore.report.figures import as_picture
from dtpoly.explore.report.page import page
from dtpoly.explore.report.result_table import as_csv, as_json
from dtpoly.explore.report.study import Study
from dtpoly.render.printable import printable

PICTURES = (".png", ".svg", ".pdf")
TABLES = (".csv", ".json")
SUFFIXES = (".html", *PICTURES, *TABLES)


def written_report(suffix: str, given: Sequence[Study], name: str) -> bytes:
    """Return the content of a file with this ending, which is one of SUFFIXES.

    Raises MissingExtra for a picture without matplotlib.
    """
    if suffix in TABLES:
        rows = as_csv(given) if suffix == ".csv" else as_json(given)
        return rows.encode(errors="backslashreplace")
    if suffix in PICTURES:
        return as_picture(given, suffix.removeprefix("."))
    text = page(given, f"What was measured: {printable(name)}")
    return text.encode(errors="backslashreplace")
