"""`dtpoly space`, and `--point` of the other commands."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dtpoly.cli import space_summary
from dtpoly.explore.legality.verdicts import DecidedPoints, PointVerdict, Rule
from tests.cli.conftest import Entry
from tests.cli.process import COMMAND, ended, environment
from tests.conftest import Golden

ALGORITHM = """\
Func softmax, total;
In A;
Var x;
RVar y;

total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
"""
CHOICES = """\
algorithm "softmax.dt";

softmax.block(x:{1, 2, 4});
softmax.tensorize(x:{0..4}, y:{256, 1024});
total.fuse_at(softmax, {x, y});
{ softmax.map(x) | softmax.num_stages({1..3}), softmax.map(x:xi/4, xi) | };
softmax.compile();

where tensorize.x <= block.x;
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a schedule file beside its algorithm."""
    (tmp_path / "softmax.dt").write_text(ALGORITHM + "softmax.block(x:4);\nsoftmax.compile();\n")
    (tmp_path / "softmax.dts").write_text(CHOICES)
    monkeypatch.chdir(tmp_path)
    return "softmax.dts"


def test_what_there_is_to_choose(file: str, call: Entry, golden: Golden) -> None:
    code, out, err = call("space", file, "--workers", "1", "--recheck", "5")
    assert (code, err) == (0, "")
    golden("space/softmax.txt", out)


def test_a_sample_is_looked_at(file: str, call: Entry) -> None:
    code, out, _ = call("space", file, "--workers", "1", "--look-at", "30", "--recheck", "0")
    assert code == 0
    assert "a sample of 30 of 200 points; shares are estimates" in out


def test_count(file: str, call: Entry) -> None:
    assert call("space", file, "--count") == (0, "200\n", "")
    assert json.loads(call("space", file, "--count", "--json")[1]) == {
        "version": 1,
        "file": file,
        "count": 200,
        "points": None,
    }


def test_points(file: str, call: Entry) -> None:
    listed = call("space", file, "--list")[1].splitlines()
    assert len(set(listed)) == len(listed) == 200
    assert listed[0] == "block=x:1 tensorize=x:0,y:256 fuse_at=x map=1"
    drawn = call("space", file, "--sample", "7", "--seed", "3")[1].splitlines()
    assert len(drawn) == 7
    assert set(drawn) < set(listed)
    assert call("space", file, "--sample", "7", "--seed", "3")[1].splitlines() == drawn
    document = json.loads(call("space", file, "--sample", "7", "--seed", "3", "--json")[1])
    assert document["points"] == drawn


def test_json(file: str, call: Entry) -> None:
    code, out, _ = call("space", file, "--json", "--workers", "1", "--recheck", "3")
    document = json.loads(out)
    assert code == 0
    assert (document["all"], document["count"], document["looked_at"]) == (300, 200, 200)
    assert document["constraints"] == [
        {"constraint": "where tensorize.x <= block.x", "removed": 100}
    ]
    assert document["legal"] + sum(one["points"] for one in document["refused"]) == 200
    assert {one["rule"] for one in document["refused"]} == {"check", "legality"}
    assert document["is_exact"]
    assert document["decided_again"] == 3
    stages = next(one for one in document["choices"] if one["name"] == "num_stages")
    assert stages["in"] == ["map", 2]


def test_one_file_for_both(call: Entry) -> None:
    text = ALGORITHM + "softmax.block(x:{1, 2});\nsoftmax.compile();\n"
    assert call("space", "-", "--count", stdin=text.encode()) == (0, "2\n", "")


@pytest.mark.parametrize("command", ["check", "compile", "explain", "show"])
def test_plain_commands_take_no_space(command: str, file: str, call: Entry) -> None:
    code, out, err = call(command, file)
    assert code == 1
    assert "DT240" in out + err
    assert "dtpoly space softmax.dts" in out + err
    assert "--point" in out + err


POINT = "block=x:2 tensorize=x:0,y:256 fuse_at=x map=2,x:4 num_stages=2"


def test_a_point_of_other_commands(file: str, call: Entry) -> None:
    point = "block=x:2 tensorize=x:0,y:256 fuse_at=x map=2 num_stages=2"
    assert call("check", file, "--point", point)[0] == 0
    code, out, _ = call("compile", file, "--point", point, "-o", "-", "--no-verify")
    assert code == 0
    assert "num_stages=2" in out
    assert "softmax.block(x:2);" in call("explain", file, "--point", point)[1]
    assert "softmax.map(x:xi/4, xi);" in call("show", file, "--point", point)[1]
    sizes = ("--size", "x=4,y=300", "--reference", "--json")
    assert call("run", file, "--point", point, *sizes)[0] == 0


def test_every_point_is_taken(file: str, call: Entry) -> None:
    for point in call("space", file, "--sample", "5")[1].splitlines():
        code, out, _ = call("check", file, "--point", point, "--quiet")
        assert code in (0, 1)
        assert "DT24" not in out
        assert "DT25" not in out


@pytest.mark.parametrize(
    ("point", "code"),
    [
        ("", "DT250"),
        ("nonsense", "DT250"),
        ("block=x:3 tensorize=x:0,y:256 fuse_at=x map=1", "DT250"),
        ("block=x:1 tensorize=x:4,y:256 fuse_at=x map=1", "DT251"),
        (POINT, "DT250"),
    ],
)
def test_what_is_no_point(point: str, code: str, file: str, call: Entry) -> None:
    exit_code, out, _ = call("check", file, "--point", point)
    assert exit_code == 1
    assert code in out


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "DT179"),
        ('algorithm "missing.dt";', "DT100"),
        ('algorithm "softmax.dts";', "DT248"),
        ('algorithm "softmax.dt";\nsoftmax.block(x:{1..0});', "DT243"),
        ('algorithm "softmax.dt";\nsoftmax.block(x:{1', "DT107"),
        ('algorithm "softmax.dt";\nsoft.block(x:{1, 2});', "DT120"),
        ('algorithm "softmax.dt";\nFunc other;\n', "DT248"),
        ("\x00\xff{{{|||}}}", "DT1"),
    ],
)
def test_bad_files(text: str, code: str, file: str, call: Entry) -> None:
    Path("bad.dts").write_text(text, encoding="utf-8")
    exit_code, out, err = call("space", "bad.dts", "--count")
    assert exit_code == (0 if code == "DT179" else 1)
    assert code in err or exit_code == 0
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    "options",
    [
        ("--count", "--list"),
        ("--sample", "0"),
        ("--sample", "x"),
        ("--seed", "-1"),
        ("--workers", "0"),
        ("--sample", "3", "--list"),
    ],
)
def test_usage(options: tuple[str, ...], file: str, call: Entry) -> None:
    assert call("space", file, *options)[0] == 2


def test_a_missing_file(call: Entry, tmp_path: Path) -> None:
    code, _, err = call("space", str(tmp_path / "none.dts"))
    assert code == 1
    assert "DT100" in err


def test_what_is_known_is_told_when_it_is_interrupted(
    file: str, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def some(*arguments: object) -> Iterator[DecidedPoints]:
        yield DecidedPoints((0, 1, 2), PointVerdict(Rule.NONE), is_shared=True)
        yield DecidedPoints((3,), PointVerdict(Rule.LEGALITY, "DT203"))
        raise KeyboardInterrupt

    monkeypatch.setattr(space_summary, "decided", some)
    code, out, _ = call("space", file)
    assert code == 130
    assert "interrupted: 4 of 200 points were looked at" in out
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # It is the caller's.
    assert "3        75.0 %   legal" in out


def started_with_workers() -> "subprocess.Popen[str]":
    """A command that decides each point again, for a minute or more; its processes are a group."""
    file = str(Path(__file__).parents[2] / "examples" / "spaces" / "attention.dts")
    words = [file, "--workers", "2", "--look-at", "20000", "--recheck", "19000"]
    return subprocess.Popen(
        [*COMMAND, "space", *words], env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip


def is_gone(group: int) -> bool:
    """Return whether no process of a group is left, some seconds later at most."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.long
