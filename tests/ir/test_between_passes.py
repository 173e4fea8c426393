"""A kernel is valid after each pass, not only in the end: so the pass that breaks it is known."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dtpoly.codegen import lower, passes
from dtpoly.codegen.draft import KernelDraft, Property
from dtpoly.codegen.passes import PASSES, KernelPass
from dtpoly.compile import check
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.ir.check import complaints
from tests.ir.test_check import FILES


class Watch:
    """Lets passes run as they do, and validates the kernel after each of them."""

    def __init__(self) -> None:
        self.seen = Counter[int]()
        self.found: list[str] = []
        self.last: KernelDraft | None = None

    def __call__(self, first: KernelDraft) -> Iterator[KernelDraft]:
        for at, draft in enumerate(passes.drafts(first)):
            kernel = lower.kernel_of("kernel", draft)
            self.found.extend(f"after {at} passes: {one}" for one in complaints(kernel))
            self.seen[at] += 1
            self.last = draft
            yield draft


def compiled(path: Path) -> None:
    """Generate the code of a file, if it is legal."""
    checked = check(read_file(str(path)))
    if checked.verdict is not None and checked.verdict.is_legal:
        code_of(checked.verdict.scheduled)


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_pass_leaves_a_valid_kernel(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    monkeypatch.setattr(lower, "drafts", watch)
    compiled(path)
    assert not watch.found
    # Nothing is left out but what a property excludes.
    assert not watch.seen or max(watch.seen) >= len(PASSES) - 2


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
    assert Property.CUT not in draft.properties
    cut = replace(draft, launch=replace(draft.launch, boxes={"x": 4}), shared=frozenset({"A"}))
    assert {Property.CUT, Property.PASSES_MEMORY} <= cut.properties
    turns = next(one for one in PASSES if one.rewrite.__name__ == "take_turns")
    assert not turns.runs_on(cut)
