"""Whose text runs, where a file was changed and Python or a person keeps something of it."""

import importlib
import importlib.util
import linecache
import os
import pickle
import runpy
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

TEXT = (
    "Func f; In A; Var x; RVar y; f[x] = rmax(A[x, y], y) + ADDED.0; f.block(x:ROWS); f.compile();"
    "f.tensorize(x:0, y:16);"
)
OLD, NEW = 1, 2  # what the two files add


def text(added: int) -> str:
    """Return a file that adds this; it computes 4 or 8 rows at a time, and has the same length."""
    source = TEXT.replace("ADDED", str(added)).replace("ROWS", str(4 * added))
    return code_of(judge(load(Source("f.dt", source)), DIRECTIVES).scheduled).text


def put(path: Path, added: int, second: int = 10**9) -> None:
    path.write_text(text(added), encoding="utf-8")
    os.utime(path, (second, second))


def added_by(function: Any) -> float:
    """Return what a function adds, at a size which only the old file's tiles divide."""
    A = torch.arange(20 * 32.0).reshape(20, 32)
    difference = function(A) - A.amax(1)
    assert len(difference.unique()) == 1, difference
    return float(difference[0])


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let Python import from a folder, and keep what it compiles; return a name for a module."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return f"kept_{tmp_path.name}"


def imported(name: str) -> Any:
    importlib.invalidate_caches()
    return importlib.import_module(name)


def anew(name: str) -> Any:
    """Import a module as another process does."""
    del sys.modules[name]
    linecache.clearcache()
    return imported(name)


def test_both_files_have_one_length() -> None:
    assert len(text(OLD)) == len(text(NEW))


def test_what_python_compiled_of_another_text_is_refused(tmp_path: Path, name: str) -> None:
    """Python takes a file of the same second and the same length for the one before."""
    path = tmp_path / f"{name}.py"
    put(path, OLD)
    assert added_by(imported(name).f) == OLD
    put(path, NEW)
    with pytest.raises(RuntimeError, match=r"is not the text that Python ran.*__pycache__"):
        anew(name)
    put(path, NEW, 10**9 + 1)
    assert added_by(imported(name).f) == NEW


@pytest.mark.parametrize("is_called", [True, False])
def test_an_old_function_of_a_module_that_is_there_again(
    tmp_path: Path, name: str, is_called: bool
) -> None:
    path = tmp_path / f"{name}.py"
    put(path, OLD)
    module = imported(name)
    old = module.f
    if is_called:
        assert added_by(old) == OLD
    importlib.reload(module)
    assert added_by(old) == OLD  # the text is the same
    older, old = old, module.f
    put(path, NEW, 10**9 + 1)
    assert added_by(old) == OLD
    importlib.reload(module)
    for one in (old, older):
        with pytest.raises(RuntimeError, match="take the function from the module again"):
            one(torch.ones(20, 32))
    assert added_by(module.f) == NEW
    assert pickle.loads(pickle.dumps(module.f)) is module.f


def test_two_modules_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    made = list[Any]()
    for added in (OLD, NEW):
        put(path, added, 10**9 + added)
        spec = importlib.util.spec_from_file_location(f"two_{added}", path)
        assert spec is not None
        assert spec.loader is not None
        made.append(importlib.util.module_from_spec(spec))
        spec.loader.exec_module(made[-1])
    for _ in range(2):
        assert [added_by(one.f) for one in made] == [OLD, NEW]
        linecache.clearcache()
        path.unlink(missing_ok=True)


def test_a_file_that_is_run(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    put(path, OLD)
    old = runpy.run_path(str(path))["f"]
    put(path, NEW, 10**9 + 1)
    new = runpy.run_path(str(path))["f"]
    for _ in range(2):
        assert [added_by(old), added_by(new)] == [OLD, NEW]
        linecache.clearcache()


def test_a_file_in_an_archive(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "files.zip"
    sys.path.insert(0, str(archive))
    try:
        made = list[Any]()
        for added in (OLD, NEW):
            with zipfile.ZipFile(archive, "w") as file:
                file.writestr(f"{name}.py", text(added))
            made.append(anew(name) if made else imported(name))
        for _ in range(2):
            assert [added_by(one.f) for one in made] == [OLD, NEW]
            linecache.clearcache()
    finally:
        sys.path.remove(str(archive))
