"""Tests schedules for files without one, and the types of what a gradient keeps and multiplies."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dtpoly
from dtpoly.algorithm.dtypes import DType
from dtpoly.training.at_hand import scheduled_for
from dtpoly.training.element_types import with_copies, with_types

ROOT = Path(__file__).parent.parent.parent
SUM = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k] * A[x, k], k); f.compile();"
CHAIN = """
Func scores, e, product;
In A, B, top;
Var x, y;
RVar k, l;

scores[x, l] = rdot(A[x, k], B[l, k], k);
e[x, l] = exp(scores[x, l] - reshape(top[x], x, 1));
product[x, k] = rdot(e[x, l], B[l, k], l);
"""


def test_a_file_without_directives_gets_a_schedule_for_its_sizes() -> None:
    bare = dtpoly.parse(SUM)
    found = scheduled_for(bare, {"x": 4096, "k": 512}, DType.BF16, "NVIDIA H200")
    assert not bare.is_scheduled
    assert found.is_scheduled
    assert found.algorithm == bare.algorithm
    assert found.is_legal
    # Other sizes may have another schedule, and nothing is wrong with none.
    empty = scheduled_for(bare, {"x": 0, "k": 512}, DType.F32, "a GPU of tomorrow")
    assert empty.is_legal


def test_copies_keep_32_bits_and_leave_all_else_as_it_is() -> None:
    path = ROOT / "dtpoly" / "nn" / "attention.dt"
    schedule = dtpoly.load(path).without("attention.compile")
    compiled = schedule.schedule("attention.compile(top, total);")
    made = with_copies(compiled.program, ("top", "total"), DType.F32)
    shown = str(made.func("kept_top").dtype), str(made.func("kept_total").dtype)
    assert shown == ("f32", "f32")
    assert made.func("top").dtype is None
    words = [f"{one.func}.{one.name}" for one in made.directives]
    assert words.count("kept_top.fuse_at") == 1
    returned = next(one for one in made.directives if one.name == "compile")
    assert [one.target for one in returned.arguments] == ["kept_top", "kept_total"]


def test_what_is_multiplied_with_16_bits_is_rounded_to_them() -> None:
    program = dtpoly.parse(CHAIN).program
    narrow = {"A": DType.BF16, "B": DType.BF16, "top": DType.F32}
    made = with_types(program, narrow, {"product": DType.BF16})
    assert made.func("e").dtype is DType.BF16
    assert made.func("scores").dtype is None
    assert made.func("product").dtype is DType.BF16
    same = with_types(program, dict.fromkeys(narrow, DType.F32), {})
    assert same == program


@pytest.mark.long
def test_a_toy_is_trained_by_all_variants(tmp_path: Path) -> None:
    """The losses of dtpoly are those of torch, as the script itself says."""
    path = tmp_path / "toy.json"
    command = [sys.executable, str(ROOT / "examples" / "train_gpt.py"), "--tiny", "--steps", "3"]
    only = ["--only", "torch,dtpoly,dtpoly+compile,dtpoly-linear", "-o", str(path)]
    done = subprocess.run([*command, *only], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    results = json.loads(path.read_text())["results"]
    assert len(results) == 4
    for one in results.values():
        assert len(one["losses"]) == 3
        assert one["furthest_from_torch"] < 1e-4
    again = subprocess.run([*command, *only], capture_output=True, text=True, check=False, cwd=ROOT)
    assert again.returncode == 0
    assert json.loads(path.read_text())["results"] == results, "nothing is run twice"
