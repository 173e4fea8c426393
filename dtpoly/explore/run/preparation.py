"""Does everything that can be done with a point before a device is needed: text, compiler, proof.

The rules are applied in the order of their costs: Triton's limits, the verdict of a class, the
emitter with a verdict for the point, a compiler. If a rule refuses a point, the reason is stored. A
proof begins as soon as there is a text worth it, and nothing here waits for it.
"""

from collections.abc import Iterator
from dataclasses import field, replace
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dtpoly.algorithm.show import show
from dtpoly.explore.legality.shared_verdicts import (
    BlankLearner,
    Disagreement,
    KnownVerdict,
    Learner,
    Look,
)
from dtpoly.explore.run.harmless import why_not_run
from dtpoly.explore.space.search_view import Field, Point
from dtpoly.explore.store.measured_question import UserQuestion
from dtpoly.explore.store.result_store import ResultStore
from dtpoly.explore.store.results import EmittedText, Fit, Proven, RefusedPoint, TextProof
from dtpoly.explore.workers.crew import Crew, Done
from dtpoly.explore.workers.process import Gone
from dtpoly.explore.workers.servants import fit_of, made_of, proof_of
from dtpoly.frozen import dataclass

NOT_PREPARED = RefusedPoint("not prepared", "it was not emitted elsewhere, and here isl is missing")

NO_TEXT = "its text is none of dtpoly's"


@dataclass(frozen=True, slots=True)
class Ready:
    """A point has a text, and the text fits the device as far as its compiler knows."""

    short: str
    text: EmittedText


@dataclass(frozen=True, slots=True)
class Out:
    """A point has no text, or none that is worth a run."""

    short: str
    refused: RefusedPoint
    is_kept: bool = True  # false where another machine may know better


@dataclass(frozen=True, slots=True)
class PreparedProof:
    """The proof of a text; None if nothing here can prove."""

    short: str
    proof: TextProof | None


News = Ready | Out | PreparedProof


@dataclass(frozen=True, slots=True)
class Wants:
    """The steps that points go through.

    A target is a kind of GPU to compile for, such as `cuda:90`.
    """

    expects: bool = False
    target: str = ""
    proves: bool = False


@dataclass(slots=True)
class _PreparingPoint:
    """A point that is being prepared."""

    point: Point
    look: Look = field(default_factory=Look)
    text: EmittedText | None = None


