"""`dtpoly explore` and `dtpoly report`: from a file that leaves something to choose to a page."""

import csv
import json
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dtpoly.explore.bench.simulated import MEASURED
from dtpoly.explore.store.result_store import open_store
from tests.cli.conftest import Entry
from tests.cli.process import environment
from tests.explore.texts import SPACE

Explore = Callable[..., tuple[int, str, str]]


@pytest.fixture
def explore(call: Entry, tmp_path: Path) -> Explore:
    """Run the command on a space of six points, on a simulated device."""
    file = tmp_path / "softmax.dt"
    file.write_text(SPACE)

    def run(*more: str, size: str = "x=64,y=512") -> tuple[int, str, str]:
        where = ("-o", str(tmp_path / "run.sqlite"), "--notes", str(tmp_path))
        return call("explore", str(file), "--size", size, "--simulate", *where, *more)

    return run


def test_a_space_is_explored_and_told(explore: Explore, tmp_path: Path) -> None:
    code, out, err = explore("--fault", "refuse=*x:2)*y:64)*")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "softmax.dt: x = 64, y = 512, f32, on simulated"
    assert lines[1] == "6 of 6 points; 5 have a time"
    assert lines[2] == "  refused 1: out of shared memory"
    assert re.fullmatch(r"best: [0-9.]+ ms, [0-9.]+ times as fast as simulated expert", lines[3])
    assert lines[4].startswith("  softmax.block(x:")
    assert lines[5].startswith(f"kept in {tmp_path / 'run.sqlite'}: dtpoly report ")


@pytest.mark.long
def test_the_same_command_goes_on(explore: Explore, tmp_path: Path) -> None:
    code, out, _ = explore("--budget", "2", "--json")
    first = json.loads(out)
    assert (code, first["ended"], first["outcomes"]) == (0, "budget", {"measured": 2})
    code, out, _ = explore("--json", "--strategy", "evolution")
    document = json.loads(out)
    assert code == 0
    assert {key: document[key] for key in ("version", "file", "ended", "points", "known")} == {
        "version": 1,
        "file": "softmax.dt",
        "ended": "whole",
        "points": 6,
        "known": 2,
    }
    assert document["sizes"] == {"x": 64, "y": 512}
    assert document["best"]["milliseconds"] > 0
    assert [*document["baselines"]] == ["simulated expert", "simulated compiler"]
    assert len((tmp_path / MEASURED).read_text().splitlines()) == 6
    # Other sizes are another question.
    _, out, _ = explore("--json", size="x=64,y=256")
    assert json.loads(out)["known"] == 0


@pytest.mark.long
def test_what_is_slow_is_stopped_early_unless_nothing_is(explore: Explore) -> None:
    # One worker and one that prepares: several may begin all six before the first has a time.
    one = ("--workers", "1", "--preparing", "1")
    outcomes: list[dict[str, int]] = []
    for slow in ("1", "inf"):
        code, out, _ = explore(
            *("--json", *one, "--slow", slow), size=f"x=64,y={512 + len(outcomes)}"
        )
        assert code == 0
        outcomes.append(json.loads(out)["outcomes"])
    assert "slow" in outcomes[0]
    assert outcomes[1] == {"measured": 6}
    assert explore("--slow", "0")[0] == 2


@pytest.mark.long
def test_what_failed_is_tried_again_if_asked(explore: Explore, tmp_path: Path) -> None:
    explore("--fault", "fail=*x:2)*", "--fault", "wrong=*x:4)*y:16)*")
    code, out, _ = explore("--json")
    assert json.loads(out)["outcomes"] == {"measured": 2, "failed": 3, "wrong": 1}
    code, out, _ = explore("--json", "--again")
    assert (code, json.loads(out)["outcomes"]) == (0, {"measured": 5, "wrong": 1})


