"""Read the comments of a hand-written file that say how its kernels are launched.

    # verify: kernel[(grid, ...)](argument, ..., BLOCK=1024)
    # assume: promise, ...

A hand-written file has no plan that the verifier could read. From these lines `binding_of` makes
the `FunctionReading` that a file of dtpoly would have: its launches, sizes and facts. The arguments
are inputs and Funcs of the algorithm, and numbers (see lines). A stride that no line mentions is
that of a contiguous tensor. An input without a dtype is f32. It is taken for granted that tensors
agree on the sizes of labels, and share no memory.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Affine, Read, reads
from dtpoly.algorithm.outside import as_shown, padded_axes
from dtpoly.algorithm.program import Program, touched
from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning
from dtpoly.verify.algebra.extents import ends
from dtpoly.verify.algebra.formats import TYPES
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.whole import Truth, Whole, both, compare, name, number, one_of
from dtpoly.verify.plan.held import FunctionReading, Held, TensorOf
from dtpoly.verify.plan.launch_cases import CASE, NoCallError, note_case
from dtpoly.verify.plan.line_expressions import LineReader
from dtpoly.verify.plan.line_launches import launch
from dtpoly.verify.triton.access import KernelTensor
from dtpoly.verify.triton.said import Said
from dtpoly.verify.triton.unit.unit import Unit


def binding_of(
    run: ProofRun, file: Unit, wanted: str, meaning: AlgorithmMeaning, said: Sequence[Said]
) -> FunctionReading:
    """Return a reading that does what the lines say and returns the wanted Func.

    Raises Unread if no call fulfils what the lines assume: of no call everything would be true.
    """
    program = meaning.program
    first = LineReader(FunctionReading(run, file, wanted, {}, {}, frozenset(), {}), meaning.sizes)
    arrays = _arrays(meaning, _mentioned(said), _promised_one(said), _promised_sizes(first, said))
    names: dict[str, Held] = {one: TensorOf(array) for one, array in arrays.items()}
    names |= {one.name: Given(one.name, one.dtype is DType.BOOL) for one in program.scalars}
    scalars = {
        one.name: "" if one.dtype is None or is_float(one.dtype) else TYPES[one.dtype]
        for one in program.scalars
    }
    reading = FunctionReading(run, file, wanted, names, arrays, frozenset(), scalars, result=wanted)
    reading.is_finite = meaning.is_finite
    reading.into |= _in_place(program, arrays)
    sizes = dict.fromkeys(
        (*meaning.sizes.values(), *(size for one in arrays.values() for size in one.shape))
    )
    reading.facts += [compare(">=", size, number(0)) for size in sizes]
    reading.facts += [
        compare("==", name(f"{one.name}.shape[{axis}]"), size)
        for one in program.tensors
        if one.name in arrays
        for axis, size in enumerate(arrays[one.name].shape)
    ]
    reading.facts += _inside(meaning, arrays)
    line = LineReader(reading, meaning.sizes)
    for one in said:
        if one.word == "assume":
            run.assume(Lemma.PROMISED, one.text)
            line.promise(one.what)
        elif one.word == CASE:
            note_case(run, one)
            line.promise(one.what)
    run.about(said[0].line, "some call keeps what is assumed")
    calls = set_of(both(*reading.facts))
    if not run.has_a_point(calls):
        run.is_empty(calls)  # where this is one of several cases, the proof rests on that
        raise NoCallError(said[0].line, "no call keeps what is assumed")
    for one in said:
        match one.word, one.what:
            case "verify", ast.Call(func=ast.Subscript() as func) as call:
                launch(reading, call, func, line.held)
            case "verify", _:
                raise Unread(one.line, "a launch is written as kernel[(grid,)](arguments)")
            case _:
                pass
    if not reading.launches:
        raise Unread(said[0].line, "there is no '# verify:' line")
    return reading


def _mentioned(said: Sequence[Said]) -> set[tuple[str, int]]:
    """Return the strides that the lines mention, as tensor and axis."""
    found: set[tuple[str, int]] = set()
    for one in said:
        for node in ast.walk(one.what):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=tensor), attr="stride"),
                    args=[ast.Constant(value=int() as axis)],
                ):
                    found.add((tensor, axis))
                case _:
                    pass
    return found


def _promised_one(said: Sequence[Said]) -> set[tuple[str, int]]:
    """Return the strides that callers promise to be 1, as in `# assume: A.stride(1) == 1`."""
    found: set[tuple[str, int]] = set()
    for one in said:
        if one.word != "assume":
            continue
        for promise in one.what.elts if isinstance(one.what, ast.Tuple) else (one.what,):
            match promise:
                case ast.Compare(
                    left=ast.Call(
                        func=ast.Attribute(value=ast.Name(id=tensor), attr="stride"),
                        args=[ast.Constant(value=int() as axis)],
                    ),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value=1)],
                ):
                    found.add((tensor, axis))
                case _:
                    pass
    return found


def _promised_sizes(line: LineReader, said: Sequence[Said]) -> dict[tuple[str, int], Whole]:
    """Return the sizes of axes that callers promise, by tensor and axis.

    It is written as `# assume: S.shape[0] == cdiv(len(m), 8)`, with sizes of labels alone.
    """
    found: dict[tuple[str, int], Whole] = {}
    for one in said:
        if one.word != "assume":
            continue
        for promise in one.what.elts if isinstance(one.what, ast.Tuple) else (one.what,):
            match promise:
                case ast.Compare(
                    left=ast.Subscript(
                        value=ast.Attribute(value=ast.Name(id=tensor), attr="shape"),
                        slice=ast.Constant(value=int() as axis),
                    ),
                    ops=[ast.Eq()],
                    comparators=[size],
                ) if not any(isinstance(part, ast.Attribute) for part in ast.walk(size)):
                    found[tensor, axis] = line.whole(size)
                case _:
                    pass
    return found


def _in_place(program: Program, arrays: Mapping[str, KernelTensor]) -> dict[str, str]:
    """Return, by Func that goes into an input, that input."""
    return {
        func.name: func.into.tensor
        for func in program.funcs
        if func.into is not None and func.into.tensor in arrays
    }


def _arrays(
    meaning: AlgorithmMeaning,
    mentioned: set[tuple[str, int]],
    of_one: set[tuple[str, int]],
    promised: Mapping[tuple[str, int], Whole],
) -> dict[str, KernelTensor]:
    """Return every input, and every Func, as a tensor with the sizes of its labels.

    If the stride of a last axis is promised to be 1, it counts as that of a contiguous tensor,
    although a line mentions it. A size that is promised is that size; an input that nothing reads
    has one axis. A Func that goes into an input has the form of the input.
    """
    program, sizes = meaning.program, meaning.sizes
    shapes: dict[str, list[Whole]] = {}
    every = [read for func in program.funcs for read in touched(func)]
    for tensor in program.tensors:
        mine = [read for read in every if read.tensor == tensor.name]
        axes = range(len(mine[0].indices)) if mine else range(1)
        shapes[tensor.name] = [
            promised.get((tensor.name, axis)) or _extent(tensor.name, mine, axis, sizes)
            for axis in axes
        ]
    for func in program.funcs:
        shapes[func.name] = [sizes[label] for label in func.labels]
    arrays: dict[str, KernelTensor] = {}
    for one, shape in shapes.items():
        strides: list[Whole] = []
        for axis in range(len(shape)):
            stride = number(1)
            for size in shape[axis + 1 :]:
                # torch computes strides this way for tensors without elements.
                stride = stride * (size if size.constant != 0 else number(1))
            is_one = axis == len(shape) - 1 and (one, axis) in of_one
            is_given = (one, axis) in mentioned and not is_one
            strides.append(name(f"{one}.stride({axis})") if is_given else stride)
        arrays[one] = KernelTensor(one, tuple(strides), tuple(shape), meaning.formats[one].kind)
    for result, given in _in_place(program, arrays).items():
        arrays[result] = replace(arrays[given], name=result, kind=arrays[result].kind)
    return arrays


def _extent(tensor: str, mine: Sequence[Read], axis: int, sizes: Mapping[str, Whole]) -> Whole:
    """Return the size of an axis of an input.

    It is the size of the label that the axis is read at, if some read has just a label there and
    no padding; otherwise it has a name of its own.
    """
    for read in mine:
        index = as_shown(read.indices[axis])
        if axis not in padded_axes(read) and index.is_plain:
            return sizes[index.labels[0]]
    return name(f"{tensor}.shape[{axis}]")


def _inside(meaning: AlgorithmMeaning, arrays: Mapping[str, KernelTensor]) -> list[Truth]:
    """Return the facts that every read is inside of its tensor or reads nothing.

    They also say that labels which index the same axis have the same size.
    """
    found: list[Truth] = []
    for func in meaning.program.funcs:
        for read in reads(func.body):  # a place may be outside of its tensor
            for axis, size in enumerate(arrays[read.tensor].shape):
                if axis not in padded_axes(read):
                    found.append(_reaches(as_shown(read.indices[axis]), size, meaning.sizes))
    return found


def _reaches(index: Affine, size: Whole, sizes: Mapping[str, Whole]) -> Truth:
    if index.is_plain:
        return compare("==", sizes[index.labels[0]], size)
    low, high = ends(index, {label: sizes[label] - 1 for label in index.labels})
    inside = both(compare(">=", low, number(0)), compare("<", high, size))
    return one_of(*(compare("==", sizes[one], number(0)) for one in index.labels), inside)
