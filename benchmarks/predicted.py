"""Compares the cost model with measured times, and says how right it is."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import comb, exp, log, nan
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.files import ROOT
from benchmarks.gpu.manifest import hash_of
from benchmarks.gpu.prepare import wanted
from benchmarks.gpu.rows import REPEATED, Row, rows
from benchmarks.ranks import spearman
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.checking import check
from dtpoly.explore.cost.cost import Cost, cost
from dtpoly.explore.devices.devices import Device
from dtpoly.schedule.state import State
from dtpoly.source import Source

# Where all schedules of a row take the same time but for so much, their order is chance.
SPREAD = 1.1
FEW = 4  # schedules of a row, from which on they are ranked
FIRST = 3  # of those that are predicted best, so many are measured in a search


@dataclass(frozen=True, slots=True)
class Point:
    """A schedule at one shape: measured and predicted, in milliseconds."""

    kernel: str
    case: str
    name: str
    measured: float
    predicted: float
    floor: float
    bound: str

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted / self.measured


@dataclass(frozen=True, slots=True)
class Ranked:
    """The schedules of one row: how alike both orders are, and what one gets who believes it."""

    kernel: str
    case: str
    schedules: int
    spread: float  # the slowest over the best
    rank: float
    first: float  # the best over what is predicted best
    first_few: float  # the best over the best of those that are predicted best
    chance: float  # the same of one, and of a few, that are chosen blindly
    chance_few: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The quality of predictions: how well they agree with measured times."""

    points: int
    rank: float
    middle: float  # median of predicted over measured
    error: float  # geometric mean of how far it is off, either way
    worst: tuple[float, float]
    rows: int
    spread_rows: int
    rank_in_rows: float  # mean, of rows in which times differ
    first: float  # geometric means over all rows
    first_few: float
    chance: float
    chance_few: float
    floor_rank: float  # the correlation of what must be moved and multiplied, whatever the schedule


@dataclass(frozen=True, slots=True)
class MeasuredSchedule:
    """A schedule that was judged legal, the call at which it was measured, and milliseconds."""

    kernel: str
    case: str
    name: str
    milliseconds: float
    state: State
    sizes: Mapping[str, int]
    dtype: DType
    is_warm: bool

    def cost(self, device: Device) -> Cost:
        """Return what the cost model says of it."""
        return cost(self.state, self.sizes, self.dtype, device, self.is_warm)


def points(record: Mapping[str, Any], device: Device) -> Iterator[Point]:
    """Predict everything in a record that was measured and is still known."""
    for one in schedules_of(record):
        found = one.cost(device)
        slowest = max(found.kernels, key=lambda kernel: kernel.seconds)
        times = one.milliseconds, 1e3 * found.seconds, 1e3 * found.floor
        yield Point(one.kernel, one.case, one.name, *times, slowest.bound)


def schedules_of(record: Mapping[str, Any]) -> Iterator[MeasuredSchedule]:
    """Yield everything in a record that was measured and is still known."""
    known = {row.name: row for row in rows()}
    states: dict[str, State | None] = {}
    sources = _sources(record)
    for line in record["rows"]:
        row = known.get(f"{line['kernel']} {line['case']}")
        for time in line["times"]:
            name = time["name"]
            if row is None or not time["median"] or name not in sources:
                continue
            if name not in states:
                verdict = check(sources[name]).verdict
                states[name] = verdict.scheduled if verdict and verdict.is_legal else None
            state = states[name]
            if state is not None:
                yield _measured(row, name, time["median"], state)


def _sources(record: Mapping[str, Any]) -> dict[str, Source]:
    """The texts of a record; of those that only have a hash, the examples that still are so."""
    texts: Any = record["texts"]
    if isinstance(texts, Mapping):
        by_name: Mapping[str, str] = record["texts"]
        return {name: Source(f"{name}.dt", text) for name, text in by_name.items()}
    hashes = {one["name"]: one["source_hash"] for one in texts}
    found, _ = wanted((ROOT / "examples",), (), tuple(hashes), ())
    return {one.name: one.source for one in found if hash_of(one.source.text) == hashes[one.name]}


