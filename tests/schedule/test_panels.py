"""A result in panels: what may be, what may not, and whether the algorithm allows it."""

from collections import Counter
from dataclasses import replace

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.panel_axes import Crossing, cut_along
from dtpoly.algorithm.program import in_order
from dtpoly.checking import check
from dtpoly.reference.run import run
from dtpoly.schedule.tree_text import show_tree
from dtpoly.source import Source
from tests.codegen.inputs import Recipe
from tests.oracle.cases import ordinary_case

PRODUCT = (
    "Func f, g; In A, B; Var m, n; RVar k;g[n, k] = B[k, n]; f[m, n] = rdot(A[m, k], g[n, k], k);"
)


def codes(text: str) -> list[str]:
    return [one.code for one in check(Source("f.dt", text)).diagnostics]


@pytest.mark.parametrize("size", [1, 16, 100, 2**20])
def test_the_turned_side_of_a_product(size: int) -> None:
    assert codes(f"{PRODUCT} f.panels(n:{size}); f.compile();") == []


def test_the_tree_says_so() -> None:
    verdict = check(Source("f.dt", f"{PRODUCT} f.panels(n:64); f.compile();")).verdict
    assert verdict is not None
    assert "\nkernel f, in panels of 64 of n\n" in show_tree(verdict.scheduled.kernels)


def test_the_tree_says_how_programs_and_rows_are() -> None:
    directives = "g.persistent(7); f.persistent(); f.pitch(); f.panels(n:64); f.compile();"
    verdict = check(Source("f.dt", f"{PRODUCT} {directives}")).verdict
    assert verdict is not None
    shown = show_tree(verdict.scheduled.kernels).splitlines()
    assert shown[0] == "kernel g, as many programs as run at once, 7 for each multiprocessor"
    other = "kernel f, as many programs as run at once, rows aligned, in panels of 64 of n"
    assert other in shown


@pytest.mark.parametrize(
    ("directives", "code"),
    [
        ("f.panels(k:64); f.compile();", "DT185"),
        ("f.panels(m:64); f.compile();", "DT197"),  # g has no m
        ("f.panels(n:0); f.compile();", "DT182"),
        ("f.panels(n:1048577); f.compile();", "DT182"),
        ("f.panels(n); f.compile();", "DT181"),
        ("f.panels(n:64);", "DT197"),  # there is no function
        ("g.panels(n:64); g.compile();", "DT197"),  # nothing runs beside it
        ("f.panels(n:64); f.compile(); g.compile();", "DT197"),  # both need it
        ("f.block(k:8); f.panels(n:64); f.compile();", "DT197"),  # two kernels
        ("f.block(k:8); f.atomic(k); f.panels(n:64); f.compile();", "DT197"),
        ("g.inline(); f.panels(n:64); f.compile();", "DT197"),
    ],
)
def test_mistakes(directives: str, code: str) -> None:
    assert code in codes(f"{PRODUCT} {directives}")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("g[x] = A[x]; f[x] = pad(g, 0.0)[x + 1];", "'g' is read at other indices than 'x'"),
        ("g[x] = A[x] + A[x + 1]; f[x] = g[x];", "'A' is read at other indices than 'x'"),
        ("g[x] = A[2 * x]; f[x] = g[x];", "'A' is read at other indices than 'x'"),
        ("g[x] = A[x]; f[x] = g[x] + A[0];", "'A' is read at other indices than 'x'"),
        ("g[x] = A[0]; f[x] = g[x] + A[x];", "'A' is read at other indices than 'x'"),
        ("g[x] = A[x]; f[x] = g[x] + pad(B, 0.0)[x];", "'B' may have another size along axis 0"),
        ("g[x] = A[x]; f[x] = g[x] * x;", "'f' computes with 'x' itself"),
        ("g[x] = A[x] / len(x); f[x] = g[x];", "'g' computes with the size of 'x'"),
        ("g[x] = A[x]; f[x] = g[x] + program_id(0);", "'f' asks which program computes it"),
        ("g[] = rsum(A[y], y); f[x] = A[x] / g[];", "'g' has no 'x'"),
        ("g[x] = A[x]; B[y] = A[y]; f[x] = g[x];", "the size of 'y' comes of that axis, too"),
        ("g[x] = B[x, x]; f[x] = g[x];", "'B' is read along two axes"),
        ("g[x] = A[x]; f[x] = g[x] + pad(A, 0.0)[x - 1];", "'A' is read at other indices"),
    ],
)
def test_what_needs_more_than_its_panel(body: str, why: str) -> None:
    names = (
        "Func f, g, B; In A; Var x, y;" if "B[y]" in body else "Func f, g; In A, B; Var x; RVar y;"
    )
    text = f"{names} {body} f.panels(x:16); f.compile();"
    found = [one for one in check(Source("f.dt", text)).diagnostics if one.code == "DT197"]
    assert any(why in note.text for one in found for note in one.notes), found


