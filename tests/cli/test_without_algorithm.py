"""`dtpoly verify --kernel` of a kernel of which only the tensors are known."""

import json
from pathlib import Path

import pytest

from dtpoly.checking import check
from dtpoly.cli.without_algorithm import STRUCTURE, DeclaredTensor, algorithm_of, tensors_in
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.conftest import Entry
from tests.cli.test_compile_verified import emit, here

__all__ = ["emit", "here"]

TENSORS = "# tensors: X[r, n], W[n].f16, out(Y[r, n].f16), inout(Z[r])"
KERNEL = f"""\
import triton
import triton.language as tl

{TENSORS}
# verify: k[(len(r),)](X, W, Y, Z, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096


@triton.jit
def k(X, W, Y, Z, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    x = tl.load(X + row * n + at, mask=at < n, other=0.0)
    w = tl.load(W + at, mask=at < n, other=0.0)
    z = tl.load(Z + row)
    tl.debug_barrier()
    tl.store(Y + row * n + at, x * w * z, mask=at < n)
    tl.store(Z + row, tl.sum(x, 0))
"""
# What is changed, the layer that is refuted, and the sizes of the example if they matter.
MISTAKES = {
    "a load outside": ("W + at, mask=at < n", "W + at, mask=at <= n", "bounds"),
    "a store outside": (
        "Y + row * n + at, x * w * z, mask=at < n",
        "Y + row * n + at, x",
        "bounds",
    ),
    "an element that is left out": ("x * w * z, mask=at < n", "x, mask=at < n - 1", "stores"),
    "an element that is stored twice": ("Y + row * n", "Y + row // 2 * n", "stores"),
    "an overflow": (".to(tl.int64)", "", "overflow"),
    "a race": ("tl.load(Z + row)", "tl.load(Z + (row + 1) // 2)", "order"),
}


# A result is loaded before it is stored, or by another lane of the program behind a barrier.
LOADED = {
    "before it is stored": ("x = tl.load(X + row", "x = tl.load(Y + row", LayerVerdict.UNKNOWN),
    "behind a barrier": (
        "    tl.store(Z + row, tl.sum(x, 0))",
        "    tl.debug_barrier()\n"
        "    y = tl.load(Y + row * n + n - 1 - at, mask=at < n, other=0.0)\n"
        "    tl.store(Z + row, tl.sum(y.to(tl.float32), 0))",
        LayerVerdict.PROVED,
    ),
}


def verdicts(text: str) -> dict[str, LayerVerdict]:
    """Return the worst verdict of each layer."""
    made = check(Source("k.py", algorithm_of(tensors_in([(Source("k.py", text), TENSORS)]))))
    assert made.program is not None
    report = verify(made.program, text, only=STRUCTURE)
    assert {one.name for one in report.layers} == set(STRUCTURE)
    worst = (LayerVerdict.REFUTED, LayerVerdict.UNKNOWN, LayerVerdict.PROVED)
    return {
        name: next(
            one
            for one in worst
            if any(of.verdict is one and of.name == name for of in report.layers)
        )
        for name in STRUCTURE
    }


def test_all_of_it_is_proved() -> None:
    assert set(verdicts(KERNEL).values()) == {LayerVerdict.PROVED}


@pytest.mark.parametrize("form", LOADED)
def test_a_result_that_is_loaded_must_be_stored_before(form: str) -> None:
    old, new, verdict = LOADED[form]
    assert old in KERNEL
    assert verdicts(KERNEL.replace(old, new))["order"] is verdict


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refuted(mistake: str) -> None:
    old, new, layer = MISTAKES[mistake]
    assert old in KERNEL
    assert verdicts(KERNEL.replace(old, new))[layer] is LayerVerdict.REFUTED


def test_other_values_are_not_looked_at() -> None:
    assert set(verdicts(KERNEL.replace("x * w * z", "x + 7")).values()) == {LayerVerdict.PROVED}


def test_the_command_needs_no_file(call: Entry, here: Path) -> None:
    (here / "k.py").write_text(KERNEL)
    for kernel in ("k.py", "k.py::k"):
        code, out, _ = call("verify", "--kernel", kernel)
        assert code == 0
        assert "stores   bounds   order    overflow" in out
        assert "no algorithm is given" in out


