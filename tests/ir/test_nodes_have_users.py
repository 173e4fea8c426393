"""Each node of the kernel IR is made by something: by code generation, or by kernels by hand.

The steps of copies that go on while a kernel computes are made by tests alone, so far: they are
validated, and not printed.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

pytestmark = pytest.mark.always

ROOT = Path(__file__).parents[2]
NODES = ("kernel", "launch_steps", "tile_values", "body")
COPIES = "copy_steps"
# What these files define are answers about a kernel, and not parts of one.
ANSWERS = {
    *("bounds_text", "check", "copy_rules", "kinds", "lane_scans", "step_dependences"),
    "tile_types",
}


def classes(module: str) -> list[str]:
    """The dataclasses of a file of the IR."""
    tree = ast.parse((ROOT / "dtpoly" / "ir" / f"{module}.py").read_text())
    found = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.decorator_list)
    return [node.name for node in found]


def made(paths: Iterable[Path]) -> set[str]:
    """The names of what some files call, and so make."""
    calls = (
        node.func
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    )
    return {node.id for node in calls if isinstance(node, ast.Name)}


@pytest.mark.parametrize("module", NODES)
def test_code_generation_makes_each_node(module: str) -> None:
    # A tiled loop is made by the function `tiled`, which code generation calls.
    by_codegen = made((*(ROOT / "codegen").glob("*.py"), ROOT / "dtpoly" / "ir" / "tiled.py"))
    assert [one for one in classes(module) if one not in by_codegen] == []


def test_kernels_by_hand_make_each_step_of_copies() -> None:
    assert classes(COPIES)
    by_hand = made(sorted(Path(__file__).parent.glob("*.py")))
    assert [one for one in classes(COPIES) if one not in by_hand] == []


def test_all_files_with_nodes_are_looked_at() -> None:
    with_classes = {
        path.stem
        for path in (ROOT / "dtpoly" / "ir").glob("*.py")
        if path.stem not in (*NODES, COPIES) and classes(path.stem)
    }
    assert with_classes == ANSWERS
