"""Each thing that tests change of dtpoly, Triton, torch or Python is listed in docs/testing.md.

Whoever changes one more has to say there why, and what users have instead.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import DOCS

ROOT = Path(__file__).parent
PATCHES = ("setattr", "setitem", "delattr", "object", "dict", "patch")
OWNERS = ("monkeypatch", "patch", "mock", "mock.patch", "unittest.mock.patch")
# Modules that users have, too: what is assigned to their attributes is changed for all.
MODULES = ("triton", "interpreter", "torch", "driver", "dtpoly", "os", "sys")
ROW = re.compile(r"^\| `(tests/[^`]*)` \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)


def changed_in(path: Path) -> Iterator[str]:
    """Yield what a file of tests changes, each by a word or two."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=how), args=[what, *more]) if (
                how in PATCHES and ast.unparse(owner) in OWNERS
            ):
                name = ast.unparse(what).strip("'\"")
                if more and isinstance(more[0], ast.Constant) and how in ("object", "setattr"):
                    name = f"{name}.{more[0].value!s}"
                yield name
            case ast.Call(func=ast.Name(id="setattr"), args=[what, *_]):
                yield ast.unparse(what)
            case ast.Call(
                func=ast.Attribute(attr="filterwarnings" | "simplefilter"),
                args=[ast.Constant(value=str() as said), *_],
            ) if said.startswith("ignore"):
                yield said.partition(":")[0]
            case ast.Assign(targets=[ast.Attribute() as target]) if (
                ast.unparse(target).partition(".")[0] in MODULES
            ):
                yield ast.unparse(target)
            case _:
                pass


@pytest.mark.long
def test_each_change_is_on_the_page() -> None:
    files = {
        str(path.relative_to(ROOT.parent)): set(changed_in(path))
        for path in sorted(ROOT.rglob("*.py"))
    }
    found = {path for path, names in files.items() if names}
    page = (DOCS / "testing.md").read_text()
    listed = {path: (why, users) for path, why, users in ROW.findall(page)}
    assert found == listed.keys()
    for path, (why, users) in listed.items():
        for name in files[path]:
            last = name.split(".")[-1].strip("'\"")[:40].replace("|", "")
            assert last in why, f"docs/testing.md does not say of {path} that it changes '{name}'"
        assert users.strip()


@pytest.mark.long
def test_nothing_is_changed_of_the_interpreter() -> None:
    """Kernels compute there as at users' places: files mend Triton's interpreter themselves."""
    for path in ROOT.rglob("*.py"):
        names = " ".join(changed_in(path)) if path.name != "older_triton.py" else ""
        assert not re.search(r"\b(interpreter|builder|ReduceOps|TritonSemantic|semantic)\b", names)
