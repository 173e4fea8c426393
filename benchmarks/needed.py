"""Writes the table of docs/performance.md on kernels that practice needs, and all of their peers.

`python -m benchmarks.needed FILE` prints it for a file of results.
"""

import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.files import RESULTS
from benchmarks.gpu.results import Results, read
from benchmarks.gpu.summary import Line, lines
from benchmarks.spaces import table

NEEDED = RESULTS / "needed_h200.json"
# Of other peers, only the best one is shown.
SHOWN = ("compile", "Triton", "Liger", "Helion")
HEAD = ("kernel", "sizes", "ours, ms", "best peer", "its, ms", "ratio", *SHOWN, "why below 1")
# Below this, two times differ by more than two runs of one kernel do.
LEAST = 0.995
UNKNOWN = "not known"
# By patterns of rows; the first that fits counts.
REASONS: Mapping[str, str] = {
    "w4a16, pairs 16x*": "lanes exchange neighbours: use halves",
    "w4a16, * 2048x*": "weights are unpacked in memory",
    "grouped matmul 64x256x64*": "weights are read twice as often",
    "grouped matmul *": "no warps that only load",
    "adam in place *": "bound by memory, on both sides",
    "embedding *": "bound by memory, on both sides",
    "scan of long rows *": "three kernels, two by hand",
    "layer_norm backward *f32": "256 parts for 264 places",
    "scan of *": "bound by memory, on both sides",
    "quantize rows *": "bound by memory, on both sides",
    "add + rms_norm *": "bound by memory, on both sides",
}


def told() -> dict[str, str]:
    """Return the text between the marks of the page, if it was measured."""
    return {"needed": needed(read(NEEDED))} if NEEDED.exists() else {}


def needed(results: Results) -> str:
    """Return the table of all rows of a file of results."""
    return table.lines(HEAD, [_row(line) for line in lines(results) if line.counts])


def _row(line: Line) -> tuple[str, ...]:
    assert line.peer is not None
    assert line.ratio is not None
    times = {one.name: one.median for one in line.row.times if not one.is_ours and one.median}
    return (
        *(line.row.kernel, line.row.case, _milliseconds(line.ours.median)),
        *(line.peer.name, _milliseconds(line.peer.median), f"{line.ratio:.2f}"),
        *(_milliseconds(times[name]) if name in times else "" for name in SHOWN),
        reason(line.row.name) if line.ratio < LEAST else "",
    )


def reason(row: str) -> str:
    """Return why a row is slower than its best peer, as far as that is known."""
    return next((why for one, why in REASONS.items() if fnmatchcase(row, one)), UNKNOWN)


def _milliseconds(time: float) -> str:
    return f"{time:.4g}"


def main(arguments: Sequence[str]) -> None:
    """Print the table of a file."""
    (path,) = arguments
    print(needed(read(Path(path))), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
