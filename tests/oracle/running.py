"""Executes reductions that run in the loop of others, and says whether that can be done at all.

Instances are executed in the order of the schedule, tile by tile, with the results so far. How a
sum changes when a maximum changes is found out by trying: its operand is computed with several
numbers in the place of the maximum, and either all elements are multiplied by the exponential of
one and the same multiple of the difference, or this multiple is added to all of them, or a sum
cannot be brought up to date. dtpoly's own rules for that are not used.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import CodeType
from typing import Any

import numpy as np
import torch

from tests.oracle.chains import F64, Chain, Link

# The number with which a maximum begins, so that differences from it are finite.
FAR = 2.0**100
IDENTITY = {"rsum": 0.0, "rdot": 0.0, "rprod": 1.0, "rmax": -math.inf, "rmin": math.inf}
# Numbers in the place of a frame, and by how much it changes.
TRIED, STEPS = (0.3, -1.7), (0.6, 1.9)
Numbers = Mapping[str, float]
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Moved:
    """By which multiple of the change of each frame a sum changes, and whether as a factor."""

    rates: Numbers
    is_factor: bool


@dataclass(frozen=True, slots=True)
class Runs:
    """A chain can run in one loop: how each of its sums is brought up to date.

    If the result would depend on the number with which a frame begins, `is_exact` says that it is
    computed with the frames as they are without such a number.
    """

    moves: Mapping[str, Moved]
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Cannot:
    """A chain cannot run in one loop, and why."""

    why: str


def judged(chain: Chain) -> Runs | Cannot:
    """Return whether the sums of a chain can be brought up to date when its frames change."""
    data = chain.data(9, 13, 1)
    evaluator = Evaluator(chain, data)
    frames = [one for one in chain.links if one.is_frame]
    moves: dict[str, Moved] = {}
    for one in chain.links:
        if one.is_frame:
            continue
        found = _moved(evaluator, one, frames)
        if found is None:
            return Cannot(f"no factor and no sum brings {one.name} up to date")
        if any(found.rates.values()):
            passing = ("rsum", "rdot") if found.is_factor else ("rmax", "rmin")
            if one.reduction not in passing:
                return Cannot(f"it does not pass through {one.reduction}")
            if found.is_factor and not _is_bounded(found, frames):
                return Cannot(f"the first factor of {one.name} is infinite")
        moves[one.name] = found
    return Runs(moves, is_exact=not _cancels(evaluator, frames, moves))


def _is_bounded(found: Moved, frames: Sequence[Link]) -> bool:
    """Return whether the factor for the first change of each frame is a number."""
    return all(
        rate <= 0 if one.reduction == "rmax" else rate >= 0
        for one in frames
        for rate in (found.rates[one.name],)
    )


def _moved(evaluator: "Evaluator", link: Link, frames: Sequence[Link]) -> Moved | None:
    """Return how a sum changes with the frames; None if its elements change in several ways."""
    rates: dict[str, float] = {}
    kinds = set[bool]()
    for one in frames:
        known = {other.name: 0.4 for other in frames}
        samples = list(_samples(evaluator, link, one.name, known))
        if all(_is_same(before, after) for before, after, _ in samples):
            rates[one.name] = 0.0
            continue
        factor = _rate([(b, a, s) for b, a, s in samples if b or a], _log_quotient)
        added = _rate(samples, _difference)
        if factor is None and added is None:
            return None
        kinds.add(factor is not None)
        rates[one.name] = factor if factor is not None else added or 0.0
    return Moved(rates, kinds == {True}) if len(kinds) < 2 else None


def _samples(
    evaluator: "Evaluator", link: Link, frame: str, known: Numbers
) -> Iterator[tuple[float, float, float]]:
    """Yield elements of an operand before and after a frame changes, and by how much it does."""
    for x, y in product(range(9), range(13)):
        for at, step in product(TRIED, STEPS):
            before = evaluator.operand(link, x, y, 0, {**known, frame: at})
            after = evaluator.operand(link, x, y, 0, {**known, frame: at + step})
            yield before, after, step


def _rate(
    samples: Sequence[tuple[float, float, float]], one: Callable[[float, float], float]
) -> float | None:
    """Return the multiple of each step that is between two elements, if it is always the same."""
    found = [
        one(before, after) / step
        for before, after, step in samples
        if not (math.isinf(before) and before == after)
    ]
    if not found or any(math.isnan(rate) or math.isinf(rate) for rate in found):
        return None
    return found[0] if max(found) - min(found) < 1e-6 else None


def _log_quotient(before: float, after: float) -> float:
    quotient = after / before if before else math.nan
    return math.log(quotient) if quotient > 0 else math.nan


def _difference(before: float, after: float) -> float:
    return after - before


def _is_same(before: float, after: float) -> bool:
    return before == after or abs(before - after) < 1e-12 or (before != before and after != after)


def _cancels(evaluator: "Evaluator", frames: Sequence[Link], moves: Mapping[str, Moved]) -> bool:
    """Return whether the result is the same whatever the frames are."""
    for number, one in product((0.7, 2.9), frames):
        known = {o.name: 0.4 for o in frames} | {n: number + len(n) / 9 for n in moves}
        for step in STEPS:
            changed = {**known, one.name: known[one.name] + step}
            for name, found in moves.items():
                by = found.rates[one.name] * step
                changed[name] = known[name] * math.exp(by) if found.is_factor else known[name] + by
            for x, y in product(range(4), range(4)):
                before = evaluator.result(x, y, known)
                after = evaluator.result(x, y, changed)
                if before != after and not abs(before - after) < 1e-9 * max(1, abs(before)):
                    return False
    return True


class Evaluator:
    """Computes formulas of a chain element by element."""

    def __init__(self, chain: Chain, data: Data) -> None:
        self.chain = chain
        self.code: dict[str, CodeType] = {}
        self.tables: dict[str, Any] = {
            name: value.numpy() if torch.is_tensor(value) else value for name, value in data.items()
        }
        rows = self.tables["A" if "A" in self.tables else "B"]
        self.rows = len(rows)
        self.columns = len(self.tables["K"]) if chain.scores else rows.shape[1]
        if chain.scores:
            self.tables["scores"] = self._scores()

    def _scores(self) -> Any:
        A, K = self.tables["A"], self.tables["K"]
        formula = self.chain.scores.replace("rdot(A[x, k], K[y, k], k)", "dot").replace(
            "len(k)", "3.0"
        )
        found = np.zeros((len(A), len(K)))
        for x, y in product(range(len(A)), range(len(K))):
            found[x, y] = self.value(formula, {"x": x, "y": y, "dot": float(A[x] @ K[y])})
        return found

    def value(self, formula: str, names: Data) -> float:
        """Return the value of a formula."""
        if formula not in self.code:
            self.code[formula] = compile(formula, formula, "eval")
        with np.errstate(all="ignore"):
            return float(eval(self.code[formula], {**MEANINGS, **self.tables, **names}))

    def operand(self, link: Link, x: int, y: int, n: int, known: Numbers) -> float:
        """Return an operand of a reduction, for numbers in the place of the Funcs that it reads."""
        names = {"x": x, "y": y, "n": n, **_exact(known)}
        value = self.value(link.operand, names)
        with np.errstate(all="ignore"):
            by = self.value(link.factor, names) if link.factor else 1.0
            return float(np.float64(value) * by) if link.factor else value

    def result(self, x: int, y: int, known: Numbers) -> float:
        """Return the result, for numbers in the place of the Funcs that it reads."""
        return self.value(self.chain.result, {"x": x, "y": y, **_exact(known)})

    def taken(self, x: int) -> list[int]:
        """Return the indices of y that count in a row."""
        if self.chain.among is None:
            return [*range(self.columns)]
        names: Data = {"x": x, "y": 0, "len": self._length}
        low, high = (int(self.value(end, names)) for end in self.chain.among)
        return [*range(max(low, 0), min(high, self.columns))]

    def _length(self, _label: float) -> int:
        return self.columns


def _exact(known: Numbers) -> dict[str, float]:
    return {name: np.float64(value) for name, value in known.items()}


def _where(condition: bool, one: float, other: float) -> float:
    return one if condition else other


def _rsqrt(one: float) -> float:
    return 1 / math.sqrt(one)


def _sigmoid(one: float) -> float:
    return float(1 / (1 + np.exp(-np.float64(one))))


MEANINGS: Mapping[str, Any] = {
    "where": _where,
    "inf": np.float64("inf"),
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "floor": np.floor,
    "pow": np.power,
    "maximum": max,
    "abs": abs,
    "sigmoid": _sigmoid,
}


def _reduced(reduction: str, one: float, other: float) -> float:
    match reduction:
        case "rmax":
            return max(one, other)
        case "rmin":
            return min(one, other)
        case "rprod":
            return one * other
        case _:
            return one + other


def executed(chain: Chain, data: Data, runs: Runs | None) -> torch.Tensor:
    """Return the result of a chain: in one loop, or as it is defined, loop by loop."""
    evaluator = Evaluator(chain, data)
    places = range(2) if "n" in chain.labels else range(1)
    found = np.zeros((evaluator.rows, len(places)))
    if "y" in chain.labels:
        found = np.zeros((evaluator.rows, evaluator.columns))
    for x in range(evaluator.rows):
        for n in places:
            known = _of_row(evaluator, x, n, runs)
            if "y" in chain.labels:
                found[x] = [evaluator.result(x, y, known) for y in range(evaluator.columns)]
            else:
                found[x, n] = evaluator.result(x, 0, known)
    return torch.tensor((found if len(chain.labels) > 1 else found[:, 0]).tolist(), dtype=F64)


def _of_row(evaluator: Evaluator, x: int, n: int, runs: Runs | None) -> Numbers:
    """Return the results of all links for a row."""
    chain, taken = evaluator.chain, evaluator.taken(x)
    known = {one.name: IDENTITY[one.reduction] for one in chain.links}
    frames = [one for one in chain.links if one.is_frame]
    if runs is None:
        for one in (*frames, *(o for o in chain.links if not o.is_frame)):
            for y in taken:
                value = evaluator.operand(one, x, y, n, known)
                known[one.name] = _reduced(one.reduction, known[one.name], value)
        return known
    exact = {one.name: known[one.name] for one in frames}
    known |= {one.name: -FAR if one.reduction == "rmax" else FAR for one in frames}
    for start in range(0, evaluator.columns, chain.tile):
        tile = [y for y in taken if start <= y < start + chain.tile]
        before = {**known}
        for one, y in product(frames, tile):
            value = evaluator.operand(one, x, y, n, known)
            known[one.name] = _reduced(one.reduction, known[one.name], value)
            exact[one.name] = _reduced(one.reduction, exact[one.name], value)
        for name, moved in runs.moves.items():
            known[name] = _brought(moved, known[name], before, known)
        for one, y in product((o for o in chain.links if not o.is_frame), tile):
            value = evaluator.operand(one, x, y, n, known)
            known[one.name] = _reduced(one.reduction, known[one.name], value)
    return known | exact if runs.is_exact else known


def _brought(moved: Moved, value: float, before: Numbers, now: Numbers) -> float:
    """Return what a sum is with the new frames."""
    by = sum(rate * (now[name] - before[name]) for name, rate in moved.rates.items() if rate)
    if not moved.is_factor:
        return value + by
    with np.errstate(all="ignore"):
        return float(value * np.exp(by))
