"""Compares the autoscheduler's choices with what was measured by hand on an H200.

Nothing is measured: of what is chosen some was measured before, by hand, and the best of that says
how near the others come at the least.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from benchmarks.files import ROOT
from benchmarks.gpu.prepare import wanted
from benchmarks.gpu.rows import Row
from benchmarks.scheduled import call_of
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.algorithm.program import Directive, Program, Split
from dtpoly.algorithm.show import show_directive
from dtpoly.autoschedule.powers import above
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.cost.cost import cost
from dtpoly.explore.devices.devices import Device
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve as program_of
from dtpoly.generate import outputs
from dtpoly.schedule.applied_directives import scheduled
from dtpoly.source import Source

PLACES = ("inline", "fuse_at")
Form = frozenset[str]


@dataclass(frozen=True, slots=True)
class Blind:
    """One row: microseconds by prediction, and what is known of what was chosen.

    `hand` is of the example's own schedule; `place` is where that would stand among those chosen,
    and `is_hand` whether it is one of them. `known` is the best measured of our schedules,
    `reached` the best measured among those chosen; 0 for none.
    """

    row: str
    file: str
    chosen: int
    first: float
    hand: float
    place: int
    is_hand: bool
    known: float
    reached: float

    @property
    def share(self) -> float:
        """Of the best known, what is reached at the least; 0 where nothing chosen was measured."""
        return self.known / self.reached if self.reached else 0.0


def blind(row: Row, records: Iterable[Mapping[str, Any]], device: Device, most: int) -> Blind:
    """Compare, for a row, the autoscheduler's choice with the example and all that was measured."""
    examples = ROOT / "examples"
    call = call_of(row, examples, device)
    chosen = list(islice(schedules(call), most))
    own = _example(row.files[0])
    hand = (
        1e6 * cost(scheduled(own, DIRECTIVES), call.sizes, call.dtype, device, call.is_warm).seconds
    )
    forms = [form(one.program, call.sizes) for one in chosen]
    times = dict(_measured(row, call, records))
    reached = [times[one] for one in forms if one in times]
    predicted = [1e6 * one.seconds for one in chosen]
    return Blind(
        row.name,
        row.files[0],
        len(chosen),
        predicted[0],
        hand,
        1 + sum(one < hand for one in predicted),
        form(own, call.sizes) in forms,
        min(times.values(), default=0.0),
        min(reached, default=0.0),
    )


def _measured(
    row: Row, call: PricedCall, records: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[Form, float]]:
    """Each schedule of ours that was measured in a row, with its best time in microseconds."""
    found: dict[Form, float] = {}
    for record in records:
        known: Any = record["texts"]
        texts: Mapping[str, Any] = (
            cast(Mapping[str, Any], known) if isinstance(known, Mapping) else {}
        )
        for line in record["rows"]:
            if f"{line['kernel']} {line['case']}" != row.name:
                continue
            for time in line["times"]:
                program = _program(time["name"], texts)
                if time["median"] and program is not None:
                    mine = form(program, call.sizes)
                    found[mine] = min(1e3 * time["median"], found.get(mine, 1e9))
    yield from found.items()


def _program(name: str, texts: Mapping[str, str]) -> Program | None:
    if name in texts:
        return program_of(parse(Source(f"{name}.dt", texts[name])).file).program
    return _example(name) if _is_example(name) else None


def _is_example(name: str) -> bool:
    return bool(wanted((ROOT / "examples",), (), (name,), ())[0])


def _example(name: str) -> Program:
    (one,) = wanted((ROOT / "examples",), (), (name,), ())[0]
    return program_of(parse(one.source).file).program


def form(program: Program, sizes: Sizes) -> Form:
    """Reduce a schedule to its meaning at these sizes, so that two that mean the same are equal.

    The kernel of a Func without labels that ends a sum of others' results does not count.
    """
    output = outputs(program)[-1]
    by_func: dict[str, list[Directive]] = {}
    found: set[str] = set()
    for one in program.directives:
        if one.name in PLACES:
            found.add(show_directive(one))
        elif one.name not in ("compile", "compile_to_kernel"):
            by_func.setdefault(one.func, []).append(one)
    for func, mine in by_func.items():
        if len(by_func) > 1 and not program.func(func).labels:
            continue
        found.add(f"{func}: {_tiles(mine, sizes)}")
        found.update(show_directive(d) for d in mine if d.name not in ("block", "tensorize", "map"))
        found.update(show_directive(d) for d in mine if d.name == "map" and _is_grouped(d))
    return frozenset(re.sub(rf"\b{output}\b", "F", one) for one in found)


def _is_grouped(directive: Directive) -> bool:
    return any(isinstance(one.value, Split) for one in directive.arguments)


def _tiles(directives: Iterable[Directive], sizes: Sizes) -> str:
    """Return blocks and tiles by label: a tile of all of a block is 0, however it is written."""
    blocks: dict[str, int] = {}
    tiles: dict[str, int] = {}
    for one in directives:
        for argument in one.arguments:
            label, value = str(argument.target), argument.value
            number = value.factor if isinstance(value, Split) else value
            if label in sizes and isinstance(number, int) and one.name in ("block", "tensorize"):
                (blocks if one.name == "block" else tiles)[label] = number
    words: list[str] = []
    for label in sorted(blocks.keys() | tiles.keys()):
        size = above(sizes[label])
        block, tile = min(blocks.get(label, size), size), tiles.get(label, 1)
        whole = 0 if tile == 0 or tile >= block else tile
        words.append(f"{label} {block if label in blocks else 'all'} by {whole}")
    return ", ".join(word for word in words if not word.endswith("all by 1"))
