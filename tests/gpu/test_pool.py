"""A case that is wrong, or that takes its process with it, leaves the others as they are."""

import time
from pathlib import Path

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from tests.codegen.inputs import Data, Layout, Recipe
from tests.gpu.plan import Case, read, write
from tests.gpu.pool import run_all
from tests.schedule.told import MAP
from tests.schedule.told import read as program_of

SIZES = {"x": 3, "y": 5}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a plan of seven cases, four of which are bad."""
    text = code_of(judge(program_of(MAP), DIRECTIVES).scheduled).text
    files = {
        "right": text,
        "wrong": text.replace("tl.exp(", "tl.log("),
        "dead": f"{text}\nimport os\nos._exit(3)\n",
        "raises": f"{text}\nraise KeyError('planted')\n",
    }
    names = ("right", "dead", "right", "wrong", "raises", "dead", "right")
    for name, generated in files.items():
        (tmp_path / f"{name}.py").write_text(generated)
    recipe = Recipe(2, layout=Layout.SLICED, data=Data.ASCENDING)
    write(
        tmp_path,
        [Case("planted", name, f"{name}.py", MAP, ("f",), SIZES, recipe) for name in names],
    )
    return tmp_path


def test_a_plan_is_read_as_it_was_written(folder: Path) -> None:
    cases = list(read(folder))
    assert [case.name for case in cases][:3] == ["right", "dead", "right"]
    assert cases[0].program == program_of(MAP)
    assert cases[0].recipe == Recipe(2, layout=Layout.SLICED, data=Data.ASCENDING)


@pytest.mark.long
def test_bad_cases_leave_the_others_as_they_are(folder: Path) -> None:
    results = run_all(folder, range(7), 1, time.monotonic() + 200)
    assert [result.case for result in results] == list(range(7))
    found = [result.outcome for result in results]
    assert found == ["right", "failed", "right", "wrong", "failed", "failed", "right"]
    assert "died" in results[1].why
    assert "f[0, 0] is" in results[3].why
    assert "planted" in results[4].why


@pytest.mark.long
def test_when_the_time_is_over_nothing_more_is_run(folder: Path) -> None:
    results = run_all(folder, range(3), 1, time.monotonic())
    assert [result.outcome for result in results] == ["not run"] * 3
