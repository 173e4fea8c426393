"""Lists: the largest values and their indices, against torch's stable sort, on each route."""

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_bits import numbers
from tests.codegen.test_reference_text import computed
from tests.verify.texts import ROOT, program_of

TOP = """\
Func value, index;
In A{dtype};
Var x, j: {count};
RVar k;
value[x, j] = rtopk(A[x, k], k, j);
index[x, j] = rargtopk(A[x, k], k, j);
"""
RETURNED = "value.compile(index);"
# Schedules of the lists of rows: one value at a time, one tile, and tiles with a rest.
SCHEDULES = {
    "loops": RETURNED,
    "one tile": "value.block(x:4); value.tensorize(x:0, j:0, k:0); index.fuse_at(value, x);",
    "tiles": "value.block(x:2); value.tensorize(x:0, j:0, k:16); index.fuse_at(value, x);",
    "rows": "value.block(x:1); value.tensorize(k:16); index.fuse_at(value, x);",
    "split": "value.split(k:ki/4); value.tensorize(ki:2);",
    "places": "value.block(j:2); index.block(x:3, j:2); index.tensorize(x:2, j:0, k:32);",
}
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
WHOLES = {
    **{"i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32},
    "i64": torch.int64,
}
SIZES = ((1, 1), (3, 3), (4, 4), (5, 5), (2, 15), (3, 16), (1, 17), (5, 37), (0, 4), (2, 0))


def listed(rows: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest of each row, filled up with the least value at the index of the end."""
    least = -torch.inf if rows.is_floating_point() else torch.iinfo(rows.dtype).min
    values, indices = rows.sort(dim=1, descending=True, stable=True)
    shape = (rows.shape[0], count)
    values = torch.cat((values, values.new_full(shape, least)), 1)
    indices = torch.cat((indices, indices.new_full(shape, rows.shape[1])), 1)
    return values[:, :count], indices[:, :count]


def floats(size: tuple[int, int], dtype: torch.dtype) -> Iterator[torch.Tensor]:
    """Yield rows of several kinds: all different, many ties, NaN, and infinities."""
    rows = torch.randn(size, generator=torch.Generator().manual_seed(sum(size)))
    chosen = torch.rand(size, generator=torch.Generator().manual_seed(3)) < 0.4
    yield rows.to(dtype)
    yield (2 * rows).round().to(dtype)
    yield rows.masked_fill(chosen, torch.nan).to(dtype)
    yield rows.masked_fill(chosen, -torch.inf).masked_fill(rows > 1, torch.inf).to(dtype)
    yield torch.stack((rows, rows), 2).to(dtype)[:, :, 1]


def wholes(size: tuple[int, int], dtype: torch.dtype) -> Iterator[torch.Tensor]:
    ends = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(sum(size))
    yield torch.randint(ends.min, ends.max, size, generator=generator).to(dtype)
    yield torch.randint(ends.min, ends.min + 3, size, generator=generator).to(dtype)


@cache
def program(schedule: str, count: int = 4, dtype: str = "") -> Program:
    text = TOP.format(count=count, dtype=dtype and f": {dtype}")
    text += SCHEDULES[schedule] + (RETURNED if schedule != "loops" else "")
    return load(Source("test.dt", text))


@cache
def text_of(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def check(of: Program, rows: torch.Tensor, count: int) -> None:
    """Compare all routes with torch: the kernels, the reference, and the test of the file."""
    wanted = listed(rows, count)
    module: Any = imported(text_of(of))
    routes = {
        "kernel": module.value(rows),
        "reference": tuple(run(of, {"A": rows})[name] for name in ("value", "index")),
        "test": tuple(computed(of, name, {"A": rows}, {}) for name in ("value", "index")),
    }
    for route, found in routes.items():
        values = found[0].to(rows.dtype)
        assert torch.equal(found[1], wanted[1]), (route, rows)
        assert torch.allclose(values, wanted[0], 0, 0, equal_nan=True), (route, rows)


@pytest.mark.long
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("size", SIZES)
def test_floats(schedule: str, size: tuple[int, int]) -> None:
    for dtype in FLOATS if size == (3, 16) else FLOATS[:1]:
        for rows in floats(size, dtype):
            check(program(schedule), rows, 4)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", WHOLES)
def test_whole_numbers(dtype: str) -> None:
    of = program("tiles", 3, dtype)
    for size in ((2, 2), (3, 19)):
        for rows in wholes(size, WHOLES[dtype]):
            check(of, rows, 3)
    assert verify(of, text_of(of)).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("count", [1, 4, 6, 64])
def test_proved(schedule: str, count: int) -> None:
    of = program(schedule, count)
    assert verify(of, text_of(of)).verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_the_first_place_is_the_largest() -> None:
    of = load(
        Source(
            "test.dt",
            "Func f, g; In A; Var x, j: 1; RVar k; f[x, j] = rargtopk(A[x, k], k, j);"
            "g[x] = rargmax(A[x, k], k); f.compile(g);",
        )
    )
    module: Any = imported(text_of(of))
    for rows in floats((5, 9), torch.float32):
        f, g = module.f(rows)
        assert torch.equal(f[:, 0], g)


@pytest.mark.long
def test_ranges() -> None:
    text = TOP.format(count=3, dtype="").replace("RVar k", "RVar k in [0, x + 1)")
    of = load(Source("test.dt", f"{text}{SCHEDULES['tiles']}{RETURNED}"))
    module: Any = imported(text_of(of))
    for rows in floats((19, 21), torch.float32):
        found = module.value(rows)
        for x, row in enumerate(rows):
            values, indices = listed(row[None, : x + 1], 3)
            indices = torch.where(indices == x + 1, 21, indices)  # of no value: len(k)
            assert torch.equal(found[1][x], indices[0])
            assert torch.allclose(found[0][x], values[0], 0, 0, equal_nan=True)
    assert verify(of, text_of(of)).verdict is LayerVerdict.PROVED


PRODUCT = """\
Func best, at, score;
In Q, C;
Var m, n, j: 4;
RVar k, l;
score[m, n] = rdot(Q[m, k], C[n, k], k);
best[m, j] = rtopk(score[m, l], l, j);
at[m, j] = rargtopk(score[m, l], l, j);
score.fuse_at(best, m); at.fuse_at(best, m);
best.block(m:16); best.tensorize(m:0, j:4, l:32, k:16, score.n:32); best.compile(at);
"""
# A list is read at other places than that of the element.
USED = """\
Func f, gate;
In A;
Var x, j: 3, z: 2;
RVar k, i: 3;
gate[x, j] = rtopk(A[x, k], k, j);
f[x, z] = gate[x, z + 1] - gate[x, z] + rsum(gate[x, i], i);
gate.fuse_at(f, x); f.block(x:4); f.tensorize(x:0, k:16, i:4); f.compile();
"""


def test_used_at_other_places() -> None:
    of = load(Source("test.dt", USED))
    module: Any = imported(text_of(of))
    for rows in floats((5, 37), torch.float32):
        values, _ = listed(rows, 3)
        wanted = values[:, 1:] - values[:, :-1] + values.sum(1, keepdim=True)
        assert torch.allclose(module.f(rows), wanted, equal_nan=True)
    assert verify(of, text_of(of)).verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_largest_of_a_product() -> None:
    of = load(Source("test.dt", PRODUCT))
    module: Any = imported(text_of(of))
    for m, n, k in ((3, 40, 20), (17, 32, 16), (1, 1, 1)):
        q, c = torch.randn(m, k), torch.randn(n, k)
        values, _ = listed(q @ c.t(), 4)
        best, at = module.best(q, c)
        assert torch.allclose(best, values, 1e-3, 1e-3)
        there = torch.cat((q @ c.t(), torch.full((m, 1), -torch.inf)), 1).gather(1, at)
        assert torch.allclose(there, values, 1e-3, 1e-3)
    assert verify(of, text_of(of)).verdict is LayerVerdict.PROVED


def gate(logits: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gate of a mixture of experts as torch computes it."""
    weights, experts = torch.topk(torch.softmax(logits.double(), 1), count, 1)
    return weights / weights.sum(1, keepdim=True), experts


@pytest.mark.sampled
@pytest.mark.parametrize("tokens", [0, 1, 16, 37])
@pytest.mark.parametrize("experts", [2, 8, 61])
def test_gate_of_experts(tokens: int, experts: int) -> None:
    of = program_of(ROOT / "examples/moe_gate.dt")
    module: Any = imported(text_of(of))
    for dtype in FLOATS[:3]:
        logits = torch.randn(tokens, experts).to(dtype).t().contiguous().t()
        weights, chosen = module.weight(logits)
        wanted, indices = gate(logits, 2)
        if dtype is torch.float32:
            assert torch.equal(chosen, indices)
        assert torch.allclose(weights.double(), wanted, 1e-2, 1e-2)


@pytest.mark.parametrize("name", ["top_k", "moe_gate"])
def test_examples_are_proved(name: str) -> None:
    of = program_of(ROOT / f"examples/{name}.dt")
    assert verify(of, text_of(of)).verdict is LayerVerdict.PROVED


FOR_GPUS = {
    "one tile": ("one tile", 8, ""),
    **{dtype: ("tiles", 6, dtype) for dtype in ("u8", "f16")},
}


@pytest.mark.long
@pytest.mark.parametrize("name", FOR_GPUS)
def test_compiled_for_three_gpus(name: str, tmp_path: Path) -> None:
    file = tmp_path / "lists.dt"
    file.write_text(show(program(*FOR_GPUS[name])))
    for target in ("cuda:80", "cuda:90", "hip:gfx942"):
        command = [sys.executable, "-m", "dtpoly", "compile", str(file), "--target", target]
        options = ["-o", str(tmp_path / "lists.py"), "--no-verify"]
        done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


KERNEL = f"""\
import torch
import triton
import triton.language as tl


@triton.jit
{TEXTS["dt_max"]}

@triton.jit
{TEXTS["dt_list"]}

@triton.jit
def kernel(v, p, w, q, x, y, N: tl.constexpr, K: tl.constexpr):
    n, k = tl.arange(0, N), tl.arange(0, K)
    one, two = dt_list(tl.load(v + n), tl.load(p + n), tl.load(w + k), tl.load(q + k), 0, N)
    tl.store(x + n, one)
    tl.store(y + n, two)
"""


@pytest.mark.long
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int8, torch.uint8])
def test_what_is_said_of_the_function(dtype: torch.dtype) -> None:
    """It keeps the first pairs of a set in order, whatever the order of its tiles (lemma 12)."""
    module: Any = imported(KERNEL)
    generator = torch.Generator().manual_seed(1)

    def before(pair: tuple[float, int]) -> tuple[bool, float, int]:
        return (pair[0] == pair[0], -pair[0] if pair[0] == pair[0] else 0, pair[1])

    least = -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min
    for _ in range(60):
        some = (torch.randint(0, 4, (n,), generator=generator).to(dtype) for n in (4, 8))
        values, others = some
        if dtype.is_floating_point:
            values[values == 1], others[others == 2] = torch.nan, -torch.inf
        places, at = (torch.randint(0, 3, (n,), generator=generator) for n in (4, 8))
        at[others == 0] = 2**63 - 1
        x, y = torch.empty_like(values), torch.empty_like(places)
        module.kernel[(1,)](values, places, others, at, x, y, 4, 8)
        pairs = [
            (float(value), int(place))
            for one, two in ((values, places), (others, at))
            for value, place in zip(one, two, strict=True)
        ]
        ordered = sorted({before(pair): pair for pair in pairs}.items())
        wanted = [*(pair for _, pair in ordered), *[(least, 2**63 - 1)] * 4][:4]
        assert numbers(y) == [place for _, place in wanted]
        assert torch.allclose(x, torch.tensor([v for v, _ in wanted], dtype=dtype), equal_nan=True)


TURNED = "Func f; In A; Var x, j: 4; RVar k; f[j, x] = rtopk(A[x, k], k, j); f.compile();"


def test_a_list_in_memory_is_refused() -> None:
    """A loop over places around the loop over rows would need the lists of all rows."""
    with pytest.raises(DtpolyError) as caught:
        code_of(judge(load(Source("test.dt", TURNED)), DIRECTIVES).scheduled)
    (told,) = caught.value.diagnostics
    assert told.code == "DT300"
    assert "reorder" in told.notes[0].text
    of = load(Source("test.dt", f"{TURNED} f.reorder(x, j);"))
    rows = torch.randn(5, 9)
    module: Any = imported(text_of(of))
    assert torch.equal(module.f(rows), listed(rows, 4)[0].t())
    assert verify(of, text_of(of)).verdict is LayerVerdict.PROVED
