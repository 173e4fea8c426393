"""Turns results in place of random Programs into ones that go to places in their inputs."""

from dataclasses import replace
from random import Random

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine, Integer, Read, at_data, reads
from dtpoly.algorithm.program import Func, Placing, Program, Tensor

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
