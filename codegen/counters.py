"""Gives different names to loops that count in different types.

Triton takes a name that is set twice for one variable, and a variable has one type. A loop from 0
to a size counts in the type of sizes. A loop that starts where a block begins counts in the type of
offsets, which may have 64 bits. Where loops of both sorts share a name, those that count in the
type of offsets get a new one.
"""

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.bound_widths import LARGE, WIDE
from dtpoly.ir.kernel import ForLoop, Step, TiledLoop
from dtpoly.ir.parts import inside, nested, renamed
from dtpoly.poly.loops import Combined

from .python_names import fresh

Part = TypeVar("Part")


def with_own_counters(
    body: tuple[Step, ...], sizes: Collection[str], taken: AbstractSet[str]
) -> tuple[Step, ...]:
    """Rename loops that count in the type of offsets, where another loop of that name does not."""
    loops = [one for one in inside(body) if isinstance(one, ForLoop)]
    ways = {(loop.name, _counts_offsets(loop, sizes)) for loop in loops}
    both = {name for name, is_so in ways if is_so and (name, False) in ways}
    new, known = dict[str, str](), {*taken, *(loop.name for loop in loops)}
    for name in sorted(both):
        new[name] = fresh(name.rstrip("0123456789").rstrip("_"), known)
        known.add(new[name])
    return _renamed(body, sizes, new) if new else body


def _counts_offsets(loop: ForLoop, sizes: Collection[str]) -> bool:
    return any(one not in sizes for bound in (loop.start, loop.stop) for one in _words(bound))


def _goes_far(loop: TiledLoop, sizes: Collection[str]) -> bool:
    return any(one not in sizes for one in loop.size.labels)


def _words(bound: object) -> Iterator[str]:
    """Yield the names in a bound, and the operations that give it 64 bits."""
    for one in nested(bound):
        if isinstance(one, Affine):
            yield from one.labels
        elif isinstance(one, Combined) and one.operation in (WIDE, LARGE):
            yield one.operation


def _renamed(part: Part, sizes: Collection[str], new: Mapping[str, str]) -> Part:
    return cast(Part, _changed(part, sizes, new))


def _changed(part: object, sizes: Collection[str], new: Mapping[str, str]) -> object:
    match part:
        case tuple():
            return tuple(_changed(one, sizes, new) for one in cast(tuple[object, ...], part))
        case Step(instruction=instruction):
            return replace(part, instruction=_renamed(instruction, sizes, new))
        case _ if is_dataclass(part) and not isinstance(part, type):
            # Some instructions have others in them.
            inner = [one.name for one in fields(part) if isinstance(getattr(part, one.name), tuple)]
            made = replace(part, **{one: _changed(getattr(part, one), sizes, new) for one in inner})
            if isinstance(made, ForLoop) and made.name in new and _counts_offsets(made, sizes):
                return renamed(made, {made.name: new[made.name]})
            if isinstance(made, TiledLoop) and made.name in new and _goes_far(made, sizes):
                names = {made.name: new[made.name]}  # the tail sets its own
                return replace(made, name=names[made.name], main=renamed(made.main, names))
            return made
        case _:
            return part
