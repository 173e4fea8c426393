"""Texts become modules; the cache never decides what runs."""

import inspect
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from dtpoly.runtime.cache import compiler, folder, key, remembered
from dtpoly.runtime.load import load_module
from tests.cli.process import ended, environment

TEXT = "def double(x):\n    return 2 * x\n"


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file() and path.name != "key"]


def test_a_module_shows_its_source(cache_folder: Path) -> None:
    module = load_module(TEXT, "twice")
    assert module.double(4) == 8
    assert inspect.getsource(module.double) == TEXT
    (file,) = files(cache_folder)
    assert module.__file__ == str(file)
    assert file.name == "twice.py"


def test_the_same_text_is_the_same_module() -> None:
    module = load_module(f"{TEXT}# same\n", "twice")
    assert load_module(f"{TEXT}# same\n", "twice") is module
    assert load_module(f"{TEXT}# same\n", "twice", "hip:gfx942") is not module
    assert load_module(f"{TEXT}# same\n", "thrice") is not module


def test_what_lies_in_the_cache_does_not_run(cache_folder: Path) -> None:
    text = f"{TEXT}# planted\n"
    path = cache_folder / "modules" / key([text, "twice", ""]) / "twice.py"
    path.parent.mkdir(parents=True)
    path.write_text("raise SystemExit\n")
    assert load_module(text, "twice").double(1) == 2
    assert path.read_text() == text


def test_without_a_place_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "file"))
    module = load_module(f"{TEXT}# nowhere\n", "twice")
    assert inspect.getsource(module.double) == TEXT
    assert remembered(["nowhere"], lambda: "made") == "made"


def test_a_text_that_fails_is_not_kept_as_a_module() -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            load_module("1 / 0\n", "wrong")


def test_a_text_is_made_once() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("once")
        return "text\n"

    assert remembered(["a", "b"], make) == remembered(["a", "b"], make) == "text\n"
    assert made == ["once"]
    assert remembered(["ab"], make) == "text\n"
    assert made == ["once", "once"]


@pytest.mark.parametrize("damage", [b"", b"\xff\n", b"text", b"0" * 64 + b"\nother"])
def test_a_damaged_file_is_made_anew(cache_folder: Path, damage: bytes) -> None:
    remembered(["a"], lambda: "text\n")
    (file,) = files(cache_folder)
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert remembered(["a"], lambda: "text\n") == "text\n"
    assert file.read_bytes() == whole


def test_another_compiler_makes_it_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert remembered(["a"], lambda: "old") == "old"
    monkeypatch.setattr("dtpoly.runtime.cache.__version__", "99.0")
    compiler.cache_clear()
    try:
        assert remembered(["a"], lambda: "new") == "new"
    finally:
        compiler.cache_clear()


def test_where_the_cache_is() -> None:
    assert folder({"DTPOLY_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert folder({"XDG_CACHE_HOME": "/b"}) == Path("/b/dtpoly")
    assert folder({}) == Path.home() / ".cache" / "dtpoly"


def test_processes_at_the_same_time(cache_folder: Path) -> None:
    code = (
        "from dtpoly.runtime.load import load_module\n"
        "from dtpoly.runtime.cache import remembered\n"
        "for i in range(50):\n"
        "    text = f'def number():\\n    return {i}\\n' + '#' * 50_000\n"
        "    assert load_module(text, 'many').number() == i\n"
        "    assert remembered([str(i)], lambda: text) == text\n"
    )
    command = [sys.executable, "-c", code]
    env = environment(DTPOLY_CACHE_DIR=str(cache_folder))
    with ExitStack() as all_ended:
        made = (subprocess.Popen(command, env=env) for _ in range(4))
        started = [all_ended.enter_context(ended(one)) for one in made]
        assert [one.wait(timeout=60) for one in started] == [0, 0, 0, 0]
    found = files(cache_folder)
    assert len(found) == 100
    assert not [path for path in found if path.name.startswith(".")]