@dataclass(slots=True)
class Preparation:
    """The points that are being prepared, and the crew that works on them."""

    asked: UserQuestion
    space: Field
    store: ResultStore
    crew: Crew
    wants: Wants
    learned: Learner
    has_isl: bool = True  # without isl nothing can be emitted, and nothing proved
    is_over: bool = False
    open: dict[str, _PreparingPoint] = field(default_factory=dict[str, _PreparingPoint])

    def begin(self, short: str, point: Point) -> list[News]:
        """Begin a point: return what is known about it at once, and start the other steps."""
        self.open[short] = _PreparingPoint(point)
        return [*self._begun(short)]

    def take(self, event: Done) -> list[News]:
        """Take an answer of the crew and return its news.

        Raises Disagreement, which ends everything.
        """
        step, _, short = event.job.partition(" ")
        if self.is_over:
            return []
        match step:
            case "emit":
                try:
                    return [*self._emitted(short, event)]
                except Disagreement:
                    # Other points may have been refused by the wrong verdict.
                    self.is_over = True
                    self.store.distrust(self.asked.program_hash)
                    raise
            case "compile":
                return [*self._compiled(short, event)]
            case _:
                return [*self._proved(short, event)]

    def _begun(self, short: str) -> Iterator[News]:
        one = self.open[short]
        made = self.store.emitted(self.asked.program_hash, short)
        why = why_not_run(made.text) if isinstance(made, EmittedText) else ""
        if why:
            # The text is emitted again, if that is possible here.
            made = None if self.has_isl else RefusedPoint(NO_TEXT, why)
        if isinstance(made, EmittedText) and (self._is_expected(short) or not self.has_isl):
            yield from self._texted(short, made)
        elif isinstance(made, EmittedText):
            self._give("emit", short, is_legal=True)
        elif made is not None:
            yield replace(self._out(short, made), is_kept=not why)
        elif not self.has_isl:
            yield replace(self._out(short, NOT_PREPARED), is_kept=False)
        else:
            look = one.look = self.learned.look(self.space.program_of(one.point))
            refused = _refused_at_once(look)
            if refused is None:
                # A point that shares the verdict of another one is not judged.
                self._give("emit", short, is_legal=None if look.shared is None else True)
            else:
                self.store.emit(self.asked.program_hash, {short: refused})
                yield self._out(short, refused)

    def _is_expected(self, short: str) -> bool:
        """True if its predicted time is known, or no prediction is wanted."""
        return not self.wants.expects or self.store.expected(self.asked.key, short) is not None

    def _emitted(self, short: str, event: Done) -> Iterator[News]:
        answer = event.answer
        if isinstance(answer, Gone):
            made: EmittedText | RefusedPoint = RefusedPoint(
                f"emitting it {answer.how}", answer.reason
            )
        else:
            made = made_of(answer["made"])
            self._learn(short, made, answer["is_legal"])
            if answer["expected"] is not None:
                self.store.predict(self.asked.key, {short: answer["expected"]})
        self.store.emit(self.asked.program_hash, {short: made})
        if isinstance(made, EmittedText):
            yield from self._texted(short, made)
        else:
            yield self._out(short, made)

    def _learn(self, short: str, made: EmittedText | RefusedPoint, is_legal: bool | None) -> None:
        """Learn the verdict of a class; only a point's own verdict about its order teaches one."""
        look = self.open[short].look
        if is_legal is None or look.key is None or look.shared is not None:
            return
        if is_legal:
            self.learned.learn(look, KnownVerdict(short))
        else:
            assert isinstance(made, RefusedPoint)
            self.learned.learn(look, KnownVerdict(short, made.kind, made.reason))

    def _texted(self, short: str, text: EmittedText) -> Iterator[News]:
        """Compile a text, if that is wanted."""
        self.open[short].text = text
        if not self.wants.target:
            yield from self._fitting(short)
            return
        fit = self.store.fit(self.asked.key, self.wants.target, short)
        if fit is None and not self.has_isl:
            yield from self._fitting(short)
        elif fit is None:
            self._give("compile", short)
        else:
            yield from self._fitted(short, fit)

    def _compiled(self, short: str, event: Done) -> Iterator[News]:
        answer = event.answer
        fit = (
            Fit(f"compiling it {answer.how}", answer.reason)
            if isinstance(answer, Gone)
            else fit_of(answer)
        )
        self.store.keep_fit(self.asked.key, self.wants.target, short, fit)
        yield from self._fitted(short, fit)

    def _fitted(self, short: str, fit: Fit) -> Iterator[News]:
        if fit.is_good:
            yield from self._fitting(short)
        else:
            yield self._out(short, RefusedPoint(fit.kind, fit.reason))

    def _fitting(self, short: str) -> Iterator[News]:
        """Pass on a text that is worth a run; if its proof is known, the proof comes first."""
        text = self.open[short].text
        assert text is not None
        known = self.store.proof(self.asked.program_hash, hash_of(text))
        if known is not None:
            yield PreparedProof(short, known)
        yield Ready(short, text)
        if known is None and self.wants.proves and not self.has_isl:
            yield PreparedProof(short, None)
        if known is None and self.wants.proves and self.has_isl:
            self._give("prove", short, kernels=text.text, function=text.call.function)
        else:
            self.open.pop(short)

    def _proved(self, short: str, event: Done) -> Iterator[News]:
        answer, text = event.answer, self.open.pop(short).text
        assert text is not None
        if isinstance(answer, Gone):
            why = f"proving it {answer.how}: {answer.reason}"
            yield PreparedProof(short, TextProof(Proven.UNKNOWN, "", why))
            return
        proof = proof_of(answer)
        self.store.keep_proof(self.asked.program_hash, hash_of(text), proof)
        yield PreparedProof(short, proof)

    def _out(self, short: str, refused: RefusedPoint) -> Out:
        self.open.pop(short)
        return Out(short, refused)

    def _give(self, step: str, short: str, **more: object) -> None:
        text = show(self.space.program_of(self.open[short].point))
        job = {"step": step, "name": self.asked.name, "text": text, **more}
        # Texts keep a device busy, so they are urgent; proofs are not.
        self.crew.give(f"{step} {short}", job, is_urgent=step != "prove")


def prepares(
    asked: UserQuestion, space: Field, store: ResultStore, crew: Crew, wants: Wants
) -> Preparation:
    """Begin with no point and no known class."""
    has_isl = find_spec("islpy") is not None
    learner = _learner(space) if has_isl else BlankLearner()
    return Preparation(asked, space, store, crew, wants, learner, has_isl)


def _learner(space: Field) -> Learner:
    first = next(filter(None, map(space.at, range(space.count))), None)
    if first is None:
        return BlankLearner()
    # This is imported only now because it needs isl.
    module: Any = import_module("dtpoly.explore.legality.learned")
    # The algorithm is the same at each point.
    made: Learner = module.learned(space.program_of(first))
    return made


def hash_of(text: EmittedText) -> str:
    """Return the hash that tells one text from another."""
    return sha256(text.text.encode()).hexdigest()


def _refused_at_once(look: Look) -> RefusedPoint | None:
    """Refuse a point by arithmetic or by the verdict of another point, if these suffice."""
    known = look.shared
    if known is None or known.is_legal:
        return None
    by = f"as in '{known.point}': " if known.point else ""
    return RefusedPoint(known.kind, f"{by}{known.reason}")
