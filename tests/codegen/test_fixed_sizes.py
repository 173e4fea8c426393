"""Kernels of files that fix sizes: numbers instead of sizes, fewer masks, and what is refused."""

from functools import cache

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_directive
from dtpoly.autoschedule.schedules import schedules
from dtpoly.checking import check, load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.remarks import remarked_soon
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.autoschedule.asked import call_of
from tests.codegen.running import imported

functional = torch.nn.functional
POOL = (
    "Func f; In X; Var b, h, w; RVar r: 3, s: 3;"
    "f[b, h, w] = rmax(X[b, 2 * h + r, 2 * w + s], r, s);"
)
AVERAGE = (
    "Func f; In X; Var b, h, w; RVar r: 3, s: 3;"
    "f[b, h, w] = rsum(pad(X, 0)[b, 2 * h + r - 1, 2 * w + s - 1], r, s) / (len(r) * len(s));"
)
CHANNELS = "Func f; In X, W; Var p, o: 8; RVar c: 5; f[p, o] = rdot(X[p, c], W[o, c], c);"
SCHEDULES = (
    "",
    "f.block(b:1, h:4, w:8); f.tensorize(b:0, h:0, w:0);",
    "f.block(b:1, h:4, w:8); f.tensorize(h:0, w:0, r:0, s:0);",
    "f.block(h:2); f.tensorize(w:0, r:2, s:4); f.num_stages(2);",
    "f.block(w:3); f.tensorize(b:1, h:0, s:0); f.unroll(r:3);",
    "f.block(b:1, h:4, r:2); f.tensorize(w:4);",
)


@cache
def made(text: str) -> tuple[Program, str]:
    program = load(Source("test.dt", f"{text} f.compile();"))
    return program, code_of(judge(program, DIRECTIVES).scheduled).text


@pytest.mark.sampled
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("shape", [(2, 7, 9), (1, 3, 3), (3, 12, 20)])
def test_max_pooling(schedule: str, shape: tuple[int, ...]) -> None:
    program, text = made(POOL + schedule)
    module, X = imported(text), torch.randn(shape)
    assert torch.equal(module.f(X), functional.max_pool2d(X, 3, stride=2))
    if shape[0] == 1:
        assert verify(program, text).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_average_pooling_with_a_rim(schedule: str) -> None:
    program, text = made(AVERAGE + schedule)
    module, X = imported(text), torch.randn(2, 9, 12)
    expected = functional.avg_pool2d(X[:, None], 3, stride=2, padding=1)[:, 0]
    torch.testing.assert_close(module.f(X, h=5, w=6), expected)
    assert verify(program, text).verdict is LayerVerdict.PROVED
    assert "X_shape_0" not in text  # only two axes have a rim


@pytest.mark.sampled
@pytest.mark.parametrize(
    "schedule",
    [
        "",
        "f.block(p:16); f.tensorize(p:0, o:0, c:0);",
        "f.block(p:16, o:16); f.tensorize(p:0, o:0, c:16);",
        "f.block(o:4); f.tensorize(p:0, o:0, c:4);",
        "f.block(c:2); f.tensorize(p:4);",
    ],
)
def test_products(schedule: str) -> None:
    program, text = made(CHANNELS + schedule)
    module, X, W = imported(text), torch.randn(7, 5), torch.randn(8, 5)
    torch.testing.assert_close(module.f(X, W), X @ W.T)
    assert verify(program, text).verdict is LayerVerdict.PROVED


def test_a_size_that_is_fixed_is_a_number_in_the_kernel() -> None:
    _, text = made(POOL + SCHEDULES[2])
    kernel = text.partition("def f_kernel(")[2].partition("\n\n\n")[0]
    assert "r_size" not in kernel
    assert "s_size" not in kernel
    assert "tl.arange(0, 4)" in kernel


