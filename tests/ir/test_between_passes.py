"""A kernel is valid after each pass, not only in the end: so the pass that breaks it is known."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import check
from dtpoly.codegen import lower, passes
from dtpoly.codegen.draft import KernelDraft, Property, kernel_of
from dtpoly.codegen.passes import PASSES, KernelPass, join_running
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.ir.check import complaints
from dtpoly.ir.kernel import Fill, Lanes, Step
from dtpoly.ir.rewriting import rewritten
from dtpoly.source import Source
from tests.ir.test_check import FILES, ROOT
from tests.same.outcome import Kind
from tests.same.record import FROZEN, read_record

OF_RECORD = 50  # one in so many texts of the record of `tests.same`


class Watch:
    """Lets passes run as they do, and validates the kernel after each of them."""

    def __init__(self) -> None:
        self.ran = Counter[str]()  # passes, by how many kernels they ran on
        self.kernels = 0
        self.found: list[str] = []
        self.last: KernelDraft | None = None

    def __call__(self, first: KernelDraft) -> Iterator[KernelDraft]:
        self.kernels += 1
        self._validate("lowering", first)
        yield first
        draft = first
        for one in passes.PASSES:
            if one.runs_on(draft):
                draft = one.rewrite(draft)
                self.ran[one.rewrite.__name__] += 1
                self._validate(one.rewrite.__name__, draft)
                yield draft
        self.last = draft

    def _validate(self, after: str, draft: KernelDraft) -> None:
        self.found.extend(f"after {after}: {one}" for one in complaints(kernel_of(draft)))


def compiled(path: Path) -> int:
    """Generate the code of a file; how many kernels it has."""
    checked = check(read_file(str(path)))
    assert checked.verdict is not None
    assert checked.verdict.is_legal
    return len(code_of(checked.verdict.scheduled).stages.kernels)


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_pass_leaves_a_valid_kernel(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    monkeypatch.setattr(lower, "drafts", watch)
    kernels = compiled(path)
    assert not watch.found
    # A kernel may be lowered more than once: where a tile must be in memory, from the start.
    assert watch.kernels >= kernels > 0
    # Nothing is left out but what a property excludes, or does not ask for.
    for one in PASSES:
        is_always = not one.needs and not one.excludes
        assert not is_always or kernels <= watch.ran[one.rewrite.__name__] <= watch.kernels


@pytest.mark.long
def test_each_pass_leaves_a_valid_kernel_of_other_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    monkeypatch.setattr(lower, "drafts", watch)
    emitted = [one for one in read_record(FROZEN) if one.outcome.kind is Kind.EMITTED]
    for entry in emitted[::OF_RECORD]:
        checked = check(Source("record.dt", entry.text))
        assert checked.verdict is not None
        code_of(checked.verdict.scheduled)
    assert not watch.found
    assert watch.kernels >= len(emitted[::OF_RECORD])


def test_each_pass_runs_on_some_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    monkeypatch.setattr(lower, "drafts", watch)
    for path in FILES:
        if path.stem in ("matmul", "halves_by_two_groups", "two_mm_outer"):
            compiled(path)
    assert {one.rewrite.__name__ for one in PASSES} == {*watch.ran}


def test_loops_that_were_joined_to_see_whether_they_can_be_are_taken_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[KernelDraft] = []

    def watched(first: KernelDraft) -> Iterator[KernelDraft]:
        for draft in passes.drafts(first):
            seen.append(draft)
            yield draft

    monkeypatch.setattr(lower, "drafts", watched)
    compiled(ROOT / "examples" / "flash_attention.dt")
    (known,) = [one for one in seen if one.joined is not None]
    assert known.joined is not None
    assert join_running(known).body is known.joined.body
    assert join_running(known).joined is None
    assert join_running(replace(known, joined=None)).body == known.joined.body
    # Of a body that a pass has made since, the loops are joined anew.
    longer = replace(known, body=(*known.body, known.body[0]))
    assert join_running(longer).body == join_running(replace(longer, joined=None)).body
    assert join_running(longer).body != known.joined.body


def without_lanes(draft: KernelDraft) -> KernelDraft:
    """Return a pass that loses the lanes of a kernel."""
    body = rewritten(
        draft.body, lambda step: () if isinstance(step.instruction, Lanes) else (step,)
    )
    return replace(draft, body=body)


def with_bytes(draft: KernelDraft) -> KernelDraft:
    """Return a pass that gives an accumulator another type."""

    def changed(step: Step) -> tuple[Step, ...]:
        one = step.instruction
        if not isinstance(one, Fill):
            return (step,)
        return (replace(step, instruction=replace(one, dtype=DType.I8)),)

    return replace(draft, body=rewritten(draft.body, changed))


@pytest.mark.parametrize(
    ("wrong", "message"), [(without_lanes, "is not set on every way"), (with_bytes, "of i8")]
)
def test_a_pass_that_is_wrong_is_named(
    wrong: Callable[[KernelDraft], KernelDraft], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch()
    monkeypatch.setattr(passes, "PASSES", (*PASSES[:4], KernelPass(wrong), *PASSES[4:]))
    monkeypatch.setattr(lower, "drafts", watch)
    # What comes behind it may fail in any way: it was told of another kernel.
    with contextlib.suppress(Exception):
        compiled(ROOT / "examples" / "matmul.dt")
    first = watch.found[0]
    assert first.startswith(f"after {wrong.__name__}: matmul: ")
    assert any(message in one for one in watch.found)


def test_a_pass_that_is_excluded_is_left_out() -> None:
    found: dict[str, KernelPass] = {one.rewrite.__name__: one for one in PASSES}
    assert len(found) == len(PASSES)
    assert Property.GRID in found["take_turns"].needs
    for one in PASSES:
        assert one.needs.isdisjoint(one.excludes)


def test_properties_say_what_the_launch_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    monkeypatch.setattr(lower, "drafts", watch)
    compiled(FILES[0])
    draft = watch.last
    assert draft is not None
    assert Property.PASSES_MEMORY not in draft.properties
    passing = replace(draft, shared=frozenset({"A"}))
    assert Property.PASSES_MEMORY in passing.properties
    turns = next(one for one in PASSES if one.rewrite.__name__ == "take_turns")
    assert not turns.runs_on(passing)


def test_no_warps_load_for_others_where_tiles_are_cut_or_turned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = Watch()
    monkeypatch.setattr(lower, "drafts", watch)
    compiled(FILES[0])
    draft = watch.last
    assert draft is not None
    launch = replace(draft.launch, is_specialized=True, num_warps=8, num_stages=3)
    for changed, may in (
        (launch, True),
        (replace(launch, boxes={"x": 4}), False),
        (replace(launch, is_swapped=True), False),
    ):
        found = replace(draft, launch=changed).properties
        assert (Property.MAY_SPECIALIZE in found) is may
