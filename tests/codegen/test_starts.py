"""Blocks of descriptors that start at no multiple of 16 bytes: a GPU takes them.

Triton's interpreter has no such descriptors: it takes addresses for these tensors alone.
"""

from typing import Any
from unittest import mock

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.carried import memory
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Recipe
from tests.codegen.plans import launches_in
from tests.codegen.running import compared, imported

HEAD = "Func f; In A, B; Var m, n; RVar k;"
TILES = "f.block(m:4, n:4); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f);"
AHEAD = f"{HEAD} f[m, n] = rdot(A[m, k + 1], B[k, n], k); {TILES}"
THREE = f"{HEAD} f[m, n] = rdot(A[m, k], B[k, n], k); {TILES.replace('n:4', 'n:3')}"
BATCHES = (
    "Func f; In A, B; Var b, m, n; RVar k; f[b, m, n] = rdot({0}, B[b, k, n], k);"
    "f.block(b:1, m:4, n:4); f.tensorize(b:0, m:0, n:0, k:16); f.descriptor(A, B, f);"
)
PANELS = (
    "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
    "f[m, n] = rdot(A[m, k + 1], g[n, k], k); g.block(n:8, k:16); g.tensorize(n:0, k:0);"
    "g.persistent(2); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.persistent();"
    "f.descriptor(A, g, f); f.pitch(); f.store(n:8); f.panels(n:32);"
)
# Programs, and of what number the starts of each tensor are multiples, if not of its block.
SHIFTED = {
    "ahead": (AHEAD, {"A": 1}),
    "ahead, in turn": (f"{AHEAD} f.persistent(2);", {"A": 1}),
    "ahead, in groups": (f"{AHEAD} f.map(m:mi/2, n, mi);", {"A": 1}),
    "both ahead": (AHEAD.replace("B[k, n]", "B[n, k + 2]"), {"A": 1, "B": 2}),
    "by 16 bytes of some types": (AHEAD.replace("k + 1", "k + 4"), {"A": 4}),
    "the other way round": (f"{HEAD} f[m, n] = rdot(A[m, k], B[n, k + 1], k); {TILES}", {"B": 1}),
    "behind": (
        f"{HEAD} f[m, n] = rdot(A[m, k], B[k, n], k) + rdot(pad(A, 0)[m, k - 1], B[k, n], k);"
        f"{TILES}",
        {"A": 1},
    ),
    "blocks of three": (THREE, {"B": 3}),
    "blocks of three, in turn": (f"{THREE} f.persistent();", {"B": 3}),
    "blocks of twelve": (THREE.replace("n:3", "n:12"), {"B": 12}),
    "boxes of what is ahead": (
        AHEAD.replace("n:4", "n:16") + "f.store(n:8); f.persistent();",
        {"A": 1},
    ),
    "boxes of twelve": (THREE.replace("n:3", "n:12") + "f.store(n:8);", {"B": 12}),
    "parts of what is stored": (
        "Func f; In A; Var m, n; f[m, n] = A[m, n + 1] * 2;"
        "f.block(m:4, n:12); f.tensorize(m:0, n:4); f.descriptor(A, f);",
        {"A": 1},
    ),
    "batches": (BATCHES.format("A[b, m, k + 1]"), {"A": 1}),
    "batches in the middle": (BATCHES.format("A[m, b, k + 1]"), {"A": 1}),
    "panels": (PANELS, {"A": 1}),
}
ALIGNED = {
    "blocks": f"{HEAD} f[m, n] = rdot(A[m, k], B[k, n], k); {TILES}",
    "ahead along another axis": (
        f"{HEAD} f[m, n] = rdot(A[m + 1, k], B[k + 3, n], k); {TILES} f.persistent();"
    ),
    "ahead by blocks": AHEAD.replace("k + 1", "k + 32"),
    "several tiles of a block": (
        f"{HEAD} f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:4, n:12); f.tensorize(m:0, n:4, k:16); f.descriptor(A, B);"
    ),
    "a sum in parts": (
        f"{HEAD} f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:4, n:4, k:64); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f);"
    ),
    "one loop of several": (
        "Func f; In A, W; Var x, n; RVar r, c; f[x, n] = rdot(A[x + r, c], W[n, r, c], r, c);"
        "f.block(x:4, n:4); f.tensorize(x:0, n:0, c:16); f.flatten(r, c); f.descriptor(A, W, f);"
    ),
}
SIZES = ((4, 4, 31), (5, 9, 16), (17, 33, 15), (3, 7, 44), (8, 24, 47), (1, 15, 0), (16, 36, 28))


def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", f"{text} f.compile();")), DIRECTIVES).scheduled)


def described(text: str) -> list[dict[str, Any]]:
    """Return what the plan says of descriptors."""
    launches = launches_in(generated(text).text)
    return [one for launch in launches for one in launch.get("descriptors", {}).values()]


def check(text: str, dtype: DType = DType.F32) -> None:
    """Held against the reference at sizes around the tiles."""
    program, made = load(Source("f.dt", f"{text} f.compile();")), imported(generated(text).text)
    for at, (m, n, k) in enumerate(SIZES):
        given = {"b": 3, "m": m, "n": n, "k": k, "x": m, "r": 3, "c": k}
        sizes = {label.name: given[label.name] for label in program.labels}
        compared(made, program, ("f",), Recipe(at, dtype).inputs(program, sizes), sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("name", SHIFTED)
def test_what_is_said_of_them(name: str) -> None:
    text, steps = SHIFTED[name]
    assert {one["of"]: one["step"] for one in described(text) if "step" in one} == steps


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [DType.F16, DType.F32, DType.F64])
@pytest.mark.parametrize("name", SHIFTED)
def test_sizes_around_the_tiles(name: str, dtype: DType) -> None:
    check(SHIFTED[name][0], dtype)


@pytest.mark.sampled
@pytest.mark.parametrize("name", SHIFTED)
def test_they_are_proved(name: str) -> None:
    text = SHIFTED[name][0]
    program = load(Source("f.dt", f"{text} f.compile();"))
    assert verify(program, generated(text).text, seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("name", ALIGNED)
def test_of_others_nothing_is_said(name: str) -> None:
    text = ALIGNED[name]
    assert described(text)
    assert all("step" not in one for one in described(text))
    check(text)


def test_where_there_is_a_descriptor() -> None:
    """In the interpreter at 16 bytes alone; on a GPU anywhere."""
    A = torch.ones(8, 64)

    def steps(tensor: torch.Tensor) -> list[int]:
        found = {
            step: memory.dt_descriptor(tensor, (4, 16), (0, 1), step) for step in (0, 1, 2, 3, 4, 8)
        }
        return [step for step, one in found.items() if one is not None]

    assert steps(A) == [0, 4, 8]
    assert steps(A.half()) == [0, 8]
    assert steps(A.double()) == [0, 2, 4, 8]
    with (
        mock.patch.object(memory, "dt_interpreted", None),
        mock.patch.object(memory, "dt_gpu", return_value=(9, 132)),
    ):
        assert steps(A) == steps(A.half()) == [0, 1, 2, 3, 4, 8]
