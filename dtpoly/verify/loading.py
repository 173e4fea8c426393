"""A file in; Unread, if Python would not find what it needs, where and when it needs that."""

from __future__ import annotations

import ast

from dtpoly.verify.file import MODULES, File
from dtpoly.verify.known import needed_by
from dtpoly.verify.values import Unread

DESCRIPTORS = "triton.tools.tensor_descriptor"


def check_order(file: File) -> None:
    """What is called while the file is loaded stands below all that it needs. Raises Unread."""
    places = {one: at for at, one in enumerate(file.texts)}
    for one, value in file.values.items():
        if not isinstance(value, ast.Call):
            continue
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        needed = {*needed_by(file, ast.unparse(value.func)), *(names & places.keys())}
        late = [found for found in sorted(needed) if places[found] > places[one]]
        if late or not names <= places.keys() | MODULES:
            what = late[0] if late else sorted(names - places.keys())[0]
            raise Unread(value.lineno, f"'{one}' needs '{what}', which is not there yet")


def check_imports(file: File) -> None:
    """Modules that are named are imported. Raises Unread."""
    parts = (*file.plain.values(), *file.jitted.values(), *file.values.values())
    nodes = [node for part in parts for node in ast.walk(part)]
    named = {node.id for node in nodes if isinstance(node, ast.Name)} & MODULES
    dotted = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    for one in sorted((named | (dotted & {DESCRIPTORS})) - file.imported):
        raise Unread(1, f"'{one}' is not imported")
