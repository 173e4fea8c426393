"""Chooses what is differentiated, and by what, where a user does not say it."""

from collections.abc import Iterable

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.program import Program
from dtpoly.gradient.activity import active_names


def of_floats(program: Program, names: Iterable[str]) -> tuple[str, ...]:
    """Return those Funcs and inputs that are of floats, each once."""
    types = types_of(program)
    dtypes = {one: types[one].dtype for one in names}
    return tuple(one for one, dtype in dtypes.items() if dtype is None or is_float(dtype))


def tensors_of(program: Program, of: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tensors of floats through which a gradient flows to some of these Funcs."""
    tensors = of_floats(program, (one.name for one in program.tensors))
    return tuple(one for one in tensors if not active_names(program, (one,)).isdisjoint(of))
