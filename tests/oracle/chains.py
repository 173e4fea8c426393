"""Makes random chains of reductions of which some are to run in the loop of others: `online`.

A formula of a chain is text that is read twice: by the language, and by Python, where the oracle
computes it element by element (`running.py`). So the oracle has no expression of dtpoly's own. In
a formula, the name of a Func alone is its result for a row.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import torch

F64 = torch.float64
OWN = "OWN"  # the sum that stands in the result
SHARE_TAKEN = 0.6  # of the elements that a condition on data takes


@dataclass(frozen=True, slots=True)
class Link:
    """A reduction over y of a formula, times another factor if there is one."""

    name: str
    labels: tuple[str, ...]
    reduction: str
    operand: str
    factor: str = ""
    is_frame: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """Frames, which are maxima and minima, sums that depend on them, and a formula of both."""

    links: tuple[Link, ...]  # `OWN`, if there is one, is the last
    result: str
    labels: tuple[str, ...]  # of the result
    among: tuple[str, str] | None = None  # the range of y
    scores: str = ""  # the definition of the Func `scores`, if formulas read it
    lanes: tuple[str, ...] = ()
    block: int = 1
    tile: int = 1
    is_frame_stored: bool = False
    # Operations that the compiler does not follow: it may refuse what is right.
    beyond: frozenset[str] = field(default_factory=frozenset[str])

    @property
    def reader(self) -> str:
        """Return the Func in whose loop the frames are computed."""
        return "total" if "y" in self.labels else "f"

    @property
    def formulas(self) -> str:
        """Return all formulas, to look for names in them."""
        own = " ".join(f"{one.operand} {one.factor}" for one in self.links)
        return f"{self.result} {self.scores} {own} {' '.join(self.among or ())}"

    def inputs(self) -> tuple[str, ...]:
        """Return the names of the inputs, the scalar last."""
        return tuple(name for name in INPUTS if re.search(rf"\b{name}\b", self.formulas))

    @property
    def text(self) -> str:
        """Return the chain as a file."""
        named = [one for one in self.links if one.name != OWN]
        inputs = [f"{name}{INPUTS[name]}" for name in self.inputs() if name != "c"]
        scalars = ["SIn c;"] if "c" in self.inputs() else []
        variables = [label for label in self.labels if label != "y"]
        ranged = "y" if self.among is None else f"y in [{', '.join(self.among)})"
        funcs = ["f", *(["scores"] if self.scores else []), *(one.name for one in named)]
        lines = [f"Func {', '.join(funcs)};", f"In {', '.join(inputs)};", *scalars]
        lines.append(f"Var {', '.join(variables)};")
        lines.append(f"RVar {', '.join([*(['k'] if self.scores else []), ranged])};")
        if self.scores:
            lines.append(f"scores[x, y] = {self.scores};")
        for one in named:
            lines.append(f"{one.name}[{', '.join(one.labels)}] = {self._reduced(one)};")
        result = self._placed(self.result, self.labels)
        if self.links[-1].name == OWN:
            result = result.replace(OWN, self._reduced(self.links[-1]))
        lines.append(f"f[{', '.join(self.labels)}] = {result};")
        return "\n".join((*lines, *self._directives(named))) + "\n"

    def _directives(self, named: list[Link]) -> list[str]:
        lines = [f"f.block(x:{self.block});"]
        lines += [f"f.tensorize({', '.join(self.lanes)});"] if self.lanes else []
        lines += ["scores.fuse_at(f, y);"] if self.scores else []
        lines += ["total.fuse_at(f, x);"] if self.reader == "total" else []
        lines += [f"{o.name}.online({self.reader}, y);" for o in named if o.name != self.reader]
        more = next((o.name for o in named if o.is_frame and self.is_frame_stored), "")
        return [*lines, f"f.compile({more});"]

    def _reduced(self, one: Link) -> str:
        operand = self._placed(one.operand, ("x", "y"))
        if one.reduction == "rdot":
            return f"rdot({operand}, {one.factor}, y)"
        if one.factor and len(one.labels) > 1:
            operand = f"reshape({operand}, x, y, 1)"
        by = f" * {one.factor}" if one.factor else ""
        return f"{one.reduction}(({operand}){by}, y)"

    def _placed(self, formula: str, labels: tuple[str, ...]) -> str:
        """Return a formula in which names of Funcs are reads that line up with some labels."""
        for one in self.links:
            read = f"{one.name}[{', '.join(one.labels)}]"
            if len(labels) > len(one.labels):
                read = f"reshape({read}, {', '.join((*one.labels, '1'))})"
            if one.name != OWN:
                formula = re.sub(rf"\b{one.name}\b", read, formula)
        return formula

    def data(self, rows: int, columns: int, seed: int) -> dict[str, torch.Tensor | float]:
        """Return the inputs of a call with so many rows and columns."""
        made = torch.Generator().manual_seed(seed)

        def floats(*shape: int, scale: float = 1.0) -> torch.Tensor:
            return torch.randn(*shape, generator=made, dtype=F64) * scale

        mask = torch.rand(rows, columns, generator=made) < SHARE_TAKEN
        ends = torch.randint(-3, columns + 4, (2, rows), generator=made)
        whole: Mapping[str, torch.Tensor | float] = {
            "A": floats(rows, 3 if self.scores else columns, scale=2.0),
            "B": floats(rows, columns),
            "K": floats(columns, 3),
            "V": floats(columns, 2),
            "M": mask.to(torch.int32),
            "lo": ends[0],
            "hi": ends[1].to(torch.int32),
            "c": 0.75,
        }
        return {name: whole[name] for name in self.inputs()}


# The inputs that formulas read, with the dtypes that they declare.
INPUTS = {"A": "", "B": "", "K": "", "V": "", "M": ": i32", "lo": ": i64", "hi": ": i32", "c": ""}
RANGES = (
    *(("0", "x + 1"), ("x - 5", "x + 1"), ("x", "len(y)"), ("1", "len(y) - 2")),
    *(("lo[x]", "hi[x]"), ("0", "hi[x]"), ("lo[x]", "x + 1")),
)


def chain(seed: int) -> Chain:
    """Return the chain of a seed."""
    random = Random(f"chain {seed}")
    way = random.choices(("row", "attention", "softmax"), (6, 3, 2))[0]
    is_scored = way == "attention" or (way == "row" and random.random() < 0.2)
    maker = _Maker(random, is_up=random.random() < 0.75)
    score = maker.score("scores[x, y]" if is_scored else "A[x, y]")
    maker.add_frame("top", score)
    if way == "row" and random.random() < 0.25:
        maker.add_frame("other", random.choice((score, "B[x, y]", "B[x, y] * 0.5")))
    labels = {"row": ("x",), "attention": ("x", "n"), "softmax": ("x", "y")}[way]
    links = list(maker.frames)
    if way != "row" or random.random() < 0.5:
        links.append(Link("total", ("x",), *maker.summed()))
    if way == "softmax":
        result = maker.normed()
    else:
        reduction, operand = maker.summed()
        factor = "V[y, n]" if way == "attention" else random.choice(("", "", "B[x, y]"))
        if way == "attention" and reduction == "rsum" and random.random() < 0.8:
            reduction = "rdot"
        links.append(Link(OWN, labels, reduction, operand, factor))
        result = maker.result(any(one.name == "total" for one in links))
    used = " ".join((result, *(f"{one.operand} {one.factor}" for one in links)))
    links = [one for one in links if not one.is_frame or re.search(rf"\b{one.name}\b", used)]
    is_scored = any("scores" in formula for formula in (result, *(o.operand for o in links)))
    among = random.choice(RANGES) if way != "softmax" and random.random() < 0.4 else None
    if maker.is_ranged or (among is not None and maker.is_masked):
        # The maximum has another range then than the sums: loops that differ are not joined.
        maker.beyond.add("another range")
    tile = random.choice((1, 4, 8, 16, 16))
    lanes = ["x:0"] if random.random() < 0.85 else []
    lanes += [f"y:{tile}"] if tile > 1 else []
    lanes += (["n:0"] if way == "attention" else []) + (["k:0"] if is_scored else [])
    return Chain(
        tuple(links),
        result,
        labels,
        among=among,
        scores=maker.scores() if is_scored else "",
        lanes=tuple(lanes),
        block=random.choice((1, 2, 2, 4)),
        tile=tile,
        is_frame_stored=way != "softmax" and random.random() < 0.15,
        beyond=frozenset(maker.beyond),
    )


class _Maker:
    """Draws the formulas of one chain: of maxima (`is_up`), or of minima."""

    def __init__(self, random: Random, is_up: bool) -> None:
        self.random, self.is_up = random, is_up
        self.frames: list[Link] = []
        self.exponents: list[str] = []
        self.beyond: set[str] = set()
        self.is_masked = self.is_ranged = False

    def scores(self) -> str:
        scale = self.random.choice(("", " * rsqrt(len(k))", " * 0.5", " * c", " / sqrt(len(k))"))
        bias = self.random.choice(("", "", "", " - 0.125 * (x - y)", " + B[x, y]"))
        return f"rdot(A[x, k], K[y, k], k){scale}{bias}"

    def score(self, base: str) -> str:
        """Return what a frame is the largest or the smallest of."""
        least = "-inf" if self.is_up else "inf"
        scaled = self.random.choice((base, base, base, f"{base} * 0.5", f"{base} * c"))
        conditions = ("M[x, y] > 0", "y <= x", "y + 4 > x", f"{base} < 1.5", "x != y")
        way = self.random.random()
        if way < 0.7:
            return scaled
        condition = self.random.choice(conditions)
        self.is_masked = True
        self.is_ranged = condition in ("y <= x", "y + 4 > x")
        return f"where({condition}, {scaled}, {least})"

    def add_frame(self, name: str, score: str) -> None:
        reduction = "rmax" if self.is_up else "rmin"
        if name == "other" and "inf" not in score and self.random.random() < 0.3:
            reduction = "rmin" if self.is_up else "rmax"
        self.frames.append(Link(name, ("x",), reduction, score, is_frame=True))
        self.exponents.append(f"{score} - {name}" if reduction == "rmax" else f"{name} - {score}")

    def exponential(self) -> str:
        """Return an exponential that one factor brings up to date, or seldom one that none does."""
        random, exponent = self.random, self.random.choice(self.exponents)
        good = (
            *(f"exp({exponent})",) * 12,
            f"exp(({exponent}) * 0.5)",
            f"exp(2 * ({exponent}))",
            f"exp({exponent}) / exp(B[x, y])",
            f"where(M[x, y] > 0, exp({exponent}), 0)",
            f"exp({exponent}) * exp({random.choice(self.exponents)})",
            f"(exp({exponent}) - exp({exponent}) * B[x, y])",
            f"exp({exponent} + B[x, y])",
            f"pow(exp({exponent}), 2)",
        )
        bad = (
            f"exp(-({exponent}))",
            f"floor({exponent})",
            f"({exponent})",
            f"(exp({exponent}) + 1)",
            f"(exp({exponent}) + exp(B[x, y]))",
            f"where(M[x, y] > 0, exp({exponent}), 1)",
            f"sigmoid({exponent})",
            f"pow({exponent}, 2)",
            f"where({exponent} > -1, exp({exponent}), 0)",
            f"exp(({exponent}) * B[x, y])",
        )
        beyond = {
            f"abs(exp({exponent}))": "abs",
            f"sqrt(exp({exponent}))": "sqrt",
            f"maximum(exp({exponent}), 0)": "maximum",
        }
        way = random.random()
        if way < 0.92:
            return random.choice(good)
        if way < 0.98:
            return random.choice(bad)
        found = random.choice(tuple(beyond))
        self.beyond.add(beyond[found])
        return found

    def summed(self) -> tuple[str, str]:
        """Return a reduction and its operand."""
        if self.random.random() < 0.06:
            exponent = self.random.choice(self.exponents)
            return self.random.choice(("rmax", "rmin")), f"({exponent})"
        found = self.exponential()
        return ("rsum" if self.random.random() < 0.98 else "rprod"), found

    def result(self, has_total: bool) -> str:
        """Return a formula of the sums; in most of them, but not in all, the frames cancel."""
        sign = "+" if self.is_up else "-"
        alone = (
            *(f"log({OWN}) {sign} top",) * 20,
            f"log({OWN}) {sign} top * 0.5",
            f"log({OWN}) {sign} 2 * top",
            f"{OWN} {sign} top",
            OWN,
            f"log({OWN})",
        )
        both = (
            *(f"{OWN} / total",) * 20,
            f"{OWN} / (total + total)",
            f"log({OWN} / total)",
            f"{OWN} * total",
            f"{OWN} / total / total",
        )
        return self.random.choice(both if has_total else alone)

    def normed(self) -> str:
        """Return a formula of each element and of the sum."""
        return self.random.choice(
            (f"exp({self.exponents[0]}) / total",) * 9
            + ("total", f"exp({self.exponents[0]}) * total", f"({self.exponents[0]}) / total")
        )
