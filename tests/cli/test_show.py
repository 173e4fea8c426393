"""`dtpoly show`: the stages of a file."""

import json
from pathlib import Path
from xml.etree import ElementTree

import islpy as isl
import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.applied_directives import scheduled
from dtpoly.schedule.tree_text import show_tree
from dtpoly.source import Source
from tests.cli.conftest import Entry
from tests.cli.process import ROOT, SOFTMAX, WRONG
from tests.conftest import Golden
from tests.schedule.told import MAP, TWO_PRODUCTS


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
    code, _, err = call("show", "--stage", "modle", str(good))
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
    assert out == show_tree(scheduled(program, DIRECTIVES).kernels) + "\n"
    assert out.startswith("kernel ")
    document = json.loads(call("show", "--stage", "tree", "--json", str(good))[1])
    names = [kernel["name"] for kernel in document["tree"]]
    assert names == [kernel.name for kernel in scheduled(program, DIRECTIVES).kernels]


def test_a_program_without_funcs_has_an_empty_tree(call: Entry) -> None:
    assert call("show", "--stage", "tree", "-", stdin=b"Var x;")[:2] == (0, "")
    document = json.loads(call("show", "--stage", "tree", "--json", "-", stdin=b"Var x;")[1])
    assert document["tree"] == []


BLOCKS = MAP + "f.block(x:2, y:2);"
# Every iteration over n would compute all of mm again.
REFUSED = TWO_PRODUCTS + "mm.fuse_at(_2mm, n);"


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    path = tmp_path / "blocks.dt"
    path.write_text(BLOCKS)
    return path


def test_statements(call: Entry, good: Path, golden: Golden) -> None:
    code, out, err = call("show", "--stage", "model", str(good))
    assert (code, err) == (0, "")
    golden("show/softmax.model.txt", out)
    document = json.loads(call("show", "--stage", "model", "--json", str(good))[1])["model"]
    names = [statement["name"] for statement in document["statements"]]
    assert names[:5] == ["m.y.init", "m.y.update", "m.y.combine", "m", "e"]
    assert document["sizes"] == {"x": "N_x", "y": "N_y"}


def test_statements_for_isl(call: Entry, good: Path) -> None:
    code, out, err = call("show", "--stage", "model", "--form", "isl", str(good))
    assert (code, err) == (0, "")
    domains, writes, reads = out.split("\n\n")
    assert isl.UnionSet(domains).get_set_list().n_set() == 10
    assert isl.UnionMap(writes).get_map_list().n_map() == 10
    assert isl.UnionMap(reads).get_map_list().n_map() == 10


def test_dependences_as_sentences(call: Entry, good: Path, golden: Golden) -> None:
    code, out, err = call("show", "--stage", "deps", str(good))
    assert (code, err) == (0, "")
    golden("show/softmax.deps.txt", out)


def test_dependences_for_isl(call: Entry, good: Path, golden: Golden) -> None:
    code, out, err = call("show", "--stage", "deps", "--form", "isl", str(good))
    assert (code, err) == (0, "")
    golden("show/softmax.deps.isl.txt", out)
    listed = json.loads(call("show", "--stage", "deps", "--json", str(good))[1])["deps"]
    pairs = {(one["source"]["statement"], one["target"]["statement"]) for one in listed}
    assert isl.UnionMap(out).get_map_list().n_map() == len(pairs)
    assert out.count("#") == len(listed) + 1


def test_dependences_as_data(call: Entry, good: Path) -> None:
    listed = json.loads(call("show", "--stage", "deps", "--json", str(good))[1])["deps"]
    (one,) = [d for d in listed if d["array"] == "e" and d["target"]["func"] == "softmax"]
    relation = one.pop("relation")
    assert isl.Map(relation).get_tuple_name(isl.dim_type.out) == "softmax"
    assert one == {
        "kind": "flow",
        "array": "e",
        "source": {"statement": "e", "func": "e", "role": "value", "labels": ["x", "y"], "line": 7},
        "target": {
            "statement": "softmax",
            "func": "softmax",
            "role": "value",
            "labels": ["x", "y"],
            "line": 9,
        },
        "distance": {"x": [0, 0], "y": [0, 0]},
        "direct": True,
    }


