"""`python -m tests.verify.record --first 0 --last 300 -o FILE`: random kernels, and what is proved.

Emits the legal cases of a range of seeds, has each verified, and writes how often every layer is
proved, refuted or left open, why, and how long it took. What has been run is kept beside FILE until
all is done: the same command goes on from there, unless the sources have changed.
"""

import argparse
import json
import platform
import re
import statistics
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import code_of
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.cases import SlowError, limited, random_case, verdict

ROOT = Path(__file__).parent.parent.parent
SOURCES = ("dtpoly", "frontend", "codegen", "tests/codegen", "tests/generation", "tests/oracle")
PACKAGES = ("islpy", "z3-solver")
NOT_LEGAL, NOT_EMITTED = "refused", "not emitted"
# Emitting: what takes longer is no matter of the verifier.
EMIT_S = 60
# Terms are kept for ever: a process ends before that matters.
CASES_A_PROCESS = 60

QUOTED = re.compile(r"'[^']*'")

Json: TypeAlias = "str | int | float | Sequence[Json] | Mapping[str, Json]"


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one seed: the verdict on its file, and what is not proved, and why."""

    seed: int
    kind: str
    outcome: str
    seconds: float = 0.0  # of processor time, of the proof alone
    # Function, layer, verdict, line, reason.
    layers: list[list[str]] = field(default_factory=list[list[str]])


def row(seed: int, seconds: float) -> Row:
    """Emit and verify the case of a seed."""
    case = random_case(seed)
    try:
        with limited(EMIT_S):
            judged = verdict(case)
            if not judged.is_legal:
                return Row(seed, case.kind, NOT_LEGAL)
            text = code_of(judged.scheduled).text
    except (SlowError, DtpolyError):
        return Row(seed, case.kind, NOT_EMITTED)
    began = time.process_time()
    report = verify(case.program, text, seconds)
    spent = round(time.process_time() - began, 3)
    layers = [
        [function.name, layer.name, layer.verdict.value, str(layer.line), layer.why]
        for function in report.functions
        for layer in function.layers
    ]
    return Row(seed, case.kind, report.verdict.value, spent, layers)


def rows(seeds: Sequence[int], kept: Path, workers: int, seconds: float) -> Generator[Row]:
    """Yield the row of each seed, in any order; those first that the same sources made."""
    done = {one.seed: one for one in _before(kept)}
    yield from (done[seed] for seed in seeds if seed in done)
    if not done:
        kept.write_text(f"{json.dumps(_fingerprint())}\n")
    left = [seed for seed in seeds if seed not in done]
    pool = get_context("spawn").Pool(workers, maxtasksperchild=CASES_A_PROCESS)
    with kept.open("a") as file, pool:
        for one in pool.imap_unordered(partial(row, seconds=seconds), left):
            file.write(f"{json.dumps(asdict(one))}\n")
            file.flush()
            yield one


def _before(kept: Path) -> Iterator[Row]:
    if not kept.exists():
        return
    first, *lines = kept.read_text().splitlines()
    if json.loads(first) == _fingerprint():
        yield from (Row(**json.loads(line)) for line in lines)


def _fingerprint() -> str:
    """Return what the sources are."""
    paths = sorted(path for part in SOURCES for path in (ROOT / part).rglob("*.py"))
    return sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def told(command: str, found: Sequence[Row]) -> dict[str, Json]:
    """Return all there is to say of the cases."""
    legal = sorted(
        (one for one in found if one.outcome not in (NOT_LEGAL, NOT_EMITTED)),
        key=lambda one: one.seed,
    )
    counts = Counter(one.outcome for one in legal)
    layers = [layer for one in legal for layer in one.layers]
    open_ = [one for one in legal if one.outcome != LayerVerdict.PROVED]
    return {
        "what": "random Programs and legal schedules: the emitted files, read back and proved "
        "layer by layer for every size; a file is proved if every layer of all its functions is",
        "command": command,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "seeds": len(found),
        "refused or not emitted": dict(
            Counter(one.outcome for one in found if one.outcome in (NOT_LEGAL, NOT_EMITTED))
        ),
        "files": len(legal),
        "verdicts": dict(counts),
        "unknown": f"{counts[LayerVerdict.UNKNOWN] / max(len(legal), 1):.1%}",
        "kinds": _counted(f"{one.kind}: {one.outcome}" for one in legal),
        "layers": {
            name: _counted(word for _, layer, word, *_ in layers if layer == name)
            for name in dict.fromkeys(layer for _, layer, *_ in layers)
        },
        "reasons, by files": _counted(reason for one in open_ for reason in _reasons(one)),
        "seconds of processor time": _seconds([one.seconds for one in legal]),
        "not proved": [
            {
                "seed": one.seed,
                "verdict": one.outcome,
                "seconds": one.seconds,
                "layers": [" ".join(part for part in layer if part) for layer in _open(one)],
            }
            for one in open_
        ],
    }


def _open(of: Row) -> list[list[str]]:
    return [layer for layer in of.layers if layer[2] != LayerVerdict.PROVED]


def _reasons(of: Row) -> list[str]:
    """Return each reason once; names that a text gives are left out."""
    return sorted(
        {QUOTED.sub("'..'", f"{word}, {layer}: {why}") for _, layer, word, _, why in _open(of)}
    )


def _seconds(of: Sequence[float]) -> Json:
    if not of:
        return {}
    ordered = sorted(of)
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)], 3),
        "worst": round(ordered[-1], 3),
        "sum": round(sum(ordered), 1),
    }


def _counted(words: Iterable[str]) -> Json:
    return dict(Counter(words).most_common())


def main() -> None:
    """Run, tell and record."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.record")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--last", type=int, default=300, help="the seed after the last")
    parser.add_argument("--workers", type=int, default=1, help="processes at once")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each function of a file")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=ROOT / "benchmarks/results/verify_random.json",
        help="where to write the results (JSON)",
    )
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.last)
    kept = chosen.output.with_suffix(".part")
    console = Console()
    counts: Counter[str] = Counter()
    found: list[Row] = []
    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("", total=len(seeds))
        for one in rows(seeds, kept, chosen.workers, chosen.seconds):
            found.append(one)
            counts[one.outcome] += 1
            if one.outcome in (LayerVerdict.UNKNOWN, LayerVerdict.REFUTED, NOT_EMITTED):
                whys = "; ".join(f"{layer[1]} {layer[3]} {layer[4]}" for layer in _open(one)[:2])
                console.print(f"seed {one.seed}: {one.outcome} {whys}", markup=False)
            words = ", ".join(f"{count} {word}" for word, count in counts.items())
            progress.update(task, advance=1, description=words)
    command = (
        f"python -m tests.verify.record --first {chosen.first} --last {chosen.last} "
        f"--seconds {chosen.seconds:g}"
    )
    result = told(command, found)
    chosen.output.write_text(f"{json.dumps(result, indent=1)}\n")
    kept.unlink()
    shown = {name: value for name, value in result.items() if name not in ("what", "not proved")}
    console.print_json(json.dumps(shown))


if __name__ == "__main__":
    main()
