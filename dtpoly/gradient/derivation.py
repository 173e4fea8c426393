"""Collects the Funcs of a gradient with their reasons, and the gifts to each tensor."""

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from dtpoly.algorithm.expressions import Affine, Expr, Read
from dtpoly.algorithm.outside import padded_axes
from dtpoly.algorithm.program import Func, Into, Program, touched
from dtpoly.frozen import dataclass
from dtpoly.gradient.naming import FreeNames
from dtpoly.gradient.whole_axes import WholeAxis, whole_axes
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Gift:
    """A value that a Func gives, at each index of labels, to the element of a tensor that it reads.

    The labels are those of the Func and of the reductions around the read; the value may lack some.
    A number has no indices.
    """

    tensor: str
    indices: tuple[Affine, ...]
    labels: tuple[str, ...]
    value: Expr
    giver: str
    is_padded: bool = False
    span: Span | None = None


@dataclass
class Derivation:
    """The Funcs of a gradient that were derived so far, each with a sentence that says what it is.

    `program` is the algorithm in normal form, `active` what a gradient flows through, and `rules`
    has the sentences of the rules that were used. What is `kept` shows sizes that nothing else
    shows. `gift_labels` has the labels of each input that is the gradient of a result.
    """

    program: Program
    active: frozenset[str]
    names: FreeNames
    funcs: list[Func] = field(default_factory=list[Func])
    said: dict[str, str] = field(default_factory=dict[str, str])
    rules: dict[str, None] = field(default_factory=dict[str, None])
    sizes: dict[str, int | None] = field(default_factory=dict[str, int | None])
    kept: set[str] = field(default_factory=set[str])
    axes: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    gifts: dict[str, list[Gift]] = field(default_factory=dict[str, list[Gift]])
    gift_labels: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @cached_property
    def whole(self) -> frozenset[WholeAxis]:
        """Return the axes that have the size of a label."""
        return whole_axes(self.program)

    def func(
        self, wanted: str, labels: tuple[str, ...], body: Expr, said: str, into: Into | None = None
    ) -> str:
        """Add a Func, and return its name: the wanted one, if it is free."""
        name = self.names.new(wanted)
        self.funcs.append(Func(name, labels, body, into=into))
        self.said[name] = said
        return name

    def label(self, wanted: str, size: int | None = None) -> str:
        """Add a label, maybe with a size, and return its name: the wanted one, if it is free."""
        name = self.names.new(wanted)
        self.sizes[name] = size
        return name

    def labels_of(self, tensor: str) -> tuple[str, ...]:
        """Return a label for each axis of an input: one that has its size, or a new one."""
        if tensor not in self.axes:
            self.axes[tensor] = tuple(self._labels_of(tensor))
        return self.axes[tensor]

    def _labels_of(self, tensor: str) -> Iterator[str]:
        every = [
            read for func in self.program.funcs for read in touched(func) if read.tensor == tensor
        ]
        taken: list[str] = []
        for axis in range(len(every[0].indices)):
            shown = next(self._shown(every, axis, taken), None)
            if shown is None:
                index = every[0].indices[axis]
                is_known = index.data is None and index.labels
                shown = self.label(f"{tensor}_{index.labels[0] if is_known else 'row'}")
            taken.append(shown)
            yield shown

    def _shown(self, every: list[Read], axis: int, taken: list[str]) -> Iterator[str]:
        """Yield labels that have the size of an axis, since it is read at them alone."""
        for read in every:
            index = read.indices[axis]
            label = index.within if isinstance(index.within, str) else index.plain
            if label is None or axis in padded_axes(read) or label in taken:
                continue
            if (read.tensor, axis, label) in self.whole:
                yield label

    def rule(self, said: str) -> None:
        """Note that a rule was used."""
        self.rules[said] = None

    def take(self, gifts: Iterator[Gift]) -> None:
        """Keep what tensors are given until all of it is known."""
        for one in gifts:
            self.gifts.setdefault(one.tensor, []).append(one)
