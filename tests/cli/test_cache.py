"""`dtpoly cache`: what it holds, and what is removed of it."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from dtpoly.runtime import cache
from dtpoly.runtime.load import load_module
from tests.cli.conftest import Entry

DAY = 86_400


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a cache with three texts, one proof and one module."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(folder))
    for number in range(3):
        cache.remembered([f"text {number}"], lambda: "x" * 1000)
    cache.remembered(["a proof"], lambda: "proved", cache.PROOFS)
    load_module(f"FOLDER = {str(folder)!r}\n", "kept")
    (folder / "proofs" / "mine.txt").write_text("a file of the user's")
    (folder / "other").mkdir()
    return folder


def written(path: Path, days: int) -> None:
    """Let an entry be as old as that."""
    moment = time.time() - days * DAY
    os.utime(path, (moment, moment))


def counts(call: Entry, *words: str) -> dict[str, int]:
    _, out, _ = call("cache", *words, "--json")
    return {one["kind"]: one["entries"] for one in json.loads(out)["kinds"]}


def test_what_it_holds(kept: Path, call: Entry) -> None:
    assert counts(call) == {"texts": 3, "proofs": 1, "modules": 1}
    assert counts(call, "info", "--kind", "proofs") == {"proofs": 1}
    code, out, err = call("cache")
    assert (code, err) == (0, "")
    assert out.startswith(f"{kept}\n")
    # Of each text there are its code, the end of a line, and a thousand letters.
    assert re.search(r"^texts +3 +3\.(19|2) kB +just now ", out, re.MULTILINE)


def test_all_is_removed_but_the_key_and_what_is_not_of_dtpoly(kept: Path, call: Entry) -> None:
    key = (kept / "key").read_bytes()
    assert call("cache", "clear", "--dry-run")[1].startswith("would remove 5 entries, ")
    assert counts(call) == {"texts": 3, "proofs": 1, "modules": 1}
    code, out, err = call("cache", "clear")
    assert (code, err) == (0, "")
    assert out.startswith("removed 5 entries, ")
    assert out.endswith("; 0 entries left\n")
    assert counts(call) == {"texts": 0, "proofs": 0, "modules": 0}
    assert (kept / "key").read_bytes() == key
    assert (kept / "proofs" / "mine.txt").exists()
    assert (kept / "other").exists()


def test_one_kind_is_removed(kept: Path, call: Entry) -> None:
    assert kept.is_dir()
    assert call("cache", "clear", "--kind", "texts", "--kind", "modules")[0] == 0
    assert counts(call) == {"texts": 0, "proofs": 1, "modules": 0}


def test_what_is_old_is_removed(kept: Path, call: Entry) -> None:
    (old, *_) = sorted((kept / "texts").iterdir())
    written(old, 3)
    assert call("cache", "prune", "--older", "4d")[1].startswith("removed 0 entries")
    code, out, _ = call("cache", "prune", "--older", "2d", "--json")
    said = json.loads(out)
    assert (code, said["removed"]["entries"], said["left"]["entries"]) == (0, 1, 4)
    assert not old.exists()


def test_the_oldest_are_removed_until_the_rest_is_small(kept: Path, call: Entry) -> None:
    texts = sorted((kept / "texts").iterdir())
    for age, path in enumerate(texts):
        written(path, age)
    assert call("cache", "prune", "--kind", "texts", "--most", "2.5kB")[0] == 0
    assert [path.exists() for path in texts] == [True, True, False]


def test_what_is_removed_is_made_again(kept: Path, call: Entry) -> None:
    assert kept.is_dir()
    assert cache.remembered(["text 0"], lambda: "new") == "x" * 1000
    call("cache", "clear")
    assert cache.remembered(["text 0"], lambda: "new") == "new"


def test_what_an_ended_process_left_is_removed(kept: Path, call: Entry) -> None:
    left = kept / "texts" / f".{'a' * 32}.{'b' * 32}"
    left.write_text("half")
    call("cache", "clear")
    assert not left.exists()


def test_without_a_cache_there_is_nothing(
    tmp_path: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "none"))
    assert counts(call) == {"texts": 0, "proofs": 0, "modules": 0}
    assert call("cache", "clear")[0] == 0
    assert not (tmp_path / "none").exists()


def test_a_folder_of_others_is_no_cache(kept: Path, call: Entry) -> None:
    kept.chmod(0o777)
    code, out, err = call("cache", "clear")
    assert (code, out) == (1, "")
    assert err == f"error: '{kept}' is no cache: it is no folder that only you can write to\n"
    assert len([*(kept / "texts").iterdir()]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("prune",), "say with --older or --most"),
        (("clear", "--older", "1d"), "are for dtpoly cache prune"),
        (("info", "--dry-run"), "info removes nothing"),
        (("prune", "--older", "1 week"), "'1 week' is no age: take 90min, 12h or 30d"),
        (("prune", "--most", "some"), "'some' is no size: take 500MB or 2GB"),
        (("shrink",), "'shrink' is not one of"),
    ],
)
def test_usage(words: tuple[str, ...], message: str, call: Entry) -> None:
    code, out, err = call("cache", *words)
    assert (code, out) == (2, "")
    assert message in err