@pytest.mark.long
def test_texts_emitted_before_need_no_isl(explore: Explore, tmp_path: Path) -> None:
    code, out, err = explore("--emit")
    assert (code, out) == (0, "")
    assert err == f"emitted 6 texts, 0 refused: {tmp_path / 'run.sqlite'}\n"
    assert "6 points known before" in explore("--emit")[2]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ISL, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert json.loads(done.stdout)["outcomes"] == {"measured": 6}


WITHOUT_ISL = """
import sys
for name in ("islpy", "torch", "triton"):
    sys.modules[name] = None
from dtpoly.cli.main import entry
folder = sys.argv[1]
where = ["-o", f"{folder}/run.sqlite", "--size", "x=64,y=512", "--simulate", "--json"]
sys.exit(entry(["explore", f"{folder}/softmax.dt", *where]))
"""


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--strategy", "evolutoin"), 1, "did you mean 'evolution'?"),
        (("--budget", "soon"), 2, "'soon' is no budget: take 200, 60s, 10min or 2h"),
        (("--fault", "bite=*"), 2, "is not of the form FAULT=PATTERN"),
        (("--size", "z=1"), 2, "the program has no label 'z'"),
        (("-o", "/absent/run.sqlite"), 1, "there is no such folder"),
        (("--fault", "fail=*", "--json"), 1, ""),
    ],
)
def test_what_is_wrong_is_told(
    explore: Explore, more: tuple[str, ...], code: int, message: str
) -> None:
    found, _, err = explore(*more)
    assert found == code
    assert message in err
    assert "Traceback" not in err


def test_a_size_that_is_missing_is_usage(explore: Explore) -> None:
    code, _, err = explore(size="x=4")
    assert code == 2
    assert "the size of 'y' must be passed" in err


def test_without_a_gpu_it_says_so(call: Entry, tmp_path: Path) -> None:
    file = tmp_path / "softmax.dt"
    file.write_text(SPACE)
    where = ("-o", str(tmp_path / "run.sqlite"))
    code, _, err = call("explore", str(file), "--size", "x=4,y=16", *where)
    assert (code, err) == (1, "error: torch finds no GPU here\n")


@pytest.mark.long
def test_a_page_loads_nothing_and_shows_all(call: Entry, explore: Explore, tmp_path: Path) -> None:
    explore("--fault", "wrong=*x:2)*y:64)*")
    explore(size="x=64,y=1024")
    store = open_store(tmp_path / "run.sqlite")
    asked = store.questions()[1].asked
    points = {row.point: 0.1 * at for at, row in enumerate(store.results(1), 1)}
    store.predict(asked.key, points)
    store.close()
    page = tmp_path / "run.html"
    code, _, err = call("report", str(tmp_path / "run.sqlite"))
    assert (code, err) == (0, f"wrote {page}\n")
    text = page.read_text()
    assert text.count("<svg") == text.count("</svg>") == 7
    for word in ("src=", "@import", "<link", "url(http", "fetch("):
        assert word not in text
    # Namespaces are the only addresses.
    assert {*re.findall(r"https?://[^\"' <>)]*", text)} <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    for said in ("x = 64, y = 512", "x = 64, y = 1024", "simulated expert", "rank correlation"):
        assert said in text
    assert "element [0, 0] is nan" in text
    for point in points:
        assert point in text
    # The same results make the same page.
    call("report", str(tmp_path / "run.sqlite"), "-o", str(tmp_path / "again.html"))
    assert (tmp_path / "again.html").read_text() == text


@pytest.mark.long
def test_pictures_are_a_png(call: Entry, explore: Explore, tmp_path: Path) -> None:
    explore()
    path = tmp_path / "run.png"
    assert call("report", str(tmp_path / "run.sqlite"), "-o", str(path))[0] == 0
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 1000
    assert height > 1000


