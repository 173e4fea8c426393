"""A file of results keeps what it was given, whatever happens to the process or the disk."""

import os
import random
import sqlite3
import subprocess
import sys
import textwrap
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from dtpoly.explore.store.database import StoreError
from dtpoly.explore.store.measured_question import Question, SetupFacts, UserQuestion
from dtpoly.explore.store.result_store import ResultStore, open_store
from dtpoly.explore.store.results import (
    EmittedText,
    Fit,
    FunctionCall,
    Outcome,
    Proven,
    RefusedPoint,
    Result,
    TextProof,
)
from dtpoly.explore.store.rows import MOST_BYTES
from tests.cli.process import ended

ASKED = UserQuestion("softmax.dt", "Func f; ...", "f", {"x": 4, "y": 100}, "bf16", 3)
QUESTION = Question(ASKED, SetupFacts("a device", {"triton": "3.6"}))
RESULT = Result(
    *(Outcome.MEASURED, "", "", 1.5, 1.4, 1.75, 20, 1e-6, 1e-4),
    *({"expert": 2.0}, "abc", 0.25),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultStore]:
    made = open_store(tmp_path / "run.sqlite")
    yield made
    made.close()


def test_what_was_kept_is_read_by_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    first = open_store(path)
    number = first.ask(QUESTION)
    assert first.keep(number, "one", {"x": "4", "a": "1"}, RESULT)
    first.close()
    second = open_store(path)
    assert second.questions() == {number: QUESTION}
    assert second.result(number, "one") == RESULT
    (row,) = second.results(number)
    # In the order of the space, which is that of the text.
    assert [*row.parameters.items()] == [("x", "4"), ("a", "1")]
    second.close()


def test_a_point_has_one_result(store: ResultStore) -> None:
    number = store.ask(QUESTION)
    assert store.keep(number, "one", {}, RESULT)
    assert not store.keep(number, "one", {}, replace(RESULT, median=9.0))
    assert store.result(number, "one") == RESULT
    assert store.result(number, "other") is None


def test_a_question_is_the_same_under_another_name(store: ResultStore) -> None:
    number = store.ask(QUESTION)
    assert store.ask(replace(QUESTION, asked=replace(ASKED, name="renamed.dt"))) == number
    others = [
        replace(QUESTION, asked=replace(ASKED, sizes={"x": 4, "y": 101})),
        replace(QUESTION, asked=replace(ASKED, dtype="f16")),
        replace(QUESTION, asked=replace(ASKED, seed=4)),
        replace(QUESTION, asked=replace(ASKED, func="g")),
        replace(QUESTION, facts=SetupFacts("a device", {"triton": "3.7"})),
        replace(QUESTION, facts=SetupFacts("another", {"triton": "3.6"})),
    ]
    assert len({number, *map(store.ask, others)}) == len(others) + 1


def test_what_is_forgotten_is_measured_again(store: ResultStore) -> None:
    number = store.ask(QUESTION)
    for at, outcome in enumerate(Outcome):
        store.keep(number, f"p{at}", {}, Result(outcome, median=1.0))
    assert store.forget(number, (Outcome.HUNG, Outcome.CRASHED)) == 2
    left = {row.result.outcome for row in store.results(number)}
    assert left == set(Outcome) - {Outcome.HUNG, Outcome.CRASHED}


def test_texts_are_for_all_sizes(store: ResultStore) -> None:
    text = EmittedText("def f(): ...\n", FunctionCall("f", "f_", {"n": "x"}, True))
    refused = RefusedPoint("illegal", "runs too late")
    store.emit("hash", {"one": text, "two": refused})
    assert store.emitted("hash", "one") == text
    assert store.emitted("hash", "two") == refused
    assert store.emitted("hash", "three") is None
    store.emit("hash", {"two": text})
    assert store.emitted("hash", "two") == text


def test_a_point_is_measured_by_one_run_at_a_time(store: ResultStore) -> None:
    number = store.ask(QUESTION)
    assert store.claim(number, "one", 100)
    assert store.claim(number, "one", 100)  # by the same process
    waiting = [sys.executable, "-c", "input()"]
    with ended(subprocess.Popen(waiting, stdin=subprocess.PIPE)) as other:
        store.connection.execute("update claim set process = ?", (other.pid,))
        assert not store.claim(number, "one", 100)
    # Its process is no more.
    assert store.claim(number, "one", 100)
    store.connection.execute("update claim set host = 'elsewhere', until = ?", (time.time() + 9,))
    assert not store.claim(number, "one", 100)
    store.connection.execute("update claim set until = ?", (time.time() - 1,))
    assert store.claim(number, "one", 100)
    store.release(number)
    assert store.connection.execute("select count(*) from claim").fetchone() == (0,)


WRITER = """
    import sys
    from pathlib import Path
    from dtpoly.explore.store.results import Outcome, Result
    from dtpoly.explore.store.result_store import open_store
    from tests.explore.test_store import QUESTION

    store = open_store(Path(sys.argv[1]))
    number = store.ask(QUESTION)
    for at in range(int(sys.argv[2]), int(sys.argv[3])):
        won = store.keep(number, f"p{at}", {}, Result(Outcome.MEASURED, median=float(at + 1)))
        print(at if won else -1, flush=True)
"""


