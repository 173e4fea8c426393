"""`python -m tests.verify.soundness_fuzz`: random emitted files, and mistakes in them.

What the verifier says of each, against running it at small sizes: nothing that is proved may be
wrong, and nothing that is refuted may be right where its witness says that it is not.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import islpy as isl
from rich.console import Console
from rich.table import Table

from dtpoly.generate import code_of
from dtpoly.verify.algebra.proof_limits import limited as within_time
from tests.codegen.cases import RandomCase, SlowError, limited, random_case, verdict
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.running import forget
from tests.verify.mutation.execution import (
    Call,
    Outcome,
    Probe,
    Ran,
    call,
    probes,
    right_calls,
    run,
    runs,
)
from tests.verify.mutation.judging import Subject, judged
from tests.verify.mutation.operators import OPERATORS, Mutant, mutants
from tests.verify.mutation.recording import versions
from tests.verify.mutation.streaming import ROOT, Row, fingerprint, streamed

RESULTS = ROOT / "benchmarks" / "results" / "verify_soundness.json"
SOURCES = (
    *("dtpoly", "codegen", "frontend", "tests/codegen", "tests/generation", "tests/oracle"),
    *("tests/verify/mutation", "tests/verify/soundness_fuzz.py"),
)
CALLS, MORE_CALLS = 4, 6
# Making a kernel of a random schedule may take minutes: those are left out.
LIMIT_S = 5


@dataclass(frozen=True, slots=True)
class Seed:
    """A random case, and so many mistakes in it."""

    number: int
    mutants: int

    def __str__(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True)
class Found:
    """A text, what running it shows, what the verifier says."""

    seed: int
    kind: str
    operator: str  # nothing for the text as it was emitted
    line: int
    what: str
    outcome: str
    why: str
    verdict: str
    refuted: tuple[dict[str, Any], ...]
    unknown: tuple[str, ...]
    tried: str  # in the ring, where a layer is unknown
    more: str
    seconds: float


def emitted(case: RandomCase) -> Subject | None:
    """Return the text for a case; None if its schedule is not legal, or it takes too long."""
    try:
        with limited(LIMIT_S), within_time(LIMIT_S):
            judged_case = verdict(case)
            if not judged_case.is_legal:
                return None
            code = code_of(judged_case.scheduled)
    except (SlowError, isl.Error):
        return None
    return Subject(case.program, code.stages.outputs, code.text, _recipes(case))


def _recipes(case: RandomCase) -> tuple[tuple[Recipe, Layout], ...]:
    """Return the case's own types, in every layout."""
    mine = case.recipe
    return (
        (mine, case.out),
        (replace(mine, seed=mine.seed + 1, layout=Layout.TRANSPOSED), Layout.TRANSPOSED),
        (replace(mine, seed=mine.seed + 2, layout=Layout.PLAIN), Layout.PLAIN),
    )


def _calls(case: RandomCase, one: Subject) -> Iterator[Call]:
    """Return the case's own call, then others that there are."""
    tried = [Probe(case.sizes, case.recipe, case.out), *probes(case.program, one.recipes)]
    return filter(None, (call(case.program, probe) for probe in tried))


def searched(seed: Seed) -> list[Row]:
    """Return what is found of a seed: of the text as it is, then of mistakes in it."""
    case = random_case(seed.number)
    one = emitted(case)
    if one is None:
        return []

    called = [
        (made, run(one.program, one.funcs, one.text, made))
        for made in islice(_calls(case, one), CALLS)
    ]
    given = [made for made, ran in called if ran.outcome is Outcome.RIGHT]

    @cache
    def more() -> tuple[Call, ...]:
        others = (made.probe for made in islice(_calls(case, one), CALLS, None))
        return right_calls(one.program, one.funcs, one.text, others, MORE_CALLS)

    ran = _worst([ran for _, ran in called])
    emission = Mutant("", 0, 0, "", one.text)
    rows = [_found(case, one, emission, ran.outcome, f"{ran.why} {ran.probe}", lambda: ())]
    for mutant in chosen(case.seed, one, seed.mutants) if given else ():
        ran = runs(one.program, one.funcs, mutant.text, given)
        why = f"{ran.why} {ran.probe}"
        rows.append(_found(case, one, mutant, ran.outcome, why, more))
    forget()
    return rows


