"""Takes the fastest proved schedule of each question from the results of explorations."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.program import Program
from dtpoly.explore.report.study import Study, Timed, studies
from dtpoly.explore.store.result_store import ResultStore
from dtpoly.explore.store.results import Proven
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.frozen import dataclass
from dtpoly.source import Source
from dtpoly.tuned.tuned_entry import TunedEntry

SHOWN = ("triton", "torch")  # versions that are noted


@dataclass(frozen=True, slots=True)
class Shipped:
    """An entry, or why there is none for a question."""

    question: str
    entry: TunedEntry | None
    why: str = ""


def shipped(store: ResultStore, program: Program) -> Iterator[Shipped]:
    """Yield the best of each question of a file of results that is about a program."""
    for study in studies(store):
        asked = study.question.asked
        sizes = ", ".join(f"{label} = {size}" for label, size in asked.sizes.items())
        name = f"{asked.name}: {sizes}, {asked.dtype}, on {study.question.facts.device}"
        if _program(asked.program) != program:
            yield Shipped(name, None, "it is about another algorithm")
            continue
        best = next((one for one in study.timed if _is_proved(store, study, one)), None)
        if best is None:
            yield Shipped(name, None, "nothing that is proved has a time")
        else:
            yield Shipped(name, _entry(study, best))


def _is_proved(store: ResultStore, study: Study, one: Timed) -> bool:
    row = next(row for row in study.rows if row.point == one.point)
    proof = store.proof(study.question.asked.program_hash, row.result.text_hash)
    return proof is not None and proof.verdict is Proven.PROVED


def _entry(study: Study, best: Timed) -> TunedEntry:
    asked, facts = study.question.asked, study.question.facts
    scheduled = _program(f"{asked.program}\n{best.point}\n", is_whole=True)
    sizes = ", ".join(f"{label} = {size}" for label, size in asked.sizes.items())
    words = [f"{best.time:.4g} ms at {sizes}".removesuffix(" at ")]
    for name, least in list(study.baselines.items())[:1]:
        words.append(f"{least / best.time:.2f} times as fast as {name}")
    words += [f"{name} {facts.versions[name]}" for name in SHOWN if name in facts.versions]
    ranges = {label: (size, size) for label, size in asked.sizes.items()}
    note = ", ".join(words)
    return TunedEntry(facts.device, asked.dtype, ranges, scheduled.directives, (note,))


def _program(text: str, is_whole: bool = False) -> Program:
    """Read a text of the store as a Program; its directives stay only if the caller wants them."""
    program = resolve(parse(Source("<results>", text)).file).program
    return program if is_whole else replace(program, directives=())
