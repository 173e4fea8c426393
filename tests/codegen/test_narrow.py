"""Floats of 16 and 8 bits in Triton's interpreter, as users run it: in a process with no test.

Adversary 05: a product in bfloat16 gave 4227858432 for 16, and nothing said so.
"""

import json
import subprocess
import sys

import pytest

from dtpoly.cli.main import entry
from tests.cli.process import environment

PROGRAMS = {
    "product": "f[m, n] = rdot(A[m, k], B[k, n], k); f.block(m:16, n:16);"
    "f.tensorize(m:0, n:0, k:16);",
    "product of a sum": "f[m, n] = rdot(A[m, k] + 1, B[k, n] * 2, k); f.block(m:16, n:16);"
    "f.tensorize(m:0, n:0, k:16);",
    "products by hand": "f[m] = rsum(A[m, k] * B[m, k], k); f.tensorize(k:16);",
    "sum": "f[m] = rsum(A[m, k], k); f.tensorize(k:16);",
    "sum in parts": "f[m] = rsum(A[m, k], k); f.block(k:8);",
    "atomic sum": "f[m] = rsum(A[m, k], k); f.block(k:8); f.tensorize(k:0); f.atomic(k);",
    "maximum": "f[m] = rmax(A[m, k], k); f.tensorize(k:16);",
    "least place": "f[m] = rargmin(A[m, k], k); f.tensorize(k:16);",
    "copy": "f[m, k] = A[m, k]; f.tensorize(m:4, k:16);",
    "a third": "f[m, k] = A[m, k] / 3; f.tensorize(m:4, k:16);",
    "rounds upwards": "f[m, k] = A[m, k] * 1.99; f.tensorize(m:4, k:16);",
    "infinite": "f[m, k] = A[m, k] / 0; f.tensorize(m:4, k:16);",
    "a choice": "f[m, k] = where(A[m, k] > B[m, k], A[m, k], B[m, k]); f.tensorize(m:4, k:16);",
    "a stored part": "Func g; g[m, k] = A[m, k] / 7; f[m] = rsum(g[m, k], k); g.fuse_at(f, m);"
    "f.tensorize(k:16);",
}
HEAD = "Func f; In A, B; Var m, n; RVar k; "
# What an emitted file gives, and what float64 gives: one process for all, for torch loads slowly.
SCRIPT = """
import inspect, json, runpy, sys, warnings
import torch
warnings.simplefilter("error")
generator = torch.Generator().manual_seed(1)
for name, path, expected, dtypes in json.load(sys.stdin):
    f = runpy.run_path(path)["f"]
    for dtype in dtypes:
        A, B = torch.randint(-12, 13, (2, 16, 16), generator=generator) / 8 + 1 / 16
        A, B = A.to(getattr(torch, dtype)), B.to(getattr(torch, dtype))
        a, b = A.double(), B.double()
        result = f(*(A, B)[: len(inspect.signature(f).parameters) - 1]).double().flatten().tolist()
        print(json.dumps([name, dtype, result, eval(expected).flatten().tolist()]))
"""
EXPECTED = {
    "product": "a @ b",
    "product of a sum": "(a + 1) @ (b * 2)",
    "products by hand": "(a * b).sum(1)",
    "sum": "a.sum(1)",
    "sum in parts": "a.sum(1)",
    "atomic sum": "a.sum(1)",
    "maximum": "a.amax(1)",
    "least place": "a.argmin(1)",
    "copy": "a",
    "a third": "a / 3",
    "rounds upwards": "a * 1.99",
    "infinite": "a / 0",
    "a choice": "torch.where(a > b, a, b)",
    "a stored part": "(a / 7).sum(1)",
}
# What may be lost: one rounding at the end, and of parts and atomic sums one at each step.
LOST = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float8_e4m3fn": 2.0**-4, "float8_e5m2": 2.0**-3}


Results = dict[str, list[tuple[str, list[float], list[float]]]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return, for each program and each dtype, what its file gives and what it should give."""
    folder, asked = tmp_path_factory.mktemp("narrow"), list[object]()
    for at, (name, text) in enumerate(PROGRAMS.items()):
        source, made = folder / f"f{at}.dt", folder / f"f{at}.py"
        source.write_text(f"{HEAD}{text} f.compile();")
        assert entry(["compile", str(source), "-o", str(made)]) == 0
        # Memory adds no floats of 8 bits.
        dtypes = [one for one in LOST if not (name == "atomic sum" and "8" in one)]
        asked.append((name, str(made), EXPECTED[name], dtypes))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment(TRITON_INTERPRET="1"),
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: Results = {name: [] for name in PROGRAMS}
    for line in done.stdout.splitlines():
        name, *rest = json.loads(line)
        found[name].append((rest[0], rest[1], rest[2]))
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_emitted_file_is_right(name: str, results: Results) -> None:
    assert len(results[name]) == len(LOST) - 2 * (name == "atomic sum")
    steps = 4.0 if name == "atomic sum" or "part" in name else 2.0 if "sum" in name else 1.0
    for dtype, found, wanted in results[name]:
        largest = max(abs(one) for one in wanted) if steps > 1.0 else 0.0
        for one, other in zip(found, wanted, strict=True):
            allowed = steps * LOST[dtype] * max(abs(other), largest)
            same = one == other or abs(one - other) <= allowed
            # One type of 8 bits has no infinity.
            is_lost = name == "infinite" and dtype == "float8_e4m3fn"
            assert same or (is_lost and not abs(one) < 448), (dtype, one, other)
