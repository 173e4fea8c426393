"""The table of docs/kernel-ir.md says where the wishes of directives are read, and it is true."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.always

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/kernel-ir.md"
# The fields of Launch that a directive sets, the fields of a kernel of the IR that are made of
# them, and the properties that are derived from them.
READ = {
    "swap": r"\.is_swapped\b|\bis_swapped=",
    "store": r"\blaunch\.boxes\b",
    "early": r"\.is_early\b|\bis_early=|\.may_wait\b|\bMAY_WAIT\b",
    "panels": r"\blaunch\.panel\b|\.is_(?:first|last)_of_panel\b|\bis_(?:first|last)_of_panel=",
    "beside": r"(?:\blaunch|\bone|\bother|\))\.beside\b|\.is_beside\b|\bis_beside=",
    "warp_specialize": r"\blaunch\.is_specialized\b|\.may_specialize\b|\bMAY_SPECIALIZE\b",
}
# The declarations, what reads emitted files, and what has other things of these names.
APART = (
    *("dtpoly/directives/", "dtpoly/plan/launch.py", "dtpoly/verify/", "dtpoly/carried/"),
    "dtpoly/explanation.py",
)


def counted(directive: str) -> Counter[str]:
    """Return the files that read what a directive sets, with the number of their lines."""
    found: Counter[str] = Counter()
    for room in ("dtpoly", "codegen"):
        for path in sorted((ROOT / room).rglob("*.py")):
            place = str(path.relative_to(ROOT))
            if path.resolve() == path and not place.startswith(APART):
                lines = (one.partition("#")[0] for one in path.read_text().splitlines())
                count = sum(1 for one in lines if re.search(READ[directive], one))
                found.update({place: count} if count else {})
    return found


def rows() -> Iterator[tuple[str, str, int]]:
    """Yield the rows of the table: the directive, the file, and the number of lines."""
    for line in PAGE.read_text().splitlines():
        cells = [one.strip().strip("`") for one in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[2].isdigit():
            yield cells[0], cells[1], int(cells[2])


@pytest.mark.parametrize("directive", READ)
def test_the_table_has_every_file_that_reads_what_a_directive_sets(directive: str) -> None:
    assert {file: count for name, file, count in rows() if name == directive} == counted(directive)
