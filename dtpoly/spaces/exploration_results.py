"""Offers what an exploration found to Python: rows, a table, the best schedule, reports.

The table is a DataFrame where pandas is installed. Nothing else here needs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dtpoly.api import Scheduled, parse
from dtpoly.explore.report.page import sentences
from dtpoly.explore.report.result_table import rows
from dtpoly.explore.report.study import Study, studies
from dtpoly.explore.report.written_report import SUFFIXES, TABLES, written_report
from dtpoly.explore.store.result_store import open_store
from dtpoly.frozen import dataclass
from dtpoly.render.html import boxed, word_table
from dtpoly.spaces.exploration_errors import telling_errors
from dtpoly.writing import write_atomically

Row = dict[str, Any]  # a schedule that was tried
BEST = 10  # schedules in a view
PANDAS = "pandas"
NESTED = ("sizes", "parameters")  # what is a dictionary in a row


def results(path: str | Path) -> "Results":
    """Return what a file of results has, as `dtpoly report` shows it. Raises DtpolyError."""
    with telling_errors():
        store = open_store(Path(path), is_new=False)
        try:
            return Results(str(path), tuple(studies(store)))
        finally:
            store.close()


@dataclass(frozen=True, repr=False, eq=False)
class Results:
    """The results in a file, in the order in which they were found.

    `for` yields them as dictionaries, and `len` counts them. They are as the file was when it was
    read.
    """

    path: str
    studies: tuple[Study, ...]  # one for each algorithm, sizes and device

    @property
    def rows(self) -> list[Row]:
        """Return a dictionary for each schedule that was tried.

        `median_ms` is its time, or None; `outcome` and `kind` say why; `parameters` has what was
        chosen, and `point` all directives.
        """
        return [*self]

    def table(self) -> Any:
        """Return a pandas DataFrame with a row for each schedule; without pandas, `rows`.

        Sizes and choices have columns of their own, such as `sizes.x` and `parameters.block.x`.
        """
        if find_spec(PANDAS) is None:
            return self.rows
        pandas: Any = import_module(PANDAS)
        return pandas.DataFrame([*map(_flat, self)])

    @property
    def best(self) -> Row | None:
        """Return the row with the least time that counts, over all studies; None without one."""
        timed = [row for row in self if row["is_timed"] and row["median_ms"] is not None]
        return min(timed, key=lambda row: row["median_ms"], default=None)

    @property
    def baselines(self) -> dict[str, float]:
        """Return the times of baselines in milliseconds; of several studies, of the last one."""
        return {name: time for study in self.studies for name, time in study.baselines.items()}

    def schedule(
        self, row: Mapping[str, Any] | None = None, plugins: Sequence[str | Path] = ()
    ) -> Scheduled:
        """Return the schedule of a row; without one, the best. Raises ValueError if there is none.

        It can be called, proved and changed as one that `dtpoly.load` returns.
        """
        taken = self.best if row is None else row
        if taken is None:
            raise ValueError(f"{self.path} has no schedule with a time")
        for study in self.studies:
            asked = study.question.asked
            if asked.key == taken["question"]:
                text = f"{asked.program}\n{taken['point']}\n"
                return parse(text, plugins, asked.name)
        raise ValueError(f"{self.path} has no such row")

    def write(self, path: str | Path) -> Path:
        """Write a page (.html), a picture (.png, .svg, .pdf) or a table (.csv, .json).

        Returns the path. Raises ValueError for another ending, and where there is nothing to draw;
        DtpolyError where matplotlib is missing; OSError.
        """
        target = Path(path)
        if target.suffix not in SUFFIXES:
            endings = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
            raise ValueError(f"'{target}' must end in {endings}")
        if target.suffix not in TABLES and not any(study.timed for study in self.studies):
            raise ValueError(f"{self.path} has no schedule with a time")
        with telling_errors():
            data = written_report(target.suffix, self.studies, Path(self.path).name)
        write_atomically(target, data)
        return target

    def __len__(self) -> int:
        return sum(len(study.rows) for study in self.studies)

    def __iter__(self) -> Iterator[Row]:
        for study in self.studies:
            for stored, (_, row) in zip(study.rows, rows([study]), strict=True):
                about = {"is_timed": stored.result.is_timed, "question": study.question.asked.key}
                parameters = {name: _number(value) for name, value in stored.parameters.items()}
                yield {**row, "parameters": parameters, "reason": stored.result.reason, **about}

    def __repr__(self) -> str:
        best = self.best
        fastest = (
            "none has a time" if best is None else f"the best takes {best['median_ms']:.4g} ms"
        )
        count = f"{len(self):,} schedule{'' if len(self) == 1 else 's'}"
        return f"<Results {self.path}: {count} tried, {fastest}>"

    def _repr_html_(self) -> str:
        """Show a notebook the best schedules of each study."""
        shown = [part for study in self.studies for part in _shown(study)]
        return boxed(self.path, f"{len(self):,} tried", *shown)


def _shown(study: Study) -> Iterator[str]:
    """Yield a line about a study, and a table of its best schedules."""
    asked = study.question.asked
    sizes = ", ".join(f"{label} = {size}" for label, size in asked.sizes.items())
    about = f"{asked.name}: {sizes}, {asked.dtype}, on {study.question.facts.device}"
    head = [(about,), ("; ".join(sentences(study)),)]
    yield word_table((), head)
    timed = [(f"{one.time:.4g}", one.point) for one in study.timed[:BEST]]
    if timed:
        yield word_table(("ms", "schedule"), timed)


def _number(value: str) -> int | str:
    return int(value) if value.isdecimal() else value


def _flat(row: Row) -> Row:
    """Return a row whose columns are paths of keys, such as `sizes.x`."""
    flat: Row = {}
    for key, value in row.items():
        if key in NESTED:
            flat |= {f"{key}.{name}": one for name, one in value.items()}
        else:
            flat[key] = value
    return flat