@pytest.mark.long
@pytest.mark.parametrize(("suffix", "begin"), [("svg", b"<?xml"), ("pdf", b"%PDF-")])
def test_pictures_have_other_forms(
    call: Entry, explore: Explore, tmp_path: Path, suffix: str, begin: bytes
) -> None:
    explore()
    path = tmp_path / f"run.{suffix}"
    assert call("report", str(tmp_path / "run.sqlite"), "-o", str(path))[0] == 0
    assert path.read_bytes().startswith(begin)


def test_a_table_has_a_row_for_each_schedule(call: Entry, explore: Explore, tmp_path: Path) -> None:
    explore("--fault", "fail=1")
    store = str(tmp_path / "run.sqlite")
    for suffix in ("csv", "json"):
        assert call("report", store, "-o", str(tmp_path / f"run.{suffix}"))[0] == 0
    listed = json.loads((tmp_path / "run.json").read_text())["results"]
    with (tmp_path / "run.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(listed) > 1
    for row, one in zip(rows, listed, strict=True):
        assert row["point"] == one["point"]
        assert row["outcome"] == one["outcome"]
        assert row["sizes"] == " ".join(f"{v}={n}" for v, n in one["sizes"].items())
        assert row["median_ms"] == ("" if one["median_ms"] is None else str(one["median_ms"]))


def test_a_table_as_json_on_standard_output(call: Entry, explore: Explore, tmp_path: Path) -> None:
    """Also where an error is infinite, which JSON has no number for."""
    explore("--fault", "wrong=*")
    store = str(tmp_path / "run.sqlite")
    code, out, _ = call("report", store, "--json")
    assert code == 0
    refuse: Any = pytest.fail
    results = json.loads(out, parse_constant=refuse)["results"]
    assert {(one["outcome"], one["error"]) for one in results} == {("wrong", None)}
    assert not [*tmp_path.glob("*.json")]
    code, _, err = call("report", store, "--json", "-o", "run.json")
    assert (code, "say one of both" in err) == (2, True)


@pytest.mark.parametrize(
    ("name", "output", "code", "message"),
    [
        ("absent.sqlite", "run.html", 1, "there is no file"),
        ("softmax.dt", "run.html", 1, "is not a file of results"),
        ("run.sqlite", "run.txt", 2, "must end in .html, .png, .svg, .pdf, .csv or .json"),
        ("run.sqlite", "run", 2, "must end in .html, .png, .svg, .pdf, .csv or .json"),
        ("run.sqlite", "run.html", 1, "has no schedule with a time"),
    ],
)
def test_what_cannot_be_drawn_is_told(
    call: Entry, explore: Explore, tmp_path: Path, name: str, output: str, code: int, message: str
) -> None:
    if name == "run.sqlite" and output == "run.html":
        explore("--fault", "fail=*", "--budget", "1")
    elif name == "softmax.dt":
        (tmp_path / name).write_text(SPACE)
    path = tmp_path / name
    found, _, err = call("report", str(path), "-o", str(tmp_path / output))
    assert (found, message in err) == (code, True), err
    assert not (tmp_path / output).exists()


@pytest.mark.long
def test_a_space_asks_for_rows_with_the_same_bits(call: Entry, tmp_path: Path) -> None:
    """A time counts only where that is proved, also where the kernels were proved before."""
    file, kept = tmp_path / "softmax.dt", tmp_path / "run.sqlite"
    outcomes: list[dict[str, int]] = []
    for asked in ("", "softmax.same_bits(y);", "softmax.same_bits(x);"):
        file.write_text(SPACE.replace("softmax.compile();", f"{asked} softmax.compile();"))
        where = ("-o", str(kept), "--notes", str(tmp_path), "--budget", "2", "--json")
        code, out, _ = call(
            "explore", str(file), "--size", "x=64,y=512", "--simulate", "--verify", *where
        )
        outcomes.append(json.loads(out)["outcomes"])
        assert code == (1 if "(y)" in asked else 0)
    assert [set(one) for one in outcomes] == [{"measured"}, {"unproved"}, {"measured"}]
