"""Removes what a block computes or loads a second time.

`siblings` uses it when it has joined two loops, which often load the same.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.ir.dependences import exposed, reads
from dtpoly.ir.kernel import ForLoop, If, Lanes, Let, Load, Mask, Scalar, Step, Store
from dtpoly.ir.parts import assigned, inside, renamed

# Instructions that set one name, and do nothing else.
Named = Lanes | Mask | Scalar | Let | Load


@dataclass(frozen=True, slots=True)
class Known:
    """A name that stands for something that was computed before."""

    name: str
    uses: frozenset[str]
    tensor: str | None  # from which it was loaded


def without_repeats(
    body: tuple[Step, ...], kept: frozenset[str], known: Mapping[str, Known] | None = None
) -> tuple[Step, ...]:
    """The body, in which the first name stands for the second too; but those `kept` stay."""
    seen = dict(known or {})
    done: list[Step] = []
    rest = body
    while rest:
        step, rest = rest[0], rest[1:]
        one = step.instruction
        match one:
            case ForLoop(body=inner) | If(body=inner):
                # In a loop, nothing is known of the names that it sets: the last round left them.
                before = _left(seen, (step,)) if isinstance(one, ForLoop) else seen
                needed_after = kept | exposed(rest) | exposed((step,))
                inner = without_repeats(inner, needed_after, before)
                step = replace(step, instruction=replace(one, body=inner))
            case Lanes() | Mask() | Scalar() | Let() | Load():
                key = _key(one)
                first = seen.get(key)
                if first is not None and _is_same_after(first.name, one.name, rest, kept):
                    rest = renamed(rest, {one.name: first.name})
                    continue
                seen = _left(seen, (step,))
                uses = frozenset(reads(one))
                if one.name not in uses:
                    tensor = one.tensor if isinstance(one, Load) else None
                    seen[key] = Known(one.name, uses, tensor)
                done.append(step)
                continue
            case _:
                pass
        seen = _left(seen, (step,))
        done.append(step)
    return tuple(done)


def _key(one: Named) -> str:
    """Give a text for what an instruction computes.

    A text, because to Python 0.0 and -0.0 are equal.
    """
    return repr(replace(one, name=""))


def _is_same_after(first: str, name: str, rest: tuple[Step, ...], kept: frozenset[str]) -> bool:
    """Whether the first name will do for the second one, to the end of the block."""
    return first == name or (name not in kept and {first, name}.isdisjoint(assigned(rest)))


def _left(seen: Mapping[str, Known], steps: tuple[Step, ...]) -> dict[str, Known]:
    """Keep of `seen` what still stands for the same after some steps."""
    changed = set(assigned(steps))
    stored = {one.tensor for one in inside(steps) if isinstance(one, Store)}
    return {
        key: one
        for key, one in seen.items()
        if one.name not in changed and one.uses.isdisjoint(changed) and one.tensor not in stored
    }