def test_dependences_as_a_picture(call: Entry, good: Path) -> None:
    code, out, err = call("show", "--stage", "deps", "--form", "svg", str(good))
    assert (code, err) == (0, "")
    words = "".join(ElementTree.fromstring(out).itertext())
    assert "softmax[x, y], line 9" in words
    assert "flow: 'softmax' (line 9) reads e[x, y], which 'e' (line 7) writes" in words


def test_the_tree_as_a_picture(call: Entry, good: Path) -> None:
    code, out, err = call("show", "--stage", "tree", "--form", "svg", str(good))
    assert (code, err) == (0, "")
    texts = [part.text for part in ElementTree.fromstring(out).iter() if part.tag.endswith("text")]
    shown = call("show", "--stage", "tree", str(good))[1].split()
    assert " ".join(text for text in texts if text).replace("reduction ", "").split() == shown


def test_the_map(call: Entry, blocks: Path) -> None:
    code, out, err = call("show", "--stage", "map", "--size", "x=4", "--size", "y=3", str(blocks))
    assert (code, err) == (0, "")
    assert out.splitlines()[:7] == [
        "f[x, y], 4 programs",
        "",
        "  program: x down, y across",
        "       0  1  2",
        "  0    0  0  2",
        "  1    0  0  2",
        "  2    1  1  3",
    ]
    document = json.loads(
        call("show", "--stage", "map", "--json", "--size", "x=1,y=3", str(blocks))[1]
    )
    (table,) = document["map"]
    assert table["programs"] == 2
    assert table["elements"][2] == {"at": [0, 2], "program": 1, "iteration": 0, "lane": []}


def test_the_map_of_panels_says_what_it_does_not_show(call: Entry) -> None:
    text = (
        b"Func f, g; In A; Var x; g[x] = A[x]; f[x] = exp(g[x]); g.block(x:4); f.panels(x:3);"
        b"f.compile();"
    )
    asked = ("show", "--stage", "map", "--size", "x=8", "-")
    out = call(*asked, stdin=text)[1]
    first, _, second, *_ = out.splitlines()
    assert first.startswith(
        "'g' and 'f' are computed in panels of 3 of x, which this does not show"
    )
    assert second == "g[x], 2 programs"
    assert "which this does not show" in call(*asked, "--form", "svg", stdin=text)[1]
    document = json.loads(call(*asked, "--json", stdin=text)[1])
    assert [table["panels"] for table in document["map"]] == [{"label": "x", "size": 3}] * 2


def test_the_map_of_a_directive_of_ones_own(call: Entry) -> None:
    text = MAP + "f.skew(x, y);"
    plugin = str(ROOT / "examples" / "skew.py")
    asked = ("show", "--stage", "map", "--size", "x=3,y=3", "--plugin", plugin)
    code, out, err = call(*asked, "-", stdin=text.encode())
    assert (code, err) == (0, "")
    # Along diagonals.
    assert out.splitlines()[-3:] == ["  0    0  2  5", "  1    1  4  7", "  2    3  6  8"]


def test_a_file_to_write_to_decides_the_form(call: Entry, blocks: Path, tmp_path: Path) -> None:
    asked = ("show", "--stage", "map", "--size", "x=4,y=4", str(blocks))
    for name, form in (("map.svg", "svg"), ("map.json", "json"), ("map.txt", "text")):
        code, out, err = call(*asked, "-o", str(tmp_path / name))
        assert (code, out, err) == (0, "", f"wrote {tmp_path / name}\n")
        assert (tmp_path / name).read_text() == call(*asked, "--form", form)[1]


