"""Finds which kernels of a scheduled state are computed in panels, and of what."""

from collections.abc import Iterable, Iterator, Mapping

from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.algorithm.program import in_order
from dtpoly.frozen import dataclass
from dtpoly.schedule.aspects import listed
from dtpoly.schedule.counts import TileCount
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import launch_of


@dataclass(frozen=True, slots=True)
class Panelled:
    """Kernels that are launched for so many indices of a label at a time; the last is `func`'s.

    `labels` are all labels that have the same size as that label.
    """

    func: str
    label: str
    size: int
    kernels: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def count(self) -> TileCount:
        """Return how many panels there are."""
        return TileCount(self.label, self.size)

    def of_one(self, sizes: Sizes) -> dict[str, int]:
        """Return the sizes in a panel, one that is not a shorter last one."""
        return {x: min(n, self.size) if x in self.labels else n for x, n in sizes.items()}

    def __str__(self) -> str:
        kernels = listed(f"'{name}'" for name in self.kernels)
        return f"{kernels} are computed in panels of {self.size} of {self.label}"


def panelled(state: State) -> Iterator[Panelled]:
    """Yield one entry for each Func that is computed in panels; no kernel is in two."""
    for kernel in state.kernels:
        panel = launch_of(kernel).panel
        if panel is not None:
            label, size = panel
            needed = {func.name for func in in_order(state.program, [kernel.func])}
            names = tuple(one.name for one in state.kernels if one.func in needed)
            labels = _alike(label, state.model.size_of)
            yield Panelled(kernel.func, label, size, names, labels)


def panels_data(one: Panelled | None) -> dict[str, str | int] | None:
    """Give the label and the size of panels, for JSON."""
    return None if one is None else {"label": one.label, "size": one.size}


def sizes_in(kernel: str, parts: Iterable[Panelled], sizes: Sizes) -> Sizes:
    """Return the sizes in a launch of a kernel: those of a panel, if it is computed in panels."""
    found = next((one for one in parts if kernel in one.kernels), None)
    return sizes if found is None else found.of_one(sizes)


def _alike(label: str, size_of: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(one for one in size_of if size_of[one] == size_of[label])
