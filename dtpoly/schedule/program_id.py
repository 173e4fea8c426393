"""Numbers the program instances of a scheduled Func, in pure Python, from its directives.

This is the meaning of blocks and of their numbering, not how kernels compute it: the reference
executor uses it to give `program_id` a value.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from math import prod
from typing import Any

from dtpoly.algorithm.program import Program, reduced_labels
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Divided, Name
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.facts import Blocked, Numbered

# An index, or an array of them: only + - * // are done to it.
Indices = Any


class LoopPart(Enum):
    """The blocks that a loop goes through."""

    ALL = "all blocks"
    GROUPS = "groups of blocks"
    GROUP = "the blocks of one group"


@dataclass(frozen=True, slots=True)
class Level:
    """A loop of the nest that numbers the programs."""

    label: str
    part: LoopPart = LoopPart.ALL


@dataclass(frozen=True, slots=True)
class LabelBlocks:
    """The blocks of a label: how many, of what size, and in what groups."""

    count: int
    size: int
    group: int = 1

    def in_group(self, block: Indices) -> Indices:
        """Return the number of blocks in the group of a block; the last group may be smaller."""
        full, rest = divmod(self.count, self.group)
        if rest == 0 or full == 0:
            return min(self.group, self.count)
        return self.group - (block // self.group // full) * (self.group - rest)


def program_index(
    program: Program, func_name: str, sizes: Mapping[str, int], primitives: Primitives
) -> Callable[[Mapping[str, Indices]], Indices]:
    """Return the function from an element's indices, by label, to the number of its program.

    The Func has a kernel of its own, and its directives are right. Without `map` the first label
    runs fastest. Where `block` cuts a label that the Func reduces over, the indices may name it:
    then the program is that of the partial result, else that of the final kernel.
    """
    func = program.func(func_name)
    mine = bind((d for d in program.directives if d.func == func_name), primitives).primitives
    facts = [fact for one in mine for fact in one.facts()]
    blocked = [fact for fact in facts if isinstance(fact, Blocked)]
    block_of = {fact.label: fact.size for fact in reversed(blocked)}
    labels = dict.fromkeys((*func.labels, *reduced_labels(func)))
    default = [Name(label) for label in reversed(labels) if label in block_of]
    order = next((fact.loops for fact in facts if isinstance(fact, Numbered)), default)
    groups = {item.label: item for item in order if isinstance(item, Divided)}
    blocks = {
        label: LabelBlocks(
            -(-sizes[label] // size), size, groups[label].size if label in groups else 1
        )
        for label, size in block_of.items()
    }
    inner = {item.new: label for label, item in groups.items()}
    nest = [_level(item, inner) for item in order]
    final = [level for level in nest if level.label in func.labels]
    reduced = [level.label for level in nest if level not in final]

    def number(indices: Mapping[str, Indices]) -> Indices:
        chosen = nest if any(label in indices for label in reduced) else final
        at = {level.label: indices[level.label] // blocks[level.label].size for level in chosen}
        return _number(chosen, blocks, at)

    return number


def _level(item: Name | Divided, inner: Mapping[str, str]) -> Level:
    match item:
        case Divided(label=label):
            return Level(label, LoopPart.GROUPS)
        case Name(text=text) if text in inner:
            return Level(inner[text], LoopPart.GROUP)
        case Name(text=text):
            return Level(text)


def _number(
    nest: list[Level], blocks: Mapping[str, LabelBlocks], at: Mapping[str, Indices]
) -> Indices:
    """Count how many blocks the nest passes before it comes to the blocks `at`.

    Each loop adds its earlier iterations, times what one of them leaves to the loops inside: of
    every other label the blocks that no outer loop has fixed.
    """
    total: Indices = 0
    for depth, level in enumerate(nest):
        inside = nest[depth + 1 :]
        others = {other.label for other in inside if other.label != level.label}
        repeats = prod(
            (_left(label, inside, blocks[label], at[label]) for label in others), start=1
        )
        total = total + _passed(level, blocks[level.label], at[level.label]) * repeats
    return total


def _passed(level: Level, blocks: LabelBlocks, block: Indices) -> Indices:
    match level.part:
        case LoopPart.ALL:
            return block
        case LoopPart.GROUPS:  # the groups before it are full
            return block // blocks.group * blocks.group
        case LoopPart.GROUP:
            return block - block // blocks.group * blocks.group


def _left(label: str, inside: list[Level], blocks: LabelBlocks, block: Indices) -> Indices:
    parts = {level.part for level in inside if level.label == label}
    return blocks.in_group(block) if parts == {LoopPart.GROUP} else blocks.count