def test_a_file_that_cannot_be_written(call: Entry, blocks: Path, tmp_path: Path) -> None:
    code, out, err = call("show", "-o", str(tmp_path / "nowhere" / "a.txt"), str(blocks))
    assert (code, out) == (1, "")
    assert err.startswith(f"error: cannot write '{tmp_path / 'nowhere' / 'a.txt'}': no such file")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stage", "map"), "the table needs the size of 'x' and of 'y'"),
        (("--stage", "map", "--size", "x=4,y=4097"), "'y' goes up to 4097, a table up to 4096"),
        (("--stage", "map", "--size", "x=999,y=99"), "98901 elements, a table has 65536"),
        (("--stage", "map", "--size", "x=4,q=4"), "the program has no label 'q'"),
        (("--stage", "tree", "--size", "x=4"), "stage tree is the same for all sizes"),
        (("--stage", "program", "--form", "svg"), "stage program has no form svg; it has text"),
        (("--stage", "syntax", "-o", "a.svg"), "stage syntax has no form svg; it has text, json"),
        (("--stage", "deps", "--form", "svg", "--json"), "--json and --form svg are two forms"),
    ],
)
def test_what_cannot_be_shown(
    call: Entry, blocks: Path, options: tuple[str, ...], words: str
) -> None:
    code, out, err = call("show", *options, str(blocks))
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_a_map_that_is_too_large_to_look_at_is_listed(call: Entry, tmp_path: Path) -> None:
    """The way out that the refusal names works: it shows neighbours that differ."""
    file = tmp_path / "f.dt"
    file.write_text("Func f; In A; Var m; f[m] = exp(A[m]); f.block(m:2);")
    asked = ("show", "--stage", "map", "--size", "m=256", str(file))
    assert "--json lists tables of up to 65536 elements" in " ".join(call(*asked)[2].split())
    code, out, _ = call(*asked, "--json")
    assert code == 0
    (table,) = json.loads(out)["map"]
    assert table["extents"] == [256]
    assert [one["program"] for one in table["elements"]] == [m // 2 for m in range(256)]
    too_large = (*asked[:3], "--size", "m=4097", str(file), "--json")
    code, _, err = call(*too_large)
    assert code == 2
    assert "a table up to 4096" in " ".join(err.split())


@pytest.mark.long
def test_a_map_of_large_blocks_has_a_row_for_each(call: Entry, tmp_path: Path) -> None:
    file = tmp_path / "f.dt"
    file.write_text("Func f; In A; Var m, n; f[m, n] = exp(A[m, n]); f.block(m:128, n:64);")
    asked = ("show", "--stage", "map", "--size", "m=200,n=130", str(file))
    code, out, _ = call(*asked)
    assert code == 0
    assert out.splitlines()[2:6] == [
        "  program: m down, n across",
        "                0-63   64-127  128-129",
        "    0-127          0        2        4",
        "  128-199          1        3        5",
    ]
    code, svg, _ = call(*asked, "--form", "svg")
    assert code == 0
    assert ">128-199<" in svg


def test_a_map_of_rows_in_tiles_that_are_longer_than_a_table_is_wide(
    call: Entry, tmp_path: Path
) -> None:
    file = tmp_path / "f.dt"
    file.write_text("Func f; In A; Var m, n; f[m, n] = exp(A[m, n]); f.block(m:2, n:512);")
    code, out, _ = call("show", "--stage", "map", "--size", "m=4,n=1100", str(file))
    assert code == 0
    assert [line.split() for line in out.splitlines()[2:6]] == [
        ["program:", "m", "down,", "n", "across"],
        ["0-511", "512-1023", "1024-1099"],
        ["0-1", "0", "2", "4"],
        ["2-3", "1", "3", "5"],
    ]


@pytest.mark.parametrize("stage", ["program", "model", "deps", "tree"])
def test_what_is_refused_is_shown_all_the_same(call: Entry, stage: str) -> None:
    code, out, err = call("show", "--stage", stage, "-", stdin=REFUSED.encode())
    assert code == 1
    assert "mm" in out
    assert "recomputes in a loop" in err


@pytest.mark.parametrize("stage", ["model", "deps", "tree", "map"])
def test_a_wrong_file_has_no_later_stage(call: Entry, wrong: Path, stage: str) -> None:
    code, out, err = call("show", "--stage", stage, str(wrong))
    assert (code, out) == (1, "")
    assert f"{wrong}:4:15" in err


@pytest.mark.parametrize("form", ["text", "isl", "svg", "json"])
def test_a_program_without_funcs_has_no_dependences(call: Entry, form: str) -> None:
    code, out, err = call("show", "--stage", "deps", "--form", form, "-", stdin=b"Var x;")
    assert (code, err) == (0, "")
    assert "#" not in out if form == "text" else out
