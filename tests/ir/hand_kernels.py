"""Kernels that no schedule asks for yet, built by hand from nodes of the kernel IR."""

from collections.abc import Mapping
from math import inf

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.kernel import (
    Accumulate,
    Collapse,
    Fill,
    ForLoop,
    GivenScalar,
    Instruction,
    Lanes,
    Let,
    Load,
    Mask,
    Pointer,
    Product,
    Step,
    Store,
)
from dtpoly.ir.tile_values import Converted, IndexValue, LiteralNumber, Masked, Variable
from tests.ir.by_hand import HandKernel, at, blocks_of, call, f32, inside, kernel_of, steps, within

F32, I32, I64 = DType.F32, DType.I32, DType.I64
WIDTH = 16  # lanes of k and n, which are whole in a tile


def lanes(label: str, count: int, start: str | None = None) -> tuple[Instruction, ...]:
    """Return lanes of a label, and which of them are inside of its size."""
    begin = Affine() if start is None else at(start)
    return Lanes(label, begin, count), Mask(f"{label}_mask", inside(label, f"{label}_size"))


def loaded(name: str, tensor: str, labels: tuple[str, ...], axes: tuple[str, ...]) -> Load:
    """Return a tile that is 0 where an index is outside."""
    tests = tuple(within(axis) for axis in axes)
    return Load(name, tensor, tuple(map(at, labels)), tests, axes, 0, F32)


def of_keys() -> tuple[Step, ...]:
    """Return a round of attention: 32 keys and values."""
    f, top, total, out = F32, f32("top", "m"), f32("total", "m"), f32("acc", "m", "n")
    next_top, correction = f32("next_top", "m"), f32("correction", "m")
    shown, weights = f32("shown", "m", "l"), f32("weights", "m", "l")
    scaled = call("mul", f32("scores", "m", "l"), f32("scale"))
    return steps(
        *lanes("l", 32, "l_start"),
        loaded("K_tile", "K", ("l", "k"), ("k", "l")),
        loaded("V_tile", "V", ("l", "n"), ("l", "n")),
        Fill("scores", (16, 32), 0, f),
        Product(
            "scores",
            f32("Q_tile", "m", "k"),
            ("m", "k"),
            f32("K_tile", "k", "l"),
            ("k", "l"),
            f,
            None,
        ),
        Let("shown", Masked(scaled, (within("l"),), -inf, ("m", "l"), f), ("m", "l")),
        Collapse("round_top", "shown", "rmax", ("m", "l"), ("m",)),
        Let("next_top", call("maximum", top, f32("round_top", "m")), ("m",)),
        Let("correction", call("exp", call("sub", top, next_top)), ("m",)),
        Let("weights", call("exp", call("sub", shown, next_top)), ("m", "l")),
        Collapse("round_total", "weights", "rsum", ("m", "l"), ("m",)),
        Let("total", call("add", call("mul", total, correction), f32("round_total", "m")), ("m",)),
        Let("acc", call("mul", out, correction), ("m", "n")),
        Product("acc", weights, ("m", "l"), f32("V_tile", "l", "n"), ("l", "n"), f, None),
        Let("top", next_top, ("m",)),
    )


def attention() -> HandKernel:
    """Attention in one pass over the keys.

    Each round may find a larger score than all before it. What was summed so far is then too large
    by exp(next_top - top), so it is multiplied by exp(top - next_top).
    """
    f, out, total = F32, f32("acc", "m", "n"), f32("total", "m")
    body = steps(
        GivenScalar("scale", f),
        *lanes("m", 16, "m_start"),
        *lanes("k", WIDTH),
        *lanes("n", WIDTH),
        loaded("Q_tile", "Q", ("m", "k"), ("m", "k")),
        Fill("top", (16,), -inf, f),
        Fill("total", (16,), 0, f),
        Fill("acc", (16, WIDTH), 0, f),
        ForLoop("l_start", Affine(), at("l_size"), 32, of_keys()),
        Store(
            "out",
            (at("m"), at("n")),
            (within("m"), within("n")),
            call("div", out, total),
            ("m", "n"),
            f,
        ),
    )
    tensors = (
        *(Pointer(name, name, 2) for name in ("Q", "K", "V")),
        Pointer("out", "out", 2, is_written=True),
    )
    scalars = (("scale", "scale", f),)
    kernel = kernel_of(
        "attention", tensors, ("m", "l", "k", "n"), (blocks_of("m", 16),), body, scalars
    )
    return HandKernel(kernel, dict.fromkeys(("Q", "K", "V", "out"), f))


