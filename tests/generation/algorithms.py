"""Makes random Programs without directives that pass every check, within limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dtpoly.algorithm.dtypes import DType, category
from dtpoly.algorithm.expressions import Affine, Apply, Read, ScalarRead, walk
from dtpoly.algorithm.inference import type_of
from dtpoly.algorithm.label_sizes import used_labels
from dtpoly.algorithm.program import Func, Label, Program, Scalar, Tensor
from tests.generation.choice import Choose, one_in, pick, shuffled, some
from tests.generation.expressions import BODIES, promoting
from tests.generation.reading import read
from tests.generation.scope import Axis, Dimension, Named, Scope, Stencil

VARS = ("x", "y", "z", "w", "batch", "notes")
RVARS = ("k", "l", "m", "order", "r", "infinite")
TENSORS = ("A", "B", "C", "Q", "W_0", "Input")
SCALARS = ("alpha", "beta", "eps", "_")
FUNCS = ("f", "g", "add_out", "_2mm", "exp_A", "android", "In_", "last")
SCALAR_DTYPES = (None, None, DType.F32, DType.F64, DType.I32, DType.BOOL)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a generated Program has of each kind."""

    labels: int = 5
    tensors: int = 4
    scalars: int = 2
    funcs: int = 4
    rank: int = 3
    depth: int = 3


def algorithm(choose: Choose, limits: Limits) -> Program:
    """Return a Program: inputs, labels, and Funcs that read inputs and each other."""
    dimensions = _dimensions(choose, limits)
    inputs = [
        _tensor(choose, name, dimensions, limits)
        for name in TENSORS[: choose(min(limits.tensors, len(TENSORS)) + 1)]
    ]
    scalars = [
        (name, pick(choose, SCALAR_DTYPES))
        for name in SCALARS[: choose(min(limits.scalars, len(SCALARS)) + 1)]
    ]
    scope = Scope(dimensions, tuple(inputs), tuple(scalars))
    funcs: list[Func] = []
    for name in FUNCS[: 1 + choose(min(limits.funcs, len(FUNCS)))]:
        func = _func(choose, name, scope, limits)
        funcs.append(func)
        scope = _with_func(scope, func)
    program = Program(
        tuple(Label(d.label, d.reducible) for d in dimensions),
        (
            *(Tensor(tensor.name, tensor.dtype) for tensor in inputs),
            *(Scalar(name, dtype) for name, dtype in scalars),
        ),
        shuffled(choose, funcs),
    )
    if one_in(choose, 4):
        return replace(program, inputs=shuffled(choose, program.inputs))
    return _without_unused(program)


def _dimensions(choose: Choose, limits: Limits) -> tuple[Dimension, ...]:
    dimensions: list[Dimension] = []
    most = min(limits.labels, len(VARS) + len(RVARS))
    for at in range(choose(most + 1)):
        reducible = at >= len(VARS) or choose(2) == 1
        taken = sum(d.reducible is reducible for d in dimensions)
        names = RVARS if reducible else VARS
        name = names[taken] if taken < len(names) else f"v{at}"
        kind = choose(8) if dimensions else 0
        other = pick(choose, dimensions) if kind >= 6 else None
        if other is not None and kind == 7:
            stencil = Stencil(other.size, 1 + choose(2), 1 + choose(2))
            dimensions.append(Dimension(name, reducible, name, stencil))
        elif other is not None:
            dimensions.append(Dimension(name, reducible, other.size, other.stencil))
        else:
            dimensions.append(Dimension(name, reducible, name))
    return tuple(dimensions)


def _tensor(choose: Choose, name: str, dimensions: Sequence[Dimension], limits: Limits) -> Named:
    rank = min(choose(limits.rank + 1), len(dimensions))
    chosen = shuffled(choose, some(choose, dimensions, least=rank))[:rank]
    axes = [Axis(dimension.size) for dimension in chosen]
    for at, dimension in enumerate(chosen):
        if one_in(choose, 8):
            other = pick(choose, dimensions)
            pattern = Affine(((dimension.label, 1 + choose(2)),))
            if other.label != dimension.label:
                pattern = pattern + Affine(((other.label, 1 + choose(2)),))
            axes[at] = Axis("", pattern)
    dtypes = (None, None, DType.F32, *DType)
    return Named(name, tuple(axes), pick(choose, dtypes))


def _func(choose: Choose, name: str, scope: Scope, limits: Limits) -> Func:
    every = [dimension.label for dimension in scope.dimensions]
    labels = shuffled(choose, some(choose, every, least=choose(3))[: limits.rank])
    layout = shuffled(choose, labels)
    body = pick(choose, BODIES)(choose, scope, layout, limits.depth)
    if type_of(body, scope.types).dtype is not DType.BOOL and one_in(choose, 3):
        # This is another read of the newest tensor, which may be a Func.
        newest = replace(scope, tensors=scope.tensors[-1:])
        operand = read(choose, newest, layout, is_bool=False)
        if operand is not None:
            body = Apply("mul", promoting(scope, (operand, body)))
    value = type_of(body, scope.types).dtype
    dtype = None
    if one_in(choose, 5):
        least = category(value) if value is not None else 0
        dtype = pick(choose, [dtype for dtype in DType if category(dtype) >= least])
    return Func(name, labels, body, dtype)


def _with_func(scope: Scope, func: Func) -> Scope:
    stored = func.dtype or type_of(func.body, scope.types).dtype
    axes = tuple(Axis(scope.dimension(label).size) for label in func.labels)
    return replace(scope, tensors=(*scope.tensors, Named(func.name, axes, stored)))


def _without_unused(program: Program) -> Program:
    nodes = [node for func in program.funcs for node in walk(func.body)]
    read = {node.tensor for node in nodes if isinstance(node, Read)}
    read |= {node.name for node in nodes if isinstance(node, ScalarRead)}
    labels = used_labels(program)
    return replace(
        program,
        labels=tuple(label for label in program.labels if label.name in labels),
        inputs=tuple(i for i in program.inputs if i.name in read),
    )
