"""Counts which mistakes in texts of `online` are refuted with an example.

`python -m tests.verify.refuted_mutants FIRST LAST FILE` judges the mistakes with some numbers, in
an order that is drawn, and writes how many there are of each kind.
"""

from collections.abc import Iterator
from functools import cache
from random import Random

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.ring.trying import NotRun, WrongTrial, tried
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.counted import record
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.parted_programs import PARTED
from tests.codegen.running import Wrong, compared, imported
from tests.codegen.test_online import PROGRAMS
from tests.verify.online_mutants import MISTAKES, OF_PARTS, OnlineMutant, mutants_of
from tests.verify.texts import text_of

IN_PARTS = (
    *("log-sum-exp", "a sum that is stored", "softmax in three kernels", "cross entropy"),
    *("attention", "attention, causal"),
)
AT_ONCE = (
    *("softmax", "log-sum-exp", "cross entropy"),
    *("attention", "attention, causal", "attention to a window"),
)
SECONDS = 10.0
# Numbers of rows and columns at which each mistake is run on floats.
SHOWING = ((1, 17), (5, 49), (37, 37), (17, 81), (81, 81), (33, 177))
RECIPES = (
    Recipe(1, DType.F64, Layout.PLAIN, Data.ASCENDING),
    Recipe(2, DType.F64, Layout.PLAIN, Data.RANDOM),
)


@cache
def program(name: str) -> Program:
    """Return the Program of `parts: NAME` or `at once: NAME`."""
    kind, _, plain = name.partition(": ")
    return load(Source("f.dt", (PARTED if kind == "parts" else PROGRAMS)[plain]))


def every(kind: str) -> Iterator[tuple[OnlineMutant, str]]:
    """Yield the mistakes in all texts of a kind, `parts` or `at once`."""
    mistakes = {**MISTAKES, **OF_PARTS} if kind == "parts" else MISTAKES
    for plain in IN_PARTS if kind == "parts" else AT_ONCE:
        name = f"{kind}: {plain}"
        yield from mutants_of(name, text_of(program(name)), mistakes)


@cache
def drawn() -> tuple[tuple[OnlineMutant, str], ...]:
    """Return all mistakes in an order that is drawn, those in parts and at once by turns."""
    parts, once = list(every("parts")), list(every("at once"))
    Random("parts").shuffle(parts)
    Random("once").shuffle(once)
    return tuple(one for two in zip(parts, once, strict=False) for one in two)


def outcome(mutant: OnlineMutant, text: str) -> str:
    """Return whether a mistake is refuted, and by what; if it is not, whether floats show it."""
    of = program(mutant.name)
    found = tried(of, text, "f", SECONDS)
    if isinstance(found, WrongTrial):
        return "refuted in the ring"
    report = verify(of, text, SECONDS)
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
        known = {"x": rows, "y": columns, "n": 3, "k": 5}
        sizes = {label.name: known[label.name] for label in of.labels}
        for recipe in RECIPES:
            try:
                compared(imported(text), of, ("f",), recipe.inputs(of, sizes), sizes)
            except Wrong:
                return True
    return False


def words(number: int) -> tuple[str, ...]:
    """Judge one mistake; return what is counted of it."""
    mutant, text = drawn()[number]
    kind = mutant.name.partition(": ")[0]
    return (f"{kind}: {outcome(mutant, text)}",)


def main() -> None:
    """Judge the mistakes of a range of numbers, and record how many there are of each kind."""
    what = (
        "mistakes in texts of reductions that share a loop, at once and in parts: whether they are"
        " refuted with an example"
    )
    record("tests.verify.refuted_mutants", "mutants", what, words)


if __name__ == "__main__":
    main()
