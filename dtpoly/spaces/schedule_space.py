"""Offers a space of schedules to Python: it is counted, sampled, and explored.

A point is a line such as `block=x:4 num_warps=8`, as `dtpoly space` prints it and as `--point` and
`dtpoly.load(..., point=...)` take it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Literal

from dtpoly.algorithm.dtypes import FLOATS
from dtpoly.algorithm.filling import filled
from dtpoly.amounts import budget_of
from dtpoly.api import Scheduled, load
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.run.asked_question import asked_question
from dtpoly.explore.run.emission import Emission
from dtpoly.explore.run.progress import Snapshot
from dtpoly.explore.run.session import Wanted, session
from dtpoly.explore.space.count import index_of, point_at, sample
from dtpoly.explore.space.short import read_short, short
from dtpoly.explore.space.space_file import read_space
from dtpoly.explore.space.space_schedules import Schedules, schedules
from dtpoly.explore.store.measured_question import UserQuestion
from dtpoly.explore.workers.workers import Opened, RunPlace
from dtpoly.frozen import dataclass
from dtpoly.python_errors import told
from dtpoly.render.html import boxed, word_table
from dtpoly.spaces.exploration_errors import telling_errors
from dtpoly.spaces.exploration_results import Results, results
from dtpoly.suggest import did_you_mean

Device = Literal["cuda", "cpu"]
DEVICES = ("cuda", "cpu")
FEW = 6  # options that a view lists before it leaves some out


def space(path: str | Path, plugins: Sequence[str | Path] = ()) -> "ScheduleSpace":
    """Return the space of a .dts file, or of a .dt file with choices. Raises DtpolyError.

    Plugins are files with directives of one's own: each process that makes schedules reads them.
    """
    with told():
        found = schedules(read_space(str(path)))
    return ScheduleSpace(str(path), found, tuple(map(str, plugins)))


@dataclass(frozen=True, repr=False, eq=False)
class ScheduleSpace:
    """The schedules that a file leaves open; its points are numbered from 0.

    `len` counts them, `for` yields their lines one after the other, and an index is a number or a
    line: `space[0]` and `space["block=x:4"]` are schedules.
    """

    path: str
    schedules: Schedules
    plugins: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Return how many points there are; `len` is the same up to 2^63."""
        return self.schedules.count

    @property
    def parameters(self) -> dict[str, tuple[str, ...]]:
        """Return what there is to choose: names such as `block.x`, each with its options."""
        return {axis.name: axis.options for axis in self.schedules.axes}

    def line(self, number: int) -> str:
        """Return the line of a point; numbers below 0 count from the end. Raises IndexError."""
        at = number + self.count if number < 0 else number
        if not 0 <= at < self.count:
            raise IndexError(f"there is no point {number}: {self.path} has {self.count:,}")
        return short(self.schedules.space, point_at(self.schedules.counted, at))

    def sample(self, count: int, seed: int = 0) -> list[str]:
        """Return the lines of random points, all different; each point has the same chance."""
        return [*map(self.line, sample(self.schedules.counted, count, seed))]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        return map(self.line, range(self.count))

    def __contains__(self, line: object) -> bool:
        try:
            point = read_short(self.schedules.space, str(line))
        except DtpolyError:
            return False
        return index_of(self.schedules.counted, point) is not None

    def __getitem__(self, point: int | str) -> Scheduled:
        """Return the schedule of a point: of a number, or of a line. Raises DtpolyError."""
        line = self.line(point) if isinstance(point, int) else point
        return load(self.path, self.plugins, point=line)

    def explore(
        self,
        sizes: Mapping[str, int],
        *,
        budget: int | str | None = None,
        strategy: str = "random",
        output: str | Path | None = None,
        dtype: str = "f32",
        seed: int = 0,
        device: Device = "cuda",
        simulate: bool = False,
        baseline: str | Path | None = None,
        workers: int | None = None,
        preparing: int | None = None,
        ray: str | None = None,
        slow: float = 3.0,
        each: float = 100.0,
        limit: float = 60.0,
        model: str = "",
        prune: bool | None = None,
        verify: bool | None = None,
        again: bool = False,
        progress: Callable[[Snapshot | Emission], None] | None = None,
    ) -> Results:
        """Measure schedules at sizes, and return what is known of them; see `dtpoly explore`.

        A budget is a number of candidates or a time such as "10min". Each result is kept in the
        file `output` (FILE.sqlite) at once, and what it has is not measured again. `simulate`
        invents times by a formula, which needs no GPU. `progress` is called with the state so far.
        Ctrl-C ends the run with the results until then. Raises DtpolyError.
        """
        _check_word("device", device, DEVICES)
        most, seconds = _budget(budget)
        asked = self._asked(sizes, dtype, seed)
        kind = "simulated" if simulate else device
        wanted = Wanted(
            space=self.schedules,
            place=RunPlace(kind, asked, str(baseline or ""), each),
            path=Path(output or f"{Path(self.path).stem}.sqlite"),
            strategy=strategy,
            seed=seed,
            most=most,
            seconds=seconds,
            slow=slow if isfinite(slow) else None,
            limit=limit,
            workers=workers,
            preparing=preparing,
            address=ray,
            model=model,
            prunes=kind == "cuda" if prune is None else prune,
            proves=not simulate if verify is None else verify,
            again=again,
            command=f"dtpoly.space({self.path!r}).explore(...)",
            plugins=self.plugins,
        )
        with telling_errors():
            session(wanted, progress or _quiet, _warn)
        return results(wanted.path)

    def _asked(self, sizes: Mapping[str, int], dtype: str, seed: int) -> UserQuestion:
        """Return what each schedule is asked. Raises ValueError and DtpolyError."""
        program = self.schedules.space.program
        if not program.funcs:
            raise ValueError(f"{self.path} has no Func, so there is nothing to measure")
        _check_word("dtype", dtype, [*map(str, FLOATS)])
        labels = [label.name for label in program.labels]
        for label in sizes:
            _check_word("label", label, labels)
        with told():
            known, name = filled(program, sizes), Path(self.path).name
            return asked_question(self.schedules, name, known, dtype, seed, self.plugins)

    def __repr__(self) -> str:
        count = f"{self.count:,} point{'' if self.count == 1 else 's'}"
        return f"<ScheduleSpace {self.path}: {count}, {len(self.parameters)} choices>"

    def _repr_html_(self) -> str:
        """Show a notebook what there is to choose, and how many points that makes."""
        rows = [(name, _listed(options)) for name, options in self.parameters.items()]
        count = f"{self.count:,} point{'' if self.count == 1 else 's'}"
        return boxed(self.path, count, word_table(("choice", "options"), rows))


def _budget(budget: int | str | None) -> tuple[int | None, float | None]:
    """Return how many candidates a budget allows, or how many seconds. Raises ValueError."""
    if budget is None:
        return None, None
    found = budget_of(str(budget))
    if found is None:
        raise ValueError(f"budget={budget!r} is no budget: take 200, '60s', '10min' or '2h'")
    return found


def _check_word(what: str, word: str, known: Sequence[str]) -> None:
    """Raise ValueError for a word that is not known."""
    if word not in known:
        meant = did_you_mean(word, known) or f"; there are {', '.join(known)}"
        raise ValueError(f"there is no {what} '{word}'{meant}")


def _listed(options: Sequence[str]) -> str:
    if len(options) <= FEW + 1:
        return ", ".join(options)
    return f"{', '.join(options[:FEW])}, ..., {options[-1]}"


def _quiet(_now: Snapshot | Emission) -> None:
    """Show nothing."""


def _warn(said: Opened) -> None:
    """Say which baselines are not measured, and why."""
    for name, why in said.failed.items():
        print(f"warning: baseline '{name}' is left out: {why}", file=sys.stderr)
