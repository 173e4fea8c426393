"""Keeps the lines of a translated algorithm, and lines tensors up by their labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dtpoly.algorithm.expressions import Conditions, labels_of_conditions
from dtpoly.algorithm.inference import Types, types_of
from dtpoly.algorithm.program import Program


@dataclass(frozen=True, slots=True)
class Piece:
    """A value: how it is called in the text, and a label for each of its axes."""

    code: str
    labels: tuple[str, ...] = ()
    is_number: bool = False


@dataclass(frozen=True)
class Writer:
    """The text so far: what is made once, what each call does, and how Funcs are called."""

    program: Program
    sizes: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]  # of the inputs
    constants: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    funcs: dict[str, str] = field(default_factory=dict[str, str])
    known: dict[str, str] = field(default_factory=dict[str, str])
    # What is written in place is written at the end: before, all read the old values.
    last: list[str] = field(default_factory=list[str])
    returned: dict[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def types(self) -> Types:
        """Return the types of all tensors."""
        return types_of(self.program)

    def variable(self, name: str) -> str:
        """Return how a Func or an input is called."""
        return self.funcs.get(name, name)

    def shape(self, name: str) -> Sequence[int]:
        """Return the shape of a Func or of an input."""
        func = self.program.find_func(name)
        return self.shapes[name] if func is None else [self.sizes[x] for x in func.labels]

    def keep(self, code: str) -> str:
        """Write a line of a call that gives a value a name."""
        name = f"t_{len(self.lines)}"
        self.lines.append(f"{name} = {code}")
        return name

    def once(self, code: str) -> str:
        """Write a line that is carried out once, unless it is there already."""
        if code not in self.known:
            self.known[code] = f"c_{len(self.constants)}"
            self.constants.append(f"{self.known[code]} = {code}")
        return self.known[code]

    def indices(self, label: str) -> str:
        """Return all indices of a label."""
        return self.once(f"torch.arange({self.sizes[label]}, device=device)")


def laid(piece: Piece, labels: Sequence[str]) -> str:
    """Return a value with an axis for each of these labels, of one index where it lacks it."""
    if piece.is_number:
        return piece.code
    order = [piece.labels.index(one) for one in labels if one in piece.labels]
    assert len(order) == len(piece.labels), "a label that is lost"
    code = piece.code if order == sorted(order) else f"{piece.code}.permute({order})"
    if len(order) == len(labels):
        return code
    return f"{code}[{', '.join(':' if one in piece.labels else 'None' for one in labels)}]"


def conditions(writer: Writer, when: Conditions) -> Piece:
    """Return where all conditions hold, made once: they are about labels and sizes alone."""
    labels = labels_of_conditions(when)
    terms: list[str] = []
    for one in when:
        constant = one.index.constant + one.sizes.constant
        constant += sum(factor * writer.sizes[x] for x, factor in one.sizes.linear)
        along = [
            f"{factor} * {laid(Piece(writer.indices(x), (x,)), labels)}"
            for x, factor in one.index.linear
        ]
        terms.append(f"({' + '.join([*along, str(constant)])} >= 0)")
    return Piece(writer.once(" & ".join(terms)), labels)
