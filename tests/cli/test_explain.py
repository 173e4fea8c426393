"""`dtpoly explain`: what each directive does."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from dtpoly.catalogue import CATALOGUE
from dtpoly.catalogue.pages import page_of
from tests.cli.conftest import Entry
from tests.conftest import Golden
from tests.schedule.told import TWO, TWO_PRODUCTS
from tests.test_thesis import DATA

EXAMPLES = DATA.parent.parent.parent / "examples"
GOLDEN = {
    "softmax": (DATA / "listing_4_02_softmax.dt", ("--size", "x=512")),
    "matmul": (EXAMPLES / "matmul.dt", ("--size", "m=4096,n=1000", "--size", "k=64")),
    "attention": (DATA / "listing_4_04_attention.dt", ("--size", "m=4096,l=1000")),
    "2mm": (DATA / "listing_4_03_2mm.dt", ()),
    "sum_block": (DATA / "listing_3_20_sum_block.dt", ()),
}
FUSED = TWO_PRODUCTS + "_2mm.block(m:16, n:64); mm.fuse_at(_2mm, m);"


@pytest.fixture
def fused(tmp_path: Path) -> Path:
    path = tmp_path / "fused.dt"
    path.write_text(FUSED)
    return path


@pytest.mark.parametrize("name", GOLDEN)
def test_as_it_was(name: str, call: Entry, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    path, options = GOLDEN[name]
    monkeypatch.chdir(path.parent)
    code, out, err = call("explain", path.name, *options)
    assert (code, err) == (0, "")
    golden(f"explain/{name}.txt", out)


def test_sizes_put_numbers_beside_formulas(call: Entry, fused: Path) -> None:
    out = call("explain", str(fused), "--size", "m=100,n=1000")[1]
    assert "ceil(m / 16) * ceil(n / 64) = 112" in out
    assert "'mm' is computed ceil(n / 64) = 16 times in '_2mm'" in out
    assert "'mm' is computed ceil(n / 64) times" in call("explain", str(fused))[1]


def test_json_says_the_same(call: Entry, fused: Path) -> None:
    code, out, err = call("explain", str(fused), "--json", "--size", "n=1000")
    document = json.loads(out)
    assert (code, err, document["version"], document["file"]) == (0, "", 1, str(fused))
    assert document["sizes"] == {"n": 1000}
    compiled, blocked, merged = document["directives"]
    assert (compiled["changes"], compiled["recomputes"]) == ([], None)
    assert blocked["directive"] == "_2mm.block(m:16, n:64);"
    assert blocked["place"]["start"]["line"] == 6
    assert merged["changes"][0] == {
        "topic": "place",
        "of": ["mm"],
        "label": None,
        "kernel": None,
        "before": "in a kernel of its own",
        "after": "inside of the loop over m of '_2mm', for exactly [1 of m] x [all of l]",
    }
    assert merged["keeps"][1] == {
        "what": "'_2mm' reads mm[m, l]",
        "source": "mm",
        "target": "_2mm",
        "kernel": "_2mm",
        "how": "earlier in the same iteration (distance: m 0)",
        "is_kept": True,
        "distance": {"m": [0, 0]},
        "carried_by": [],
    }
    again = {
        "func": "mm",
        "kernel": "_2mm",
        "is_reduction": False,
        "times": {"formula": "ceil(n / 64)", "value": 16},
    }
    assert merged["recomputes"] == document["recomputes"] == [again]
    (kernel,) = document["kernels"]
    assert kernel["programs"] == {"formula": "ceil(m / 16) * ceil(n / 64)", "value": None}
    assert [(loop["func"], loop["label"], loop["why"]) for loop in kernel["loops"]] == [
        ("_2mm", "m", "independent"),
        ("mm", "l", "independent"),
        ("mm", "k", "a reduction"),
        ("_2mm", "n", "independent"),
        ("_2mm", "l", "a reduction"),
    ]


def test_a_refused_schedule_is_explained_and_refused(call: Entry) -> None:
    text = TWO_PRODUCTS + "mm.fuse_at(_2mm, n);"
    code, out, err = call("explain", "-", stdin=text.encode())
    assert code == 1
    assert "'mm' is computed n times" in out
    assert "DT203" in err


def test_a_wrong_file_is_only_reported(call: Entry, wrong: Path) -> None:
    code, out, err = call("explain", str(wrong))
    assert (code, out) == (1, "")
    assert f"{wrong}:4:15" in err


def test_files_with_nothing_to_explain(call: Entry) -> None:
    assert call("explain", "-", stdin=b"Var x;") == (0, "", "")
    assert json.loads(call("explain", "-", "--json", stdin=b"Var x;")[1])["directives"] == []
    bare = TWO.replace("f.compile();", "")
    code, out, _ = call("explain", "-", stdin=bare.encode())
    assert code == 0
    assert out.startswith("kernel")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("m=x", "is not of the form"),
        ("q=4", "no label 'q'"),
        ("m=-1", "must be from 0"),
        ("m=1,m=2", "given twice"),
    ],
)
def test_wrong_sizes_are_usage(call: Entry, fused: Path, words: str, said: str) -> None:
    code, out, err = call("explain", str(fused), "--size", words)
    assert (code, out) == (2, "")
    assert said in err


def test_labels_of_one_size(call: Entry) -> None:
    text = b"Func f; In X; Var x, y; RVar k; f.compile(); f.block(x:4, y:8);"
    text += b"f[x, y] = X[x, y] * rsum(X[x, k], k);"
    out = call("explain", "-", "--size", "k=64", stdin=text)[1]
    assert "a reduction of 'f' is computed ceil(y / 8) = 8 times" in out
    code, _, err = call("explain", "-", "--size", "k=64,y=65", stdin=text)
    assert code == 2
    assert "k and y have the same size" in err


@pytest.mark.long
def test_many_lines_are_cut_short_but_not_in_json(call: Entry) -> None:
    names = [f"f{i}" for i in range(20)]
    text = f"Func {', '.join(names)}; In A; Var x; f0[x] = A[x]; "
    text += " ".join(f"{b}[x] = {a}[x] * 2;" for a, b in pairwise(names))
    text += " ".join(f"{name}.fuse_at(f19, x);" for name in names[:-1])
    text += " f19.compile(); f19.block(x:16);"
    out = call("explain", "-", stdin=text.encode())[1]
    assert "and 7 more; --json lists all" in out
    assert "and 12 others" in out
    document = json.loads(call("explain", "-", "--json", stdin=text.encode())[1])
    assert len(document["directives"][-1]["keeps"]) == 19


def test_help_has_an_example(call: Entry) -> None:
    code, out, _ = call("explain", "--help")
    assert code == 0
    assert "dtpoly explain softmax.dt --size x=4096,y=1000" in out


PANELS = (
    b"Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n]; f[m, n] = rdot(A[m, k], g[n, k], k);"
    b"g.block(n:4, k:64); f.panels(n:7); f.compile();"
)


def test_programs_of_panels_are_those_of_each(call: Entry) -> None:
    out = call("explain", "-", "--size", "k=64,n=70", stdin=PANELS)[1]
    assert "ceil(k / 64) * ceil(n / 4) = 2" in out
    assert (
        "'g' and 'f' are computed in panels of 7 of n, of which there are ceil(n / 7) = 10" in out
    )
    data = json.loads(call("explain", "-", "--size", "k=64,n=70", "--json", stdin=PANELS)[1])
    kernel = data["kernels"][0]
    assert kernel["programs"] == {"formula": "ceil(k / 64) * ceil(n / 4)", "value": 2}
    count = {"formula": "ceil(n / 7)", "value": 10}
    assert kernel["panels"] == {"label": "n", "size": 7, "count": count}


def test_a_shared_launch_is_told(call: Entry) -> None:
    text = (
        b"Func f, g, h; In A; Var x; g[x] = A[x]; h[x] = exp(A[x]); f[x] = g[x] + h[x];"
        b"h.beside(g); f.compile();"
    )
    assert "'h' is launched with 'g'" in call("explain", "-", stdin=text)[1]
    data = json.loads(call("explain", "-", "--json", stdin=text)[1])
    assert [one["beside"] for one in data["kernels"]] == [None, "g", None]


@pytest.mark.parametrize("word", ["DT203", "dt203"])
def test_a_code_is_explained(word: str, call: Entry) -> None:
    code, out, err = call("explain", word)
    assert (code, err) == (0, "")
    assert out.startswith("DT203\n\nA fused Func is computed again in a loop (error)\n\n    Func ")
    assert "    error[DT203]: 'mm' is computed again in the loop over 'n'\n" in out
    assert "\nRemedy. Several iterations of a program need the same elements." in out
    assert "DT204" not in out


@pytest.mark.parametrize("code", CATALOGUE)
def test_each_code_has_a_page(code: str) -> None:
    page = page_of(code)
    assert page.startswith(f"**{CATALOGUE[code].title[:1].upper()}")
    assert f"[{code}]" in page
    assert "*Remedy.*" in page
    assert "\n### " not in page


def test_a_code_as_data(call: Entry) -> None:
    code, out, _ = call("explain", "DT203", "--json")
    said = json.loads(out)
    assert (code, said["code"], said["title"]) == (0, "DT203", CATALOGUE["DT203"].title)
    assert said["page"] == page_of("DT203")


def test_a_code_that_there_is_not(call: Entry) -> None:
    code, out, err = call("explain", "DT999")
    assert (code, out) == (2, "")
    assert "there is no code DT999; did you mean DT" in err
    assert "--code is about a file" in call("explain", "DT203", "--code")[2]


def test_a_file_may_be_named_like_a_code(
    call: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "DT203").write_text(FUSED)
    assert "_2mm.block(m:16, n:64);" in call("explain", "./DT203")[1]
    assert call("explain", "DT203")[1].startswith("DT203\n\nA fused Func")