def _worst(found: Sequence[Ran]) -> Ran:
    """Return what is wrong, if anything is; nothing is right that is never run."""
    for outcome in (Outcome.WRONG, Outcome.RAISES, Outcome.SLOW, Outcome.RIGHT):
        for ran in found:
            if ran.outcome is outcome:
                return ran
    return Ran(Outcome.RAISES, "there is no such call")


def chosen(seed: int, one: Subject, count: int) -> Iterator[Mutant]:
    """Yield some mistakes, each of another operator."""
    random = Random(f"mutants {seed}")
    for operator in random.sample(OPERATORS, len(OPERATORS)):
        if not count:
            return
        found = list(mutants(one.text, frozenset(one.funcs), operator))
        if found:
            count -= 1
            yield random.choice(found)


def _found(
    case: RandomCase, one: Subject, mutant: Mutant, outcome: str, why: str, more: Any
) -> Row:
    start = process_time()
    said = judged(one, mutant, outcome, more)
    return asdict(
        Found(
            *(case.seed, case.kind, mutant.operator, mutant.line, mutant.what, outcome, why),
            *(said.verdict, tuple(asdict(layer) for layer in said.refuted), said.unknown),
            *(said.tried, said.more, round(process_time() - start, 3)),
        )
    )


def is_false_proof(row: Row) -> bool:
    """Proved, and running it shows it to be wrong."""
    is_wrong = row["outcome"] == "wrong" or row["more"].startswith("wrong")
    return row["verdict"] == "proved" and bool(is_wrong)


def is_false_refutation(row: Row) -> bool:
    """Refuted, and running it for its witness shows nothing wrong."""
    shown = [one["shown"] for one in row["refuted"] if one["layer"] != "overflow"]
    return "not shown" in shown or "no such call" in shown


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Return what running says and what the verifier says, together."""
    found = Counter(f"{row['outcome']}, {_verdict(row)}" for row in rows)
    return dict(sorted(found.items()))


def _verdict(row: Row) -> str:
    if row["verdict"] == "refuted" and all(one["layer"] == "overflow" for one in row["refuted"]):
        return "refuted for overflow"
    if row["verdict"] == "unknown" and row["tried"] == "refuted":
        return "refuted in the ring"
    return str(row["verdict"])


def told(command: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Everything, as it is recorded."""
    own = [row for row in rows if not row["operator"]]
    others = [row for row in rows if row["operator"]]
    return {
        "what": "random emitted files and mistakes in them: what running them at small sizes "
        "shows, and what the verifier says",
        "command": command,
        "versions": dict(versions()),
        "seconds": round(sum(row["seconds"] for row in rows)),
        "emitted files": len(own),
        "of which": counts(own),
        "mutants": len(others),
        "of which ": counts(others),
        "emitted files that are wrong": [
            {key: row[key] for key in ("seed", "kind", "why", "verdict")}
            for row in own
            if row["outcome"] == "wrong"
        ],
        "false proofs": [row for row in rows if is_false_proof(row)],
        "false refutations": [row for row in rows if is_false_refutation(row)],
        "emitted files that are not proved": [
            {key: row[key] for key in ("seed", "kind", "verdict", "unknown", "refuted")}
            for row in own
            if row["verdict"] != "proved"
        ],
    }


def main() -> None:
    """Search, tell and record."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.soundness_fuzz")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--count", type=int, default=2300, help="how many seeds (2300)")
    parser.add_argument("--mutants", type=int, default=1, help="mistakes in each file (1)")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    os.environ["TRITON_INTERPRET"] = "1"
    seeds = [
        Seed(number, given.mutants) for number in range(given.first, given.first + given.count)
    ]
    kept = given.output.with_suffix(".part")
    found = streamed(
        "searched", searched, seeds, kept, fingerprint(*SOURCES), given.workers, given.seconds
    )
    rows = [row for one in found.values() for row in one]
    result = told(" ".join(("python -m tests.verify.soundness_fuzz", *sys.argv[1:])), rows)
    given.output.write_text(f"{json.dumps(result, indent=1)}\n")
    table = Table("running it, verifying it", "emitted", "mutants")
    for name in sorted({**result["of which"], **result["of which "]}):
        cells = (str(result[key].get(name, 0)) for key in ("of which", "of which "))
        table.add_row(name, *cells)
    console = Console()
    console.print(table)
    console.print(f"{len(rows)} texts of {len(found)} seeds")
    console.print(f"{len(result['false proofs'])} false proofs")
    console.print(f"{len(result['false refutations'])} false refutations")


if __name__ == "__main__":
    main()
