"""Counts which mistakes in texts of `online` are refuted with an example.

`python -m tests.verify.refuted_mutants FIRST LAST FILE` judges the mistakes with some numbers, in
an order that is drawn, and writes how many there are of each kind. It may be stopped and called
again (see `tests.codegen.counted`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from random import Random

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.frozen import dataclass
from dtpoly.ring.trying import FAILED, NotRun, WrongTrial, tried
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.counted import record
from tests.codegen.frame_programs import TWO_FRAMES, TWO_LABELS
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.mean_programs import OF_MEANS
from tests.codegen.parted_programs import PARTED
from tests.codegen.running import Wrong, compared, imported
from tests.codegen.test_online import PROGRAMS
from tests.verify.frame_mutants import OF_FRAMES
from tests.verify.mean_mutants import MISTAKEN, OF_MOVES
from tests.verify.online_mutants import MISTAKES, OF_PARTS, OnlineMutant, mutants_of
from tests.verify.texts import text_of

IN_PARTS = (
    *("log-sum-exp", "a sum that is stored", "softmax in three kernels", "cross entropy"),
    *("attention", "attention, causal", "attention to a window", "log-sum-exp of a window"),
    *("attention with a sink", "twice a maximum"),
)
AT_ONCE = (
    *("softmax", "log-sum-exp", "cross entropy"),
    *("attention", "attention, causal", "attention to a window"),
)
SECONDS = 10.0
# What is said of a mistake that shows: it is refuted, or floats or a run show it.
OF_WRONG = ("refuted", "wrong", "does not run")
# Sizes at which each mistake is run on floats; other labels have their own.
SHOWING = (
    *((1, 17), (5, 49), (37, 37), (17, 81), (81, 81), (33, 177)),
    *((1, 1), (2, 16), (3, 31), (49, 48), (16, 97), (65, 33)),
)
OTHERS = {"n": 3, "k": 5, "z": 3, "w": 2}
RECIPES = (
    Recipe(1, DType.F64, Layout.PLAIN, Data.ASCENDING),
    Recipe(2, DType.F64, Layout.PLAIN, Data.RANDOM),
    Recipe(3, DType.F64, Layout.SLICED, Data.BELOW_ZERO),
)


@dataclass(frozen=True)
class Kind:
    """Programs by their names, those in whose texts mistakes are made, and the mistakes."""

    programs: Mapping[str, str]
    names: Sequence[str]
    mistakes: Mapping[str, tuple[str, str]]


KINDS = {
    "parts": Kind(PARTED, IN_PARTS, {**MISTAKES, **OF_PARTS}),
    "at once": Kind(PROGRAMS, AT_ONCE, MISTAKES),
    "means": Kind(OF_MEANS, MISTAKEN, OF_MOVES),
    "two labels": Kind(TWO_LABELS, tuple(TWO_LABELS), OF_FRAMES),
    "two frames": Kind(TWO_FRAMES, tuple(TWO_FRAMES), OF_FRAMES),
}


@cache
def program(name: str) -> Program:
    """Return the Program of a name such as `parts: NAME` or `at once: NAME`."""
    kind, _, plain = name.partition(": ")
    return load(Source("f.dt", KINDS[kind].programs[plain]))


def every(kind: str) -> Iterator[tuple[OnlineMutant, str]]:
    """Yield the mistakes in all texts of a kind."""
    for plain in KINDS[kind].names:
        name = f"{kind}: {plain}"
        yield from mutants_of(name, text_of(program(name)), KINDS[kind].mistakes)


def changed(mutant: OnlineMutant) -> str:
    """Return the text in which a mistake is made."""
    kind, _, _ = mutant.name.partition(": ")
    one = {mutant.mistake: KINDS[kind].mistakes[mutant.mistake]}
    texts = mutants_of(mutant.name, text_of(program(mutant.name)), one)
    return next(text for found, text in texts if found == mutant)


@cache
def drawn() -> tuple[OnlineMutant, ...]:
    """Return all mistakes in an order that is drawn, those of each kind by turns."""
    each = [[mutant for mutant, _ in every(kind)] for kind in KINDS]
    for kind, mistakes in zip(KINDS, each, strict=True):
        Random(kind).shuffle(mistakes)
    return tuple(one for turn in zip_longest(*each) for one in turn if one is not None)


def outcome(mutant: OnlineMutant, text: str) -> str:
    """Return whether a mistake is refuted, and by what; if it is not, whether floats show it.

    The proof is asked in any case: it must not prove what the ring refutes.
    """
    of = program(mutant.name)
    found = tried(of, text, "f", SECONDS)
    report = verify(of, text, SECONDS)
    if isinstance(found, WrongTrial):
        is_proved = report.verdict is LayerVerdict.PROVED
        return "proved, and wrong" if is_proved else "refuted in the ring"
    if report.verdict is LayerVerdict.REFUTED:
        return "refuted by the proof"
    is_seen = _is_seen(of, text)
    if report.verdict is LayerVerdict.PROVED:
        return "proved, and wrong" if is_seen else "proved, and it computes the same"
    if not is_seen:
        return "unknown, and floats show no difference"
    return "unknown: it does not run" if isinstance(found, NotRun) else "unknown, and wrong"


def _is_seen(of: Program, text: str) -> bool:
    """Return whether results are others than those of the algorithm in double precision."""
    for rows, columns in SHOWING:
        known = {**OTHERS, "x": rows, "y": columns}
        sizes = {label.name: known[label.name] for label in of.labels}
        for recipe in RECIPES:
            try:
                compared(imported(text), of, ("f",), recipe.inputs(of, sizes), sizes)
            except (Wrong, *FAILED):  # what does not run is seen, too
                return True
    return False


def words(mutant: OnlineMutant) -> tuple[str, ...]:
    """Judge one mistake; return what is counted of it."""
    kind = mutant.name.partition(": ")[0]
    return (f"{kind}: {outcome(mutant, changed(mutant))}",)


def drawn_one(number: int) -> OnlineMutant:
    """Return the mistake with a number. The draw makes all texts, which takes half a minute."""
    return drawn()[number]


def shares(counts: Mapping[str, int]) -> dict[str, object]:
    """Return how many mistakes are wrong, and which share of them is refuted with an example."""
    wrong = sum(n for one, n in counts.items() if any(word in one for word in OF_WRONG))
    refuted = sum(n for one, n in counts.items() if "refuted" in one)
    return {
        "wrong": wrong,
        "refuted with an example": refuted,
        "share": round(refuted / wrong, 4) if wrong else None,
        "proved, and wrong": sum(n for one, n in counts.items() if "proved, and wrong" in one),
    }


def main() -> None:
    """Judge the mistakes of a range of numbers, and record how many there are of each kind."""
    what = (
        "mistakes in texts of reductions that share a loop, at once, in parts, of means, of two"
        " labels and of several maxima: whether they are refuted with an example"
    )
    record("tests.verify.refuted_mutants", "mutants", what, words, drawn_one, more=shares)


if __name__ == "__main__":
    main()
