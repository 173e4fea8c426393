"""`TRITON_INTERPRET=1 python -m tests.codegen.record FIRST LAST FILE`: random cases, and what came.

Runs the cases of a range of seeds in the interpreter, tells how far it is, and writes a table of
what occurs in those that are right. What has been run is kept beside FILE until all is done: the
same command goes on from there, unless the sources have changed.
"""

import argparse
import json
import platform
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TextIO, TypeAlias

from tests.codegen.cases import Outcome, outcome, random_case
from tests.codegen.features import features
from tests.codegen.running import forget

ROOT = Path(__file__).parent.parent.parent
SOURCES = ("dtpoly", "frontend", "codegen", "tests/codegen", "tests/generation", "tests/oracle")
PACKAGES = ("torch", "triton", "numpy", "islpy")
BAD = (Outcome.WRONG, Outcome.FAILED, Outcome.SLOW)
LINE_S = 5.0

Json: TypeAlias = "str | int | float | Sequence[Json] | Mapping[str, Json]"


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome of a seed."""

    seed: int
    kind: str
    outcome: str
    why: str = ""
    case: str = ""  # of one that is bad
    elements: int = 0
    known: int = 0
    tight: int = 0
    seconds: float = 0.0  # of processor time
    features: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def row(seed: int) -> Row:
    """Run the case of a seed."""
    start = time.process_time()
    case = random_case(seed)
    result = outcome(case)
    seconds = round(time.process_time() - start, 3)
    if result.outcome is not Outcome.RIGHT:
        shown = str(case) if result.outcome in BAD else ""
        return Row(seed, case.kind, result.outcome, result.why, shown, seconds=seconds)
    found = {name: sorted(words) for name, words in features(case, result.text).items()}
    counts = result.checked
    elements, known, tight = counts.elements, counts.known, counts.tight
    return Row(seed, case.kind, result.outcome, "", "", elements, known, tight, seconds, found)


def rows(seeds: Sequence[int], kept: Path) -> Generator[Row]:
    """Yield the outcome of each seed, also of seeds that were run before with the same sources."""
    done = {one.seed: one for one in _before(kept)}
    if not done:
        kept.write_text(f"{json.dumps(_fingerprint())}\n")
    with kept.open("a") as file:
        for seed in seeds:
            if seed not in done:
                done[seed] = row(seed)
                _keep(file, done[seed])
                forget()
            yield done[seed]


def _before(kept: Path) -> Iterator[Row]:
    if not kept.exists():
        return
    first, *lines = kept.read_text().splitlines()
    if json.loads(first) == _fingerprint():
        yield from (Row(**json.loads(line)) for line in lines)


def _keep(file: TextIO, one: Row) -> None:
    file.write(f"{json.dumps(asdict(one))}\n")
    file.flush()


def _fingerprint() -> str:
    """Return a hash of the sources."""
    paths = sorted(path for part in SOURCES for path in (ROOT / part).rglob("*.py"))
    return sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def told(command: str, found: Sequence[Row]) -> dict[str, Json]:
    """Return all that can be said about the cases."""
    right = [one for one in found if one.outcome == Outcome.RIGHT]
    refused = [one for one in found if one.outcome == Outcome.REFUSED]
    bad = [one for one in found if one.outcome in BAD]
    return {
        "what": "random Programs, schedules, sizes, dtypes, strides and data: what the generated "
        "kernels compute in Triton's interpreter, against the reference; touching anything but "
        "elements of the tensors, and races, are mistakes",
        "command": command,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "seconds": round(sum(one.seconds for one in found)),
        "cases": len(found),
        "outcomes": dict(Counter(one.outcome for one in found)),
        "kinds": _sorted(f"{one.kind}: {one.outcome}" for one in found),
        "refused": f"{len(refused) / len(found):.1%}",
        "refused because": _sorted(one.why for one in refused),
        "elements": {
            "compared": sum(one.elements for one in right),
            "of which something is known": sum(one.known for one in right),
            "of which almost all is known": sum(one.tight for one in right),
        },
        "right ones with": {
            name: _sorted(word for one in right for word in one.features[name])
            for name in (right[0].features if right else ())
        },
        "bad": [{"seed": one.seed, "why": one.why, "case": one.case} for one in bad],
    }


def _sorted(words: Iterable[str]) -> Json:
    return dict(Counter(words).most_common())


def main() -> None:
    """Run, print and record."""
    parser = argparse.ArgumentParser(prog="python -m tests.codegen.record")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("file", type=Path, help="where to write the results (JSON)")
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.last)
    kept = chosen.file.with_suffix(".part")
    counts: Counter[str] = Counter()
    found: list[Row] = []
    shown = time.monotonic()
    for one in rows(seeds, kept):
        found.append(one)
        counts[one.outcome] += 1
        if one.outcome in BAD:
            print(f"{one.case}{one.outcome}: {one.why}\n", flush=True)
        if time.monotonic() - shown > LINE_S:
            shown = time.monotonic()
            print(f"{len(found)} of {len(seeds)}: {dict(counts)}", flush=True)
    command = f"python -m tests.codegen.record {chosen.first} {chosen.last} FILE"
    result = told(command, found)
    chosen.file.write_text(f"{json.dumps(result, indent=1)}\n")
    kept.unlink()
    print(*_table(result), sep="\n")


def _table(result: Mapping[str, Json], indent: str = "") -> Iterator[str]:
    for name, value in result.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _table(value, f"{indent}  ")
        elif isinstance(value, int):
            yield f"{indent}{value:6} {name}"
        elif isinstance(value, str) and name != "what":
            yield f"{indent}{name}: {value}"


if __name__ == "__main__":
    main()
