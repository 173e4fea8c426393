"""The rules of copies against an enumeration: random kernels, run for each small number of rounds.

The enumeration knows no stages. It writes down what happens, and looks back from each event.
"""

from collections import Counter
from random import Random

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.copy_rules import MOST_GROUPS, wrong_copies
from dtpoly.ir.copy_steps import Commit, CopyLater, LoadSlot, SharedBuffer, WaitFor
from dtpoly.ir.kernel import Barrier, ForLoop, Instruction, Step

ROUNDS = MOST_GROUPS + 2
Event = tuple[str, int]  # what happens, with a slot, or how many groups may be under way


def event(one: Instruction, step: int, slots: int) -> Event:
    """Return what an instruction does in a round."""
    match one:
        case CopyLater(slot=slot):
            return "copy", (step * len(slot.terms) + slot.constant) % slots
        case LoadSlot(slot=slot):
            return "load", (step * len(slot.terms) + slot.constant) % slots
        case WaitFor(pending=pending):
            return "wait", pending
        case _:
            return "commit" if isinstance(one, Commit) else "barrier", 0


def arrived(events: list[Event], copy: int, now: int) -> int | None:
    """Return when a copy had arrived, before now, in the lanes that copied."""
    commits = [at for at in range(now) if events[at][0] == "commit"]
    group = next((number for number, at in enumerate(commits) if at > copy), None)
    if group is None:
        return None
    for at in range(commits[group], now):
        before = sum(one < at for one in commits)
        if events[at][0] == "wait" and before - events[at][1] > group:
            return at
    return None


def has_barrier(events: list[Event], after: int, now: int) -> bool:
    """Return whether a barrier is between two events."""
    return any(events[at][0] == "barrier" for at in range(after + 1, now))


def is_wrong(events: list[Event]) -> bool:
    """Return whether something is read or written too early, or is never waited for."""
    for now, (what, slot) in enumerate(events):
        if what not in ("copy", "load"):
            continue
        copies = [at for at in range(now) if events[at] == ("copy", slot)]
        done = arrived(events, copies[-1], now) if copies else None
        is_seen = done is not None and has_barrier(events, done, now)
        loads = [at for at in range(now) if events[at] == ("load", slot)]
        is_free = all(has_barrier(events, at, now) for at in loads)
        if what == "load" and not is_seen:
            return True
        if what == "copy" and (not is_free or (copies and not is_seen)):
            return True
    copies = [at for at, (what, _) in enumerate(events) if what == "copy"]
    if any(arrived(events, at, len(events)) is None for at in copies):
        return True
    return most_under_way(events) > MOST_GROUPS


def most_under_way(events: list[Event]) -> int:
    """Return how many groups are under way at most: more than some are taken for a mistake."""
    most = now = 0
    for what, number in events:
        now = now + 1 if what == "commit" else min(now, number) if what == "wait" else now
        most = max(most, now)
    return most


def part(random: Random, slots: int, is_round: bool) -> tuple[Instruction, ...]:
    """Return some random steps, most of which may be right."""
    found = list[Instruction]()
    for _ in range(random.randrange(6 if is_round else 4)):
        number = random.randrange(slots + 1)
        slot = Affine((("step", 1),) if is_round else (), number)
        word = random.choice(("copy", "commit", "wait", "load", "barrier"))
        match word:
            case "copy":
                copy = CopyLater("b", slot, "A", (Affine(),), (), ("j",))
                found += [copy, *([Commit()] if random.random() < 0.8 else [])]
            case "wait":
                both: tuple[Instruction, ...] = (WaitFor(random.choice((0, 0, 1))), Barrier())
                found += both[: random.choice((1, 2, 2))]
            case "load":
                found.append(LoadSlot("x", "b", slot, ("j",), DType.F32))
            case "commit":
                found.append(Commit())
            case _:
                found.append(Barrier())
    return tuple(found)


@pytest.mark.parametrize("seed", range(6))
def test_rules_agree_with_what_happens(seed: int) -> None:
    random, seen = Random(seed), Counter[bool]()
    for _ in range(150):
        slots, start = random.choice((1, 2, 2, 3)), random.randrange(3)
        first, inner, last = (part(random, slots, is_round=one) for one in (False, True, False))
        last = (*last, WaitFor(0)) if random.random() < 0.7 else last
        loop = ForLoop("step", Affine((), start), Affine((("n", 1),)), 1, made(inner))
        buffer = SharedBuffer("b", slots, (4,), DType.F32)
        body = (*made((buffer, *first)), Step(loop, ""), *made(last))
        wrong = any(
            is_wrong(
                [
                    *(event(one, 0, slots) for one in first),
                    *(event(one, start + at, slots) for at in range(count) for one in inner),
                    *(event(one, 0, slots) for one in last),
                ]
            )
            for count in range(ROUNDS)
        )
        assert bool([*wrong_copies(body)]) == wrong, (first, inner, last, slots, start)
        seen[wrong] += 1
    assert min(seen[True], seen[False]) > 10


def made(instructions: tuple[Instruction, ...]) -> tuple[Step, ...]:
    """Steps of instructions."""
    return tuple(Step(one, "") for one in instructions)
