"""Trees of nodes as text and as data."""

import json
from dataclasses import dataclass

from dtpoly.algorithm.expressions import Affine, Apply, Float, Read
from dtpoly.algorithm.program import Argument, Directive, Func, Label, Program, Split, Tensor
from dtpoly.frontend.syntax import BinarySyntax, NameSyntax, NumberSyntax
from dtpoly.render.shown_tree import show_tree, tree_data
from dtpoly.source import Source, Span

SOURCE = Source("a.dt", "x +\n 2")


def span(start: int, end: int) -> Span:
    return Span(SOURCE, start, end)


SUM = BinarySyntax(
    NameSyntax("x", span(0, 1)),
    NameSyntax("+", span(2, 3)),
    NumberSyntax("2", span(5, 6)),
    span(0, 6),
)


def test_one_node_a_line() -> None:
    assert list(show_tree(SUM)) == [
        "Binary 1:1-2:3",
        "  left: Name x 1:1-1:2",
        "  operator: Name + 1:3-1:4",
        "  right: Number 2 2:2-2:3",
    ]


@dataclass(frozen=True)
class Holder:
    """One field of each kind that a tree meets."""

    source: Source
    names: frozenset[str]
    items: tuple[object, ...]
    nothing: NameSyntax | None = None


def test_every_kind_of_field() -> None:
    root = Holder(SOURCE, frozenset({"b", "a\x1b"}), (SUM.left, 3))
    assert list(show_tree(root)) == [
        "Holder a.dt",
        "  names: a␛",
        "  names: b",
        "  items: Name x 1:1-1:2",
        "  items: 3",
    ]
    assert tree_data(root) == {
        "kind": "Holder",
        "file": "a.dt",
        "names": ["a\x1b", "b"],
        "items": [tree_data(SUM.left), 3],
        "nothing": None,
    }


def test_a_program_as_data_is_json() -> None:
    body = Apply("mul", (Read("A", (Affine((("x", 2),), 1),)), Float(float("inf"))))
    directive = Directive("f", "block", (Argument("x", Split("xi", 4)),))
    program = Program((Label("x", span=span(0, 1)),), (Tensor("A"),), (Func("f", ("x",), body),))
    program = Program(program.labels, program.inputs, program.funcs, (directive,))
    data = tree_data(program)
    read = json.loads(json.dumps(data, allow_nan=False))
    assert read == data
    assert read["labels"] == [
        {
            "kind": "Label",
            "name": "x",
            "reducible": False,
            "size": None,
            "place": {
                "file": "a.dt",
                "start": {"line": 1, "column": 1, "offset": 0},
                "end": {"line": 1, "column": 2, "offset": 1},
            },
            "range": None,
        }
    ]
    assert read["funcs"] == [
        {
            "kind": "Func",
            "name": "f",
            "labels": ["x"],
            "body": {
                "kind": "Apply",
                "operation": "mul",
                "operands": [
                    {
                        "kind": "Read",
                        "tensor": "A",
                        "indices": [{"kind": "Affine", "terms": [["x", 2]], "constant": 1}],
                        "padding": None,
                    },
                    {"kind": "Float", "value": "inf"},
                ],
            },
            "dtype": None,
            "into": None,
            "when": [],
        }
    ]
