"""Reads how inputs lie in memory, such as `A=1,0`: their axes, the outermost first."""

import re
from collections.abc import Iterable

import click

from dtpoly.algorithm.program import Program, touched

_ORDER = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*")


def parse_orders(program: Program, words: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the axes of each input that is named. Raises click.BadParameter."""
    ranks = {one.tensor: len(one.indices) for func in program.funcs for one in touched(func)}
    inputs = {tensor.name for tensor in program.tensors} & ranks.keys()
    found: dict[str, tuple[int, ...]] = {}
    for word in words:
        match = _ORDER.fullmatch(word)
        if match is None:
            raise _wrong(f"'{word}' is not of the form input=axis,axis, as in A=1,0")
        name, axes = match[1], tuple(int(one) for one in match[2].split(","))
        if name not in inputs:
            raise _wrong(f"the program has no input '{name}' with axes")
        if sorted(axes) != list(range(ranks[name])):
            raise _wrong(f"'{name}' has {ranks[name]} axes; name each once, counted from 0")
        if axes != tuple(range(ranks[name])):
            found[name] = axes
    return found


def _wrong(why: str) -> click.BadParameter:
    return click.BadParameter(why, param_hint="--order")
