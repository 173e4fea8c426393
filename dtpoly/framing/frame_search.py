"""Searches a frame under which a kernel is proved, among those that fit all its launches.

The first frame is the most probable one. If it is not proved with all the promises that callers
usually keep, one guess after the other is replaced by the next formula that fits. When a frame is
proved, promises are left out as long as it stays proved. Each frame fits what was launched, so a
proof of any of them is one of these launches; what it says beyond them rests on the guesses.

A search ends when its time is over, with the best frame so far, and says what it did not decide.
The time is that of this thread, so other work of the machine changes nothing. Most proofs here only
decide: they end with the first doubt, and look for no example. A proof with fewer promises gets a
few times as long as the one that was found, and is not tried if one with more of them has failed.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import product
from typing import Protocol

from dtpoly.framing.element_promises import element_promises, weaker
from dtpoly.framing.frame_arguments import MODES, CannotFrame
from dtpoly.framing.frame_building import BuiltFrame, FrameOptions, alternatives, built
from dtpoly.framing.frame_promises import kinds_of, powers_of, promise_sets, relations_of
from dtpoly.framing.kernel_frame import KernelFrame
from dtpoly.framing.launch_groups import LOADED, LaunchGroup, Row
from dtpoly.framing.tensor_axes import AxesChoice, facts_of
from dtpoly.frozen import dataclass

MOST_CHOICES = 4  # of axes that are tried
MOST_PARTLY = 4  # frames that are tried with the guess that some elements stay as they were
MOST_FLIPS = 6  # of formulas, one at a time
PROVED, OPEN, LATE = "proved", "unknown", "late"
UNREADABLE = "unreadable"  # the kernel cannot be taken out of its module, whatever its frame is
SHARES = 6  # the part of the time of a search that one proof may take, and the verdict at its end
# How long a proof with fewer promises may take: so many times as the one with all of them.
TIMES, LEAST_SECONDS = 3.0, 1.0


class Prover(Protocol):
    """Proves a frame within some seconds.

    A proof that only decides ends with the first doubt: then it is open, and no more is known.
    """

    def __call__(self, frame: KernelFrame, seconds: float, *, decides: bool) -> str:
        """Return PROVED, LATE, UNREADABLE, or the verdict of what is not proved."""
        ...


@dataclass(frozen=True, slots=True)
class FoundFrame:
    """A frame, how its proof ended, how many proofs were tried, and what was not decided."""

    frame: KernelFrame
    end: str
    tried: int
    undecided: tuple[str, ...] = ()


@dataclass(slots=True)
class SearchTime:
    """The seconds that a search may take of this thread, and until when that is."""

    seconds: float
    until: float

    @property
    def left(self) -> float:
        """Return how many seconds are left."""
        return max(self.until - time.thread_time(), 0.0)

    def part(self, of: int) -> "SearchTime":
        """Return the time of one of several searches that are left to do."""
        seconds = self.left / of
        return SearchTime(seconds, time.thread_time() + seconds)


def search_time(seconds: float) -> SearchTime:
    """Return the time of a search that begins now."""
    return SearchTime(seconds, time.thread_time() + seconds)


def found_frame(
    group: LaunchGroup,
    choices: tuple[AxesChoice, ...],
    prove: Prover,
    clock: SearchTime,
    complete: Callable[[KernelFrame], KernelFrame] = lambda frame: frame,
    *,
    with_values: bool = False,
) -> FoundFrame | CannotFrame:
    """Return the first frame that is proved, with few promises; or the most probable one.

    `complete` adds what a frame has besides, as an algorithm.
    """
    search = _FrameSearch(prove, clock, complete, clock.seconds / SHARES)
    first: KernelFrame | None = None
    seen: list[tuple[BuiltFrame, tuple[tuple[tuple[str, ...], ...], ...]]] = []
    for made, labels in _candidates(group, choices):
        if isinstance(made, CannotFrame):
            return made
        if first is not None and clock.left <= search.most:
            search.undecided.append("other frames that fit the launches were not looked at")
            break
        shown = {one.name for one in made.frame.tensors}
        near = [one.name for one in group.tensors if one.is_near and one.name in shown]
        relations = relations_of(labels, facts_of(group, labels).blocks)
        relations += element_promises(group, made.frame, labels)
        relations += powers_of(made, labels)
        sets = promise_sets(made, labels, near, relations, with_values=with_values)
        frame = search.frame_of(made, sets[-1][-1])
        first = first or frame
        seen.append((made, sets))
        end = search.tried_with(made, sets)
        if isinstance(end, FoundFrame):
            return end
        if end == UNREADABLE:
            return search.found(frame, OPEN)
        if end == LATE:
            search.undecided.append("a frame that fits the launches takes too long to prove")
    stored = tuple(f"partly({one.name})" for one in group.tensors if one.use != LOADED)
    if stored and not with_values:
        # Perhaps the kernel leaves elements as they were, and is meant to.
        for made, sets in seen[:MOST_PARTLY]:
            kept = tuple(tuple((*one, *stored) for one in row) for row in sets)
            if clock.left and isinstance(end := search.tried_with(made, kept), FoundFrame):
                return end
    assert first is not None, "there is always a most probable frame"
    search.tried += 1
    end = prove(first, max(clock.left, LEAST_SECONDS), decides=False)
    return search.found(first, OPEN if end in (LATE, UNREADABLE) else end)


def _candidates(
    group: LaunchGroup, choices: tuple[AxesChoice, ...]
) -> Iterator[tuple[BuiltFrame | CannotFrame, Mapping[str, Row]]]:
    """Yield frames that fit the launches, the most probable ones first."""
    for choice in choices[:MOST_CHOICES]:
        texts: set[KernelFrame] = set()
        ways = (False, True)
        for are_floats, mode, are_numbers, are_powers in product(ways, MODES, ways, ways):
            options = FrameOptions(
                mode, are_numbers=are_numbers, are_floats=are_floats, are_powers=are_powers
            )
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
    clock: SearchTime
    complete: Callable[[KernelFrame], KernelFrame]
    # How many seconds one proof may take.
    most: float
    tried: int = 0
    # Sets of promises with which the frame that was found is not proved, nor with fewer.
    failed: list[frozenset[str]] = field(default_factory=list[frozenset[str]])
    undecided: list[str] = field(default_factory=list[str])

    def found(self, frame: KernelFrame, end: str) -> FoundFrame:
        """Return what the search has found."""
        return FoundFrame(frame, end, self.tried, tuple(dict.fromkeys(self.undecided)))

    def frame_of(self, made: BuiltFrame, promises: tuple[str, ...]) -> KernelFrame:
        """Return a frame with its promises, and with what it has besides."""
        return self.complete(replace(made.frame, promises=promises))

    def end_of(self, frame: KernelFrame, seconds: float) -> str:
        """Return how a proof ends that only decides."""
        self.tried += 1
        return self.prove(frame, min(seconds, max(self.clock.left, LEAST_SECONDS)), decides=True)

    def is_proved(self, made: BuiltFrame, promises: tuple[str, ...]) -> bool:
        """Return whether a frame is proved with some promises; what has failed is not asked."""
        if any(one.issuperset(promises) for one in self.failed):
            return False
        if not self.clock.left:
            self.undecided.append(f"whether fewer promises are enough than {_listed(promises)}")
            return False
        end = self.end_of(self.frame_of(made, promises), self.most)
        if end != PROVED:
            self.failed.append(frozenset(promises))
        if end == LATE:
            self.undecided.append(f"whether these promises are enough: {_listed(promises)}")
        return end == PROVED

    def tried_with(
        self, made: BuiltFrame, sets: tuple[tuple[tuple[str, ...], ...], ...]
    ) -> "FoundFrame | str":
        """Return a frame that is proved with some promises, with few of them; or how that ended."""
        began = time.thread_time()
        end = self.end_of(self.frame_of(made, sets[-1][-1]), self.most)
        if end != PROVED:
            return end
        self.most = max(LEAST_SECONDS, TIMES * (time.thread_time() - began))
        kept = self.few_promises(made, sets)
        return self.found(self.frame_of(made, kept), PROVED)

    def few_promises(
        self, made: BuiltFrame, sets: tuple[tuple[tuple[str, ...], ...], ...]
    ) -> tuple[str, ...]:
        """Return promises of which no one can be left out, as far as the time allows.

        The frame is proved with the last ones of the last row. The first row is taken of which the
        last ones are enough, and of that row the first ones that are.
        """
        row = next((one for one in sets[:-1] if self.is_proved(made, one[-1])), sets[-1])
        least, most = 0, len(row) - 1
        while least < most:
            middle = (least + most) // 2
            if self.is_proved(made, row[middle]):
                most = middle
            else:
                least = middle + 1
        kept = row[most]
        for kind in kinds_of(kept):
            kept = self._without(made, kept, kind)
        for promise in kept:
            for less in weaker(promise):
                changed = tuple(less if one == promise else one for one in kept)
                if self.is_proved(made, changed):
                    kept = changed
                    break
        return kept

    def _without(
        self, made: BuiltFrame, kept: tuple[str, ...], some: Sequence[str]
    ) -> tuple[str, ...]:
        """Leave out those of some promises that are not needed: all, or a half, and so on."""
        rest = tuple(one for one in kept if one not in some)
        if self.is_proved(made, rest):
            return rest
        if len(some) == 1:
            return kept
        half = len(some) // 2
        kept = self._without(made, kept, some[:half])
        return self._without(made, kept, some[half:])


def _listed(promises: Sequence[str]) -> str:
    return ", ".join(promises) or "none"
