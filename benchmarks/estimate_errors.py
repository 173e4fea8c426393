"""Says how far the cost model's estimate of what kernels need is from what the compiler needs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from benchmarks.spaces import table
from dtpoly.explore.cost.sureness import CHAIN, EXACT, PRODUCT

HELD_OUT = "seed 35"  # nobody looked at it while the estimate was mended
HEAVY = 256  # bytes of a lane: a kernel that spills more is far slower
HEAD = (
    *("kernels", "number", "registers off by", "90 %", "spill", "not predicted"),
    *("heavily", "not predicted", "false alarms", "shared off by", "90 %"),
)


@dataclass(frozen=True, slots=True)
class ComparedKernel:
    """A kernel's needs: registers with those that are spilled, and shared memory."""

    case: str
    place: int
    kernel: str
    registers: float
    spilled: int  # bytes of a lane
    shared: int
    estimated: float
    estimated_spilled: float
    estimated_shared: int
    is_product: bool

    @property
    def error(self) -> float:
        """Return by what share the estimate of the registers is off."""
        return abs(self.estimated / self.registers - 1)


def compared(cases: Iterable[dict[str, Any]]) -> Iterator[ComparedKernel]:
    """Yield each kernel of a record that the compiler made, beside its estimate."""
    for case in cases:
        for place, schedule in enumerate(case["schedules"]):
            known = {one["kernel"]: one for one in schedule["estimated"]}
            for one in schedule["kernels"]:
                found = known.get(one["kernel"])
                if found is None:
                    continue
                yield ComparedKernel(
                    f"{case['list']} {case['name']}",
                    place,
                    one["kernel"],
                    one["registers"] + one["spilled"] / 4,
                    one["spilled"],
                    one["shared"],
                    found["registers"] + found["spilled"] / 4,
                    found["spilled"],
                    found["shared"],
                    found["kind"] in (PRODUCT, EXACT, CHAIN),
                )


def groups(cases: Sequence[dict[str, Any]], when: str) -> dict[str, list[ComparedKernel]]:
    """Return the kernels of a record in groups, those of the list that is held out apart."""
    held = [one for one in cases if one["list"] == HELD_OUT]
    found: dict[str, list[ComparedKernel]] = {}
    for which, some in (("", [one for one in cases if one not in held]), (", held out", held)):
        every = [*compared(some)]
        found[f"products{which}, {when}"] = [one for one in every if one.is_product]
        found[f"others{which}, {when}"] = [one for one in every if not one.is_product]
    return found


def told(groups: dict[str, list[ComparedKernel]]) -> str:
    """Return a table with a row for each group."""
    return table.lines(HEAD, [_row(name, some) for name, some in groups.items() if some])


def _row(name: str, some: Sequence[ComparedKernel]) -> tuple[str, ...]:
    errors = [one.error for one in some]
    shared = [abs(one.estimated_shared / one.shared - 1) for one in some if one.shared > 8192]
    spill, heavy = ([one for one in some if one.spilled > least] for least in (0, HEAVY))
    alarms = sum(one.estimated_spilled > 0 and not one.spilled for one in some)
    return (
        *(name, str(len(some)), *_spread(errors)),
        *(str(len(spill)), str(_missed(spill)), str(len(heavy)), str(_missed(heavy))),
        *(str(alarms), *_spread(shared)),
    )


def _missed(some: Iterable[ComparedKernel]) -> int:
    return sum(not one.estimated_spilled for one in some)


def _spread(errors: Sequence[float]) -> tuple[str, str]:
    if len(errors) < 2:
        return "", ""
    return f"{median(errors):.0%}", f"{quantiles(errors, n=10)[-1]:.0%}"
