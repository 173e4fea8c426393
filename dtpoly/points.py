"""A file, or one point of a space of schedules, as the source of an ordinary schedule."""

from dtpoly.algorithm.show import show
from dtpoly.explore.space.short import point_of
from dtpoly.explore.space.space import program_of
from dtpoly.explore.space.space_file import read_space
from dtpoly.source import Source


def source_at(path: str, point: str) -> Source:
    """Return the program of one point, such as `block=x:4 num_warps=8`. Raises DtpolyError."""
    space = read_space(path)
    program = program_of(space, point_of(space, point))
    return Source(f"{path}, {point}", show(program))
