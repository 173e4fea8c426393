"""Gives Funcs that sums begin with the type of what is added, where no declaration says one."""

from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.program import Program, typed_like


def with_typed_starts(program: Program) -> Program:
    """Return the Program in which what sums begin with declares its type.

    A float of the caller counts as an f32, as any float does where only values are compared.
    """
    like = typed_like(program)
    if not like:
        return program
    types = types_of(program)
    funcs = (
        replace(func, dtype=types[func.name].dtype or DType.F32) if func.name in like else func
        for func in program.funcs
    )
    return replace(program, funcs=tuple(funcs))
