"""Tests that generated files share only the helpers that they use, and that these are right."""

import importlib
import itertools
import random
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from dtpoly.codegen import reference_terms, test_text
from dtpoly.codegen.prelude import SHARED, shared_by
from dtpoly.compile import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

EVERYTHING = SHARED | reference_terms.SHARED | test_text.SHARED
PROGRAMS = (
    "Func f; In A; Var x; f[x] = A[x];",
    "Func f; In A: bf16, B, C; Var x, y; RVar k; SIn a, n: i8, c: bool;"
    "f[x, y] = where(c, rdot(A[x, k], B[k, y], k) * a, C[x + 2, y] + n);"
    "f.block(x:16, y:16); f.tensorize(x:0, y:0, k:16);",
    "Func f; Var x; f[x] = 2 * x;",
    "Func f; In A; RVar k; f[] = rargmax(A[k], k); f.tensorize(k:0);",
    "Func f; In A, W; Var y; RVar r; f[y] = rsum(A[2 * y - r + 9] * W[r], r);",
    "Func f; In A: i32, B: i32; Var x; f[x] = clamp(A[x], 1, B[x]) % B[x] + cdiv(A[x], B[x]);",
    "Func f; In A; Var x; f[x] = fma(A[x], pad(A, 0)[x - 1], 2);",
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k] * A[x, 3], k); f.block(k:4);",
    "Func f; In A; RVar k, l; f[] = rargmin(rsum(A[l, k], k), l);f.tensorize(k:4);",
    "Func f; In A; RVar k; f[] = rmax(A[k], k); f.block(k:4); f.atomic(k);",
    "Func g, f; In A; Var x, y; g[x, y] = A[y, x]; f[x, y] = g[x, y] + A[x, y]; f.compile();"
    "f.block(x:4); f.tensorize(x:0, y:16); f.descriptor(g); f.persistent(); f.early();",
    "Func f; In A, W; Var b, h, w, o; RVar r, c; "
    "f[b, h, w, o] = rdot(A[b, h + r, w, c], W[o, r, c], r, c); f.block(b:1, h:8, w:32, o:32);"
    "f.tensorize(b:0, h:0, w:0, o:0, c:32); f.map(b, h, w, o); f.flatten(r, c); f.descriptor(A, W);"
    "f.compile();",
    "Func product; In A, B; Var m, n; RVar k; product[m, n] = rdot(A[m, k], B[k, n], k);"
    "product.block(m:128, n:64); product.tensorize(m:0, n:0, k:32); product.persistent();"
    "product.descriptor(A, B, product); product.warp_specialize(); product.num_warps(8);",
    "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
    "f[m, n] = rdot(A[m, k], g[n, k], k); g.block(n:16); g.persistent(2);"
    "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.persistent(); f.panels(n:64);"
    "f.compile();",
    "Func f, g; In weights, rows; Var m, n; g[m, n] = rows[n, m];"
    "f[m, n] = g[m, n] * weights[m, n];"
    "g.block(m:16, n:16); g.tensorize(m:0, n:0); f.block(m:2, n:2); f.tensorize(m:0, n:0);"
    "f.panels(m:64); f.compile();",
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k + 1], B[k, n], k);"
    "f.block(m:4, n:4); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.compile();",
    "Func f; In A; Var h; RVar r; f[h] = rsum(A[h + r], r); f.compile();",
)


def text(source: str, test: bool = False) -> str:
    program = load(Source("test.dt", source))
    sizes = {label.name: 20 for label in program.labels} if test else None
    return code_of(judge(program, DIRECTIVES).scheduled, "header", sizes).text


def defined(text: str) -> set[str]:
    return set(re.findall(r"^(?:def )?(dt_\w+)(?: =|\()", text, re.MULTILINE))


@pytest.mark.parametrize("test", [False, True])
@pytest.mark.parametrize("source", PROGRAMS)
def test_a_file_defines_what_it_uses_and_no_more(source: str, test: bool) -> None:
    made = text(source, test)
    names = defined(made)
    assert names == set(re.findall(r"\bdt_\w+", made))
    for name in names:
        assert len(re.findall(rf"\b{name}\b", made)) > 1


def test_every_part_is_used_by_some_file() -> None:
    used = set[str]().union(*(defined(text(source, test=True)) for source in PROGRAMS))
    assert used >= EVERYTHING.keys()


def test_each_part_defines_its_name() -> None:
    for name, part in EVERYTHING.items():
        assert name in defined(part)
        assert part.endswith("\n")