def writer(path: Path, first: int, end: int) -> subprocess.Popen[str]:
    code = textwrap.dedent(WRITER)
    arguments = [sys.executable, "-c", code, str(path), str(first), str(end)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


@pytest.mark.long
def test_a_process_that_is_killed_loses_nothing_that_it_was_told_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    told: set[int] = set()
    draw = random.Random(7)
    for _ in range(3):
        with ended(writer(path, len(told), 10_000)) as process:
            assert process.stdout is not None
            told.add(int(process.stdout.readline()))
            time.sleep(draw.uniform(0.1, 0.3))
            process.kill()
            told |= {int(line) for line in process.communicate()[0].split()}
    store = open_store(path)
    points = {row.point for row in store.results(1)}
    assert {f"p{at}" for at in told - {-1}} <= points
    assert store.connection.execute("pragma integrity_check").fetchone() == ("ok",)
    assert len(told) >= 3
    store.close()


def test_of_several_writers_one_is_first(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with ExitStack() as all_ended:
        made = (writer(path, 0, 30) for _ in range(3))
        processes = [all_ended.enter_context(ended(one)) for one in made]
        won = [int(line) for one in processes for line in one.communicate()[0].split()]
    assert [one.returncode for one in processes] == [0, 0, 0]
    assert sorted(at for at in won if at >= 0) == [*range(30)]
    store = open_store(path)
    assert len(store.results(1)) == 30
    store.close()


FULL = """
    import resource, sys
    from pathlib import Path
    from dtpoly.explore.store.database import StoreError
    from dtpoly.explore.store.results import Outcome, Result
    from dtpoly.explore.store.result_store import open_store
    from tests.explore.test_store import QUESTION

    store = open_store(Path(sys.argv[1]))
    number = store.ask(QUESTION)
    store.keep(number, "before", {}, Result(Outcome.MEASURED, median=1.0))
    size = Path(sys.argv[1]).stat().st_size + 20_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    at = 0
    try:
        while True:
            store.keep(number, f"p{at}", {}, Result(Outcome.FAILED, "k", "r" * 1000))
            at += 1
    except StoreError as error:
        print(at)
        print(error)
"""


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    code = textwrap.dedent(FULL)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    count, words = done.stdout.splitlines()
    assert words.startswith(f"cannot write to '{path}': the disk is full")
    assert "all that was stored before is kept" in words
    store = open_store(path)
    assert len(store.results(1)) == int(count) + 1
    assert int(count) > 3
    # With room again, it goes on.
    assert store.keep(1, "after", {}, RESULT)
    store.close()


def test_what_is_no_file_of_results_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all, but long enough to have a header of some kind\n" * 20)
    with pytest.raises(StoreError, match="is not a file of results"):
        open_store(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("create table mine (x)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(StoreError, match="but not one of results"):
        open_store(other)
    assert other.read_bytes() == before
    with pytest.raises(StoreError, match="there is no file"):
        open_store(tmp_path / "absent.sqlite", is_new=False)
    with pytest.raises(StoreError, match="no such folder"):
        open_store(tmp_path / "absent" / "run.sqlite")


def test_a_later_layout_is_refused(store: ResultStore) -> None:
    store.connection.execute("pragma user_version = 99")
    with pytest.raises(StoreError, match="has layout 99"):
        open_store(store.path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_told(store: ResultStore) -> None:
    store.path.chmod(0o444)
    again = open_store(store.path)
    with pytest.raises(StoreError, match="read-only"):
        again.ask(QUESTION)
    again.close()


def test_an_empty_file_stays_empty_where_it_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    path.touch()
    with pytest.raises(StoreError, match="is empty"):
        open_store(path, is_new=False)
    assert path.read_bytes() == b""


DAMAGES = (
    *("emitted set call = '[]'", "emitted set call = '{'", "emitted set call = '{}'"),
    *('emitted set call = \'{"func": 1, "function": "f", "passed": {}, "is_rough": 1}\'',),
    *("emitted set text = x'00'", "emitted set text = 'abc'", "emitted set text = zeroblob(99)"),
    *("proof set verdict = 'maybe'", "proof set layer = x'00'", "prediction set median = 'x'"),
    *("prediction set median = 9e999", "prediction set median = -1", "run set points = 'x'"),
    *("compiled set kernels = '{}'", "compiled set kernels = '[5]'", "compiled set kind = x'00'"),
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_rows_that_are_no_such_rows_are_told(store: ResultStore, damage: str) -> None:
    number = store.ask(QUESTION)
    store.emit("hash", {"one": EmittedText("def f(): ...\\n", FunctionCall("f", "f_"))})
    store.keep_proof("hash", "text", TextProof(Proven.PROVED))
    store.keep_fit("key", "cuda:90", "one", Fit("", "", ({"registers": 8},)))
    store.predict("key", {"one": 1.0})
    store.begin(number, "explore", "random", 0, 5)

    def all_of_it() -> None:
        assert store.emitted("hash", "one") is not None
        assert store.proof("hash", "text") is not None
        assert store.fit("key", "cuda:90", "one") is not None
        assert store.predictions("key") == {"one": store.expected("key", "one")}
        assert store.points(number) == 5

    all_of_it()
    store.connection.execute(f"update {damage}")
    with pytest.raises(StoreError, match="is not of the form that dtpoly writes"):
        all_of_it()


def test_a_text_that_no_memory_holds_is_not_unpacked(store: ResultStore) -> None:
    store.emit("hash", {"one": EmittedText("def f(): ...\\n", FunctionCall("f", "f_"))})
    packed = zlib.compress(bytes(MOST_BYTES + 1))
    store.connection.execute("update emitted set text = ?", (packed,))
    with pytest.raises(StoreError, match="the end of a text"):
        store.emitted("hash", "one")
