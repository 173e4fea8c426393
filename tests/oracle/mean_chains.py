"""Makes random chains with a mean in whose loop sums of deviations run, and executes them.

How a sum changes when the mean changes is found out by trying. The operands of four made-up
elements change by some numbers, and a cubic goes through these. If it says how all elements change,
the sums of the first three powers of elements say how the sum does, and a loop can keep these. If
it does not, the sum cannot be brought up to date in this way. dtpoly's own rules are not used.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random
from types import CodeType
from typing import Any

import numpy as np
import torch

from tests.oracle.running import MEANINGS, Cannot, Data

F64 = torch.float64
SHARE_TAKEN = 0.6
ITEM = "item"  # what the mean is the mean of, for one element
# Sums of deviations `d`, of which the elements are `item`.
GOOD = (
    *(("pow(d, 2)",) * 6),
    *("d * d", "d * d * 0.5 - d", "-pow(d, 2) + 1", "pow(2 * d, 2) / 4", "(d + 1) * (d - 1)"),
    *("3 * d", "d * d * 0.25 + 2", "pow(d * 0.5, 2) - 1"),
    *(
        "d * d * d",
        "pow(d, 3)",
        "pow(pow(d, 2), 2)",
        "pow(d, 4) - 2 * pow(d, 3) + d",
        "d * d * (1 - d)",
    ),
)
BAD = (
    *(
        "d * d * d * d * d",
        "pow(pow(d, 2), 3)",
        "B[x, y] * pow(d, 3)",
        "abs(d)",
        "exp(d)",
        "B[x, y] * pow(d, 2)",
    ),
    *("d * B[x, y]", "where(M[x, y] > 0, pow(d, 2), 0)", "floor(d)", "pow(B[x, y] - mean, 2)"),
    *("where(d > 0, pow(d, 2), 0)", "maximum(d, 0)"),
)
# What runs, and is no sum of powers of deviations as the compiler knows them.
BEYOND = (
    "item * mean",
    "pow(2 * item - mean, 2)",
    "pow(d * c, 2)",
    "d * d * c + 2",
    "mean * mean + item",
    "pow(d, 2) + mean",
    "pow(item + mean, 2)",
)
# How far made-up elements are from the mean.
PROBES = (-1.0, 0.0, 1.0, 2.0)
ITEMS = (
    *(("A[x, y]",) * 4),
    *("exp(A[x, y] * 0.25)", "A[x, y] - B[x, y]", "A[x, y] * B[x, y]", "A[x, y] * c"),
    "where(M[x, y] > 0, A[x, y], 0)",
)
INPUTS = {"A": "", "B": "", "M": ": i32", "c": ""}
DIVISORS = (*("len(y)",) * 12, "(len(y) - 1)", "len(x)", "3.0")
RESULTS = ("OWN", "OWN / len(y)", "sqrt(abs(OWN) / len(y) + 1)", "OWN / len(y) + mean")


@dataclass(frozen=True, slots=True)
class MeanRuns:
    """A chain with a mean can run in one loop."""


@dataclass(frozen=True)
class MeanChain:
    """A mean, one or two sums that depend on it, and a formula of them for each row or element."""

    item: str
    divisor: str
    sums: tuple[tuple[str, str], ...]  # names and operands; OWN, if there is one, is the last
    result: str
    labels: tuple[str, ...]
    among: tuple[str, str] | None
    is_split: bool  # a Func for the sum, and one for its quotient
    block: int
    tile: int
    is_lane: bool
    # The compiler may refuse it, though it runs.
    is_beyond: bool

    @property
    def formulas(self) -> str:
        """Return all formulas, to look for names in them."""
        operands = " ".join(operand for _, operand in self.sums)
        return f"{self.item} {operands} {self.result}"

    def inputs(self) -> tuple[str, ...]:
        """Return the names of the inputs, the scalar last."""
        return tuple(name for name in INPUTS if f"{name}[" in self.formulas or name == "c")

    @property
    def text(self) -> str:
        """Return the chain as a file."""
        named = [name for name, _ in self.sums if name != "OWN"]
        funcs = ["f", "mean", *(["sum"] if self.is_split else []), *named]
        tensors = [f"{one}{INPUTS[one]}" for one in self.inputs() if one != "c"]
        ranged = "y" if self.among is None else f"y in [{', '.join(self.among)})"
        total = f"rsum({self.item}, y)"
        means = [f"mean[x] = {total} / {self.divisor};"]
        if self.is_split:
            means = [f"sum[x] = {total};", f"mean[x] = sum[x] / {self.divisor};"]
        lines = [
            f"Func {', '.join(funcs)}; In {', '.join(tensors)}; SIn c; Var x; RVar {ranged};",
            *means,
        ]
        result = self.result
        for name, operand in self.sums:
            placed = self._placed(operand)
            if name == "OWN":
                result = result.replace("OWN", f"rsum({placed}, y)")
            else:
                lines.append(f"{name}[x] = rsum({placed}, y);")
        if "y" in self.labels:
            result = result.replace("total", "reshape(total[x], x, 1)")
            result = self._placed(result)
        else:
            result = result.replace("total", "total[x]").replace(" mean", " mean[x]")
        lines.append(f"f[{', '.join(self.labels)}] = {result};")
        return "\n".join((*lines, *self._directives(named))) + "\n"

    def _directives(self, named: list[str]) -> list[str]:
        reader = "total" if "y" in self.labels else "f"
        first = "sum" if self.is_split else "mean"
        lanes = [*(["x:0"] if self.is_lane else []), *([f"y:{self.tile}"] * (self.tile > 1))]
        lines = [f"f.block(x:{self.block});"]
        lines += [f"f.tensorize({', '.join(lanes)});"] if lanes else []
        lines += ["mean.inline();"] if self.is_split else []
        lines += ["total.fuse_at(f, x);"] if reader == "total" else []
        lines += [f"{one}.online({reader}, y);" for one in (first, *named) if one != reader]
        return [*lines, "f.compile();"]

    def _placed(self, operand: str) -> str:
        """Return an operand in the language: deviations are those of elements from the mean."""
        found = _replaced(operand, "d", f"({ITEM} - mean)")
        found = _replaced(found, ITEM, f"({self.item})")
        return _replaced(found, "mean", "reshape(mean[x], x, 1)")

    def data(self, rows: int, columns: int, seed: int) -> dict[str, torch.Tensor | float]:
        """Return the inputs of a call with so many rows and columns; the rows have ascending means.

        So the mean moves far in each tile.
        """
        made = torch.Generator().manual_seed(seed)
        rising = torch.arange(columns, dtype=F64) * 0.25
        whole: dict[str, torch.Tensor | float] = {
            "A": torch.randn(rows, columns, generator=made, dtype=F64) + rising,
            "B": torch.randn(rows, columns, generator=made, dtype=F64),
            "M": (torch.rand(rows, columns, generator=made) < SHARE_TAKEN).to(torch.int32),
            "c": 0.75,
        }
        return {name: whole[name] for name in self.inputs()}

    @cached_property
    def code(self) -> dict[str, CodeType]:
        """Return the formulas as Python."""
        each = {self.item, self.divisor, self.result, *(operand for _, operand in self.sums)}
        return {one: compile(one, one, "eval") for one in each}

    def value(self, formula: str, **names: Any) -> float:
        """Return the value of a formula."""
        meanings = {**MEANINGS, "maximum": max, "len": _size}
        with np.errstate(all="ignore"):
            return float(eval(self.code[formula], {**meanings, **names}))


def _replaced(formula: str, name: str, by: str) -> str:
    return re.sub(rf"\b{name}\b", by, formula)


def _size(count: float) -> float:
    return np.float64(count)


def mean_chain(seed: int) -> MeanChain:
    """Return the chain of a seed."""
    random = Random(f"mean chain {seed}")
    way = random.choices(("row", "two sums", "norm"), (6, 2, 2))[0]
    operands: list[str] = []
    is_beyond = False
    for _ in range(2 if way == "two sums" else 1):
        kind = random.choices((GOOD, BAD, BEYOND), (70, 22, 8))[0]
        is_beyond = is_beyond or kind is BEYOND
        operands.append(random.choice(kind))
    names = {"row": ("OWN",), "two sums": ("total", "OWN"), "norm": ("total",)}[way]
    result = random.choice(RESULTS)
    if way == "two sums":
        result = random.choice(("OWN / len(y) + total", "OWN - total * 0.5"))
    if way == "norm":
        result = "d * rsqrt(abs(total) / len(y) + 1)"
    return MeanChain(
        item=random.choice(ITEMS),
        divisor=random.choice(DIVISORS),
        sums=tuple(zip(names, operands, strict=True)),
        result=result,
        labels=("x", "y") if way == "norm" else ("x",),
        among=random.choice((("0", "x + 1"), ("1", "len(y)"))) if random.random() < 0.08 else None,
        is_split=random.random() < 0.25 and "mean" not in result and way != "norm",
        block=random.choice((1, 2, 2, 4)),
        tile=random.choice((1, 4, 8, 16, 16)),
        is_lane=random.random() < 0.85,
        is_beyond=is_beyond,
    )


def judged(chain: MeanChain) -> MeanRuns | Cannot:
    """Return whether the sums of a chain can be brought up to date when its mean changes."""
    if chain.divisor != "len(y)" or chain.among is not None:
        return Cannot("it is no mean of all elements")
    for name, operand in chain.sums:
        if not all(_is_moved_alike(chain, operand, seed) for seed in range(8)):
            return Cannot(f"how far {name} moves depends on more than on the two means")
    return MeanRuns()


def _is_moved_alike(chain: MeanChain, operand: str, seed: int) -> bool:
    """Return whether elements move a sum as the cubic says that made-up elements lie on."""
    data, count = _tables(chain.data(3, 1 + seed % 5, seed)), 1 + seed % 5
    row, random = seed % 3, Random(seed)
    items = [_item(chain, data, row, y) for y in range(count)]
    mean = math.fsum(items) / count
    for _ in range(3):
        new = mean + random.uniform(-2, 2)
        moves = [
            _operand(chain, operand, data, row, y, items[y], new)
            - _operand(chain, operand, data, row, y, items[y], mean)
            for y in range(count)
        ]
        # Other inputs of an operand are those of some element.
        powers = [math.fsum((one - mean) ** power for one in items) for power in range(4)]
        moved = _moved(chain, operand, data, row, (mean, new), powers)
        if not math.isclose(math.fsum(moves), moved, rel_tol=1e-7, abs_tol=1e-7):
            return False
    return True


def _moved(
    chain: MeanChain,
    operand: str,
    data: Data,
    row: int,
    means: tuple[float, float],
    powers: list[float],
) -> float:
    """Return by how much elements move a sum from the first mean to the second one.

    `powers` are the sums of the first powers of their deviations from the first mean, from 0 on.
    """
    moves: list[float] = []
    for step in PROBES:
        before, now = (
            _operand(chain, operand, data, row, 0, means[0] + step, one) for one in means
        )
        moves.append(now - before)
    cubic = np.linalg.solve(np.vander(PROBES, increasing=True), np.array(moves))
    return float(cubic @ np.array(powers))


def _tables(data: Data) -> dict[str, Any]:
    return {
        name: one.numpy() if isinstance(one, torch.Tensor) else one for name, one in data.items()
    }


def _item(chain: MeanChain, data: Data, x: int, y: int) -> float:
    return chain.value(chain.item, **data, x=x, y=y)


def _operand(
    chain: MeanChain, operand: str, data: Data, x: int, y: int, item: float, mean: float
) -> float:
    names = {"item": np.float64(item), "mean": np.float64(mean), "d": np.float64(item - mean)}
    return chain.value(operand, **data, **names, x=x, y=y)


def executed(chain: MeanChain, data: Data, *, in_one_loop: bool) -> torch.Tensor:
    """Return the result of a chain: in one loop, or as it is defined, loop by loop."""
    tables = _tables(data)
    rows, columns = data["A"].shape if "A" in data else data["B"].shape
    is_wide = "y" in chain.labels
    found = np.zeros((rows, columns if is_wide else 1))
    for x in range(rows):
        taken = _taken(chain, x, columns)
        of_row: Callable[..., dict[str, float]] = _in_one_loop if in_one_loop else _loop_by_loop
        known = of_row(chain, tables, x, taken, (rows, columns))
        for y in range(found.shape[1]):
            names: dict[str, Any] = {**tables, **known, "x": float(rows), "y": float(columns)}
            if is_wide:
                names["d"] = _item(chain, tables, x, y) - known["mean"]
            found[x, y] = chain.value(chain.result, **names)
    return torch.tensor((found if is_wide else found[:, 0]).tolist(), dtype=F64)


def _taken(chain: MeanChain, x: int, columns: int) -> list[int]:
    if chain.among is None:
        return [*range(columns)]
    low, high = (eval(one, {"x": x, "len": _size, "y": columns}) for one in chain.among)
    return [*range(max(low, 0), min(high, columns))]


def _quotient(chain: MeanChain, total: float, sizes: tuple[int, int]) -> float:
    divisor = chain.value(chain.divisor, x=float(sizes[0]), y=float(sizes[1]))
    return float(np.float64(total) / np.float64(divisor)) if divisor else math.nan


def _loop_by_loop(
    chain: MeanChain, data: Data, x: int, taken: list[int], sizes: tuple[int, int]
) -> dict[str, float]:
    items = {y: _item(chain, data, x, y) for y in taken}
    mean = _quotient(chain, math.fsum(items.values()), sizes)
    found = {"mean": mean}
    for name, operand in chain.sums:
        each = [_operand(chain, operand, data, x, y, items[y], mean) for y in taken]
        found[name] = math.fsum(each) if all(map(math.isfinite, each)) else sum(each)
    return found


def _in_one_loop(
    chain: MeanChain, data: Data, x: int, taken: list[int], sizes: tuple[int, int]
) -> dict[str, float]:
    count, total, mean = 0, 0.0, 0.0
    sums_of = [0.0] * 4  # of the first powers of elements
    sums = dict.fromkeys((name for name, _ in chain.sums), 0.0)
    for start in range(0, sizes[1], chain.tile):
        tile = [y for y in taken if start <= y < start + chain.tile]
        items = {y: _item(chain, data, x, y) for y in tile}
        total += math.fsum(items.values())
        new = total / (count + len(tile))
        for name, operand in chain.sums:
            if count:
                powers = [_about(sums_of, power, mean) for power in range(4)]
                sums[name] += _moved(chain, operand, data, x, (mean, new), powers)
            for y in tile:
                sums[name] += _operand(chain, operand, data, x, y, items[y], new)
        count, mean = count + len(tile), new
        for power in range(4):
            sums_of[power] += math.fsum(one**power for one in items.values())
    return {"mean": mean if count else math.nan, **sums}


def _about(sums: list[float], power: int, mean: float) -> float:
    """Return the sum of a power of deviations from a number, from sums of powers of elements."""
    return math.fsum(
        math.comb(power, one) * (-mean) ** (power - one) * sums[one] for one in range(power + 1)
    )
