"""Finds which programs compute each element of a Func that is fused into a kernel."""

from collections.abc import Iterable, Iterator, Mapping

from dtpoly.frozen import dataclass
from dtpoly.poly.instances import instances, labels_needed, with_known
from dtpoly.poly.model import by_name
from dtpoly.schedule.describe import place_of
from dtpoly.schedule.element_table import (
    LISTED,
    LOOKED_AT,
    Element,
    ElementTable,
    Most,
    Sizes,
    check_small,
    extents,
    table_data,
    tables,
)
from dtpoly.schedule.panelled import panelled, panels_data
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths


@dataclass(frozen=True, slots=True)
class FusedTable:
    """A Func that a kernel computes for itself: every element, and the numbers of its programs."""

    func: str
    kernel: str
    labels: tuple[str, ...]
    extents: tuple[int, ...]
    programs: Mapping[Element, tuple[int, ...]]  # none for what nobody reads

    @property
    def most(self) -> int:
        """Return how many programs compute one element, at most."""
        return max(map(len, self.programs.values()), default=0)


def fused_tables(
    state: State, sizes: Sizes, found: Iterable[ElementTable], most: Most = LOOKED_AT
) -> Iterator[FusedTable]:
    """Make a table for each Func that is fused into a kernel, if its sizes are known.

    Programs are numbered as in the kernel's own table.
    """
    known = with_known(state.model, sizes)
    statements = by_name(state.model)
    numbers = {
        table.kernel: {
            tuple(spot.place.program.items()): spot.program for spot in table.spots.values()
        }
        for table in found
    }
    ways = {path.statement: path for path in paths(state.kernels)}
    for fusion in state.fusions:
        copy = statements[fusion.copies[-1]] if fusion.label and fusion.copies else None
        if copy is None or copy.name not in ways or fusion.kernel not in numbers:
            continue
        if not set(labels_needed(state.model, copy)) | set(copy.labels) <= known.keys():
            continue
        size = extents(state.model, copy.labels, known)
        check_small(copy.labels, size, most)
        programs: dict[Element, set[int]] = {}
        for instance in instances(state.model, copy, known):
            dims = dict(zip(copy.dims, instance, strict=True))
            place = place_of(state, copy, dims, ways[copy.name])
            number = numbers[fusion.kernel][tuple(place.program.items())]
            programs.setdefault(instance[len(copy.copies) :], set()).add(number)
        ordered = {element: tuple(sorted(who)) for element, who in sorted(programs.items())}
        yield FusedTable(fusion.func, fusion.kernel, copy.labels, size, ordered)


def map_data(state: State, sizes: Sizes) -> list[dict[str, object]]:
    """Give all tables for JSON, those of fused Funcs last; of panels, as if there were one.

    They may be longer than those that a person is to look at.
    """
    found = tables(state, sizes, LISTED)
    parts = {name: one for one in panelled(state) for name in one.kernels}
    fused: list[dict[str, object]] = [
        {
            "kernel": table.kernel,
            "panels": panels_data(parts.get(table.kernel)),
            "fused": table.func,
            "labels": list(table.labels),
            "extents": list(table.extents),
            "elements": [
                {"at": list(element), "programs": list(numbers)}
                for element, numbers in table.programs.items()
            ],
        }
        for table in fused_tables(state, sizes, found, LISTED)
    ]
    own = [{**table_data(table), "panels": panels_data(parts.get(table.kernel))} for table in found]
    return [*own, *fused]
