"""Keeps measurements as plain data, which is written after each row and read again."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.files import write_whole
from benchmarks.gpu.manifest import Prepared, prepared

OURS, PEER = "ours", "peer"


@dataclass(frozen=True, slots=True)
class Timed:
    """One candidate of a row: its time in milliseconds, or why it has none."""

    name: str
    kind: str = PEER
    text_hash: str = ""  # of ours; none where it could not be prepared
    median: float = 0.0
    quarter: float = 0.0  # a quarter of all samples took less
    three_quarters: float = 0.0
    samples: int = 0
    error: float = 0.0  # how far its result was off
    prepared: float = 0.0  # seconds, until it ran for the first time
    failure: str = ""
    is_unfit: bool = False  # there is nothing of it for such a shape; that is no failure

    @property
    def is_ours(self) -> bool:
        """Return whether it is an emitted text."""
        return self.kind == OURS


@dataclass(frozen=True, slots=True)
class RowResult:
    """One line of the table."""

    name: str
    kernel: str
    family: str
    case: str
    dtype: str
    way: str
    file: str  # the text that counts; other texts are variants
    size: int  # bytes that are read and written at least
    flops: int
    prepared: float  # seconds, until the first was timed
    seconds: float
    times: tuple[Timed, ...]


@dataclass(frozen=True, slots=True)
class HostTime:
    """Microseconds of the host for one call."""

    kernel: str
    name: str
    kind: str = PEER
    text_hash: str = ""
    median: float = 0.0
    quarter: float = 0.0
    three_quarters: float = 0.0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A candidate after which the device, or the process, was of no more use."""

    row: str
    candidate: str
    text_hash: str
    why: str


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The rates that the machine can reach, measured beside all else."""

    copy: float = 0.0  # bytes that are read and written, in a second
    products: Mapping[str, float] = field(default_factory=dict[str, float])  # operations, likewise
    launch: float = 0.0  # milliseconds of a kernel that does nothing


@dataclass(frozen=True, slots=True)
class Results:
    """The content of a file of results."""

    command: str = ""
    date: str = ""
    machine: Mapping[str, str] = field(default_factory=dict[str, str])
    ceilings: Ceilings = Ceilings()
    texts: tuple[Prepared, ...] = ()
    missing: tuple[str, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict[str, str])  # kinds of peers, and why
    rows: tuple[RowResult, ...] = ()
    host: tuple[HostTime, ...] = ()
    broken: tuple[Broken, ...] = ()

    def with_row(self, row: RowResult) -> "Results":
        """Return the results with a row, which takes the place of what was known of it."""
        return replace(self, rows=(*(one for one in self.rows if one.name != row.name), row))

    def with_host(self, kernel: str, times: Iterable[HostTime]) -> "Results":
        """Return the same of the host's times of a kernel."""
        return replace(self, host=(*(one for one in self.host if one.kernel != kernel), *times))


def write(path: Path, results: Results) -> None:
    """Keep them; whoever is stopped in between leaves what was there before."""
    write_whole(path, json.dumps(asdict(results), indent=1) + "\n")


class NotResults(Exception):
    """A file is not what `run` wrote."""


# What reading another file may raise.
NOT_RESULTS = (ValueError, KeyError, TypeError, AttributeError)


def read(path: Path) -> Results:
    """Read what `write` wrote. Raises NotResults."""
    try:
        data: dict[str, Any] = json.loads(path.read_text())
        fields: dict[str, Any] = {
            "ceilings": Ceilings(**data["ceilings"]),
            "texts": tuple(map(prepared, data["texts"])),
            "missing": tuple(data["missing"]),
            "rows": tuple(map(_row, data["rows"])),
            "host": tuple(HostTime(**one) for one in data["host"]),
            "broken": tuple(Broken(**one) for one in data["broken"]),
        }
        return Results(**{**data, **fields})
    except NOT_RESULTS as error:
        raise NotResults(f"{path} is no file of results: {told(error)}") from None


def told(error: Exception) -> str:
    """Say what is wrong with a file."""
    return f"{type(error).__name__}: {error}"


def _row(data: Mapping[str, Any]) -> RowResult:
    fields: dict[str, Any] = {"times": tuple(Timed(**one) for one in data["times"])}
    return RowResult(**{**data, **fields})


def lacks(known: RowResult | None, wanted: Iterable[tuple[str, str]], again: bool) -> bool:
    """Return whether a row is to be measured, as one of the candidates, by name and text, is new.

    With `again`, those that failed are new; not those that have nothing for such a shape.
    """
    there: set[tuple[str, str]] = set()
    if known is not None:
        failed = {one.name for one in known.times if one.failure and not one.is_unfit}
        there = {(one.name, one.text_hash) for one in known.times}
        there = {one for one in there if not (again and one[0] in failed)}
    return not set(wanted) <= there


def began_file(output: Path) -> Path:
    """Return where it stands which candidate runs, for whoever outlives a process that crashes."""
    return output.with_name(f".{output.name}.began")