def test_the_example_has_no_label_of_ours(call: Entry, here: Path) -> None:
    (here / "k.py").write_text(
        KERNEL.replace("mask=at < n, other=0.0)\n    z", "mask=at <= n)\n    z")
    )
    code, out, _ = call("verify", "--kernel", "k.py", "--json")
    document = json.loads(out)
    (layer, *_) = [one for one in document["functions"][0]["layers"] if one["witness"]]
    assert code == 1
    assert (layer["name"], layer["verdict"], layer["line"]) == ("bounds", "refuted", 14)
    assert {label for label, _ in layer["witness"]["sizes"]} == {"r", "n"}


def test_the_lines_may_stand_in_a_file_of_their_own(call: Entry, here: Path) -> None:
    module = KERNEL.replace(TENSORS, "")
    (here / "k.py").write_text(module)
    (here / "shapes.dt").write_text(f"{TENSORS}\n")
    assert call("verify", "shapes.dt", "--kernel", "k.py::k")[0] == 0
    code, _, err = call("verify", "--kernel", "k.py::k")
    assert code == 1
    assert "has no Func" in err


def test_a_command_without_anything_is_refused(call: Entry) -> None:
    assert call("verify")[0] == 2


def test_tensors_are_read() -> None:
    assert tensors_in((Source("", ""), one) for one in (TENSORS, "# other")) == (
        DeclaredTensor("X", ("r", "n"), "f32", "in"),
        DeclaredTensor("W", ("n",), "f16", "in"),
        DeclaredTensor("Y", ("r", "n"), "f16", "out"),
        DeclaredTensor("Z", ("r",), "f32", "inout"),
    )


@pytest.mark.parametrize(
    "said",
    [
        "out(X)",
        "inout(X.i32)",
        "X[0]",
        "X[True]",
        "X[-2]",
        "X[r + 1]",
        "X[r, r]",
        "X[r], X[n]",
        "X[",
        "f(X[r])",
        "X[r].f16.f32",
        "out(out(X[r]))",
    ],
)
def test_what_is_no_tensor_is_refused(said: str) -> None:
    line = f"# tensors: {said}"
    with pytest.raises(DtpolyError, match="tensors"):
        tensors_in([(Source("k.py", line), line)])


def test_a_line_that_is_not_understood_is_shown_in_its_file(call: Entry, here: Path) -> None:
    (here / "k.py").write_text(KERNEL.replace(TENSORS, f"{TENSORS}, X[n]"))
    code, _, err = call("verify", "--kernel", "k.py::k")
    assert code == 1
    assert "k.py:4:1" in err
    assert "'X' is declared twice" in err


def test_an_axis_may_be_a_number_and_a_name_without_axes_is_a_number_of_callers() -> None:
    line = "# tensors: X[r, 2, 2], out(Y[r, 2]), eps, seed.i32"
    tensors = tensors_in([(Source("shapes.dt", line), line)])
    assert [(one.name, one.labels, one.dtype, one.use) for one in tensors] == [
        ("X", ("r", 2, 2), "f32", "in"),
        ("Y", ("r", 2), "f32", "out"),
        ("eps", (), "f32", "scalar"),
        ("seed", (), "i32", "scalar"),
    ]
    program = check(Source("shapes.dt", algorithm_of(tensors))).program
    assert program is not None
    # Axes of one number are axes of their own.
    assert sorted(program.fixed.values()) == [1, 2, 2, 2]  # and one that all have


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("# tensors: n[n], out(Y[n])", "'n' is declared twice"),
        ("# tensors: X[n], out(Y[n]), n.i32", "'n' is declared twice"),
        ("# tensors: X[n].f99, out(Y[n])", "f99"),
    ],
)
def test_names_that_clash_are_told_where_they_are_written(
    line: str, why: str, call: Entry, here: Path
) -> None:
    (here / "kernel.py").write_text(KERNEL.replace(TENSORS, line))
    code, _, err = call("verify", "--kernel", "kernel.py")
    assert code == 1
    assert "error[DT315]" in err
    assert f"| {line}" in err
    assert why in err


def test_what_several_functions_assume_is_told_once(call: Entry, here: Path) -> None:
    (here / "kernel.py").write_text(KERNEL)
    out = call("verify", "--kernel", "kernel.py")[1]
    assert out.count("assumed: len(n) <= 4096") == 1
    assert "Y, Z_new, assumed: len(n) <= 4096" in out
