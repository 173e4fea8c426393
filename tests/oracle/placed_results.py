"""Turns results in place of random Programs into ones that go to places in their inputs."""

from dataclasses import replace
from random import Random

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine, Expr, Integer, Read, at_data, reads
from dtpoly.algorithm.program import Directive, Func, Into, Label, Placing, Program, Tensor

TABLE = "Slots"


def with_places(random: Random, program: Program) -> Program:
    """Return the Program with a place for each result in place that no Func reads."""
    read = {one.tensor for func in program.funcs for one in reads(func.body)}
    funcs = tuple(
        _placed(random, func)
        if func.into is not None and func.labels and func.name not in read
        else func
        for func in program.funcs
    )
    used = any(TABLE in repr(func.into) for func in funcs)
    tables = (Tensor(TABLE, DType.I64),) if used else ()
    return replace(program, funcs=funcs, inputs=(*program.inputs, *tables))


def with_starts(random: Random, program: Program) -> Program:
    """Return the Program in which sums at places begin with Funcs, in the place of its inputs."""
    read = {one.tensor for func in program.funcs for one in reads(func.body)}
    funcs: list[Func] = []
    labels: list[Label] = []
    inputs: list[Tensor] = []
    for func in program.funcs:
        if func.into is None or not func.labels or func.name in read:
            funcs.append(func)
            continue
        start = f"start_{func.name}"
        own = [Label(f"b{len(labels) + at}", size=random.randrange(1, 6)) for at in range(2)]
        own = own[: len(func.labels)]
        own += [Label(f"{start}_{at}", size=3) for at in range(len(func.labels) - len(own))]
        labels += own
        indices = tuple(Affine(((one.name, 1),)) for one in own)
        value: Expr = Integer(random.randrange(3))
        if random.random() < 0.5:
            inputs.append(Tensor(f"B_{func.name}"))
            value = Read(f"B_{func.name}", indices)
        funcs.append(Func(start, tuple(one.name for one in own), value))
        at = Read(start, tuple(_index(random, label) for label in func.labels), Integer(0))
        into = Into(start, at=at, placing=Placing.ADDED)
        funcs.append(replace(func, into=into))
    if any(TABLE in repr(func.into) for func in funcs):
        inputs.append(Tensor(TABLE, DType.I64))
    into_inputs = {func.into.tensor for func in program.funcs if func.into is not None}
    kept = (one for one in program.inputs if one.name in read or one.name not in into_inputs)
    return replace(
        program,
        funcs=tuple(funcs),
        labels=(*program.labels, *labels),
        inputs=(*kept, *inputs),
    )


def without_directives_on_starts(program: Program) -> Program:
    """Return the Program in which each Func that sums begin with has a kernel, and no function."""
    starts = program.starts
    directives: list[Directive] = []
    for one in program.directives:
        if one.name in ("compile", "inline", "fuse_at") and one.func in starts:
            continue
        arguments = tuple(
            argument
            for argument in one.arguments
            if one.name != "compile" or argument.target not in starts
        )
        directives.append(replace(one, arguments=arguments))
    return replace(program, directives=tuple(directives))


def is_placed(program: Program) -> bool:
    """Return whether some Func goes to a place."""
    return any(func.into is not None and func.into.at is not None for func in program.funcs)


def _placed(random: Random, func: Func) -> Func:
    assert func.into is not None
    indices = tuple(_index(random, label) for label in func.labels)
    at = Read(func.into.tensor, indices, Integer(0))
    # What is added must be read before and be stored once, just like what replaces.
    placing = Placing.ADDED if random.random() < 0.4 else Placing.DISTINCT
    into = replace(func.into, at=at, placing=placing)
    return replace(func, into=into)


def _index(random: Random, label: str) -> Affine:
    plain = Affine(((label, 1),))
    match random.randrange(6):
        case 0:
            return plain + Affine((), random.choice((-1, 1, 2)))
        case 1:
            return plain.scaled(2)
        case 2:
            return at_data(Read(TABLE, (plain,)))
        case _:
            return plain
