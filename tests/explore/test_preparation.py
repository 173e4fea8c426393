"""Tests what is known of points before they are measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue

import pytest

from dtpoly.algorithm.show import show
from dtpoly.explore.bench.simulated import MEASURED as MEASURED_THERE
from dtpoly.explore.legality.shared_verdicts import Disagreement
from dtpoly.explore.prune.steps import preparing
from dtpoly.explore.run.exploration import Ended, ExplorationPlan, explore
from dtpoly.explore.run.outcomes import awaited, judged, waiting
from dtpoly.explore.run.preparation import (
    News,
    Out,
    Preparation,
    PreparedProof,
    Ready,
    Wants,
    prepares,
)
from dtpoly.explore.run.progress import Snapshot
from dtpoly.explore.space.search_view import Point
from dtpoly.explore.store.measured_question import Question, SetupFacts
from dtpoly.explore.store.result_store import WAITING, ResultStore, open_store
from dtpoly.explore.store.results import (
    EmittedText,
    Fit,
    FunctionCall,
    Outcome,
    Proven,
    RefusedPoint,
    Result,
    TextProof,
)
from dtpoly.explore.strategies.choice import chosen
from dtpoly.explore.strategies.strategy import StrategySetting
from dtpoly.explore.workers.crew import MEASURING, PREPARING, Crew, Done, Event
from dtpoly.explore.workers.process import Gone, NoAnswer, Process
from dtpoly.explore.workers.socket_messages import Message
from dtpoly.explore.workers.workers import COMPILES
from tests.explore.fields import Template, softmax
from tests.explore.simulation import HARMLESS, points_of, question_of, simulated

# Two classes: rows that are cut into tiles, and rows in one tile.
SPACE = softmax(x=("2", "4", "8"), y=("32", "64", "128"), warps=("1", "2", "4"))
TARGET = "cuda:90"
REFUTED = TextProof(Proven.REFUTED, "value", "it is another one (line 3 of the kernels)")


@dataclass(slots=True)
class Here:
    """A worker in this process: it does what it is given, or what a test gives for a step."""

    answers: Mapping[str, Callable[[Message], Message | Gone | None]] = field(
        default_factory=dict[str, "Callable[[Message], Message | Gone | None]"]
    )
    jobs: list[Message] = field(default_factory=list[Message])

    def do(self, job: Message) -> Message | Gone | None:
        self.jobs.append(job)
        if job["step"] in self.answers:
            return self.answers[job["step"]](job)
        return preparing({})(job)


class HereCrew(Crew):
    """Answers when it is given something, in this thread."""

    here: Here

    def give(self, job: str, *steps: Message, is_urgent: bool = True) -> None:
        answer = self.here.do(steps[0])
        if answer is not None:
            self.events.put(Done(self.name, job, answer, 0.0))


def crew(here: Here) -> HereCrew:
    made = HereCrew(PREPARING, [], SimpleQueue())
    made.here = here
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultStore]:
    found = open_store(tmp_path / "run.sqlite")
    yield found
    found.close()


def made(store: ResultStore, here: Here, wants: Wants, space: Template = SPACE) -> Preparation:
    return prepares(question_of(space).asked, space, store, crew(here), wants)


def news(preparation: Preparation, points: Sequence[Point]) -> list[News]:
    """All that becomes of points, one after the other."""
    found: list[News] = []
    for point in points:
        found += preparation.begin(preparation.space.short(point), point)
        while not preparation.crew.events.empty():
            event = preparation.crew.events.get()
            assert isinstance(event, Done)
            found += preparation.take(event)
    return found


def emitted(job: Message, is_legal: bool = True) -> Message:
    """Return what an emitter would say, without its work."""
    if is_legal:
        comments = "".join(f"# {line}\n" for line in job["text"].splitlines())
        others = list[str]()
        call = {"func": "f", "function": "f", "others": others}
        text = {"text": comments + HARMLESS, "call": call}
        return {"made": text, "expected": None, "is_legal": True}
    return {"made": {"kind": "illegal: order", "reason": "so"}, "expected": None, "is_legal": False}


def refusing(job: Message) -> Message:
    return emitted(job, is_legal=False)


def crashing(_: Message) -> Gone:
    return Gone(NoAnswer.CRASHED, "SIGSEGV")


def hanging(_: Message) -> Gone:
    return Gone(NoAnswer.HUNG, "60 s")


def proving(_: Message) -> Message:
    return asdict(TextProof(Proven.PROVED))


def silent(_: Message) -> None:
    """Nobody answers."""


def test_points_of_one_class_share_a_verdict_and_a_sample_is_asked_again(
    store: ResultStore,
) -> None:
    here = Here({"emit": emitted})
    found = news(made(store, here, Wants()), points_of(SPACE))
    assert all(isinstance(one, Ready) for one in found)
    asked = [job["is_legal"] for job in here.jobs]
    own = asked.count(None)
    # Each class once, the first point that shares, and each twentieth.
    assert asked[0] is None
    assert asked[1] is None
    assert own < len(asked) / 2
    assert asked.count(True) == len(asked) - own


def test_what_is_refused_is_refused_with_its_class(store: ResultStore) -> None:
    here = Here({"emit": refusing})
    points = points_of(SPACE)
    found = news(made(store, here, Wants()), points)
    assert len(found) == len(points)
    assert all(isinstance(one, Out) for one in found)
    assert len(here.jobs) < len(points) / 2
    reasons = [one.refused.reason for one in found if isinstance(one, Out)]
    assert reasons[0] == "so"
    assert f"as in '{SPACE.short(points[0])}': so" in reasons
    # They need no class the next time, and nobody is asked.
    here.jobs.clear()
    assert news(made(store, here, Wants()), points) == found
    assert here.jobs == []


def test_a_verdict_that_is_not_that_of_its_class_is_a_bug(store: ResultStore) -> None:
    verdicts = iter([True, False])

    def another(job: Message) -> Message:
        return emitted(job, next(verdicts))

    here = Here({"emit": another})
    preparation = made(store, here, Wants())
    with pytest.raises(Disagreement, match=r"is refused \(illegal: order: so\), but .* is legal"):
        news(preparation, points_of(SPACE))
    assert preparation.take(Done(PREPARING, "emit more", emitted({"text": ""}), 0.0)) == []


def test_after_a_disagreement_no_refusal_is_believed(store: ResultStore) -> None:
    program = question_of(SPACE).asked.program_hash
    number = store.ask(question_of(SPACE))
    text = EmittedText(HARMLESS, FunctionCall("f", "f"))
    store.emit(program, {"one": RefusedPoint("illegal: order", "so"), "two": text})
    store.keep(number, "one", {}, Result(Outcome.REFUSED, "illegal: order", "so"))
    store.keep(number, "two", {}, Result(Outcome.MEASURED, median=1.0))
    store.distrust(program)
    assert (store.emitted(program, "one"), store.emitted(program, "two")) == (None, text)
    assert [row.point for row in store.results(number)] == ["two"]


def test_a_tile_that_triton_does_not_allow_is_refused_by_arithmetic(store: ResultStore) -> None:
    space = softmax(x=("1",), y=("1048576", "2097152"), warps=("4",))
    here = Here({"emit": emitted})
    preparation = made(store, here, Wants(), space)
    (out,) = preparation.begin("point", (0, 1, 0))
    assert isinstance(out, Out)
    assert "Triton allows 1,048,576" in out.refused.reason
    assert here.jobs == []
    assert preparation.begin("other", (0, 0, 0)) == []


def test_a_compiler_is_asked_once(store: ResultStore) -> None:
    def compiled(job: Message) -> Message:
        is_small = "x:2" in job["text"]
        return {"kind": "" if is_small else "spills", "reason": "a lot", "kernels": [{"shared": 1}]}

    here = Here({"emit": emitted, "compile": compiled})
    points = [(0, 0, 0), (1, 0, 0)]
    found = news(made(store, here, Wants(target=TARGET)), points)
    assert [type(one) for one in found] == [Ready, Out]
    assert isinstance(found[1], Out)
    assert found[1].refused == RefusedPoint("spills", "a lot")
    here.jobs.clear()
    assert news(made(store, here, Wants(target=TARGET)), points) == found
    assert here.jobs == []
    key = question_of(SPACE).asked.key
    assert store.fit(key, TARGET, SPACE.short((0, 0, 0))) == Fit("", "a lot", [{"shared": 1}])
    # Another kind of GPU is another question.
    assert store.fit(key, "cuda:80", SPACE.short((0, 0, 0))) is None


def test_a_compiler_that_dies_refuses_one_point(store: ResultStore) -> None:
    here = Here({"emit": emitted, "compile": crashing})
    (found,) = news(made(store, here, Wants(target=TARGET)), [(0, 0, 0)])
    assert found == Out(SPACE.short((0, 0, 0)), RefusedPoint("compiling it crashed", "SIGSEGV"))
    # Its text is as good as before.
    assert isinstance(
        store.emitted(question_of(SPACE).asked.program_hash, SPACE.short((0, 0, 0))), EmittedText
    )


def test_a_proof_is_kept_and_a_worker_that_dies_proves_nothing(store: ResultStore) -> None:
    here = Here({"emit": emitted, "prove": hanging})
    points = [(0, 0, 0)]
    ready, unknown = news(made(store, here, Wants(proves=True)), points)
    assert isinstance(ready, Ready)
    short = SPACE.short(points[0])
    assert unknown == PreparedProof(short, TextProof(Proven.UNKNOWN, "", "proving it hung: 60 s"))
    here.answers = {"prove": proving}
    found = news(made(store, here, Wants(proves=True)), points)
    assert found == [ready, PreparedProof(short, TextProof(Proven.PROVED))]
    here.answers = {}
    # What is known is told before the text is.
    assert news(made(store, here, Wants(proves=True)), points) == [*reversed(found)]


def test_the_steps_are_those_of_the_compiler_and_the_verifier(store: ResultStore) -> None:
    """Nothing is made up here."""
    here = Here()
    found = news(made(store, here, Wants(proves=True)), [(0, 0, 0), (1, 0, 0)])
    assert [type(one) for one in found] == [Ready, PreparedProof, Ready, PreparedProof]
    assert all(
        one.proof == TextProof(Proven.PROVED) for one in found if isinstance(one, PreparedProof)
    )


@pytest.mark.long
def test_a_compiler_for_a_gpu_that_is_not_there() -> None:
    model = {"device": "h200", "sizes": {"x": 64, "y": 4096}, "dtype": "f32"}
    job = {"step": "compile", "name": "softmax.dt"}
    # Here Triton runs kernels by itself, and compiles none.
    worker = Process({"kind": "prepare", "model": model, "plugins": []}, COMPILES)
    worker.open()
    try:
        fit = worker.do({**job, "text": show(SPACE.program_of((0, 0, 0)))}, 300.0)
        assert not isinstance(fit, Gone)
        assert fit["kind"] == ""
        (needs,) = fit["kernels"]
        assert needs["registers"] > 0
        large = softmax(x=("8",), y=("2048",), warps=("1",))
        fit = worker.do({**job, "text": show(large.program_of((0, 0, 0)))}, 300.0)
        assert not isinstance(fit, Gone)
        assert fit["kind"] == "spills"
    finally:
        worker.end()
        worker.close()


@pytest.mark.parametrize("outcome", [Outcome.MEASURED, Outcome.SLOW])
def test_a_time_that_waits_for_a_proof_is_the_same_afterwards(outcome: Outcome) -> None:
    why = "stopped early" if outcome is Outcome.SLOW else ""
    result = Result(outcome, why, "", 1.0, 0.9, 1.1, 5)
    assert waiting(result).outcome is Outcome.UNPROVED
    assert not waiting(result).is_timed
    assert awaited(waiting(result)) == result
    assert waiting(Result(Outcome.WRONG)) == Result(Outcome.WRONG)


def test_what_is_proved_decides_whether_a_time_counts() -> None:
    timed, wrong = Result(Outcome.MEASURED, median=1.0), Result(Outcome.WRONG, "wrong values")
    assert judged(timed, None) == judged(timed, TextProof(Proven.PROVED)) == timed
    unknown = TextProof(Proven.UNKNOWN, "value", "why")
    assert judged(timed, unknown) == replace(
        timed, outcome=Outcome.UNPROVED, kind="not proved: value", reason="why"
    )
    assert judged(wrong, unknown) == wrong
    bug = judged(timed, REFUTED)
    assert (bug.outcome, bug.kind, bug.median) == (Outcome.BUG, "refuted: value", None)
    assert judged(wrong, TextProof(Proven.PROVED)).kind == "wrong values, though proved"


def test_without_isl_nothing_is_said_that_another_machine_would_not_say(store: ResultStore) -> None:
    here = Here()
    preparation = made(store, here, Wants(expects=True, target=TARGET, proves=True))
    preparation.has_isl = False
    (out,) = preparation.begin("point", (0, 0, 0))
    assert isinstance(out, Out)
    assert (out.refused.kind, out.is_kept) == ("not prepared", False)
    program = question_of(SPACE).asked.program_hash
    assert store.emitted(program, "point") is None
    text = EmittedText(HARMLESS, FunctionCall("f", "f"))
    store.emit(program, {"point": text})
    assert preparation.begin("point", (0, 0, 0)) == [
        Ready("point", text),
        PreparedProof("point", None),
    ]
    assert preparation.open == {}
    assert here.jobs == []


class Stopped(Exception):
    """A test has seen enough."""


def explored(
    store: ResultStore, folder: Path, here: Here, tell: Callable[[Snapshot], None] = lambda _: None
) -> Ended:
    """A run on a simulated device."""

    def crews(events: SimpleQueue[Event]) -> tuple[Crew, Crew]:
        mine = HereCrew(PREPARING, [], events)
        mine.here = here
        return mine, Crew(MEASURING, [simulated({}, folder)], events)

    plan = ExplorationPlan(
        Question(question_of(FEW).asked, SetupFacts("simulated", {})), FEW, slow=None
    )
    strategy = chosen("exhaustive")(StrategySetting(FEW))
    return explore(plan, strategy, store, crews, Wants(proves=True), tell)


FEW = softmax(x=("2", "4"), y=("64",), warps=("1", "2", "4"))


def proved_by_warps(job: Message) -> Message:
    """One warp is refuted, two are not decided."""
    if "num_warps(1)" in job["text"]:
        return asdict(REFUTED)
    verdict = Proven.UNKNOWN if "num_warps(2)" in job["text"] else Proven.PROVED
    return asdict(TextProof(verdict))


def test_only_times_of_what_is_proved_count(store: ResultStore, tmp_path: Path) -> None:
    ended = explored(store, tmp_path, Here({"emit": emitted, "prove": proved_by_warps}))
    two = {Outcome.MEASURED: 2, Outcome.UNPROVED: 2, Outcome.BUG: 2}
    assert ended.snapshot.outcomes == two
    rows = {row.point: row.result for row in store.results(1)}
    proved = [one.median for one in rows.values() if one.outcome is Outcome.MEASURED]
    assert ended.snapshot.best == min(filter(None, proved))
    assert ended.snapshot.kinds[Outcome.BUG, "refuted: value"] == 2
    for point, one in rows.items():
        assert (one.outcome is Outcome.BUG) is ("num_warps(1)" in point)
        assert (one.median is None) is (one.outcome is Outcome.BUG)


def test_a_refutation_that_is_known_keeps_a_text_from_the_device(
    store: ResultStore, tmp_path: Path
) -> None:
    asked = question_of(FEW).asked
    here = Here({"emit": emitted, "prove": proved_by_warps})
    news(prepares(asked, FEW, store, crew(here), Wants(proves=True)), points_of(FEW))
    explored(store, tmp_path, here)
    measured = (tmp_path / MEASURED_THERE).read_text()
    assert "num_warps(4)" in measured
    assert "num_warps(1)" not in measured


def test_a_device_does_not_wait_for_proofs(store: ResultStore, tmp_path: Path) -> None:
    def stop(now: Snapshot) -> None:
        path = tmp_path / MEASURED_THERE
        if path.exists() and path.read_text().count("\n") == 6:
            raise Stopped

    here = Here({"emit": emitted, "prove": silent})
    with pytest.raises(Stopped):
        explored(store, tmp_path, here, stop)
    kept = [row.result for row in store.results(1)]
    # That the last one is measured is noted before it is told.
    assert len(kept) in (5, 6)
    assert {(one.outcome, one.kind) for one in kept} == {(Outcome.UNPROVED, WAITING)}
    here.answers = {"emit": emitted, "prove": proving}
    assert explored(store, tmp_path, here).snapshot.outcomes == {Outcome.MEASURED: 6}
    measured = (tmp_path / MEASURED_THERE).read_text().splitlines()
    assert len(measured) == 12 - len(kept)
