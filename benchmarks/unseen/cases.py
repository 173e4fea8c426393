"""Lists the cases of a seed: an algorithm of a family each, sizes, a dtype, layouts of inputs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from benchmarks.unseen import (
    families_elements,
    families_mixed,
    families_products,
    families_reductions,
)
from benchmarks.unseen.drawing import TINY, Draw, Drawn, Family
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Program
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source

FAMILIES: tuple[Family, ...] = (
    *families_elements.FAMILIES,
    *families_reductions.FAMILIES,
    *families_products.FAMILIES,
    *families_mixed.FAMILIES,
)
# How a tensor lies in memory. A sliced one is a part of a wider one; a turned one has its last two
# axes the other way round.
CONTIGUOUS, SLICED, TURNED = "contiguous", "sliced", "turned"
OTHERWISE = 0.15  # so many cases have an input that is not contiguous


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the list."""

    name: str
    family: str
    is_held_out: bool
    drawn: Drawn
    dtype: str
    tiny: Mapping[str, int]
    layouts: Mapping[str, str]  # of inputs that are not contiguous

    @property
    def source(self) -> Source:
        """Return the algorithm as a file."""
        return Source(f"{self.name}.dt", self.drawn.text + "\n")


def cases(
    seed: int, count: int, takes: Callable[[Family], bool] = lambda _: True
) -> Iterator[Case]:
    """Yield the cases of a seed, each family once before any comes again.

    Those of families that do not take part are left out; the others stay as they are.
    """
    for number in range(count):
        turn, place = divmod(number, len(FAMILIES))
        order = Random(f"order {seed} {turn}").sample(FAMILIES, len(FAMILIES))
        if takes(order[place]):
            yield case_of(order[place], seed, number)


def case_of(family: Family, seed: int, number: int) -> Case:
    """Return what a family draws from a seed and the number of a case."""
    random = Random(f"{seed} {number} {family.name}")
    draw = Draw(random)
    drawn = family.draw(draw)
    tiny = {
        label: min(size, drawn.multiples.get(label, 1) * draw.one(*TINY))
        for label, size in drawn.sizes.items()
    }
    dtype = draw.one(*drawn.dtypes)
    name = f"{number:03}_{family.name.replace(' ', '_').replace('-', '_')}"
    found = Case(name, family.name, family.is_held_out, drawn, dtype, tiny, {})
    layouts = _layouts(draw, program_of(found), drawn)
    return Case(name, family.name, family.is_held_out, drawn, dtype, tiny, layouts)


def program_of(case: Case) -> Program:
    """Read the algorithm of a case; a family whose text is wrong is a mistake of this list."""
    found = resolve(parse(case.source).file)
    assert found.program.funcs, case.drawn.text
    return found.program


def _layouts(draw: Draw, program: Program, drawn: Drawn) -> dict[str, str]:
    """Let one input lie otherwise in some cases. What is written in place stays as it is."""
    shapes = input_shapes(program, filled(program, drawn.sizes))
    floats = [t.name for t in program.tensors if t.dtype is None and len(shapes[t.name]) > 1]
    floats = [name for name in floats if name not in program.into]
    if not floats or not draw.chance(OTHERWISE):
        return {}
    return {draw.one(*floats): draw.one(SLICED, TURNED)}
