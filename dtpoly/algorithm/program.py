"""Defines the Program: the meaning of a .dt file, as data whose equality ignores spans."""

from collections.abc import Iterable, Iterator
from dataclasses import field

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Dot, Expr, Reduce, reads, walk
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a dimension, declared by `Var`, or by `RVar` if a reduction may bind it.

    If it has a size, its indices go from 0 to size - 1, whatever the tensors are.
    """

    name: str
    reducible: bool = False
    size: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor input (`In`); without a dtype it has that of the caller."""

    name: str
    dtype: DType | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar input (`SIn`)."""

    name: str
    dtype: DType | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Func:
    """A tensor function and its definition; the outermost label comes first."""

    name: str
    labels: tuple[str, ...]
    body: Expr
    dtype: DType | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Split:
    """The value `name/factor` of an argument."""

    name: str
    factor: int


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a directive, written `target` or `target:value`.

    A target is a name, `func.name` or a number. A value is a number, a name or `name/number`.
    """

    target: str | int
    value: int | str | Split | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Directive:
    """A primitive applied to a Func, as it is written: `func.name(arguments);`."""

    func: str
    name: str
    arguments: tuple[Argument, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """An algorithm and its schedule; inputs stand in declared order, Funcs in defined order.

    The directives are a set: their order only decides which one a message blames.
    """

    labels: tuple[Label, ...]
    inputs: tuple[Tensor | Scalar, ...]
    funcs: tuple[Func, ...]
    directives: tuple[Directive, ...] = ()

    @property
    def fixed(self) -> dict[str, int]:
        """Return the sizes that the file fixes."""
        return {label.name: label.size for label in self.labels if label.size is not None}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Return the tensor inputs."""
        return tuple(i for i in self.inputs if isinstance(i, Tensor))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """Return the scalar inputs."""
        return tuple(i for i in self.inputs if isinstance(i, Scalar))

    def find_func(self, name: str) -> Func | None:
        """Return the Func of this name, or None."""
        return next((f for f in self.funcs if f.name == name), None)

    def func(self, name: str) -> Func:
        """Return the Func of this name, which must exist."""
        found = self.find_func(name)
        if found is None:
            raise KeyError(name)
        return found


def producers(program: Program) -> dict[str, tuple[str, ...]]:
    """Return for each Func the Funcs that it reads, each once, in the order of the reads."""
    names = {func.name for func in program.funcs}
    return {
        func.name: tuple(dict.fromkeys(r.tensor for r in reads(func.body) if r.tensor in names))
        for func in program.funcs
    }


def in_order(program: Program, wanted: Iterable[str] | None = None) -> tuple[Func, ...]:
    """Return the wanted Funcs (else all) and those that they need, producers before consumers."""
    below = producers(program)
    done: dict[str, None] = {}
    for start in below if wanted is None else wanted:
        pending = [(start, False)]
        while pending:
            name, ready = pending.pop()
            if ready:
                done[name] = None
            elif name not in done:
                pending.append((name, True))
                pending.extend((producer, False) for producer in reversed(below[name]))
    by_name = {func.name: func for func in program.funcs}
    return tuple(by_name[name] for name in done)


def reduced_labels(func: Func) -> tuple[str, ...]:
    """Return the labels that a Func's body reduces over, each once, outermost reduction first."""
    return tuple(dict.fromkeys(_reduced(func.body)))


def _reduced(expr: Expr) -> Iterator[str]:
    for node in walk(expr):
        if isinstance(node, Reduce | Dot):
            yield from node.labels
