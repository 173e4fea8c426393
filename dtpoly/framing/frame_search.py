"""Searches a frame under which a kernel is proved, among those that fit all its launches.

The first frame is the most probable one. If it is not proved with all the promises that callers
usually keep, one guess after the other is replaced by the next formula that fits. When a frame is
proved, promises are left out as long as it stays proved. Each frame fits what was launched, so a
proof of any of them is one of these launches; what it says beyond them rests on the guesses.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from dtpoly.framing.element_promises import element_promises, weaker
from dtpoly.framing.frame_arguments import MODES, CannotFrame
from dtpoly.framing.frame_building import BuiltFrame, FrameOptions, alternatives, built
from dtpoly.framing.frame_promises import promise_sets, relations_of
from dtpoly.framing.kernel_frame import KernelFrame
from dtpoly.framing.launch_groups import LaunchGroup, Row
from dtpoly.framing.tensor_axes import AxesChoice, facts_of
from dtpoly.frozen import dataclass

MOST_CHOICES = 3  # of axes that are tried
MOST_FLIPS = 6  # of formulas, one at a time
PROVED = "proved"

Prover = Callable[[KernelFrame], str]


@dataclass(frozen=True, slots=True)
class FoundFrame:
    """A frame, how its proof ended, and how many proofs were tried."""

    frame: KernelFrame
    end: str
    tried: int


def found_frame(
    group: LaunchGroup,
    choices: tuple[AxesChoice, ...],
    prove: Prover,
    seconds: float,
    complete: Callable[[KernelFrame], KernelFrame] = lambda frame: frame,
    *,
    with_values: bool = False,
) -> FoundFrame | CannotFrame:
    """Return the first frame that is proved, with few promises; or the most probable one.

    `complete` adds what a frame has besides, as an algorithm.
    """
    search = _FrameSearch(prove, time.monotonic() + seconds, complete, with_values)
    first: FoundFrame | None = None
    for made, labels in _candidates(group, choices):
        if isinstance(made, CannotFrame):
            return made
        shown = {one.name for one in made.frame.tensors}
        near = [one.name for one in group.tensors if one.is_near and one.name in shown]
        relations = relations_of(labels, facts_of(group, labels).blocks)
        relations += element_promises(group, made.frame, labels)
        sets = promise_sets(made, labels, near, relations, with_values=with_values)
        end = search.end_of(made, sets[-1])
        if end == PROVED:
            return search.with_few_promises(made, sets)
        if first is None:
            first = FoundFrame(search.frame_of(made, sets[-1]), end, 0)
        if search.is_late():
            break
    assert first is not None, "there is always a most probable frame"
    return replace(first, tried=search.tried)


def _candidates(
    group: LaunchGroup, choices: tuple[AxesChoice, ...]
) -> Iterator[tuple[BuiltFrame | CannotFrame, Mapping[str, Row]]]:
    """Yield frames that fit the launches, the most probable ones first."""
    for choice in choices[:MOST_CHOICES]:
        texts: set[KernelFrame] = set()
        for are_floats, mode, are_numbers in product((False, True), MODES, (False, True)):
            options = FrameOptions(mode, are_numbers=are_numbers, are_floats=are_floats)
            made = built(group, choice, options)
            if isinstance(made, CannotFrame):
                yield made, choice.labels
                return
            plain = replace(made.frame, guesses=(), beyond=())
            if plain not in texts:
                texts.add(plain)
                yield made, choice.labels
        flips = 0
        made = built(group, choice, FrameOptions())
        assert isinstance(made, BuiltFrame)
        for site in made.sites:
            for at in alternatives(site, 0):
                if flips < MOST_FLIPS:
                    flips += 1
                    flipped = built(group, choice, FrameOptions(chosen={site.about: at}))
                    yield flipped, choice.labels


@dataclass(slots=True)
class _FrameSearch:
    """The proofs so far."""

    prove: Prover
    until: float
    complete: Callable[[KernelFrame], KernelFrame]
    with_values: bool
    tried: int = 0

    def is_late(self) -> bool:
        """Return whether the time for the search is over."""
        return time.monotonic() > self.until

    def frame_of(self, made: BuiltFrame, promises: tuple[str, ...]) -> KernelFrame:
        """Return a frame with its promises, and with what it has besides."""
        return self.complete(replace(made.frame, promises=promises))

    def end_of(self, made: BuiltFrame, promises: tuple[str, ...]) -> str:
        """Return how the proof of a frame ends."""
        self.tried += 1
        return self.prove(self.frame_of(made, promises))

    def with_few_promises(self, made: BuiltFrame, sets: tuple[tuple[str, ...], ...]) -> FoundFrame:
        """Return a proved frame, of which promises are left out that its proof does not need."""
        kept = sets[-1]
        for one in sets[:-1]:
            if self.is_late():
                break
            if self.end_of(made, one) == PROVED:
                kept = one
                break
        for promise in kept:
            rest = tuple(one for one in kept if one != promise)
            if self.is_late():
                break
            if self.end_of(made, rest) == PROVED:
                kept = rest
        for promise in kept:
            less = weaker(promise)
            if less is None or self.is_late():
                continue
            changed = tuple(less if one == promise else one for one in kept)
            if self.end_of(made, changed) == PROVED:
                kept = changed
        return FoundFrame(self.frame_of(made, kept), PROVED, self.tried)
