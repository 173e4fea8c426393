"""The dossier of a fusion says what the checker found, and anyone can find it again with isl."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.reading import read_file
from dtpoly.pictures.shown_dossier import dossier_data, dossier_lines, script
from dtpoly.poly.order import ViolationKind
from dtpoly.render.diagnostic_text import plain
from dtpoly.schedule.dossier import Dossier, dossiers
from dtpoly.schedule.legality import judge
from tests.conftest import Golden
from tests.oracle.test_oracle import OUTSIDE
from tests.schedule.hard_cases import CASES
from tests.schedule.told import TWO_PRODUCTS, read
from tests.test_thesis import DATA

ROOT = Path(__file__).parents[2]
FUSED = [
    path
    for path in (*sorted(DATA.glob("*.dt")), *sorted((ROOT / "examples").glob("*.dt")))
    if ".fuse_at(" in path.read_text()
]
# Cases of every kind, for the ordinary suite.
HARD = [name for name, (_, text) in CASES.items() if ".fuse_at(" in text]


def of_file(path: Path) -> tuple[Dossier, ...]:
    checked = check(read_file(str(path)))
    assert checked.verdict is not None
    return dossiers(checked.verdict, checked.primitives)


def of_text(text: str) -> tuple[Dossier, ...]:
    return dossiers(judge(read(text), DIRECTIVES), DIRECTIVES)


def repeated(found: tuple[Dossier, ...]) -> list[list[str]]:
    """Run the scripts by a Python that knows nothing of dtpoly, and return what they print."""
    texts = json.dumps([script(one) for one in found])
    runner = (
        "import contextlib, io, json, sys\n"
        "sys.modules['dtpoly'] = None\n"
        "def run(text):\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "        exec(text, {})\n"
        "    return out.getvalue().splitlines()\n"
        "print(json.dumps([run(text) for text in json.load(sys.stdin)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", runner], input=texts, capture_output=True, text=True, check=True
    )
    result: list[list[str]] = json.loads(done.stdout)
    return result


def said(one: Dossier) -> list[str]:
    """Return what its script must print."""
    return [f"{'empty' if o.is_empty else 'NOT EMPTY'}: {o.words}" for o in one.obligations]


@pytest.mark.long
def test_the_scripts_of_all_files_come_to_the_same_end() -> None:
    assert len(FUSED) >= 7
    found = tuple(one for path in FUSED for one in of_file(path))
    assert all(one.is_proved for one in found)
    assert repeated(found) == [said(one) for one in found]


@pytest.mark.parametrize("part", range(4))
def test_the_scripts_of_hard_cases_come_to_the_same_end(part: int) -> None:
    for name in HARD[part::16]:
        agrees(name)


@pytest.mark.long
@pytest.mark.parametrize("name", HARD)
def test_each_script_of_a_hard_case_comes_to_the_same_end(name: str) -> None:
    agrees(name)


def agrees(name: str) -> None:
    verdict = judge(read(CASES[name][1]), DIRECTIVES)
    found = dossiers(verdict, DIRECTIVES)
    assert found, name
    assert repeated(found) == [said(one) for one in found]
    wrong = {
        one.kind for d in found for one in d.obligations if not (one.is_empty or one.is_allowed)
    }
    if verdict.is_legal:
        assert not wrong
    assert wrong <= {one.kind for one in verdict.violations} | {ViolationKind.LATE}


def same(relation: str, other: str) -> bool:
    return isl.Map(relation).is_equal(isl.Map(other))


def test_attention_by_hand() -> None:
    """Listing 4.4: a block of 16 rows needs these rows of each Func, and nothing else."""
    found = {one.func: one for one in of_file(DATA / "listing_4_04_attention.dt")}
    assert list(found) == ["mm", "dvsr", "sm", "e"]
    assert {one.kernel for one in found.values()} == {"attention"}
    assert {one.place for one in found.values()} == {("block of m",)}
    sizes = "[N_m, N_n, N_k, N_l] ->"
    # A program that has no column of the result has nothing to read.
    rows = "b mod 16 = 0 and b >= 0 and b <= m < b + 16 and m < N_m and N_n > 0"
    # Where l has no index, no element of sm reads a sum.
    column = "0 <= l < N_l"
    for func, labels, more in (
        *(("mm", "m, l", column), ("e", "m, l", column), ("sm", "m, l", column)),
        ("dvsr", "m", "N_l > 0"),
    ):
        needed = f"{sizes} {{ [b] -> {func}_attention[{labels}] : {rows} and {more} }}"
        assert same(found[func].needed[-1].isl, needed), func
    flow = next(one for one in found["e"].before if one.words.startswith("flow: sm reads what e"))
    box = "0 <= m < N_m and 0 <= l < N_l"
    assert same(flow.isl, f"{sizes} {{ e[m, l] -> sm[m, l] : {box} }}")
    text = " ".join(found["mm"].theorem)
    assert "where the loop over l of 'e' has one iteration" in text
    assert "No element of 'mm' is computed twice" in text
    # No loop is around both ends: their order is that of the text, and programs share no row.
    assert "'mm@attention' stands before 'e@attention' in each program" in found["mm"].in_order
    kinds = {one.kind for d in found.values() for one in d.obligations}
    assert kinds == {ViolationKind.CROSSES, ViolationKind.UNWRITTEN, ViolationKind.LOST}


AGAIN = TWO_PRODUCTS + "_2mm.tensorize(m:2, n:2); mm.fuse_at(_2mm, n{});"


def test_what_is_computed_again_is_shown_and_may_be_allowed() -> None:
    (refused,), (allowed,) = of_text(AGAIN.format("")), of_text(AGAIN.format(", recompute"))
    assert not refused.is_proved
    assert allowed.is_proved
    for one in (refused, allowed):
        again = [o for o in one.obligations if not o.is_empty]
        assert {o.kind for o in again} == {ViolationKind.RECOMPUTES}
        assert "is computed in kernel _2mm, loop m = 0, loop n = 0" in again[-1].example
    assert repeated((refused,)) == [said(refused)]


def test_a_read_outside_of_the_loop() -> None:
    text = OUTSIDE + "g.fuse_at(f, y);"
    (one,) = of_text(text)
    assert not one.is_proved
    assert one.theorem[0].startswith("No loop over y of 'f' is around all reads of 'g'")
    assert {o.kind for o in one.obligations} == {ViolationKind.LATE}


def test_text_and_data(golden: Golden) -> None:
    text = "Func f, g; In A; Var x; g[x] = exp(A[x]); f[x] = 2 * g[x]; f.compile();"
    (one,) = of_text(f"{text} g.fuse_at(f, x);")
    golden("schedule/dossier.txt", plain(dossier_lines([one], None)))
    data: Mapping[str, Any] = json.loads(json.dumps(dossier_data([one])[0]))
    assert data["is_proved"] is True
    assert data["place"]["start"]["line"] == 1
    assert data["script"] == script(one)
    assert [s["is_empty"] for s in data["sets"]] == [True] * len(one.obligations)


def test_nothing_is_fused() -> None:
    assert of_text("Func f; In A; Var x; f[x] = A[x]; f.compile();") == ()