@pytest.mark.parametrize("test", [False, True])
def test_linters_find_nothing(tmp_path: Path, test: bool) -> None:
    for number, source in enumerate(PROGRAMS):
        (tmp_path / f"file_{number}.py").write_text(text(source, test))
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--no-cache", "--line-length", "100", str(tmp_path)]
    linted = [*ruff, "check", "--select", "E,F,I", "--ignore", "E741", *options]
    for command in (linted, [*ruff, "format", "--diff", *options]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


# The parts by themselves


triton: Any = importlib.import_module("triton")
tl = triton.language


@pytest.fixture(scope="module")
def shared() -> Any:
    names: dict[str, Any] = {"threading": threading, "torch": torch, "triton": triton, "tl": tl}
    exec("\n".join(SHARED.values()), names)
    return names


def test_lanes(shared: Any) -> None:
    lanes = {0: 16, 1: 16, 16: 16, 17: 32, 1000: 1024, 2**20: 2**20, 2**20 + 1: 2**21}
    assert {size: shared["dt_lanes"](size) for size in lanes} == lanes


def test_fit(shared: Any) -> None:
    for extent, low, span, coefficient in itertools.product(
        range(6), range(-2, 4), range(3), (-3, -2, -1, 1, 2, 3)
    ):
        size = shared["dt_fit"](extent, low, low + span, coefficient)
        ends = [(low + coefficient * at, low + span + coefficient * at) for at in range(size + 1)]
        inside = [first >= 0 and last < extent for first, last in ends]
        assert inside == [True] * size + [False]


def views(seed: int) -> Iterator[torch.Tensor]:
    """Two views of one piece of memory, of any shapes, strides and types."""
    chosen = random.Random(seed)
    room = torch.zeros(64, dtype=torch.uint8)
    while True:
        dtype = chosen.choice([torch.uint8, torch.int16, torch.float32])
        typed = room.view(dtype)
        rank = chosen.randrange(4)
        shape = [chosen.randrange(5) for _ in range(rank)]
        strides = [chosen.choice([0, 1, 1, 2, 3, 4, 5, 8]) for _ in range(rank)]
        reach = sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True))
        if reach < typed.numel():
            start = chosen.randrange(typed.numel() - reach)
            yield typed.as_strided(shape, strides, start)


def occupied(tensor: torch.Tensor) -> set[int]:
    """Every byte of a tensor."""
    places = {tensor.data_ptr()} if tensor.numel() else set[int]()
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        step = stride * tensor.element_size()
        places = {place + step * at for place in places for at in range(size)}
    return {place + byte for place in places for byte in range(tensor.element_size())}


def test_overlap_is_exact(shared: Any) -> None:
    found = {True: 0, False: 0}
    for seed in range(3000):
        some = views(seed)
        one, two = next(some), next(some)
        expected = bool(occupied(one) & occupied(two))
        assert shared["dt_overlap"](one, two) is expected
        found[expected] += 1
    assert min(found.values()) > 300


def test_overlap_of_other_memory(shared: Any) -> None:
    assert not shared["dt_overlap"](torch.zeros(5), torch.zeros(5))


def test_overlap_gives_up_rather_than_search(shared: Any) -> None:
    room = torch.zeros(2**20, dtype=torch.uint8)
    one = room.as_strided((1000, 1000), (6, 10))
    two = room.as_strided((1000, 1000), (6, 10), 1)  # an odd byte is in none of the first
    assert shared["dt_overlap"](one, two)


def test_64_bits_where_32_are_not_enough(shared: Any) -> None:
    offset = shared["dt_offset"]

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, device="meta", dtype=torch.int8)

    assert offset(5, empty(2**31 - 1)) == tl.int32
    assert offset(5, empty(3), empty(2**31)) == tl.int64
    assert offset(5, empty(2**16, 2**15)) == tl.int64
    assert offset(5, empty(2**16, 2**16)[:, :9]) == tl.int64  # few elements, far apart
    assert offset(5, empty(2**16, 2**16)[:9]) == tl.int32  # not all of what there is
    assert offset(2**30, empty(1).expand(2**30)) == tl.int64
    # Two indices together, and the lanes beyond the last.
    assert offset(2**30 - 2**20, empty(3)) == tl.int64


def test_a_size_just_below_32_bits_is_refused(shared: Any) -> None:
    offset, near = shared["dt_offset"], 2**31 - 1
    one = torch.empty((), device="meta").expand(near)
    with pytest.raises(ValueError, match="too near to"):
        offset(near)
    with pytest.raises(ValueError, match="too near to"):
        offset(2**31, one)
    with pytest.raises(ValueError, match="too near to"):
        offset(2**31, sizes=(3, near))


def test_shared_by_follows_what_parts_use() -> None:
    assert shared_by("") == []
    assert [name for name in SHARED if SHARED[name] in shared_by("dt_operand(a, b)")] == [
        "dt_triton",
        "dt_operand",
    ]
