"""A kernel's body in, the same as a person would write it out."""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine

from .kernel import (
    Accumulate,
    Converted,
    Fill,
    ForLoop,
    If,
    Let,
    Load,
    Number,
    Place,
    Step,
    Store,
    Value,
)

# What `start (+) value` is, where the start is the identity: the value itself.
PLAIN_SUMS = ("rsum", "rprod")


def without_empty_starts(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """`acc = 0; acc += value` as `acc = value`, where the value is a whole tile of its own."""
    done: list[Step] = []
    for step in body:
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner):
                inner = without_empty_starts(inner)
                # What only gave other names to tiles has left nothing to do.
                if inner:
                    done.append(replace(step, instruction=replace(step.instruction, body=inner)))
            case Accumulate(name=name, value=value) as one if (
                one.reduction in PLAIN_SUMS
                and not isinstance(value, Number)
                and _axes(value) == one.axes
                and (at := _start(done, name)) is not None
            ):
                del done[at]
                done.append(replace(step, instruction=Let(name, value, one.axes)))
            case _:
                done.append(step)
    return tuple(done)


def _axes(value: Value) -> tuple[str, ...]:
    return () if isinstance(value, Number) else value.axes


def _start(done: list[Step], name: str) -> int | None:
    """Where an accumulator starts, if nothing has touched it since."""
    for at in reversed(range(len(done))):
        match done[at].instruction:
            case Fill(name=started) if started == name:
                return at
            case ForLoop() | If():
                return None
            case Accumulate(name=other) if other == name:
                return None
            case _:
                pass
    return None


def without_detours(
    body: tuple[Step, ...], known: Mapping[str, Affine] | None = None
) -> tuple[Step, ...]:
    """`x = x_start; S[x - x_start]` as `S[0]`: indices that count from where they stand."""
    places = dict(known or {})
    done: list[Step] = []
    for step in body:
        one = step.instruction
        match one:
            case ForLoop(body=inner) | If(body=inner):
                one = replace(one, body=without_detours(inner, places))
            case Let(name=name, value=Converted(value=Place(index=index, axes=()))):
                places[name] = index
            case Load(indices=indices) | Store(indices=indices):
                one = replace(one, indices=tuple(_shorter(index, places) for index in indices))
            case _:
                pass
        done.append(replace(step, instruction=one))
    return tuple(done)


def _shorter(index: Affine, places: Mapping[str, Affine]) -> Affine:
    plain = index.substitute(places)
    return plain if len(plain.labels) < len(index.labels) else index