def rms_norm() -> HandKernel:
    """Rows by their root mean square, and the reciprocal of that, which a backward pass needs."""
    tile, scale = f32("X_tile", "x", "y"), f32("scale", "x")
    size = Converted(IndexValue(at("y_size"), ()), (), F32)
    mean = call("div", f32("squares", "x"), size)
    here = (within("x"), within("y"))
    body = steps(
        *lanes("x", 4, "x_start"),
        Fill("acc", (4, 32), 0, F32),
        ForLoop(
            "y_start",
            Affine(),
            at("y_size"),
            32,
            steps(
                *lanes("y", 32, "y_start"),
                loaded("X_tile", "X", ("x", "y"), ("x", "y")),
                Accumulate("acc", "rsum", call("mul", tile, tile), ("x", "y"), F32),
            ),
        ),
        Collapse("squares", "acc", "rsum", ("x", "y"), ("x",)),
        Let("scale", call("rsqrt", call("add", mean, LiteralNumber(1e-6))), ("x",)),
        Store("scales", (at("x"),), here[:1], scale, ("x",), F32),
        ForLoop(
            "y_start",
            Affine(),
            at("y_size"),
            32,
            steps(
                *lanes("y", 32, "y_start"),
                loaded("X_tile", "X", ("x", "y"), ("x", "y")),
                loaded("W_tile", "W", ("y",), ("y",)),
                Let("normal", call("mul", tile, scale), ("x", "y")),
                Store(
                    "out",
                    (at("x"), at("y")),
                    here,
                    call("mul", f32("normal", "x", "y"), f32("W_tile", "y")),
                    ("x", "y"),
                    F32,
                ),
            ),
        ),
    )
    tensors = (
        Pointer("X", "X", 2),
        Pointer("W", "W", 1),
        Pointer("out", "out", 2, is_written=True),
        Pointer("scales", "scales", 1, is_written=True),
    )
    kernel = kernel_of("rms_norm", tensors, ("x", "y"), (blocks_of("x", 4),), body)
    return HandKernel(kernel, dict.fromkeys(("X", "W", "out", "scales"), F32))


def ragged_sum() -> HandKernel:
    """Sums of the rows of a ragged tensor: where a row begins and ends is in memory."""
    value = f32("X_tile", "x")
    body = steps(
        Load("begin", "offsets", (at("s_start"),), (), (), None, I32),
        Load("end", "offsets", (at("s_start", 1),), (), (), None, I32),
        Fill("acc", (32,), 0, F32),
        ForLoop(
            "x_start",
            at("begin"),
            at("end"),
            32,
            steps(
                Lanes("x", at("x_start"), 32),
                Load("X_tile", "X", (at("x"),), (inside("x", "end"),), ("x",), 0, F32),
                Accumulate("acc", "rsum", value, ("x",), F32),
            ),
        ),
        Collapse("total", "acc", "rsum", ("x",), ()),
        Store("out", (at("s_start"),), (), f32("total"), (), F32),
    )
    tensors = (
        Pointer("offsets", "offsets", 1),
        Pointer("X", "X", 1),
        Pointer("out", "out", 1, is_written=True),
    )
    kernel = kernel_of("ragged_sum", tensors, ("s",), (blocks_of("s", 1),), body)
    return HandKernel(kernel, {"offsets": I32, "X": F32, "out": F32})


def embedding() -> HandKernel:
    """Return rows of a table that tokens name, stored in rows that places name."""
    token, place = Variable("token", ("x",), I32), Variable("place", ("x",), I64)
    both, axes = (within("x"), within("n")), ("x", "n")
    body = steps(
        *lanes("x", 8, "x_start"),
        *lanes("n", WIDTH),
        Load("token", "tokens", (at("x"),), (within("x"),), ("x",), 0, I32),
        Load("place", "places", (at("x"),), (within("x"),), ("x",), 0, I64),
        Load("row", "table", (at("token"), at("n")), both, axes, 0, F32, taken=(token,)),
        Store("out", (at("place"), at("n")), both, f32("row", "x", "n"), axes, F32, taken=(place,)),
    )
    tensors = (
        *(Pointer(name, name, 1) for name in ("tokens", "places")),
        Pointer("table", "table", 2),
        Pointer("out", "out", 2, is_written=True),
    )
    kernel = kernel_of("embedding", tensors, ("x", "n"), (blocks_of("x", 8),), body)
    return HandKernel(kernel, {"tokens": I32, "places": I64, "table": F32, "out": F32})


KERNELS: Mapping[str, HandKernel] = {
    "attention": attention(),
    "rms_norm": rms_norm(),
    "ragged_sum": ragged_sum(),
    "embedding": embedding(),
}
