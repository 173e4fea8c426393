"""Chooses which Funcs are kept for a gradient: those that cost more to compute again.

The estimate is of a gradient in which each reduction is a pass of its own over what it reads, and
all else is computed where it is read. So it counts the bytes of what the gradient reads, those that
the algorithm writes to keep a Func, and for each reduction that is computed again the larger of its
bytes and its operations. Nothing is scheduled for it.
"""

from collections.abc import Mapping
from math import prod

from dtpoly.algorithm.expressions import Apply, Dot, Reduce, reads, walk
from dtpoly.algorithm.program import Func, Program
from dtpoly.frozen import dataclass
from dtpoly.gradient.differentiate import Gradient, differentiated

Sizes = Mapping[str, int]
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Speeds:
    """How much a device does in a second, and how many bytes an element has."""

    memory: float  # bytes
    product: float  # operations of products of matrices
    other: float  # all other operations
    element: int


def worth_keeping(program: Program, of: Names, by: Names, sizes: Sizes, speeds: Speeds) -> Names:
    """Return the Funcs that cost less to keep than to compute again, those that save most first."""
    kept: Names = ()
    gradient = differentiated(program, of, by)
    least = seconds(gradient, of, sizes, speeds)
    while True:
        found = {
            one: seconds(differentiated(program, of, by, (*kept, one)), of, sizes, speeds)
            for one in _computed_again(program, gradient)
        }
        best = min(found, key=found.__getitem__, default=None)
        if best is None or found[best] >= least:
            return kept
        kept, least = (*kept, best), found[best]
        gradient = differentiated(program, of, by, kept)


def _computed_again(program: Program, gradient: Gradient) -> Names:
    """Return the Funcs of an algorithm that its gradient computes again, and that could be kept."""
    again = {one.name for one in gradient.program.funcs} - gradient.said.keys()
    return tuple(one.name for one in program.funcs if one.name in again and one.into is None)


def seconds(gradient: Gradient, of: Names, sizes: Sizes, speeds: Speeds) -> float:
    """Return how long a gradient takes in what depends on which Funcs are kept."""
    program = gradient.program
    known = {**{label.name: 1 for label in program.labels}, **sizes, **program.fixed}
    extents = _extents(program, known)
    moved = sum(extents[one.name] for one in program.tensors)
    moved += sum(extents[one] for one in gradient.saved if one not in of)  # the algorithm writes it
    again = [one for one in program.funcs if one.name not in gradient.said]
    total = moved * speeds.element / speeds.memory
    return total + sum(_again(one, program, known, extents, speeds) for one in again)


def _extents(program: Program, known: Sizes) -> dict[str, int]:
    """Return how many elements each tensor has, as far as it is read at labels."""
    found = {one.name: prod(known[label] for label in one.labels) for one in program.funcs}
    for func in program.funcs:
        for read in reads(func.body):
            if read.tensor not in found or not program.find_func(read.tensor):
                labels = {label for index in read.indices for label in index.labels}
                own = prod(known[label] for label in labels)
                found[read.tensor] = max(found.get(read.tensor, 0), own)
    return {**{one.name: 1 for one in program.tensors}, **found}


def _again(
    func: Func, program: Program, known: Sizes, extents: Mapping[str, int], speeds: Speeds
) -> float:
    """Return the seconds that a Func takes if it is computed again."""
    points = prod(known[label] for label in func.labels)
    operations = points * sum(isinstance(node, Apply) for node in walk(func.body))
    time = operations / speeds.other
    for node in walk(func.body):
        if isinstance(node, Reduce | Dot):
            each = points * prod(known[label] for label in node.labels)
            rate = speeds.product if isinstance(node, Dot) else speeds.other
            bytes_read = speeds.element * sum(
                extents[one] for one in _inputs_of(node, program, frozenset())
            )
            time += max(2 * each / rate, bytes_read / speeds.memory)
    return time


def _inputs_of(node: Reduce | Dot | Func, program: Program, around: frozenset[str]) -> set[str]:
    """Return the tensors that a reduction loads: those that Funcs without a reduction read, too."""
    found: set[str] = set()
    for read in reads(node.body if isinstance(node, Func) else node):
        func = program.find_func(read.tensor)
        is_stored = func is None or any(isinstance(one, Reduce | Dot) for one in walk(func.body))
        if func is None or is_stored or func.name in around:
            found.add(read.tensor)
        else:
            found |= _inputs_of(func, program, around | {func.name})
    return found
