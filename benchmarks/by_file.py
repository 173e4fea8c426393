"""Writes the tables of docs/performance.md, one for each file, from results of kernels."""

from collections.abc import Sequence

from benchmarks import needed
from benchmarks.evaluation import MISSING
from benchmarks.files import RESULTS, ROOT
from benchmarks.gpu.results import Ceilings, Results, RowResult, read
from benchmarks.gpu.rows import REPEATED, UNMEASURED, rows
from benchmarks.gpu.summary import Line, floor, lines
from benchmarks.spaces import table

PAGE = ROOT / "docs" / "performance.md"
KERNELS = RESULTS / "kernels_h200.json"
HEAD = ("shape, dtype", "bound by", "ours, us", "best peer", "its, us", "ratio", "of the floor")


def told() -> dict[str, str]:
    """Return the text between the marks of the page, by the names of files and of other tables."""
    return {**of_files(), **needed.told()}


def of_files() -> dict[str, str]:
    """Return the table of each file, by its name."""
    results = read(KERNELS) if KERNELS.exists() else Results()
    every = [line for line in lines(results) if line.counts]
    names = dict.fromkeys(row.files[0] for row in rows() if row.family not in UNMEASURED)
    return {name: _of(name, results, [o for o in every if o.row.file == name]) for name in names}


def bound(row: RowResult, ceilings: Ceilings) -> str:
    """Return the limit that keeps a kernel from being faster."""
    if row.way == REPEATED:
        return "a launch"
    moving = floor(ceilings, row.size, 0, row.dtype)
    return "memory" if floor(ceilings, 0, row.flops, row.dtype) < moving else "tensor cores"


def _of(name: str, results: Results, found: Sequence[Line]) -> str:
    """Return its schedule, and a table of its rows."""
    if not found:
        return MISSING
    schedule = next(one.schedule for one in results.texts if one.name == name)
    directives = " ".join(one for one in schedule if not one.endswith(".compile();"))
    made = table.lines(HEAD, (_row(line, results.ceilings) for line in found))
    return f"[`{name}.dt`](../examples/{name}.dt): `{directives}`\n\n{made}"


def _row(line: Line, ceilings: Ceilings) -> tuple[str, ...]:
    assert line.peer is not None
    return (
        line.row.case,
        bound(line.row, ceilings),
        microseconds(line.ours.median),
        line.peer.name,
        microseconds(line.peer.median),
        f"{line.ratio:.3f}",
        f"{line.share:.0%}",
    )


def microseconds(milliseconds: float) -> str:
    """Four digits, or all before the point."""
    found = 1000 * milliseconds
    return f"{found:,.0f}" if found >= 1000 else f"{found:.4g}"
