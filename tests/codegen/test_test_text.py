"""`--test`: a function that tries the others on random inputs, and finds what is wrong."""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch

from dtpoly.checking import load
from dtpoly.codegen.test_text import LOCALS
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.running import imported

SIZES = {"x": 5, "y": 6, "z": 4, "k": 6, "l": 7, "r": 3}
MATMUL = (
    "Func f; In A, B; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k);"
    "f.block(x:16, y:16); f.tensorize(x:0, y:0, k:16);"
)


def text(source: str) -> str:
    program = load(Source("test.dt", source))
    sizes = {label.name: SIZES.get(label.name, 5) for label in program.labels}
    return code_of(judge(program, DIRECTIVES).scheduled, "", sizes).text


def module(source: str) -> Any:
    return imported(text(source))


@pytest.mark.parametrize(
    ("source", "signature"),
    [
        (MATMUL, "(x=5, y=6, k=6, *, dtype=torch.float32, device=None, seed=0)"),
        (
            "Func f; In A; Var x, y; RVar k; f[x, y] = A[x, y] / reshape(rsum(A[x, k], k), x, 1);",
            "(x=5, y=6, *, dtype=torch.float32, device=None, seed=0)",
        ),
        ("Func f; In A: i8; Var x, y; f[x, y] = A[x] + y;", "(x=5, y=6, *, device=None, seed=0)"),
        ("Func f; Var x; f[x] = x;", "(x=5, *, device=None)"),
        (
            "Func f; In z, dtype; Var device; f[device] = z[device] + dtype[device];",
            "(device_=5, *, dtype=torch.float32, device=None, seed=0)",
        ),
    ],
)
def test_sizes_are_chosen_by_the_caller(source: str, signature: str) -> None:
    assert str(inspect.signature(module(source).test)) == signature


CASES = (
    MATMUL,
    MATMUL + "f.precision(tf32);",
    "Func f; In A: i8, B: u8; Var x; f[x] = A[x] * B[x] + cdiv(A[x], 3); f.tensorize(x:4);",
    "Func f; In A: bool; Var x; RVar k; f[x] = rany(A[x, k], k); f.tensorize(k:4);",
    "Func f: f16; In A; SIn a, n: i32, c: bool; Var x; f[x] = where(c, A[x] * a, n);",
    "Func f; In A, W; Var y; RVar r; f[y] = rdot(A[2 * y + r], W[r], r); f.tensorize(y:4, r:0);",
    "Func f; In A; Var x, y; f[x, y] = pad(A, 0)[x - 1] * y; f.tensorize(y:4);",
    "Func f; In A; Var x; f[x] = A[x] + A[x + 2] + A[3]; f.tensorize(x:4);",
    "Func f; Var x, y; f[x, y] = cast(x, f32) / (1 + y); f.tensorize(y:4);",
    "Func f; SIn a; f[] = a * 2;",
    "Func g, f; In A; Var x, y; g[x] = exp(A[x]); f[y] = g[y] + g[y + 2];g.compile(); f.compile();",
)


@pytest.mark.parametrize("source", CASES)
def test_what_is_right_passes(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    module(source).test()
    assert "the largest error is" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_in_other_dtypes(dtype: torch.dtype) -> None:
    made = module(CASES[5])
    made.test(y=9, r=4, dtype=dtype)
    made.test(y=1, r=1, dtype=dtype, seed=5)


def wrong(values: torch.Tensor) -> torch.Tensor:
    """One element is off."""
    values = values.clone()
    last = values.view(-1)[-1:]
    last.copy_(~last if values.dtype is torch.bool else last * 1.01 + 1)
    return values


def with_results(made: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Return the module with other results of f."""
    right = made.f

    def other(*given: Any, **named: Any) -> torch.Tensor:
        return change(right(*given, **named))

    return mock.patch.object(made, "f", other)


@pytest.mark.parametrize("source", CASES)
def test_what_is_wrong_does_not(source: str) -> None:
    made = module(source)
    with with_results(made, wrong), pytest.raises(AssertionError, match="'f' is off by"):
        made.test()


def longer(values: torch.Tensor) -> torch.Tensor:
    return values[None]


def spoilt(values: torch.Tensor) -> torch.Tensor:
    return values * torch.nan


def test_nan_and_another_shape_are_as_wrong() -> None:
    made = module(MATMUL)
    with with_results(made, spoilt), pytest.raises(AssertionError, match="'f' is off by nan"):
        made.test()
    with with_results(made, longer), pytest.raises(AssertionError, match="'f' has shape"):
        made.test()


@pytest.mark.long
def test_the_file_is_a_program(tmp_path: Path) -> None:
    (tmp_path / "matmul.py").write_text(text(MATMUL))
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    for arguments in ([], ["x=3", "k=40"]):
        done = subprocess.run(
            [sys.executable, "matmul.py", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith("f: the largest error is ")


def test_a_func_that_is_more_than_its_definition_has_no_test() -> None:
    with pytest.raises(DtpolyError) as caught:
        text("Func f; In A; Var x; f[x] = A[x] + program_id(0);")
    (found,) = caught.value.diagnostics
    assert found.notes[0].text == "'program_id' in 'f' depends on the schedule: no test"


def test_names_do_not_clash() -> None:
    source = (
        "Func test, test_reference; In dtype, seed, generator, result, expected;"
        "Var dt, device; RVar sys;"
        "test_reference[dt, device] = dtype[dt, device] * seed[dt, device];"
        "test[dt, device] = rdot(test_reference[dt, sys], generator[sys, device], sys)"
        " + result[dt, device] + expected[dt, device]; test.compile(); test_reference.compile();"
    )
    program = load(Source("test.dt", source))
    sizes = dict.fromkeys((label.name for label in program.labels), 4)
    made: Any = imported(code_of(judge(program, DIRECTIVES).scheduled, "", sizes).text)
    made.test_2(dt=3, device_=5)


@pytest.mark.parametrize("name", LOCALS)
def test_a_function_may_be_called_as_something_in_the_test(name: str) -> None:
    source = Source("one.dt", f"Func {name}; In A; Var x; {name}[x] = A[x] * 2; {name}.compile();")
    program = load(source)
    made: Any = imported(code_of(judge(program, DIRECTIVES).scheduled, "", {"x": 5}).text)
    made.test()
