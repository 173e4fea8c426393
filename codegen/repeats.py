"""Removes what a block computes or loads a second time.

`siblings` uses it when it has joined two loops, which often load the same.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import ForLoop, If, Lanes, Let, Load, LoopScalar, Mask, Step, Store, TiledLoop
from dtpoly.ir.parts import assigned, inside, renamed
from dtpoly.ir.step_dependences import exposed, reads
from dtpoly.ir.tiled import parts_of, with_parts

# Instructions that set one name, and do nothing else.
Named = Lanes | Mask | LoopScalar | Let | Load


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name that stands for something that was computed before."""

    name: str
    uses: frozenset[str]
    tensor: str | None  # from which it was loaded


Seen = Mapping[str, KnownName]  # by a text for what is computed


def without_repeats(
    body: tuple[Step, ...], kept: frozenset[str], known: Seen | None = None
) -> tuple[Step, ...]:
    """Return the body, in which the first name stands for the second too; but those `kept` stay."""
    seen = dict(known or {})
    done: list[Step] = []
    rest = body
    while rest:
        step, rest = rest[0], rest[1:]
        one = step.instruction
        match one:
            case ForLoop() | If():
                step = _in_block(step, one, seen, kept | exposed(rest) | exposed((step,)))
            case TiledLoop():
                loop, end = parts_of(step)
                main, tail = loop.instruction, end.instruction
                assert isinstance(main, ForLoop)
                assert isinstance(tail, If)
                after = exposed((end, *rest))
                new = _in_block(loop, main, seen, kept | after | exposed((loop,)))
                seen = _left(seen, (new,))
                end = _in_block(end, tail, seen, kept | exposed(rest) | exposed((end,)))
                step = with_parts(step, new, end)
            case Lanes() | Mask() | LoopScalar() | Let() | Load():
                key = _key(one)
                first = seen.get(key)
                if first is not None and _is_same_after(first.name, one.name, rest, kept):
                    rest = renamed(rest, {one.name: first.name})
                    continue
                seen = _left(seen, (step,))
                uses = frozenset(reads(one))
                if one.name not in uses:
                    tensor = one.tensor if isinstance(one, Load) else None
                    seen[key] = KnownName(one.name, uses, tensor)
                done.append(step)
                continue
            case _:
                pass
        seen = _left(seen, (step,))
        done.append(step)
    return tuple(done)


def _in_block(step: Step, one: ForLoop | If, seen: Seen, kept: frozenset[str]) -> Step:
    """Return the step without repeats inside of it. `kept` are names that are needed later."""
    # In a loop, nothing is known of the names that it sets: the last round left them.
    before = _left(seen, (step,)) if isinstance(one, ForLoop) else seen
    inner = without_repeats(one.body, kept, before)
    return replace(step, instruction=replace(one, body=inner))


def _key(one: Named) -> str:
    """Give a text for what an instruction computes.

    A text, because to Python 0.0 and -0.0 are equal.
    """
    return repr(replace(one, name=""))


def _is_same_after(first: str, name: str, rest: tuple[Step, ...], kept: frozenset[str]) -> bool:
    """Return whether the first name will do for the second one, to the end of the block."""
    return first == name or (name not in kept and {first, name}.isdisjoint(assigned(rest)))


def _left(seen: Mapping[str, KnownName], steps: tuple[Step, ...]) -> dict[str, KnownName]:
    """Keep of `seen` what still stands for the same after some steps."""
    changed = set(assigned(steps))
    stored = {one.tensor for one in inside(steps) if isinstance(one, Store)}
    return {
        key: one
        for key, one in seen.items()
        if one.name not in changed and one.uses.isdisjoint(changed) and one.tensor not in stored
    }
