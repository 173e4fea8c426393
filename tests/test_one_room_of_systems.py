"""What differs between operating systems is used in `dtpoly/system` and nowhere else.

The syntax trees of all files are read for it: modules, functions and flags that only POSIX has,
paths that only POSIX has, and text files whose encoding or ends of lines the system would choose.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.process import ROOT
from tests.no_posix.posix_only import GONE, MODULES, OTHERWISE

pytestmark = pytest.mark.always

ROOM = ROOT / "dtpoly" / "system"

FOLDERS = ("dtpoly", "frontend", "codegen")
PLACES = ("/tmp", "/proc", "/dev", "/etc", "/var", "/usr")
LINKS = ("symlink_to", "hardlink_to", "rename", "lchmod", "readlink")
NAMES = {word: {*GONE.get(word, ()), *OTHERWISE.get(word, ())} for word in {*GONE, *OTHERWISE}}
TESTS_FOR_IT = ("hasattr", "getattr")


def files() -> list[Path]:
    """Return all files of the package but those of the room."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in found if ROOM not in path.parents and not is_linked(path))


def is_linked(path: Path) -> bool:
    """Return whether the links dtpoly/frontend and dtpoly/codegen lead to it."""
    return path.relative_to(ROOT).parts[:2] in (("dtpoly", "frontend"), ("dtpoly", "codegen"))


def outside(text: str) -> Iterator[str]:
    """Yield what a text has that belongs into the room, and the line."""
    for node in ast.walk(ast.parse(text)):
        if found := [*_of_systems(node), *_of_texts(node)]:
            yield from (f"line {getattr(node, 'lineno', 0)}: {one}" for one in found)


def _of_systems(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (one.name for one in names if one.name.split(".")[0] in MODULES)
        case ast.ImportFrom(module=str(module), names=names):
            if module in MODULES:
                yield module
            yield from (
                f"{module}.{one.name}" for one in names if one.name in NAMES.get(module, ())
            )
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in NAMES.get(owner, ()):
            yield f"{owner}.{name}"
        case ast.Call(func=ast.Attribute(attr=name)) if name in LINKS:
            yield f".{name}"
        case ast.Call(
            func=ast.Name(id=how), args=[ast.Name(id=owner), ast.Constant(value=str(name)), *_]
        ) if how in TESTS_FOR_IT and name in NAMES.get(owner, ()):
            yield f"{how}({owner}, {name})"
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if name in MODULES:
            yield f"a call with '{name}'"
        case ast.Constant(value=str(text)) if text.startswith(PLACES):
            yield f"the path {text.split()[0]}"
        case ast.Call(args=[ast.List(elts=[ast.Constant(value="ps"), *_]), *_]):
            yield "the program ps"
        case _:
            pass


def _of_texts(node: ast.AST) -> Iterator[str]:
    """Yield text files that are opened without a word on how they are written."""
    match node:
        case ast.Call(func=ast.Name(id="open"), args=[_, *rest], keywords=keywords):
            yield from _opened(rest, keywords)
        case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str()), *_]):
            yield from _opened(node.args, node.keywords)
        case ast.Call(func=ast.Attribute(attr="read_text"), args=[], keywords=keywords):
            if "encoding" not in _words(keywords):
                yield "read_text without encoding"
        case ast.Call(func=ast.Attribute(attr="write_text"), args=[_], keywords=keywords):
            if not {"encoding", "newline"} <= _words(keywords):
                yield "write_text without encoding and newline"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess")), keywords=keywords):
            is_text = {"text", "universal_newlines"} & _words(keywords)
            if is_text and "encoding" not in _words(keywords):
                yield "a text of a process without encoding"
        case _:
            pass


def _opened(rest: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[str]:
    mode = next((one.value for one in rest if isinstance(one, ast.Constant)), "r")
    words = _words(keywords)
    if "b" not in str(mode) and "encoding" not in words:
        yield "open without encoding"
    elif {*str(mode)} & {*"wax"} and "b" not in str(mode) and "newline" not in words:
        yield "open for writing without newline"


def _words(keywords: list[ast.keyword]) -> set[str]:
    return {one.arg or "" for one in keywords}


def test_nothing_of_one_system_is_outside_of_the_room() -> None:
    every = files()
    assert len(every) > 500
    found = {
        f"{path.relative_to(ROOT)}, {one}"
        for path in every
        for one in outside(path.read_text(encoding="utf-8"))
    }
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "import fcntl",
        "from resource import getrusage",
        "import os\nos.fork()",
        "import os\nos.replace('a', 'b')",
        "from os import kill",
        "import signal\nsignal.SIGALRM",
        "import os\nhasattr(os, 'killpg')",
        "from importlib import import_module\nimport_module('pwd')",
        "from pathlib import Path\nPath('a').symlink_to('b')",
        "name = '/tmp/kept'",
        "import subprocess\nsubprocess.run(['ps', '-e'])",
        "open('a')",
        "open('a', 'w', encoding='utf-8')",
        "from pathlib import Path\nPath('a').read_text()",
        "from pathlib import Path\nPath('a').write_text('b', encoding='utf-8')",
        "from pathlib import Path\nPath('a').open('w')",
        "import subprocess\nsubprocess.run(['a'], text=True)",
    ],
)
def test_it_would_be_found(text: str) -> None:
    assert [*outside(text)]


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.path.join('a', 'b')",
        "open('a', 'rb')",
        "open('a', 'w', encoding='utf-8', newline='')",
        "from pathlib import Path\nPath('a').read_text('utf-8')",
        "import signal\nsignal.SIGINT",
        "'a'.replace('b', 'c')",
    ],
)
def test_what_all_systems_have_is_not(text: str) -> None:
    assert not [*outside(text)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has none of it to begin with")
def test_the_lists_name_what_is_there() -> None:
    """A name that is spelled wrong would be found nowhere."""
    for word, names in OTHERWISE.items():
        missing = [name for name in names if not hasattr(__import__(word), name)]
        assert not missing
