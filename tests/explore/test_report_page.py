"""Tests the page of a report: its marks say which schedules they are; it needs no matplotlib."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dtpoly
from dtpoly.explore.report.marks import MARKS
from dtpoly.explore.report.page import page, told
from dtpoly.explore.report.study import Study, Timed
from dtpoly.explore.report.written_report import written_report
from dtpoly.explore.store.results import Outcome
from tests.explore.simulation import few, question_of

SPACE = """
Func f; In A; Var x, y;
f[x, y] = exp(A[x, y]);
f.block(x:{1, 2, 4});
f.tensorize(x:0, y:{64, 128});
f.compile();
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Study]:
    folder = tmp_path_factory.mktemp("explored")
    (folder / "f.dts").write_text(SPACE)
    wanted = {"x": 8, "y": 512}
    space = dtpoly.space(folder / "f.dts")
    return space.explore(wanted, simulate=True, output=folder / "f.sqlite").studies


def two() -> Study:
    """Return a study of two schedules, of which one has an expected time."""
    best = Timed("f.block(x:</script>);", {}, 1.0, (0.9, 1.2), is_stopped=False, expected=1.5)
    other = Timed("f.block(x:2);", {}, 3.0, (3.0, 3.0), is_stopped=True)
    counts = {Outcome.MEASURED: 2}
    return Study(question_of(few()), 9, [], [best, other], {"mine": 2.0}, counts, {}, [])


def drawn_marks(svg: str) -> int:
    """Count the shapes under the marks of a figure, as the script of the page does."""
    root = ElementTree.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    groups = [one for one in root.iter(f"{name}g") if one.get("class") == MARKS]
    kept = {id(one) for group in groups for one in group.iter()}
    defined = {id(one) for at in root.iter(f"{name}defs") for one in at.iter()}
    shapes = {id(one) for tag in ("use", "path") for one in root.iter(f"{name}{tag}")}
    return len((shapes & kept) - defined)


@pytest.mark.long
def test_each_mark_has_a_point_and_each_point_a_text(found: Sequence[Study]) -> None:
    text = page(found, "what was measured")
    said = re.search(r'id="said">(.*)</script>', text)
    assert said is not None
    texts = json.loads(said[1])
    assert len(texts) == len(found) == 1
    figures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(figures) >= 3
    for svg in figures:
        points: list[str] = json.loads(ElementTree.fromstring(svg).get("data-points") or "[]")
        assert len(points) == drawn_marks(svg) == len(found[0].timed)
        assert set(points) == set(texts[0])


def test_a_mark_says_times_point_file_and_sizes() -> None:
    study = two()
    asked = study.question.asked
    sizes = [f"{label} = {size}" for label, size in asked.sizes.items()]
    where = ", ".join([asked.name, *sizes, "f32", f"on {study.question.facts.device}"])
    assert told(study, study.timed[0]).splitlines() == [
        "1 ms, half of the runs between 0.9 and 1.2",
        "-50.0% to the best baseline",
        "1.5 ms expected by the cost model",
        "f.block(x:</script>);",
        where,
    ]
    assert told(study, study.timed[1]).splitlines() == [
        "3 ms, stopped early",
        "+200.0% to the best",
        "+50.0% to the best baseline",
        "f.block(x:2);",
        where,
    ]


def test_a_page_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    text = written_report(".html", [two()], "f.sqlite").decode()
    assert "pip install &#x27;dtpoly[plots]&#x27;" in text
    assert "<svg" not in text
    assert "f.block(x:2);" in text
    # Nothing in the data ends the element that holds it.
    assert text.count("</script>") == 2


@pytest.mark.long
def test_a_picture_names_no_marks(found: Sequence[Study], tmp_path: Path) -> None:
    (tmp_path / "f.svg").write_bytes(written_report(".svg", found, "f.sqlite"))
    assert MARKS not in (tmp_path / "f.svg").read_text()
    assert written_report(".png", found, "f.sqlite").startswith(b"\x89PNG")
