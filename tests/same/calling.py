"""Chooses the calls whose launches are kept, for the functions of a program.

The calls are chosen once, and are data from then on. Each function gets calls with ragged sizes in
Triton's interpreter; with round sizes on a GPU, also traced; with ragged sizes, other layouts and
`out`; with sizes near the limits of 32 bits; and calls that are refused.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from random import Random

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import (
    axis_reads,
    extent_label,
    input_shapes,
    size_rules,
    sizes_of,
    used_labels,
)
from dtpoly.algorithm.program import Program, Scalar, Tensor
from dtpoly.diagnostics import DtpolyError
from tests.same.launches import Call, Loaded, TensorGiven, is_refused
from tests.same.pretended import INTERPRETER

ROUND = (64, 128, 256, 512)
# These are around the sizes from which on 32 bits may not be enough, and around Triton's own
# limits.
LARGE = (2**30 - 2**20, 2**31 - 2**20 - 1, 2**31 - 5, 2**31, 2**31 + 64)
REFUSED, FLOATS = 2, ("float16", "bfloat16", "float32")
TYPES = {
    DType.BOOL: "bool",
    DType.U8: "uint8",
    DType.I8: "int8",
    DType.I16: "int16",
    DType.I32: "int32",
    DType.I64: "int64",
    DType.F8E4M3: "float8_e4m3fn",
    DType.F8E5M2: "float8_e5m2",
    DType.F16: "float16",
    DType.BF16: "bfloat16",
    DType.F32: "float32",
    DType.F64: "float64",
}
Sizes = Mapping[str, int]


def calls_of(program: Program, text: str, functions: Sequence[str], name: str) -> Iterator[Call]:
    """Yield calls of each function of an emitted text.

    Programs of the same name get the same calls.
    """
    random, loaded = Random(f"calls of {name}"), Loaded(text)
    for function in functions:
        ragged = _sizes(program, random, lambda: random.randint(1, 70))
        even = _sizes(program, random, lambda: random.choice(ROUND))
        wide = _wide(program, random)
        first = call_at(program, function, INTERPRETER, ragged, {})
        second = call_at(program, function, "sm_90", even, dict.fromkeys(_free(program), "float16"))
        dtypes = {one: random.choice(FLOATS) for one in _free(program)}
        third = call_at(program, function, "sm_90", ragged, dtypes)
        inputs = tuple(_otherwise(one, random) for one in third.inputs)
        third = replace(third, inputs=inputs)
        good = [
            first,
            second,
            replace(second, is_traced=True),
            *_with_out(third, loaded),
            call_at(program, function, "sm_80", wide, dtypes),
        ]
        yield from (one for one in good if _is_possible(one))
        yield from _refused(replace(first, machine="sm_90"), loaded)


def call_at(
    program: Program, function: str, machine: str, sizes: Sizes, dtypes: Mapping[str, str]
) -> Call:
    """Return a call with these sizes.

    An input of floats without a declared type has the type in `dtypes`, or f32.
    """
    shapes = input_shapes(program, sizes)
    inputs: list[TensorGiven | int | float | bool | str] = []
    for one in program.inputs:
        match one:
            case Tensor(name=name, dtype=dtype):
                known = TYPES[dtype] if dtype is not None else dtypes.get(name, "float32")
                inputs.append(_contiguous(name, known, shapes[name]))
            case Scalar(dtype=DType.BOOL):
                inputs.append(True)
            case Scalar(dtype=dtype) if dtype is not None and not _is_float(dtype):
                inputs.append(7)
            case Scalar():
                inputs.append(0.5)
    passed = tuple((label, sizes[label]) for label in _by_name(program))
    return Call(function, machine, tuple(inputs), passed)


def _is_float(dtype: DType) -> bool:
    return TYPES[dtype].startswith(("float", "bfloat"))


def _contiguous(name: str, dtype: str, shape: tuple[int, ...]) -> TensorGiven:
    strides = tuple(prod(max(n, 1) for n in shape[at + 1 :]) for at in range(len(shape)))
    return TensorGiven(name, dtype, shape, strides)


def _free(program: Program) -> tuple[str, ...]:
    return tuple(one.name for one in program.tensors if one.dtype is None)


def _by_name(program: Program) -> Iterator[str]:
    """Yield the labels whose sizes a call must or may pass."""
    used = used_labels(program)
    yield from (o.label for o in size_rules(program) if o.label in used and o.may_be_passed)


def _sizes(program: Program, random: Random, draw: Callable[[], int]) -> dict[str, int]:
    """Return a size for each label.

    The inputs agree with the sizes, if a few attempts find such sizes.
    """
    sizes = dict[str, int]()
    for attempt in range(8):
        groups = _groups(program)
        some = {group: draw() for group in dict.fromkeys(groups.values())}
        if attempt == 7:  # all alike
            some = dict.fromkeys(some, 16)
        sizes = {label: some[group] for label, group in groups.items()} | program.fixed
        passed = {label: sizes[label] for label in _by_name(program)}
        try:
            return {**sizes, **sizes_of(program, input_shapes(program, sizes), passed)}
        except DtpolyError:
            continue
    return sizes


def _wide(program: Program, random: Random) -> dict[str, int]:
    """Return sizes, one of which is near a limit of 32 bits."""
    drawn = [random.choice(LARGE), *(random.choice(ROUND) for _ in range(9))]
    return _sizes(program, random, lambda: drawn.pop(0) if drawn else 8)


def _groups(program: Program) -> dict[str, str]:
    """Return for each label one of the labels that have its size.

    Labels have the same size if they index the same axis, with nothing added.
    """
    group = {label.name: label.name for label in program.labels}
    first: dict[tuple[str, int], str] = {}
    for read in axis_reads(program):
        if not read.index.is_plain:
            continue
        label = read.index.labels[0]
        extent = extent_label(program, read.tensor, read.axis)
        other = group[extent or first.setdefault((read.tensor, read.axis), label)]
        mine = group[label]
        group = {one: other if of == mine else of for one, of in group.items()}
    return group


def _otherwise(
    one: TensorGiven | int | float | bool | str, random: Random
) -> TensorGiven | int | float | bool | str:
    """Return the tensor with another layout in memory."""
    if not isinstance(one, TensorGiven):
        return one
    shape, rank = one.shape, len(one.shape)
    match random.randrange(4):
        case 0 if rank > 1:  # columns are contiguous
            turned = _contiguous(one.name, one.dtype, (*shape[:-2], shape[-1], shape[-2])).strides
            return replace(one, strides=(*turned[:-2], turned[-1], turned[-2]))
        case 1 if rank > 1:  # rows begin at multiples of 16
            rows = _contiguous(one.name, one.dtype, (*shape[:-1], -(-shape[-1] // 16) * 16))
            return replace(one, strides=rows.strides)
        case 2:
            return replace(one, offset=random.choice((1, 16)))
        case _:
            return one


def _with_out(call: Call, loaded: Loaded) -> Iterator[Call]:
    """Yield the call, and the same call with an `out` that the caller passes."""
    yield call
    lines = loaded.lines(call)
    if is_refused(lines):
        return
    found = re.search(r": (\w+) (\([^)]*\)) \([^)]*\) of \d+>$", lines[-1])
    assert found is not None, lines[-1]
    shape = tuple(int(one) for one in re.findall(r"\d+", found[2]))
    out = _contiguous("out", found[1], shape)
    if len(shape) > 1:
        rows = _contiguous("out", found[1], (*shape[:-1], shape[-1] + 3))
        out = replace(out, strides=rows.strides, offset=8)
    yield replace(call, out=out)


def _refused(call: Call, loaded: Loaded) -> Iterator[Call]:
    """Yield some calls that are refused, each for another reason, if there are several."""
    known = set[str]()
    for one in filter(_is_possible, _wrong(call)):
        lines = loaded.lines(one)
        if not is_refused(lines):
            continue
        reason = re.sub(r"\d+", "0", lines[-1])
        if reason not in known:
            known.add(reason)
            yield one
        if len(known) == REFUSED:
            return


def _is_possible(call: Call) -> bool:
    """True if no tensor has more bytes than torch can count."""
    tensors = [one for one in call.inputs if isinstance(one, TensorGiven)]
    return all(prod(one.shape) < 2**59 for one in tensors)


def _wrong(call: Call) -> Iterator[Call]:
    """Yield calls that may be wrong; those with wrong sizes come first."""
    tensors = [(at, one) for at, one in enumerate(call.inputs) if isinstance(one, TensorGiven)]
    for by in (-1, 1):
        for at, one in tensors:
            for axis, size in enumerate(one.shape):
                shape = (*one.shape[:axis], max(size + by, 0), *one.shape[axis + 1 :])
                yield _with_input(call, at, _contiguous(one.name, one.dtype, shape))
    for at, _ in enumerate(call.sizes):
        yield replace(call, sizes=(*call.sizes[:at], *call.sizes[at + 1 :]))
        yield replace(call, sizes=tuple((label, size + 1) for label, size in call.sizes))
    for at, one in tensors:
        for axis in range(len(one.shape)):
            shape = (*one.shape[:axis], 0, *one.shape[axis + 1 :])
            yield _with_input(call, at, _contiguous(one.name, one.dtype, shape))
            shape = (*one.shape[:axis], 2**31 - 5, *one.shape[axis + 1 :])
            yield _with_input(call, at, _contiguous(one.name, one.dtype, shape))
    for at, one in tensors:
        yield _with_input(call, at, replace(one, dtype="complex64"))
        yield _with_input(call, at, replace(one, dtype="float8_e5m2"))
        yield _with_input(call, at, _contiguous(one.name, one.dtype, (*one.shape, 1)))
    for at in range(len(call.inputs)):
        yield _with_input(call, at, "a word")


def _with_input(call: Call, at: int, one: TensorGiven | str) -> Call:
    return replace(call, inputs=(*call.inputs[:at], one, *call.inputs[at + 1 :]))


def functions_of(program: Program, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a file that are functions for callers."""
    wanted = {word for func in program.funcs for word in (func.name, f"{func.name}_")}
    return tuple(one for one in dict.fromkeys(names) if one in wanted)
