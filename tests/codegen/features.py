"""Lists the features of a random case, to show what random cases cover."""

from collections.abc import Iterator, Mapping
from itertools import chain

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Dot, Read, Reduce, Reshape, walk
from dtpoly.algorithm.program import Directive, Program, Split, reduced_labels
from tests.codegen.cases import RandomCase

Features = dict[str, frozenset[str]]

# What kernels do that is not said by directives.
TEXTS = {
    "atomic": "tl.atomic_",
    "barrier": "tl.debug_barrier",
    "product of matrices": "tl.dot(",
    "reduction of lanes": "tl.reduce(",
    "sum of lanes": "tl.sum(",
    "scratch": "_scratch_ptr",
    "mask": "mask=",
    "a block that may be known to be even": " even: tl.constexpr",
}


def features(case: RandomCase, text: str) -> Features:
    """Return the features of a case, by their kinds."""
    program = case.program
    return {
        "directives": frozenset(chain.from_iterable(map(_directive, program.directives)))
        | _seen(program, case.sizes),
        "expressions": frozenset(_expressions(program)),
        "dtypes of inputs": frozenset(map(str, _dtypes(case))),
        "dtypes of Funcs that declare one": frozenset(
            str(func.dtype) for func in program.funcs if func.dtype is not None
        ),
        "layouts of inputs": frozenset({str(case.recipe.layout)} if program.tensors else ()),
        "layouts of outputs": frozenset({str(case.out)}),
        "data": frozenset({str(case.recipe.data)} if program.tensors else ()),
        "sizes": frozenset(["0", "1", "more"][min(size, 2)] for size in case.sizes.values()),
        "generated": frozenset(_generated(text)),
    }


def _directive(one: Directive) -> Iterator[str]:
    name = "compile" if one.name == "compile_to_kernel" else one.name
    yield name
    for argument in one.arguments:
        match one.name, argument.target, argument.value:
            case "map", _, Split():
                yield "map in groups"
            case "fuse_at", "recompute", _:
                yield "fuse_at, recomputed"
            case "tensorize", str(label), _ if "." in label:
                yield "tensorize of one Func"
            case "tensorize", _, 0:
                yield "tensorize whole"
            case _:
                pass


def _seen(program: Program, sizes: Mapping[str, int]) -> frozenset[str]:
    """Return the features that can only be seen with the algorithm or the sizes."""
    found: set[str] = set()
    blocks = {
        (one.func, str(argument.target)): argument.value
        for one in program.directives
        if one.name == "block"
        for argument in one.arguments
    }
    for (func, label), value in blocks.items():
        size = value.factor if isinstance(value, Split) else value
        assert isinstance(size, int)
        if label in reduced_labels(program.func(func)):
            found.add("block of a reduction")
        if sizes.get(label, 0) % size:
            found.add("block, the last one ragged")
        if sizes.get(label, 0) > size:
            found.add("block, several")
    for one in program.directives:
        if one.name == "map":
            for argument in one.arguments:
                block = blocks.get((one.func, str(argument.target)))
                if isinstance(argument.value, Split) and isinstance(block, int):
                    many = -(-sizes.get(str(argument.target), 0) // block)
                    if many > argument.value.factor and many % argument.value.factor:
                        found.add("map in groups, the last one ragged")
    return frozenset(found)


def _expressions(program: Program) -> Iterator[str]:
    for func in program.funcs:
        for node in walk(func.body):
            match node:
                case Reduce(operation=operation):
                    yield operation
                case Dot():
                    yield "rdot"
                case Reshape():
                    yield "reshape"
                case Read(padding=padding) if padding is not None:
                    yield "pad"
                case _:
                    pass
    if program.scalars:
        yield "scalar input"


def _dtypes(case: RandomCase) -> Iterator[DType]:
    for tensor in case.program.tensors:
        yield tensor.dtype or case.recipe.dtypes.get(tensor.name, case.recipe.dtype)


def _generated(text: str) -> Iterator[str]:
    yield from (name for name, part in TEXTS.items() if part in text)
    if text.count("_launch(") > 1:
        yield "several kernels"
