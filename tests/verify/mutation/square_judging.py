"""Verifies a mistake in square tiles; a text that is proved is run beside the reference."""

from dataclasses import asdict, dataclass
from functools import cache
from time import perf_counter

from dtpoly.diagnostics import DtpolyError
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Data, Recipe
from tests.codegen.running import expected
from tests.verify.mutation.execution import Call, Outcome, Probe, consistent, run
from tests.verify.mutation.square_edits import square_mutants
from tests.verify.mutation.square_subjects import SIDE, others, square_subject

SECONDS = 15
# Sizes around a tile, around a part, and around two of them.
AROUND = ((SIDE, SIDE), (SIDE + 1, SIDE - 1), (3, 2 * SIDE + 1), (2 * SIDE, 4 * SIDE), (5, 19))


@dataclass(frozen=True, slots=True)
class SquareJudged:
    """The verdict on one mistake, and what running it showed if it is proved."""

    subject: str
    number: int
    word: str
    line: int
    what: str
    verdict: str
    ran: str
    seconds: float

    def row(self) -> dict[str, object]:
        """Return a row of the record."""
        return asdict(self)


@cache
def mistakes(subject: str) -> tuple[tuple[str, int, str, str], ...]:
    """Return the mistakes of a subject: class, line, what is done, and the text; no text twice."""
    found = {
        text: (word, edit.line, edit.what)
        for word, edit, text in square_mutants(square_subject(subject).text)
    }
    return tuple((*about, text) for text, about in found.items())


@cache
def square_calls(subject: str) -> tuple[Call, ...]:
    """Return calls for which the unchanged text is right."""
    one = square_subject(subject)
    found: list[Call] = []
    for at, (outer, inner) in enumerate(AROUND):
        labels = [label.name for label in one.program.labels]
        sizes = {name: inner if name in ("y", "l", "t") else outer for name in labels}
        known = consistent(one.program, sizes)
        if known is None:
            continue
        probe = Probe(
            known, Recipe(at, data=(Data.RANDOM, Data.ASCENDING, Data.BELOW_ZERO)[at % 3])
        )
        try:
            inputs = probe.inputs(one.program)
            for made in [inputs, *others(inputs)]:
                call = Call(probe, made, expected(one.program, made, known))
                if run(one.program, one.funcs, one.text, call).outcome is Outcome.RIGHT:
                    found.append(call)
        except (DtpolyError, TypeError):
            continue
    if not found:
        raise RuntimeError(f"{subject}: the unchanged text is right for no call, so none can tell")
    return tuple(found)


@cache
def is_proved_unchanged(subject: str) -> bool:
    """Return whether the text of a subject is proved, before anything in it is changed."""
    one = square_subject(subject)
    return verify(one.program, one.text, SECONDS).verdict is LayerVerdict.PROVED


def judged_square(subject: str, number: int) -> SquareJudged:
    """Verify one mistake of a subject, which is proved without it, and run it if it is proved."""
    one = square_subject(subject)
    if not is_proved_unchanged(subject):
        raise RuntimeError(f"{subject}: the unchanged text is not proved, so no mistake tells much")
    word, line, what, text = mistakes(subject)[number]
    began = perf_counter()
    verdict = verify(one.program, text, SECONDS).verdict
    seconds = round(perf_counter() - began, 1)
    ran = ""
    if verdict is LayerVerdict.PROVED:
        calls = square_calls(subject)
        ran = "right"
        for call in calls:
            result = run(one.program, one.funcs, text, call)
            if result.outcome in (Outcome.WRONG, Outcome.RAISES):
                ran = f"{result.outcome}: {result.why} {result.probe}"
                break
    return SquareJudged(subject, number, word, line, what, str(verdict), ran, seconds)
