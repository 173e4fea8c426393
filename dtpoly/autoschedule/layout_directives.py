"""Finds the directives that say how a kernel is laid out."""

from collections.abc import Iterator, Set

from dtpoly.plan.layout import Layout
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.primitive import Primitive


def said_of(layout: Layout, primitives: Primitives) -> Iterator[Primitive]:
    """Yield what each directive says of a layout, in the order in which people write them."""
    for cls in sorted(primitives, key=lambda cls: cls.written):
        one = cls.of_layout(layout)
        if one is not None:
            yield one


def new_name(label: str, ending: str, taken: Set[str]) -> str:
    """Return a name that nothing has yet, made of a label's."""
    name, number = f"{label}{ending}", 1
    while name in taken:
        number += 1
        name = f"{label}{ending}{number}"
    return name