def _measured(row: Row, name: str, measured: float, state: State) -> MeasuredSchedule:
    dtype = DType("f32" if row.dtype == "tf32" else row.dtype)
    sizes = filled(state.program, sizes_of(row, state.program))
    words = (row.kernel, row.case, name, measured, state, sizes, dtype)
    return MeasuredSchedule(*words, is_warm=row.way == REPEATED)


def sizes_of(row: Row, program: Program) -> dict[str, int]:
    """Return the sizes of a row by the labels of a file, which may call them otherwise."""
    sizes = dict(row.sizes)
    if row.kernel == "conv2d":
        # Rows give the pictures, labels the pixels that have a whole filter around them.
        sizes["h"] -= sizes["r"] - 1
        sizes["w"] -= sizes["s"] - 1
    labels = [label.name for label in program.labels]
    if len(labels) >= len(sizes) == 1 and not set(sizes) & set(labels):
        return dict(zip(labels, sizes.values(), strict=False))
    return sizes


def ranked(found: Iterable[Point]) -> list[Ranked]:
    """Return each row that has several schedules."""
    by_row: dict[tuple[str, str], list[Point]] = {}
    for point in found:
        by_row.setdefault((point.kernel, point.case), []).append(point)
    return [_ranked(*key, mine) for key, mine in by_row.items() if len(mine) >= FEW]


def _ranked(kernel: str, case: str, mine: list[Point]) -> Ranked:
    best = min(point.measured for point in mine)
    believed = sorted(mine, key=lambda point: point.predicted)
    return Ranked(
        kernel,
        case,
        len(mine),
        max(point.measured for point in mine) / best,
        spearman([p.measured for p in mine], [p.predicted for p in mine]),
        best / believed[0].measured,
        best / min(point.measured for point in believed[:FIRST]),
        blindly([point.measured for point in mine], 1),
        blindly([point.measured for point in mine], FIRST),
    )


def blindly(times: Sequence[float], count: int) -> float:
    """The best over the best of so many chosen by chance: the geometric mean of all choices."""
    order = sorted(times)
    choices = comb(len(order), count)
    # So many choices have this one as their best.
    shares = (comb(len(order) - 1 - at, count - 1) / choices for at in range(len(order)))
    return exp(sum(share * log(order[0] / time) for share, time in zip(shares, order, strict=True)))


def summary(found: Sequence[Point]) -> Summary:
    """Return all points, and the rows among them."""
    ratios = [point.ratio for point in found]
    lines = ranked(found)
    apart = [line for line in lines if line.spread > SPREAD]
    return Summary(
        len(found),
        spearman([p.measured for p in found], [p.predicted for p in found]),
        median(ratios),
        exp(mean(abs(log(ratio)) for ratio in ratios)),
        (min(ratios), max(ratios)),
        len(lines),
        len(apart),
        mean(line.rank for line in apart) if apart else nan,
        exp(mean(log(line.first) for line in lines)) if lines else nan,
        exp(mean(log(line.first_few) for line in lines)) if lines else nan,
        exp(mean(log(line.chance) for line in lines)) if lines else nan,
        exp(mean(log(line.chance_few) for line in lines)) if lines else nan,
        spearman([p.measured for p in found], [p.floor for p in found]),
    )


def as_json(found: Sequence[Point]) -> dict[str, object]:
    """Return a summary and all that it is made of."""
    return {
        "summary": {k: None if v != v else v for k, v in asdict(summary(found)).items()},
        "rows": [asdict(line) for line in ranked(found)],
        "points": [asdict(point) for point in found],
    }


def read(path: Path) -> Mapping[str, Any]:
    """Return a record of measured times."""
    record: Mapping[str, Any] = json.loads(path.read_text())
    return record
