"""Writes the figures of the page about the table and its record.

`python -m tests.semantics.page` writes them between the marks of docs/semantics.md.
"""

from __future__ import annotations

from pathlib import Path

from dtpoly.verify.semantics.entries import entry, of_operation
from dtpoly.verify.semantics.record import is_checked, record
from dtpoly.verify.semantics.table_operations import OPERATIONS

PAGE = Path(__file__).parent.parent.parent / "docs" / "semantics.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
# The page shows these entries.
SHOWN = (
    ("div", "tl.float16", "tl.float16"),
    ("mod", "tl.int32", "int"),
    ("add", "tl.float16", "float"),
    ("add", "tl.float16", "tl.int64"),
    ("add", "tl.uint8", "tl.int8"),
    ("lt", "tl.uint32", "tl.int32"),
    ("invert", "tl.int1"),
    ("invert", "bool"),
    ("assign", "float"),
    ("sum", "tl.float16"),
    ("sum", "tl.int8"),
    ("max", "tl.int8"),
    ("where", "tl.int1", "float", "float"),
    ("cast", "tl.float32", "tl.int8"),
    ("dot onto", "tl.float16", "tl.float16"),
)


def figures() -> str:
    """Return the figures as Markdown."""
    lines = ["| operation | entries | refused by Triton | not read |", "|---|---|---|---|"]
    totals = [0, 0, 0]
    for one in OPERATIONS:
        rows = of_operation(one.name)
        found = [
            len(rows),
            sum(row.is_refused for row in rows.values()),
            sum(not is_checked(one.name, operands) for operands in rows),
        ]
        totals = [a + b for a, b in zip(totals, found, strict=True)]
        lines.append(f"| {one.name} | {' | '.join(f'{count:,}' for count in found)} |")
    lines += [f"| **all** | {' | '.join(f'{count:,}' for count in totals)} |", ""]
    lines += ["| checked by | entries | that are otherwise there |", "|---|---|---|"]
    for way, ways in record().items():
        count = sum(one.get("count", len(of_operation(name))) for name, one in ways.items())
        other = sum(len(one["other"]) for one in ways.values())
        lines.append(f"| {way} | {count:,} | {other:,} |")
    lines += ["", "| entry | result | computed in | by |", "|---|---|---|---|"]
    for name, *operands in SHOWN:
        row = entry(name, tuple(operands))
        words = (f"`{name}` of {', '.join(operands)}", row.result, row.within, row.instruction)
        lines.append(f"| {' | '.join(one or '-' for one in words)} |".replace("int|long", "int"))
    return "\n".join(lines)


def with_figures(text: str) -> str:
    """Return the page with the present figures."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{figures()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_figures(PAGE.read_text()))
