"""Collect what a proof takes for granted, and find the Funcs that a hand-written file computes.

The verdict lists these promises of the caller in words, for files of dtpoly too. For hand-written
files this module also says which Funcs the lines mention, and at which sizes to look for an example
of what is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, permutations, product

from dtpoly.algorithm.distinct_places import undecided
from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import reads
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.program import Placing, Program, Tensor, in_order, touched
from dtpoly.algorithm.show import show_bound
from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning
from dtpoly.verify.algebra.formats import TYPES
from dtpoly.verify.algebra.whole import Truth, Whole, both, compare, number
from dtpoly.verify.triton.access import KernelTensor
from dtpoly.verify.triton.said import Said
from dtpoly.verify.triton.specialized import SPECIALIZED, besides_making, is_told
from dtpoly.verify.triton.unit.unit import Unit

# Sizes that tensors have, but whose products do not fit 32 bits.
LARGE, SMALL = 2**16, (2**13, 2**11)
# How many pairs of labels are tried with such sizes.
MOST_PAIRS = 6
# What a kernel says or uses that no proof is about, and what is taken for granted then.
TRUSTED = {
    "multiple_of": "what tl.multiple_of and tl.max_contiguous say is true",
    "max_contiguous": "what tl.multiple_of and tl.max_contiguous say is true",
    "make_tensor_descriptor": "addresses and strides of descriptors are multiples of 16 bytes",
    "make_block_ptr": "Triton has block pointers, which 3.6 to 3.8 have and 3.9 has not",
    "warp_specialize": "Triton compiles loops with warp_specialize right; 3.6 to 3.9 do not always",
}


def with_promises(
    arrays: Mapping[str, KernelTensor], meaning: AlgorithmMeaning
) -> dict[str, KernelTensor]:
    """Return tensors, those with what the caller promises their elements to be below."""
    found = dict(arrays)
    for tensor in meaning.program.tensors:
        bound, array = tensor.within, found.get(tensor.name)
        if bound is not None and array is not None:
            below = number(bound) if isinstance(bound, int) else meaning.sizes[bound]
            found[tensor.name] = replace(array, below=below)
    return found


def typed(program: Program) -> Program:
    """Return the program with f32 for each tensor input that has no dtype.

    A Func that goes into such an input has its dtype.
    """
    inputs = tuple(
        replace(one, dtype=DType.F32) if isinstance(one, Tensor) and one.dtype is None else one
        for one in program.inputs
    )
    untyped = {one.name for one in program.tensors if one.dtype is None}
    funcs = tuple(
        replace(one, dtype=DType.F32)
        if one.dtype is None and one.into is not None and one.into.tensor in untyped
        else one
        for one in program.funcs
    )
    return replace(program, inputs=inputs, funcs=funcs)


def scalar_types(program: Program) -> dict[str, str]:
    """Return the type of each scalar input that is no float, and an empty one of the others."""
    return {
        scalar.name: TYPES[scalar.dtype]
        if scalar.dtype is not None and not is_float(scalar.dtype)
        else ""
        for scalar in program.scalars
    }


def passed_labels(program: Program) -> list[str]:
    """Return the labels whose sizes a call must pass."""
    return [one.label for one in size_rules(program) if one.is_passed and not one.is_bounded]


def promised(program: Program, file: Unit) -> tuple[str, ...]:
    """Return what a proof takes for granted, in words."""
    untyped = [one.name for one in program.tensors if one.dtype is None]
    found = [f"f32: {', '.join(untyped)}"] if untyped and file.said else []
    found += [one.text for one in file.said if one.word == "assume"]
    if file.said and file.plain:
        names = ", ".join(file.plain)
        found.append(f"functions of Python, which are not read, do what they should: {names}")
    nodes = [
        node
        for definition in file.jitted.values()
        for statement in besides_making(file, definition)
        for node in ast.walk(statement)
    ]
    specialized = [one for one in file.jitted.values() if is_told(file, one)]
    called = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    options = (node for node in nodes if isinstance(node, ast.keyword))
    called |= {str(one.arg) for one in options if _is_trusted(file, one)}
    called |= {"warp_specialize"} if any(map(_stores_otherwise, specialized)) else set[str]()
    trusted = (trust for word, trust in TRUSTED.items() if word in called)
    return (*found, *dict.fromkeys(trusted))


def promised_of_calls(program: Program, results: Sequence[str]) -> tuple[str, ...]:
    """Return what a proof of a function takes for granted of the data of a call, in words.

    These are the ranges of elements, and the places of Funcs.
    """
    found = list[str]()
    indices = [
        index
        for func in in_order(program, results)
        for read in touched(func)
        for index in read.indices
    ]
    used = {one.tensor for i in indices if i.data is not None for one in reads(i.data) if i.within}
    for tensor in program.tensors:
        if tensor.within is not None and tensor.name in used:
            bound = show_bound(tensor.within)
            found.append(f"each element of '{tensor.name}' is at least 0 and below {bound}")
    dtypes = {name: one.dtype for name, one in types_of(program).items()}
    for func in in_order(program, results):
        into = func.into
        if into is None or into.at is None:
            continue
        dtype = dtypes[into.tensor]
        if not undecided(func.labels, into.at):
            continue  # no two elements have the same place
        if into.placing is Placing.DISTINCT:
            found.append(f"no two elements of '{func.name}' have the same place in '{into.tensor}'")
        elif into.is_added and (dtype is None or is_float(dtype)):
            what = f"the order in which elements of '{func.name}' are added in '{into.tensor}'"
            found.append(f"{what}, each sum rounded to its type, may be any")
    return tuple(found)


def _is_trusted(file: Unit, option: ast.keyword) -> bool:
    """Return whether an option may lead Triton to compile wrong code.

    A generated file that gives its own `specialized` as the option keeps clear of such cases.
    """
    return bool(file.said) or ast.unparse(option.value) != SPECIALIZED


def _stores_otherwise(kernel: ast.FunctionDef) -> bool:
    """Return whether a kernel stores nothing through a descriptor.

    In such a warp-specialized kernel Triton stored wrong rows.
    """
    calls = (node.func for node in ast.walk(kernel) if isinstance(node, ast.Call))
    return not any(
        isinstance(one, ast.Attribute) and one.attr == "store" and ast.unparse(one.value) != "tl"
        for one in calls
    )


def is_finite(said: Sequence[Said]) -> bool:
    """Return whether the file promises, with `# assume: finite`, that all values are finite."""
    return any(
        isinstance(node, ast.Name) and node.id == "finite"
        for one in said
        if one.word == "assume"
        for node in ast.walk(one.what)
    )


def results(program: Program, said: Sequence[Said]) -> list[str]:
    """Return the names of the Funcs that the launches of a hand-written file compute.

    They are given to a kernel, or they go into an input that is.
    """
    names = {
        node.id
        for one in said
        if one.word == "verify" and isinstance(one.what, ast.Call)
        for arg in (*one.what.args, *(keyword.value for keyword in one.what.keywords))
        for node in ast.walk(arg)
        if isinstance(node, ast.Name)
    }
    return [
        func.name
        for func in program.funcs
        if func.name in names or (func.into is not None and func.into.tensor in names)
    ]


def at_sizes(meaning: AlgorithmMeaning, sizes: Mapping[str, int] | None) -> AlgorithmMeaning:
    """Return the meaning for calls of exactly these sizes; all sizes if there are none."""
    if sizes is None:
        return meaning
    return replace(meaning, sizes={one: number(n) for one, n in sizes.items()}, known={})


def fixed_facts(meaning: AlgorithmMeaning, sizes: Mapping[str, int] | None) -> Truth:
    """Return the facts that labels have exactly these sizes.

    Several labels may have the size of one axis, as those of a scan have: then no call gives them
    different ones.
    """
    known = {one: n for one, n in (sizes or {}).items() if one in meaning.sizes}
    return both(*(compare("==", meaning.sizes[one], number(n)) for one, n in known.items()))


def in_step(meaning: AlgorithmMeaning, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return sizes of which labels with the size of one axis have the largest one."""
    largest: dict[Whole, int] = {}
    for one, of in meaning.sizes.items():
        largest[of] = max(largest.get(of, 0), sizes.get(one, 0))
    known = {one: largest[of] for one, of in meaning.sizes.items()}
    return {one: known.get(one, size) for one, size in sizes.items()}


