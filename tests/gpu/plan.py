"""Keeps the cases to run on a GPU as JSON, so that they can be made on a machine without one."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import has_errors
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source
from tests.codegen.inputs import Data, Layout, Recipe

PLAN = "plan.json"
# The race detector's words for the kernels whose lanes read what other lanes wrote.
RACES = "races.json"
GROUPS = ("with barriers", "without barriers")
# Here some warps load what others multiply; these are launched as often.
LOADING = "warps that load"
# The words for a result if a call like it was seen to launch the same again.
AGAIN = ", also again"


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a generated file, at some sizes, with inputs by a recipe."""

    group: str
    name: str
    file: str  # below the folder of the plan
    text: str  # the .dt file
    funcs: tuple[str, ...]
    sizes: Mapping[str, int]
    recipe: Recipe = field(default_factory=Recipe)
    out: Layout = Layout.PLAIN

    def __str__(self) -> str:
        sizes = ", ".join(f"{label}={size}" for label, size in self.sizes.items())
        return f"{self.name}: {sizes}; {self.recipe}, out {self.out}"

    @property
    def program(self) -> Program:
        """Return the Program. Nothing here needs more than torch and pyparsing."""
        parsed = parse(Source(f"{self.name}.dt", self.text))
        resolved = resolve(parsed.file)
        assert not has_errors((*parsed.found, *resolved.found))
        return resolved.program


def write(folder: Path, cases: Iterable[Case]) -> None:
    """Keep cases in a folder."""
    (folder / PLAN).write_text(json.dumps([asdict(case) for case in cases], indent=1) + "\n")


def read(folder: Path) -> Iterator[Case]:
    """Return the cases of a folder."""
    for one in json.loads((folder / PLAN).read_text()):
        yield _case(one)


def _case(one: dict[str, Any]) -> Case:
    recipe = one["recipe"]
    dtypes = {name: DType(dtype) for name, dtype in recipe["dtypes"].items()}
    made = Recipe(
        recipe["seed"],
        DType(recipe["dtype"]),
        Layout(recipe["layout"]),
        Data(recipe["data"]),
        dtypes,
    )
    kept = {key: one[key] for key in ("group", "name", "file", "text", "sizes")}
    return Case(**kept, funcs=tuple(one["funcs"]), recipe=made, out=Layout(one["out"]))
