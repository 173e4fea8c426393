"""`dtpoly show`: the stages of a file."""

import json
from pathlib import Path

from dtpoly.compile import load
from dtpoly.schedule.resolve import scheduled
from dtpoly.schedule.tree_text import show_tree
from dtpoly.source import Source
from tests.cli.conftest import Entry
from tests.cli.process import SOFTMAX, WRONG


def test_program_is_dt_text_again(call: Entry, good: Path) -> None:
    code, out, err = call("show", str(good))
    assert (code, err) == (0, "")
    assert load(Source("shown", out)) == load(Source("given", SOFTMAX))
    assert call("show", "--stage", "program", str(good))[1] == out


def test_syntax_is_a_tree(call: Entry) -> None:
    code, out, err = call("show", "--stage", "syntax", "-", stdin=b"Func f: f32;\nf[] = 1;")
    assert (code, err) == (0, "")
    assert out.splitlines()[:7] == [
        "File <stdin>",
        "  statements: Declaration 1:1-1:12",
        "    word: Name Func 1:1-1:5",
        "    items: Declared",
        "      name: Name f 1:6-1:7",
        "      dtype: Name f32 1:9-1:12",
        "  statements: Definition 2:1-2:8",
    ]


def test_json_of_both_stages(call: Entry, good: Path) -> None:
    for stage, key in (("syntax", "statements"), ("program", "funcs")):
        code, out, _ = call("show", "--stage", stage, "--json", str(good))
        document = json.loads(out)
        assert code == 0
        assert (document["version"], document["stage"]) == (1, stage)
        assert document[stage][key]


def test_a_wrong_file_has_a_tree_but_no_program(call: Entry, wrong: Path) -> None:
    code, out, err = call("show", str(wrong))
    assert (code, out) == (1, "")
    assert f"{wrong}:4:15" in err
    code, out, err = call("show", "--stage", "syntax", str(wrong))
    assert code == 1
    assert "body: Binary 4:8-4:16" in out
    assert f"{wrong}:4:15" in err


def test_deep_expressions(call: Entry) -> None:
    deep = WRONG.replace("q", "-(" * 60 + "A[x]" + ")" * 60)
    for stage in ("syntax", "program"):
        code, out, _ = call("show", "--stage", stage, "--json", "-", stdin=deep.encode())
        assert code == 0
        assert out.count('"neg"' if stage == "program" else '"Unary"') == 60


def test_an_unknown_stage_is_usage(call: Entry, good: Path) -> None:
    code, _, err = call("show", "--stage", "model", str(good))
    assert code == 2
    assert "syntax" in err


def test_the_program_says_where_each_size_comes_from(call: Entry) -> None:
    text = b"Func f; In A; Var x, y; f[x, y] = A[x + 2] * y; f.compile();"
    out = call("show", "-", stdin=text)[1]
    comments = [line for line in out.splitlines() if line.startswith("#")]
    assert comments == ["# size of x from A.shape[0] (read at x + 2)", "# size of y must be passed"]


def test_the_tree_has_one_node_a_line(call: Entry, good: Path) -> None:
    code, out, err = call("show", "--stage", "tree", str(good))
    assert (code, err) == (0, "")
    program = load(Source("given", SOFTMAX))
    assert out == show_tree(scheduled(program).kernels) + "\n"
    assert out.startswith("kernel ")
    document = json.loads(call("show", "--stage", "tree", "--json", str(good))[1])
    names = [kernel["name"] for kernel in document["tree"]]
    assert names == [kernel.name for kernel in scheduled(program).kernels]


def test_a_program_without_funcs_has_an_empty_tree(call: Entry) -> None:
    assert call("show", "--stage", "tree", "-", stdin=b"Var x;")[:2] == (0, "")
    document = json.loads(call("show", "--stage", "tree", "--json", "-", stdin=b"Var x;")[1])
    assert document["tree"] == []