def large_sizes(program: Program) -> Iterator[dict[str, int]]:
    """Yield sizes with which products of two sizes do not fit 32 bits: many rows, or long ones.

    The smallest come first: an index below 2^16, times 2^15 + 1, does not fit.
    """
    labels = [rule.label for rule in size_rules(program)]
    pairs = islice(permutations([one for one in labels if one not in program.fixed], 2), MOST_PAIRS)
    for many, long in pairs:
        yield {**dict.fromkeys(labels, 1), many: LARGE, long: LARGE // 2 + 1, **program.fixed}
    yield {**dict.fromkeys(labels, LARGE), **program.fixed}
    for small, one in product(SMALL, labels):
        large = {**dict.fromkeys(labels, small), one: LARGE * LARGE // small}
        yield {**large, **program.fixed}


def some_sizes(program: Program, said: Sequence[Said]) -> Iterator[dict[str, int]]:
    """Yield sizes at which mistakes with tiles, and with groups of tiles, are likely to show.

    Each number in the lines may be the side of a tile, so sizes are one more than it. Then one
    label after the other is long enough for several tiles of the largest.
    """
    labels = [rule.label for rule in size_rules(program)]
    numbers = {
        node.value
        for one in said
        if one.word == "verify"
        for node in ast.walk(one.what)
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 1
    }
    most = max(numbers, default=2)
    for tile in sorted(numbers):
        yield {**dict.fromkeys(labels, tile + 1), **program.fixed}
    for one in labels:
        longer = {**dict.fromkeys(labels, most + 1), one: most * min(numbers, default=2) + 1}
        yield {**longer, **program.fixed}
