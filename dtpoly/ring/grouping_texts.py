"""Writes out how two elements are rounded, where they are put together in two ways.

While trees are recorded, each mark is kept with the operation and the operands of which it was
made. So the first place at which two trees differ can be found, and both sides of it be written,
with a short name for whatever both have: `((x0 + x1) + x2)` and `(x0 + (x1 + x2))`.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any

import numpy as np

from dtpoly.frozen import dataclass

# So many marks of one operation are kept at most, and so many operations of all.
MOST_AT_ONCE, MOST_IN_ALL = 200_000, 2_000_000
MOST_LANES = 8  # of a tile, that are written out
MOST_LETTERS = 400  # of a grouping, without its middle
MOST_OF_NAME = 80  # letters of what a name stands for
MOST_DEPTH = 400
SIGNS = {"add": "+", "sub": "-", "mul": "*", "fdiv": "/", "precise_divf": "/", "approx_divf": "/"}
LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class MarkedNode:
    """An operation, and the marks of its operands; a leaf has its name as its word."""

    word: str
    operands: tuple[int, ...]
    is_leaf: bool = False


@dataclass(frozen=True, slots=True)
class TwoGroupings:
    """Two ways to put the same together, and what the names in them stand for."""

    first: str
    second: str
    names: Mapping[str, str]


@dataclass
class TreeRecord:
    """The operations that were met, by their marks. It is `full` if there were too many."""

    nodes: dict[int, MarkedNode] = field(default_factory=dict[int, MarkedNode])
    is_full: bool = False

    def note(self, word: str, made: Any, operands: tuple[Any, ...]) -> None:
        """Keep the marks that an operation made of its operands."""
        size = int(np.size(made)) * len(operands)
        if size > MOST_AT_ONCE or len(self.nodes) > MOST_IN_ALL:
            self.is_full = True
            return
        results = _bits(made)
        columns = [_bits(np.broadcast_to(one, np.shape(made))) for one in operands]
        for at, one in enumerate(results):
            self.nodes.setdefault(one, MarkedNode(word, tuple(column[at] for column in columns)))

    def name(self, text: str, made: float) -> None:
        """Give a mark a name that says where it comes from, such as an element of an input."""
        self.nodes[_bits(np.asarray(made))[0]] = MarkedNode(text, (), is_leaf=True)

    def node(self, mark: int) -> MarkedNode:
        """Return what a mark was made of; a number that is no mark is written as it is."""
        found = self.nodes.get(mark)
        if found is not None:
            return found
        value = float(np.uint64(mark).view(np.float64))
        return MarkedNode(f"{value:g}", (), is_leaf=True)


RECORDS: list[TreeRecord] = []


@contextmanager
def recorded() -> Generator[TreeRecord]:
    """Record all operations that are done meanwhile."""
    record = TreeRecord()
    RECORDS.append(record)
    try:
        yield record
    finally:
        RECORDS.remove(record)


def note(word: str, made: Any, operands: tuple[Any, ...]) -> None:
    """Keep an operation, if any record is being made."""
    for record in RECORDS:
        record.note(word, made, operands)


def name_number(text: str, made: float) -> None:
    """Keep what a written number is, if any record is being made."""
    for record in RECORDS:
        record.name(text, made)


def _bits(of: Any) -> list[int]:
    found: list[int] = np.ascontiguousarray(of, np.float64).view(np.uint64).ravel().tolist()
    return found


def groupings(record: TreeRecord, first: float, second: float) -> TwoGroupings | None:
    """Return the two groupings at the first place where two trees differ; None if they are one."""
    one, other = (_bits(np.asarray(value))[0] for value in (first, second))
    if one == other:
        return None
    one, other = _narrowed(record, one, other)
    both = _below(record, one) & _below(record, other)
    names = _names(record, both, (one, other))
    writer = _Writer(record, names)
    texts = [_short(writer.text(mark, 0)) for mark in (one, other)]
    if texts[0] == texts[1]:
        return None
    said = {
        name: _short(_Writer(record, {}).text(mark, 0), MOST_OF_NAME)
        for mark, name in names.items()
        if name in writer.used
    }
    return TwoGroupings(
        texts[0], texts[1], {name: said[name] for name in sorted(said, key=_number)}
    )


def _number(name: str) -> int:
    return int(name[1:])


def _narrowed(record: TreeRecord, one: int, other: int) -> tuple[int, int]:
    """Go down to the first operation of which not just one operand differs."""
    for _ in range(MOST_DEPTH):
        a, b = record.node(one), record.node(other)
        if a.word != b.word or a.is_leaf or len(a.operands) != len(b.operands):
            return one, other
        pairs = list(zip(a.operands, b.operands, strict=True))
        if a.word in ("add", "mul"):
            # The operands of these are in the order of their marks.
            mine = [x for x in a.operands if x not in b.operands]
            too = [x for x in b.operands if x not in a.operands]
            pairs = list(zip(mine, too, strict=False))
        unlike = [(x, y) for x, y in pairs if x != y]
        lanes_differ = a.word.startswith("sum") and len(unlike) > 1
        if not unlike or (len(unlike) > 1 and not lanes_differ):
            return one, other
        one, other = unlike[0]
    return one, other


def _below(record: TreeRecord, mark: int) -> set[int]:
    """Return all marks of a tree but that of its root."""
    found, waiting = set[int](), list(record.node(mark).operands)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += record.node(one).operands
    return found


def _names(record: TreeRecord, both: set[int], roots: tuple[int, int]) -> dict[int, str]:
    """Return short names of what both trees have, and which is no part of a larger such thing."""
    met: dict[int, None] = {}
    for root in roots:
        waiting, seen = [root], set[int]()
        while waiting:
            mark = waiting.pop()
            if mark in seen:
                continue
            seen.add(mark)
            if mark in both and not _is_plain(record, mark):
                met[mark] = None
            else:
                waiting += record.node(mark).operands
    ordered = sorted(met, key=lambda mark: _place(record, mark))
    return {mark: f"x{at}" for at, mark in enumerate(ordered)}


def _is_plain(record: TreeRecord, mark: int) -> bool:
    """Return whether a mark is a number, which needs no name."""
    node = record.node(mark)
    return node.is_leaf and not node.word.endswith("]")


def _place(record: TreeRecord, mark: int) -> tuple[object, ...]:
    """Return what orders names: the first element of an input that something is made of."""
    texts = [record.node(one).word for one in (mark, *_below(record, mark))]
    leaves = [one for one in texts if one.endswith("]")]
    return min((_key(one) for one in leaves), default=("~", ()))


def _key(text: str) -> tuple[object, ...]:
    tensor, _, indices = text.rstrip("]").partition("[")
    return tensor, tuple(int(one) if one.isdigit() else -1 for one in indices.split(", "))


@dataclass
class _Writer:
    """Writes trees, with names for some marks."""

    record: TreeRecord
    names: Mapping[int, str]
    used: set[str] = field(default_factory=set[str])

    def text(self, mark: int, depth: int) -> str:
        """Write a tree."""
        if mark in self.names:
            self.used.add(self.names[mark])
            return self.names[mark]
        node = self.record.node(mark)
        if node.is_leaf:
            return node.word
        if depth > MOST_DEPTH:
            return "..."
        operands = node.operands
        if node.word in ("add", "mul"):
            operands = tuple(sorted(operands, key=lambda one: _place(self.record, one)))
        kind, _, rest = node.word.partition(" ")
        if kind == "sum":
            return f"tl.sum({self.lanes(operands, depth)})"
        if kind == "dot":
            onto, *parts = operands
            return f"tl.dot({self.lanes(tuple(parts), depth)}, onto {self.text(onto, depth + 1)})"
        parts_text = [self.text(one, depth + 1) for one in operands]
        if node.word in SIGNS and len(parts_text) == 2:
            return f"({f' {SIGNS[node.word]} '.join(parts_text)})"
        if node.word == "neg":
            return f"-{parts_text[0]}"
        return f"{kind}({', '.join([*parts_text, *([rest] if rest else [])])})"

    def lanes(self, operands: tuple[int, ...], depth: int) -> str:
        """Write the lanes of a tile, of which there may be many."""
        shown = operands if len(operands) <= MOST_LANES else (*operands[:4], operands[-1])
        texts = [self.text(one, depth + 1) for one in shown]
        if len(shown) == len(operands):
            return ", ".join(texts)
        return f"{', '.join(texts[:-1])}, ..., {texts[-1]}: {len(operands)} lanes"


def _short(text: str, most: int = MOST_LETTERS) -> str:
    """Leave out the middle of a long text."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} ... {text[-half:]}"


Named = Callable[[tuple[int, ...]], str]


def name_elements(record: TreeRecord, tensor: Any, named: Named) -> None:
    """Give the marks of all elements of an input their names."""
    for index in np.ndindex(*tensor.shape):
        record.name(named(index), float(tensor[index]))
