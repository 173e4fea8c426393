"""Everything that is decided of one kernel, and the directives that say it."""

from collections.abc import Iterator, Set

from dtpoly.algorithm.program import Argument, Directive, Split
from dtpoly.frozen import dataclass

Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """So many blocks of a label that follow each other before the next block of the others."""

    label: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Partial:
    """A label that is reduced in blocks of that size; the label of the blocks has a name."""

    label: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Layout:
    """All that a schedule says of one kernel but for what is fused into it.

    A tile of 0 is the whole block or label. `each` is how many programs a multiprocessor keeps.
    """

    func: str
    blocks: Sizes = ()
    partial: Partial | None = None
    tiles: Sizes = ()
    order: tuple[str, ...] = ()  # of programs, outermost first
    group: Group | None = None
    flat: tuple[str, ...] = ()
    precision: str = ""
    descriptors: tuple[str, ...] = ()
    aligned: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()
    each: int = 0
    warps: int = 4
    stages: int = 0
    is_early: bool = False

    def block(self, label: str) -> int | None:
        """The block of a label, if it has one."""
        return dict(self.blocks).get(label)

    def tile(self, label: str) -> int:
        """How many indices of a label are computed together; 0 is all of them."""
        return dict(self.tiles).get(label, 1)


def directives_of(layout: Layout) -> Iterator[Directive]:
    """One directive a decision, in the order in which people write them."""
    func = layout.func
    if layout.precision:
        yield Directive(func, "precision", (Argument(layout.precision),))
    blocks = [Argument(label, size) for label, size in layout.blocks]
    if layout.partial is not None:
        part = layout.partial
        blocks.append(Argument(part.label, Split(part.name, part.size)))
    if blocks:
        yield Directive(func, "block", tuple(blocks))
    tiles = tuple(Argument(label, size) for label, size in layout.tiles if size != 1)
    if tiles:
        yield Directive(func, "tensorize", tiles)
    if layout.order:
        yield Directive(func, "map", tuple(_order(layout)))
    if layout.flat:
        yield Directive(func, "flatten", _names(layout.flat))
    if layout.descriptors:
        yield Directive(func, "descriptor", _names(layout.descriptors))
    if layout.aligned:
        yield Directive(func, "align", _names(layout.aligned))
    if layout.turned:
        yield Directive(func, "alternate", _names(layout.turned))
    if layout.each:
        each = () if layout.each == 1 else (Argument(layout.each),)
        yield Directive(func, "persistent", each)
    yield Directive(func, "num_warps", (Argument(layout.warps),))
    if layout.stages:
        yield Directive(func, "num_stages", (Argument(layout.stages),))
    if layout.is_early:
        yield Directive(func, "early")


def _order(layout: Layout) -> Iterator[Argument]:
    group = layout.group
    for label in layout.order:
        if group is not None and label == group.label:
            yield Argument(label, Split(group.name, group.count))
        else:
            yield Argument(label)
    if group is not None:
        yield Argument(group.name)


def _names(words: tuple[str, ...]) -> tuple[Argument, ...]:
    return tuple(Argument(word) for word in words)


def new_name(label: str, ending: str, taken: Set[str]) -> str:
    """A name that nothing has yet, made of a label's."""
    name, number = f"{label}{ending}", 1
    while name in taken:
        number += 1
        name = f"{label}{ending}{number}"
    return name