@pytest.mark.parametrize(
    "body",
    [
        "f[m, n] = rdot(A[m, k], g[n, k], k); z[m, n] = reshape(W[m], m, 1) + W[n];",
        "f[n] = rsum(g[n, k], k); z[n, k] = reshape(W[n], n, 1) + W[k];",
        "f[n] = rsum(g[n, k], k) * len(m); z[m, n] = reshape(W[m], m, 1) + W[n];",
    ],
)
@pytest.mark.parametrize("more", ["", "z.compile();"])
def test_labels_that_always_have_one_size(body: str, more: str) -> None:
    """Kernels know one number for them: also where only a Func that is not needed makes them so."""
    names = "Func f, g, z; In A, B, W; Var m, n; RVar k; g[n, k] = B[k, n];"
    text = f"{names} {body} f.panels(n:16); f.compile(); {more}"
    found = [one for one in check(Source("f.dt", text)).diagnostics if one.code == "DT197"]
    notes = [note.text for one in found for note in one.notes]
    assert any("whose size is always that of 'n'" in note for note in notes), notes


def test_labels_of_one_size_that_nothing_needs() -> None:
    text = (
        "Func f, g, z; In A, B, W; Var x, y; g[x] = A[x]; f[x] = g[x] * 2.0;"
        "z[x, y] = reshape(W[x], x, 1) + W[y]; f.panels(x:16); f.compile();"
    )
    assert "DT197" not in codes(text)


@pytest.mark.parametrize(
    ("body", "example"),
    [
        ("g[x] = A[x]; f[x] = pad(g, 0.0)[x + 1];", "f[15], in panel 0, reads g[16], in panel 1"),
        ("g[x] = A[x]; f[x] = g[x] + A[0];", "f[16], in panel 1, reads A[0], in panel 0"),
        ("g[x] = A[2 * x]; f[x] = g[x];", "g[8], in panel 0, reads A[16], in panel 1"),
        ("g[x] = A[3 * x + 40]; f[x] = g[x];", "g[0], in panel 0, reads A[40], in panel 2"),
        ("g[x] = rsum(A[x + y], y); f[x] = g[x];", "g[0], in panel 0, reads A[16], in panel 1"),
        ("g[x] = B[x, x]; f[x] = g[x];", ""),  # its parts would have it
    ],
)
def test_an_element_of_another_panel(body: str, example: str) -> None:
    text = f"Func f, g; In A, B; Var x; RVar y; {body} f.panels(x:16); f.compile();"
    (told,) = (one for one in check(Source("f.dt", text)).diagnostics if one.code == "DT197")
    examples = [one.text for one in told.notes if one.text.startswith("example")]
    assert examples == ([f"example: {example}"] if example else [])


@pytest.mark.long
def test_what_is_cut_is_what_is_needed() -> None:
    """The reference gives for parts of inputs the part of what it gives for all of them."""
    found: Counter[str] = Counter()
    for seed in range(300):
        case = ordinary_case(seed)
        inputs = Recipe(seed, DType.F64).inputs(case.program, case.sizes)
        for func in case.program.funcs:
            needed = in_order(case.program, [func.name])
            program = replace(case.program, funcs=needed, directives=())
            passed = {rule.label for rule in size_rules(program) if rule.is_passed}
            given = {label: size for label, size in case.sizes.items() if label in passed}
            whole = run(program, inputs, sizes=given)[func.name]
            for label in func.labels:
                axes = cut_along(program, func.name, label)
                if isinstance(axes, Crossing) or case.sizes[label] < 2:
                    found["refused" if isinstance(axes, Crossing) else "too small"] += 1
                    continue
                count = case.sizes[label] // 2
                parts = {
                    name: value.narrow(axes[name], 1, count)
                    if name in axes and isinstance(value, torch.Tensor)
                    else value
                    for name, value in inputs.items()
                }
                sizes = {**given, **({label: count} if label in passed else {})}
                part = run(program, parts, sizes=sizes)[func.name]
                wanted = whole.narrow(func.labels.index(label), 1, count)
                torch.testing.assert_close(part, wanted, equal_nan=True)
                found["the same"] += 1
    assert min(found["the same"], found["refused"]) > 100, found
