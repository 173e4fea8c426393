"""Reads what the directives of a Program say, as data.

This is a separate account: it shares no code with the checks.
"""

from dataclasses import dataclass, field

from dtpoly.algorithm.program import Directive, Program
from dtpoly.directives.atomic import Atomic
from dtpoly.directives.block import Block
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.compile import Compile
from dtpoly.directives.fuse_at import FuseAt
from dtpoly.directives.inline import Inline
from dtpoly.directives.reorder import Reorder
from dtpoly.directives.split import SplitLoop
from dtpoly.directives.tensorize import Tensorize
from dtpoly.schedule.argument_values import Divided
from dtpoly.schedule.bound_primitives import bind

# The names of users' primitives.
REWRITES = (
    *("interchange", "skew", "backwards", "lean", "distribute", "spread"),
    *("upside_down", "forget", "flatten", "shorten"),
)


class Unclear(ValueError):
    """A schedule that the specification does not explain."""


@dataclass(slots=True)
class Settings:
    """The directives on one Func, as they concern the loops of its kernel."""

    blocks: dict[str, int] = field(default_factory=dict[str, int])
    partials: dict[str, str] = field(default_factory=dict[str, str])  # names, by label
    splits: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    order: tuple[str, ...] = ()
    tiles: dict[tuple[str | None, str], int] = field(
        default_factory=dict[tuple[str | None, str], int]
    )
    atomic: frozenset[str] = frozenset()
    rewrites: tuple[Directive, ...] = ()  # users' primitives, in order
    # Of labels of which a program has a part: the label that numbers the parts, and their length.
    walks: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    scan_parts: dict[str, int] = field(default_factory=dict[str, int])  # in which scans begin anew

    def tile(self, func: str, loop: str) -> int | None:
        """Return the tile of a loop of a Func in this kernel, or None if it has no lanes."""
        return self.tiles.get((func, loop), self.tiles.get((None, loop)))


@dataclass(frozen=True, slots=True)
class Fusion:
    """A directive `func.fuse_at(consumer, loop)`."""

    func: str
    consumer: str
    loop: str
    recompute: bool


@dataclass(slots=True)
class Said:
    """Holds the directives of a schedule in the form that the oracle reads.

    `returned` has for each result the Funcs whose functions return it, `merging` the blocks of
    kernels that merge parts, by the Func and the label that numbers its parts.
    """

    program: Program
    settings: dict[str, Settings]
    inlined: set[str] = field(default_factory=set[str])
    wanted: set[str] = field(default_factory=set[str])
    returned: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    fusions: list[Fusion] = field(default_factory=list[Fusion])
    merging: dict[tuple[str, str], dict[str, int]] = field(
        default_factory=dict[tuple[str, str], dict[str, int]]
    )


def read(program: Program) -> Said:
    """Read the directives of a Program, which must pass the checks of `check_schedule`."""
    found = Said(program, {func.name: Settings() for func in program.funcs})
    for primitive in bind(program.directives, DIRECTIVES).primitives:
        mine = found.settings[primitive.func]
        match primitive:
            case Compile(results=results):
                found.wanted.add(primitive.func)
                for result in results:
                    found.returned.setdefault(result.text, set()).add(primitive.func)
            case Inline():
                found.inlined.add(primitive.func)
            case FuseAt(consumer=consumer, label=label, recompute=recompute):
                fusion = Fusion(primitive.func, consumer.text, label.text, recompute)
                found.fusions.append(fusion)
            case Block(blocks=blocks):
                for item in blocks:
                    if not isinstance(item, Divided) and item.producer is not None:
                        merged = found.merging.setdefault((primitive.func, item.producer), {})
                        merged[item.label] = item.size
                        continue
                    mine.blocks[item.label] = item.size
                    if isinstance(item, Divided):
                        mine.partials[item.label] = item.new
            case SplitLoop(splits=splits):
                mine.splits.update((item.label, (item.new, item.size)) for item in splits)
            case Reorder(loops=loops):
                mine.order = tuple(loop.text for loop in loops)
            case Tensorize(tiles=tiles):
                mine.tiles.update(((item.producer, item.label), item.size) for item in tiles)
            case Atomic(labels=labels):
                mine.atomic |= {label.text for label in labels}
            case _:
                pass
    for directive in program.directives:
        if directive.name in REWRITES:
            found.settings[directive.func].rewrites += (directive,)
    return found