@pytest.mark.parametrize(
    ("text", "shapes", "sizes", "said"),
    [
        (POOL, [(2, 2, 9)], {}, r"X.shape\[1\] is 2, and 2 \* h \+ r reaches 2"),
        (POOL, [(2, 9, 0)], {}, r"X.shape\[2\] is 0, and 2 \* w \+ s reaches 2"),
        (CHANNELS, [(3, 4), (8, 4)], {}, "'c': it is 5 as the file says, but 4 by X"),
        (CHANNELS, [(3, 5), (7, 5)], {}, "'o': it is 8 as the file says, but 7 by W"),
        (
            "Func f; In X; Var h; RVar r; f[h] = rmax(X[2 * h + r], r);",
            [(16,)],
            {"h": 9},
            r"X.shape\[0\] is 16, and 2 \* h \+ r reaches 16",
        ),
    ],
)
def test_refused(
    text: str, shapes: list[tuple[int, ...]], sizes: dict[str, int], said: str
) -> None:
    module = imported(made(text)[1])
    with pytest.raises(ValueError, match=said):
        module.f(*map(torch.zeros, shapes), **sizes)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("indices", "size"),
    [
        (("c", "c + 4"), 4),
        (("c", "c + 4", "c + 8"), 4),
        (("c + 3",), 5),
        (("2 * c", "2 * c + 1"), 3),
        (("3 * c + 2",), 2),
        (("5 - c",), 6),
        (("c", "4 - c"), 5),
        (("8 - 2 * c", "c + 7"), 5),
    ],
)
def test_an_axis_that_is_read_at_a_fixed_label_and_numbers(
    indices: tuple[str, ...], size: int
) -> None:
    """Halves and pairs of an axis, and its end: the function takes what the reference does."""
    reads = " + ".join(f"X[b, {index}] * {at + 1}" for at, index in enumerate(indices))
    program, text = made(f"Func f; In X; Var b, c: {size}; f[b, c] = {reads};")
    module, taken = imported(text), 0
    for extent in range(1, 20):
        X = torch.randn(3, extent)
        try:
            expected = run(program, {"X": X})["f"]
        except DtpolyError:
            with pytest.raises(ValueError, match="X"):
                module.f(X)
            continue
        taken += 1
        torch.testing.assert_close(module.f(X).double(), expected, atol=1e-5, rtol=1e-5)
    assert taken > 0
    assert verify(program, text).verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_what_differs_in_one_number_is_refuted() -> None:
    program, text = made(POOL + SCHEDULES[2])
    for old, new in (
        ("r <= 2", "r <= 3"),
        ("r <= 2", "r <= 1"),
    ):
        assert old in text
        assert verify(program, text.replace(old, new)).verdict is not LayerVerdict.PROVED


CONV = (
    "Func f; In A, W; Var b, h, o; RVar r: 3, s: 2, c;"
    "f[b, h, o] = rdot(A[b, h + r, s, c], W[o, r, s, c], r, s, c);"
    "f.block(b:1, h:16, o:16); f.tensorize(b:0, h:0, o:0, c:16);"
)


@pytest.mark.parametrize(
    ("loops", "end"),
    [
        ("r, s, c", "tl.range(0, 3 * 2 * tl.cast(c_steps, offset))"),
        ("r, s", "tl.range(0, 6)"),
        ("s, c", "tl.range(0, 2 * tl.cast(c_steps, offset))"),
    ],
)
def test_loops_of_fixed_sizes_are_one_with_others(loops: str, end: str) -> None:
    order = "f.map(b, h, o); "
    program, text = made(f"{CONV}{order}f.flatten({loops}); f.num_stages(2);")
    assert end in text
    module = imported(text)
    for rows, channels in ((3, 1), (9, 16), (20, 33), (18, 0)):
        A, W = torch.randn(2, rows, 2, channels), torch.randn(5, 3, 2, channels)
        expected = torch.stack(
            [torch.einsum("brsc,orsc->bo", A[:, h : h + 3], W) for h in range(rows - 2)], 1
        )
        torch.testing.assert_close(module.f(A, W), expected, atol=1e-4, rtol=1e-4)
    assert verify(program, text).verdict is LayerVerdict.PROVED
    for old, new in (
        (end, end.replace("3 * ", "2 * ").replace("6", "5").replace("(0, 2 *", "(0, 3 *")),
        ("// c_steps % 2", "// c_steps % 3"),
        ("// c_steps // 2", "// c_steps // 3"),
        ("step % c_steps", "step % 2"),
        ("step // c_steps", "step // 2"),
        ("step // 2", "step // 3"),
        ("step % 2", "step % 3"),
    ):
        if old in text and old != new:
            assert verify(program, text.replace(old, new)).verdict is not LayerVerdict.PROVED, (
                old,
                new,
            )


@pytest.mark.long
def test_the_autoscheduler_flattens_loops_of_fixed_sizes() -> None:
    algorithm = CONV.partition("f.block")[0]
    call = call_of(Source("test.dt", algorithm), "f16", b=16, h=64, o=64, c=64)
    best = next(iter(schedules(call)))
    chosen = " ".join(show_directive(line.directive) for line in best.lines)
    assert "flatten" in chosen
    source = Source("test.dt", algorithm + chosen)
    assert "DT198" not in {one.code for one in remarked_soon(check(source)).diagnostics}
    program = load(source)
    assert (
        verify(program, code_of(judge(program, DIRECTIVES).scheduled).text).verdict
        is LayerVerdict.PROVED
    )


@pytest.mark.parametrize("text", [POOL, AVERAGE])
def test_pools_are_scheduled(text: str) -> None:
    call = call_of(Source("test.dt", text), "f32", b=4, h=56, w=56)
    best = next(iter(schedules(call)))
    chosen = " ".join(show_directive(line.directive) for line in best.lines)
    program = load(Source("test.dt", text + chosen))
    made_text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, made_text).verdict is LayerVerdict.PROVED
    X = torch.randn(1, 9, 12)
    module = imported(made_text)
    if text == POOL:
        assert torch.equal(module.f(X), functional.max_pool2d(X, 3, stride=2))
