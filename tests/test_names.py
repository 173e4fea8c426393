"""Each class and each file of the package has a name that no other one has."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.always

ROOT = Path(__file__).parent.parent
ROOMS = ("dtpoly", "frontend", "codegen")
LINKS = (ROOT / "dtpoly" / "frontend", ROOT / "dtpoly" / "codegen")  # rooms that are listed already
# Python says what the files of these names are for.
NAMED_BY_PYTHON = ("__init__.py", "__main__.py")


def modules() -> list[Path]:
    """Return every file of the package once."""
    found = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return [path for path in found if not any(path.is_relative_to(link) for link in LINKS)]


def test_each_room_is_looked_at() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in modules()} == set(ROOMS)
    assert all(link.is_dir() for link in LINKS)


@pytest.mark.long
def test_no_class_name_stands_twice() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert len(places) > len(ROOMS)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_file_name_stands_twice() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules():
        if path.name not in NAMED_BY_PYTHON:
            places[path.name].append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


# One word that says nothing of what is in a file.
RIDDLES = {
    *("vain", "fours", "held", "said", "told", "between", "beyond", "ahead", "again", "made"),
    *("kept", "alone", "alike", "room", "whole", "listed", "judged", "private", "together"),
}
# These rooms still have such names.
OLD_ROOMS = ("dtpoly/carried", "dtpoly/verify", "codegen", "frontend")


def test_a_file_name_says_what_is_in_it() -> None:
    places = [*modules(), *sorted((ROOT / "benchmarks").rglob("*.py"))]
    found = [str(path.relative_to(ROOT)) for path in places if path.stem in RIDDLES]
    assert [place for place in found if not place.startswith(OLD_ROOMS)] == []