@pytest.mark.parametrize("seconds", [1.0, 2.0, 4.0, 7.0])
def test_ctrl_c_ends_all_processes(seconds: float) -> None:
    # On a machine that does much else, nothing may be known so early, and then nothing is told.
    for after in (seconds, 3 * seconds, 9 * seconds):
        with ended(started_with_workers()) as started:
            time.sleep(after)
            os.killpg(started.pid, signal.SIGINT)
            out, err = started.communicate(timeout=30)
        assert started.returncode == 130
        assert "Traceback" not in err
        assert is_gone(started.pid)
        if "interrupted: " in out or seconds < 4:
            return
    pytest.fail("nothing is told of what is known")


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_first_process_ends_all(sent: signal.Signals) -> None:
    with ended(started_with_workers()) as started:
        time.sleep(5)
        started.send_signal(sent)
        _, err = started.communicate(timeout=30)
    assert started.returncode in (130, 128 + signal.SIGTERM, -signal.SIGKILL)
    assert "Traceback" not in err
    assert is_gone(started.pid)


def test_a_directive_that_is_added_has_no_choices(file: str, call: Entry) -> None:
    point = call("space", file, "--sample", "1")[1].strip()
    code, _, err = call("why-not", file, "total.split(y:yi/{2, 4})", "--point", point)
    assert code == 2
    assert "a directive that is added leaves nothing open" in err
    assert call("why-not", file, "{ total.split(y:yi/2) | }", "--point", point)[0] == 2
    assert call("why-not", file, "where block.x < 4", "--point", point)[0] == 2


def test_a_single_point_is_told_as_one(call: Entry) -> None:
    text = b"Func f; In A; Var x; f[x] = A[x]; f.block(x:64); f.num_warps({4, 8}); f.compile();"
    out = call("space", "-", stdin=text)[1]
    assert "1 point shares the verdict of another one; it was decided again by itself" in out


def test_a_space_of_very_many_choices_is_refused_at_once(call: Entry, tmp_path: Path) -> None:
    lines = "f.block(x:{2, 4});\n" * 300
    path = tmp_path / "many.dt"
    path.write_text(f"Func f;\nIn A;\nVar x;\nf[x] = A[x];\n{lines}f.compile();\n")
    code, out, err = call("space", str(path))
    assert code == 1
    assert "error[DT252]: a space with 300 choices is too large" in out + err
