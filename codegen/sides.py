"""Finds the tiles that are used as sides of matrix products and for nothing else.

In such a product, a row of one side makes a row of the result, and no other row. So what a row
contains matters only if something of that row of the result is kept. `descriptors` needs to know
this.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from dtpoly.ir.kernel import ForLoop, If, Instruction, Product, Reshaped, Step
from dtpoly.ir.parts import inside, needed
from dtpoly.ir.step_dependences import reads
from dtpoly.ir.tile_values import Axes, Converted, Value, Variable


def sides_of_products(body: tuple[Step, ...]) -> Mapping[str, Set[str]]:
    """Find the tiles that only products use, each with the axes along which they sum."""
    found: dict[str, set[str]] = {}
    others: set[str] = set()
    # A matrix of several axes is made of a tile before it is multiplied.
    made = [one for one in inside(body) if isinstance(one, Reshaped) and one.is_joined]
    for one in inside(body):
        if isinstance(one, Product):
            for name, summed in _sides(one):
                found.setdefault(name, set()).update(summed)
        if not (isinstance(one, Reshaped) and one in made):
            others |= _used(one)
    for one in made:
        tile = _name(one.value)
        if tile is None or one.name in others or one.name not in found:
            others |= set(needed(one.value))
        else:
            found.setdefault(tile, set()).update(_before(one, found[one.name]))
    return {name: summed for name, summed in found.items() if name not in others}


def _sides(one: Product) -> Iterator[tuple[str, Axes]]:
    for value, summed in ((one.left, one.left_axes[-1:]), (one.right, one.right_axes[-2:-1])):
        name = _name(value)
        if name is not None:
            yield name, summed


def _name(value: Value) -> str | None:
    """Return the tile that a value is, perhaps in another type."""
    match value:
        case Variable(name=name):
            return name
        case Converted(value=inner):
            return _name(inner)
        case _:
            return None


def _used(one: Instruction) -> set[str]:
    """Give what an instruction uses in another way than as a side of a product."""
    if isinstance(one, ForLoop | If):
        one = replace(one, body=())  # what is inside is looked at by itself
    names = set(reads(one))
    if isinstance(one, Product):
        names -= {name for name, _ in _sides(one)}
    return names


def _before(one: Reshaped, summed: Set[str]) -> Sequence[str]:
    """Give the axes of a tile that become the summed axes of the matrix it is reshaped to."""
    axes = list(one.axes)
    found: list[str] = []
    for group in one.counts:
        mine, axes = axes[: len(group)], axes[len(group) :]
        if mine and mine[0] in summed:
            found += mine
    return found
