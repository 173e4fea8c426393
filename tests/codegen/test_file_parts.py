"""Generated files carry the runtime or import it, define what they use, and please linters."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dtpoly.checking import load
from dtpoly.codegen.file_parts import shared_by
from dtpoly.codegen.module import module_text
from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.codegen.reference_terms import SHARED as COMPUTING
from dtpoly.codegen.test_text import SHARED as COMPARING
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.plan.runtime_text import FIRST, LAST, OFFERED, runtime_text
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

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


def text(source: str, *, has_test: bool = False, carries_runtime: bool = True) -> str:
    program = load(Source("test.dt", source))
    state = judge(program, DIRECTIVES).scheduled
    made = code_of(state).stages
    sizes = {label.name: 20 for label in program.labels} if has_test else None
    return module_text(
        state.sized, state.model, made, "header", sizes, carries_runtime=carries_runtime
    )


def defined(text: str) -> set[str]:
    return set(re.findall(r"^(?:def )?(dt_\w+)(?: =|\()", text, re.MULTILINE))


@pytest.mark.sampled
@pytest.mark.parametrize("has_test", [False, True])
@pytest.mark.parametrize("source", PROGRAMS)
def test_a_file_defines_what_it_uses(source: str, has_test: bool) -> None:
    made = text(source, has_test=has_test)
    before, runtime, after = made.partition(runtime_text())
    own = before + after
    assert set(re.findall(r"\bdt_\w+", own)) <= defined(made)
    for name in defined(own):
        assert len(re.findall(rf"\b{name}\b", own)) > 1
    assert runtime
    assert made.count(FIRST) == 1


@pytest.mark.sampled
@pytest.mark.parametrize("has_test", [False, True])
@pytest.mark.parametrize("source", PROGRAMS)
def test_a_file_imports_what_it_uses(source: str, has_test: bool) -> None:
    made = text(source, has_test=has_test, carries_runtime=False)
    (names,) = re.findall(r"^from dtpoly\.runtime import (.*)$", made, re.MULTILINE)
    imported = {*names.split(", ")}
    assert imported <= OFFERED.keys()
    assert defined(made) | imported == set(re.findall(r"\bdt_\w+", made))
    assert FIRST not in made


def test_no_function_of_kernels_has_the_name_of_one_of_the_runtime() -> None:
    names = set(re.findall(r"^(?:def )?(dt_\w+)", runtime_text(), re.MULTILINE))
    assert len(names) > 20
    assert not names & TEXTS.keys()


def test_the_runtime_begins_and_ends_with_a_line_of_its_own() -> None:
    made = runtime_text()
    assert made.startswith(FIRST)
    assert made.endswith(LAST)
    assert made.count(FIRST) == made.count(LAST) == 1
    for name, home in OFFERED.items():
        assert f"\ndef {name}(" in made, home


@pytest.mark.long
@pytest.mark.skipif(find_spec("ruff") is None, reason="needs the packages of `dtpoly[dev]`")
@pytest.mark.parametrize("carries_runtime", [False, True])
@pytest.mark.parametrize("has_test", [False, True])
def test_linters_find_nothing(tmp_path: Path, has_test: bool, carries_runtime: bool) -> None:
    for number, source in enumerate(PROGRAMS):
        made = text(source, has_test=has_test, carries_runtime=carries_runtime)
        (tmp_path / f"file_{number}.py").write_text(made)
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--no-cache", "--line-length", "100", str(tmp_path)]
    linted = [*ruff, "check", "--select", "E,F,I", "--ignore", "E741", *options]
    for command in (linted, [*ruff, "format", "--diff", *options]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout


def test_shared_functions_call_no_other_ones() -> None:
    """So a file needs those that it calls, in their order, and no more."""
    parts = COMPUTING | COMPARING
    for name, part in parts.items():
        assert set(re.findall(r"\bdt_\w+", part)) == {name}
    assert shared_by(set(), parts) == []
    first, second, *_ = parts
    assert shared_by({second, first, "dt_device"}, parts) == [parts[first], parts[second]]


def test_softmax_is_read_in_one_piece() -> None:
    """Kernel, plan and function are short enough to be read."""
    path = Path(__file__).parents[2] / "examples" / "softmax.dt"
    state = judge(load(Source("softmax.dt", path.read_text())), DIRECTIVES).scheduled
    assert len(code_of(state, carries_runtime=False).text.splitlines()) <= 140
    carrying = code_of(state).text
    lines = len(carrying.splitlines()) - len(runtime_text().splitlines())
    assert lines <= 140
