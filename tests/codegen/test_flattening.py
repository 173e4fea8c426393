"""Loops that are one loop, and convolutions through descriptors, in Triton's interpreter."""

import pytest
import torch

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.ir.kernel import ForLoop
from dtpoly.ir.parts import inside
from dtpoly.schedule.legality import judge
from dtpoly.useless_directives import vain
from tests.codegen.plans import launches_in
from tests.codegen.running import imported
from tests.codegen.test_descriptors import described, generated
from tests.verify.texts import written

CONV = """
Func f; In A, W; Var b, h, w, k; RVar r, s, c;
f[b, h, w, k] = rdot(A[b, h + r, w + s, c], W[k, r, s, c], r, s, c);
f.compile();
"""
# Pixels of several pictures are the columns, since 64 filters can be rows; 16 filters cannot.
FORMS = {
    "filters as rows": (
        "f.block(b:2, h:4, w:4, k:64); f.tensorize(b:0, h:0, w:0, k:0, c:16); f.flatten(r, s, c);",
        (1, 3, 2),
    ),
    "filters as rows, in blocks": (
        "f.block(b:2, h:4, w:4, k:64); f.tensorize(b:0, h:0, w:0, k:0, c:16);"
        "f.flatten(r, s, c); f.descriptor(A, W); f.num_stages(3);",
        (3, 2, 33),
    ),
    "pixels as rows, in blocks": (
        "f.block(b:1, h:2, w:8, k:16); f.tensorize(b:0, h:0, w:0, k:0, c:32);"
        "f.flatten(r, s, c); f.descriptor(A, W); f.map(b, h, w, k);",
        (2, 3, 40),
    ),
    "lanes of the filter": (
        "f.block(b:1, h:2, w:8, k:16); f.tensorize(b:0, h:0, w:0, k:0, r:2, s:8);"
        "f.flatten(r, s, c);",
        (5, 3, 1),
    ),
    "two of three loops": (
        "f.block(b:1, h:2, w:8, k:16); f.tensorize(b:0, h:0, w:0, k:0, c:16); f.flatten(r, s);",
        (3, 3, 20),
    ),
    "in turn": (
        "f.block(b:1, h:4, w:4, k:16); f.tensorize(b:0, h:0, w:0, k:0, c:16);"
        "f.flatten(r, s, c); f.persistent();",
        (2, 2, 16),
    ),
}


def flat(text: str) -> list[tuple[str, ...]]:
    """Return the labels of each loop that is several."""
    kernels = generated(text).stages.kernels
    steps = (one for kernel in kernels for one in inside(kernel.body))
    return [one.over for one in steps if isinstance(one, ForLoop) and one.over]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_convolutions(form: str) -> None:
    directives, (r, s, c) = FORMS[form]
    made = generated(CONV + directives)
    A, W = torch.randn(3, 6 + r, 9 + s, c), torch.randn(20, r, s, c)
    wanted = torch.nn.functional.conv2d(
        A.double().permute(0, 3, 1, 2), W.double().permute(0, 3, 1, 2)
    )
    found = imported(made.text).f(A, W)
    torch.testing.assert_close(found.double(), wanted.permute(0, 2, 3, 1), atol=1e-4, rtol=1e-4)


@pytest.mark.long
def test_lanes_that_overhang_are_loaded_in_blocks() -> None:
    directives, _ = FORMS["filters as rows, in blocks"]
    assert described(CONV + directives) == [("A", (2, 4, 4, 16)), ("W", (64, 1, 1, 16))]
    (launch,) = launches_in(generated(CONV + directives).text)
    W = {"of": "W", "block": (64, 1, 1, 16), "axes": (1, 2, 0, 3)}
    assert launch["descriptors"]["W_blocks"] == W


def test_lanes_that_something_else_looks_at_are_not() -> None:
    """A tile that is computed with before it is multiplied is not known to be a side alone."""
    text = """
    Func f; In A, B; Var h, n; RVar w, k; f[h, n] = rdot(A[h + w, k], B[n, w, k], w, k);
    f.block(h:16, n:16); f.tensorize(h:0, n:0, k:16); f.descriptor(A, B); f.compile();
    """
    assert described(text) == [("A", (16, 16)), ("B", (16, 1, 16))]
    assert described(text.replace("A[h + w, k]", "exp(A[h + w, k])")) == [("B", (16, 1, 16))]


def test_what_is_one_loop() -> None:
    tiles = "f.tensorize(k:16, c:16);"
    assert flat(f"{CONV} {tiles} f.flatten(r, s, c);") == [("r", "s", "c")]
    assert flat(f"{CONV} {tiles} f.flatten(r, s);") == [("r", "s")]
    assert flat(f"{CONV} {tiles} f.flatten(s, c);") == [("s", "c")]
    assert flat(f"{CONV} {tiles} f.reorder(c, r, s); f.flatten(c, r);") == [("c", "r")]


@pytest.mark.parametrize("loops", ["s, r", "r, c", "b, r"])
def test_loops_that_are_not_inside_of_each_other(loops: str) -> None:
    judged = judge(written(f"{CONV} f.flatten({loops});"), DIRECTIVES)
    (told,) = vain(judged.scheduled, generated(f"{CONV} f.flatten({loops});").stages, DIRECTIVES)
    assert (told.code, told.title) == ("DT198", "'flatten' changes nothing here")
    assert told.span is not None
    assert told.span.text == f"f.flatten({loops})"


def test_a_loop_that_is_not_as_long_as_a_size() -> None:
    text = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.split(k:ki/4); f.compile();"
    assert flat(f"{text} f.flatten(k, ki);") == []


@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 0, 4), (2, 3, 0), (1, 1, 1), (2, 5, 3)])
def test_no_rounds_and_some(sizes: tuple[int, int, int]) -> None:
    made = generated(
        "Func f; In A; Var x; RVar i, j, k; f[x] = rsum(A[x, i, j, k], i, j, k);"
        "f.tensorize(x:4, k:2); f.flatten(i, j, k); f.compile();"
    )
    A = torch.randn(7, *sizes)
    torch.testing.assert_close(imported(made.text).f(A), A.sum((1, 2, 3)))
