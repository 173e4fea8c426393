"""Makes spaces to search: a template of a .dt text, and the values of its names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_directive
from dtpoly.explore.space.search_view import Point, SpaceAxis
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source

SOFTMAX = """\
Func softmax, total; In A; Var x; RVar y;
total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
softmax.block(x:{x});
softmax.tensorize(x:0, y:{y});
total.fuse_at(softmax, x);
softmax.num_warps({warps});
softmax.compile();
"""
NUMBERS = {"x": ("1", "2", "4", "8"), "y": ("16", "32", "64", "128"), "warps": ("1", "2", "4")}


def _any(_: Mapping[str, str]) -> bool:
    return True


@dataclass(frozen=True)
class Template:
    """Return all combinations of options that a rule allows."""

    text: str
    given: Mapping[str, tuple[str, ...]]
    allows: Callable[[Mapping[str, str]], bool] = _any

    @property
    def axes(self) -> tuple[SpaceAxis, ...]:
        return tuple(SpaceAxis(name, options) for name, options in self.given.items())

    @property
    def count(self) -> int:
        return prod(map(len, self.given.values()))

    def at(self, index: int) -> Point | None:
        chosen: list[int] = []
        for options in reversed([*self.given.values()]):
            index, at = divmod(index, len(options))
            chosen.append(at)
        return self.settled(tuple(reversed(chosen)))

    def settled(self, point: Point) -> Point | None:
        return point if self.allows(self.parameters(point)) else None

    def short(self, point: Point) -> str:
        return " ".join(show_directive(one) for one in self.program_of(point).directives)

    def parameters(self, point: Point) -> Mapping[str, str]:
        pairs = zip(self.axes, point, strict=True)
        return {axis.name: axis.options[at] for axis, at in pairs}

    def program_of(self, point: Point) -> Program:
        text = self.text
        for name, chosen in self.parameters(point).items():
            text = text.replace(f"{{{name}}}", chosen)
        return resolve(parse(Source("softmax.dt", text)).file).program


def softmax(**options: tuple[str, ...]) -> Template:
    """Return schedules of softmax; by default 48 of them."""
    return Template(SOFTMAX, {**NUMBERS, **options})
