"""Answers to Python how long a schedule takes on a GPU, and why, as `dtpoly cost` does."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.explore.cost.cost import Cost, KernelCost, cost
from dtpoly.explore.cost.cost_table import (
    advice,
    cost_data,
    head,
    lines_above,
    panel_lines,
    summary,
    tables,
    time,
)
from dtpoly.explore.devices.devices import (
    Device,
    UnknownDevice,
    devices,
    find_device,
    read_device,
)
from dtpoly.frozen import dataclass
from dtpoly.generate import outputs
from dtpoly.python_errors import told
from dtpoly.render.as_json import Data
from dtpoly.render.html import boxed, word_table
from dtpoly.schedule.state import State
from dtpoly.suggest import did_you_mean
from dtpoly.targets.subject import check_dtype


@dataclass(frozen=True, repr=False, eq=False)
class EstimatedCost:
    """How long a schedule takes, by the cost model. `print` shows what `dtpoly cost` does."""

    cost: Cost
    name: str  # of the results

    @property
    def seconds(self) -> float:
        """Return how long all launches take."""
        return self.cost.seconds

    @property
    def floor(self) -> float:
        """Return the seconds that it takes at least to move and multiply what must be."""
        return self.cost.floor

    @property
    def device(self) -> str:
        """Return the GPU that it is estimated for."""
        return self.cost.device.name

    @property
    def sizes(self) -> dict[str, int]:
        """Return the sizes of all labels, also of those that follow from others."""
        return {**self.cost.sizes}

    @property
    def kernels(self) -> tuple[KernelCost, ...]:
        """Return each launch, with its seconds, what bounds it, and what it loads and stores."""
        return self.cost.kernels

    @property
    def advice(self) -> tuple[str, ...]:
        """Return sentences on what would make it faster."""
        return tuple(advice(self.cost))

    @property
    def data(self) -> Data:
        """Return what `dtpoly cost --json` prints, as dictionaries and lists."""
        return cost_data(self.cost)

    def __repr__(self) -> str:
        return f"<EstimatedCost {head(self.cost, self.name)}: about {time(self.seconds)}>"

    def __str__(self) -> str:
        # It comes with rich, which takes 100 ms.
        table: Callable[..., str] = import_module("dtpoly.render.text_table").table
        shown = (table(words, rows, None, colour=False) for words, rows in tables(self.cost))
        above = lines_above(self.cost, self.name)
        return "\n".join([above, *shown, "\n".join(self.advice)]).rstrip("\n")

    def _repr_html_(self) -> str:
        """Show a notebook the time, the three tables, and what would make it faster."""
        shown = (word_table(words, rows) for words, rows in tables(self.cost))
        told_lines = [(line,) for line in (*panel_lines(self.cost), *self.advice)]
        told_of = word_table((), told_lines) if told_lines else ""
        title = head(self.cost, self.name)
        return boxed(title, summary(self.cost), *shown, told_of)


def estimated(
    state: State, sizes: Mapping[str, int], device: str, dtype: str, warm: bool
) -> EstimatedCost:
    """Estimate a schedule. Raises ValueError for a word that is not known, and DtpolyError."""
    program, on, of = state.program, device_named(device), dtype_named(dtype)
    with told():
        known = sizes_named(program, sizes)
        check_dtype(program, of)
        return EstimatedCost(cost(state, known, of, on, warm), ", ".join(outputs(program)))


def sizes_named(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the size of each label; some follow. Raises ValueError and DtpolyError."""
    labels = [one.name for one in program.labels]
    for label, size in sizes.items():
        if label not in labels:
            raise ValueError(f"there is no label '{label}'{did_you_mean(label, labels)}")
        if size < 0:
            raise ValueError(f"the size of '{label}' is {size}: it must be 0 or more")
    return filled(program, sizes)


def dtype_named(word: str) -> DType:
    """Return a float type. Raises ValueError."""
    known = [*map(str, FLOATS)]
    if word not in known:
        meant = did_you_mean(word, known) or f"; there are {', '.join(known)}"
        raise ValueError(f"there is no dtype '{word}'{meant}")
    return DType(word)


def device_named(word: str) -> Device:
    """Return a GPU by its name or from a file of `dtpoly device`. Raises ValueError."""
    if word.endswith(".json"):
        try:
            return read_device(Path(word).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ValueError(f"'{word}' cannot be read: {why}") from None
    try:
        return find_device(word)
    except UnknownDevice:
        known = [*devices()]
        meant = did_you_mean(word.lower(), known) or f"; known are {', '.join(known)}"
        raise ValueError(f"there is no device '{word}'{meant}") from None
