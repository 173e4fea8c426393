"""Finds labels of which each instance walks its own part of an axis, between two ends in data.

In `RVar l in [offsets[z], offsets[z + 1]);` the part of one `z` ends where that of the next one
begins. So all of them together walk the axis once, whatever the offsets are, and one of them walks
its length divided by their number in the mean.
"""

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.expressions import Affine, Apply, Expr, Index, Read, Reduce, Reshape


def mean_lengths(body: Expr | None, extents: Mapping[str, int]) -> dict[str, int]:
    """Return the mean length of such parts, by the labels that walk them."""
    found: dict[str, int] = {}
    if not isinstance(body, Reduce):
        return found
    conditions = tuple(_conditions(_mask(body.operand)))
    first = {one[1]: one[0] for one in conditions if one[2]}
    last = {one[1]: one[0] for one in conditions if not one[2]}
    for label in first.keys() & last.keys() & extents.keys():
        along = _next(first[label], last[label])
        if along is not None and extents.get(along):
            found[label] = max(-(-extents[label] // extents[along]), 1)
    return found


def _mask(operand: Expr) -> Expr | None:
    """Return the condition of an operand that counts only where one holds."""
    if isinstance(operand, Apply) and operand.operation == "where":
        return operand.operands[0]
    return None


def _conditions(mask: Expr | None) -> Iterator[tuple[Read, str, bool]]:
    """Yield each end that a mask compares a label with, and whether it is the first index."""
    pending = [mask]
    while pending:
        node = pending.pop()
        if isinstance(node, Reshape):
            pending.append(node.operand)
        if not isinstance(node, Apply):
            continue
        if node.operation == "and":
            pending.extend(node.operands)
        match node:
            case Apply("le", (Read() as start, Index(label))):
                yield start, label, True
            case Apply("lt", (Index(label), Read() as stop)):
                yield stop, label, False
            case _:
                pass


def _next(start: Read, stop: Read) -> str | None:
    """Return the label along which a part ends where the next one begins."""
    if start.tensor != stop.tensor or len(start.indices) != len(stop.indices):
        return None
    differing = [(a, b) for a, b in zip(start.indices, stop.indices, strict=True) if a != b]
    if len(differing) != 1:
        return None
    ((one, two),) = differing
    is_next = Affine(one.terms, one.constant + 1) == two
    label = one.terms[0][0] if len(one.terms) == 1 and one.terms[0][1] == 1 else None
    return label if is_next and isinstance(label, str) else None
