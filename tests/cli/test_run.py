"""Tests `dtpoly run --reference`, which prints a summary of the values of made-up inputs."""

import json
import math
from pathlib import Path

import pytest
import torch

from dtpoly.checking import load
from dtpoly.cli.run_command import wanted
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.source import Source
from tests.cli.conftest import Entry
from tests.cli.process import SOFTMAX

RUN = ("run", "--reference", "--size")
SPECIAL = """\
Func f, g, n;
In A: i32;
SIn s;
Var x;
f[x] = cast(A[x], f32) / 0;
g[x] = A[x] > 0;
n[x] = f[x] * 0 + s;
"""


def test_the_numbers_are_those_of_torch(call: Entry, good: Path) -> None:
    code, out, err = call(*RUN, "x=4,y=10", "--seed", "3", "--json", str(good))
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["version"], document["seed"]) == (1, 3)
    assert document["sizes"] == {"x": 4, "y": 10}
    (func,) = document["funcs"]
    program = load(Source("softmax.dt", SOFTMAX))
    given = random_inputs(program, {"x": 4, "y": 10}, 3)["X"]
    assert isinstance(given, torch.Tensor)
    expected = torch.softmax(given.double(), 1)
    assert (func["name"], func["labels"], func["shape"]) == ("softmax", ["x", "y"], [4, 10])
    assert func["dtype"] == "f64"
    assert func["min"] == pytest.approx(expected.min().item())
    assert func["mean"] == pytest.approx(0.1)
    assert func["max"] == pytest.approx(expected.max().item())
    assert func["elements"] == pytest.approx([n.item() for n in expected.flatten()[:4]])


def test_table(call: Entry, good: Path) -> None:
    code, out, _ = call(*RUN, "x=4,y=10", str(good))
    head, _, row = out.splitlines()
    assert code == 0
    assert head.split() == ["Func", "shape", "dtype", "min", "mean", "max", "first", "elements"]
    assert row.startswith("softmax   [x=4, y=10]   f64")


def test_the_same_seed_gives_the_same(call: Entry, good: Path) -> None:
    first, again, other = (
        call(*RUN, "x=4,y=10", "--seed", seed, str(good))[1] for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_booleans_infinities_and_nothing(call: Entry) -> None:
    code, out, _ = call(*RUN, "x=40", "--json", "-", stdin=SPECIAL.encode())
    assert code == 0
    truth, odd = json.loads(out)["funcs"]
    assert (truth["name"], truth["dtype"]) == ("g", "bool")
    assert (truth["min"], truth["max"]) == (False, True)
    assert (odd["name"], odd["mean"]) == ("n", "nan")
    code, out, _ = call(*RUN, "x=0", "--json", "-", stdin=SPECIAL.encode())
    truth = json.loads(out)["funcs"][0]
    assert (truth["shape"], truth["min"], truth["mean"], truth["elements"]) == ([0], None, None, [])
    code, out, _ = call(*RUN, "x=0", "-", stdin=SPECIAL.encode())
    assert out.splitlines()[2].split() == ["g", "[x=0]", "bool", "-", "-", "-"]


PLACED = b"""Func k into C at [b, pos[b], d], zero: f32, t into zero at [T[l]] add;
In C, pos: i64, K, T: i32 within len(c); Var b, d, l, c;
k[b, d] = K[b, d] * 2; zero[c] = 0; t[l] = 1; k.compile(); t.compile();"""


@pytest.mark.parametrize("which", [["--reference"], ["--device", "cpu"]])
def test_axes_of_places_have_their_labels_or_none(call: Entry, which: list[str]) -> None:
    sizes = "b=3,d=5,l=7,c=4"
    code, out, err = call("run", *which, "--size", sizes, "--json", "-", stdin=PLACED)
    assert (code, err) == (0, "")
    found = {one["name"]: one for one in json.loads(out)["funcs"]}
    assert (found["k"]["labels"], found["t"]["labels"]) == (["b", "", "d"], ["c"])
    code, out, _ = call("run", *which, "--size", sizes, "-", stdin=PLACED)
    assert "[b=3, 3, d=5]" in out
    assert "[c=4]" in out


def test_whole_numbers_stay_whole(call: Entry) -> None:
    text = b"Func f; Var x; f[x] = x * 2; f.compile();"
    _, out, _ = call(*RUN, "x=3", "--json", "-", stdin=text)
    (func,) = json.loads(out)["funcs"]
    assert func["elements"] == [0, 2, 4]
    assert math.isclose(func["mean"], 2)


def test_which_funcs_are_shown() -> None:
    chain = "Func f, g, h; In A; Var x; f[x] = A[x]; g[x] = f[x]; h[x] = f[x];"
    assert wanted(load(Source("a.dt", chain))) == ("g", "h")
    assert wanted(load(Source("a.dt", f"{chain} h.compile(); f.compile_to_kernel();"))) == (
        "h",
        "f",
    )


def test_sizes_that_follow_may_be_left_out(call: Entry) -> None:
    text = b"Func f; In A; Var x, y; RVar k; f[x, y] = A[x, y] / rsum(A[x, k], k); f.compile();"
    code, out, _ = call(*RUN, "x=2,y=3", "--json", "-", stdin=text)
    assert code == 0
    assert json.loads(out)["sizes"] == {"x": 2, "y": 3, "k": 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*RUN, "x=4,y=4", "--device", "cpu"), "--device and --dtype are for kernels"),
        ((*RUN, "x=4,y=4", "--dtype", "f16"), "--device and --dtype are for kernels"),
        ((*RUN, "x=4"), "the size of 'y' must be passed"),
        ((*RUN, "x=4,y=4,z=4"), "the program has no label 'z'"),
        ((*RUN, "x=-4,y=4"), "the size of 'x' is -4"),
        ((*RUN, "x=100000,y=100000"), "needs about"),
        ((*RUN, "x=100,y=100", "--memory", "0.0001"), "the limit is 0.0001 GiB"),
        ((*RUN, "x=4,y=4", "--seed", "-1"), "--seed"),
    ],
)
def test_refusals_are_usage(
    call: Entry, good: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = call(*arguments, str(good))
    assert (code, out) == (2, "")
    assert message in err


def test_a_missing_size_says_where_it_comes_from(call: Entry, good: Path) -> None:
    code, _, err = call(*RUN, "x=4", str(good))
    assert code == 2
    assert "  = note: tensors would decide it: y from X.shape[1]\n" in err
    assert "'x'" not in err


def test_a_wrong_file(call: Entry, wrong: Path) -> None:
    code, out, err = call(*RUN, "x=4", str(wrong))
    assert (code, out) == (1, "")
    assert f"{wrong}:4:15" in err
