"""Rewrites the steps of a kernel one by one, those inside of loops and conditions first."""

from collections.abc import Callable
from dataclasses import replace

from dtpoly.ir.kernel import ForLoop, If, Step, TiledLoop


def rewritten(
    body: tuple[Step, ...], change: Callable[[Step], tuple[Step, ...]]
) -> tuple[Step, ...]:
    """Return a body in which each step has become some steps, in the same places.

    `change` is given a loop or a condition after the steps inside of it were changed. It sees one
    step at a time: what depends on the steps around it needs a loop of its own.
    """
    done: list[Step] = []
    for step in body:
        one = step.instruction
        match one:
            case ForLoop(body=inner) | If(body=inner):
                one = replace(one, body=rewritten(inner, change))
            case TiledLoop(main=main, tail=tail):
                one = replace(one, main=rewritten(main, change), tail=rewritten(tail, change))
            case _:
                pass
        done.extend(change(replace(step, instruction=one)))
    return tuple(done)
