"""Operations on whole numbers and their bits mean the same on each route, for all pairs of bytes.

C, Triton and Python give `//`, `%` and `>>` other signs. What each must be is said here by Python's
own numbers; the routes are the reference, a kernel in Triton's interpreter, the test that a file
may have, the ring, and the terms of the verifier.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.reference.run import run
from dtpoly.ring.ring_algorithm import in_ring
from dtpoly.verify.algebra.number_operations import carried_out
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_reference_text import computed
from tests.verify.texts import text_of, written

TYPES = {
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}
NARROW, WIDE = ("i8", "u8"), ("i16", "i32", "i64")


def _floored(a: int, b: int) -> int:
    return a // b if b else 0


def _rest(a: int, b: int) -> int:
    return a % b if b else 0


def _left(a: int, b: int) -> int:
    return a << b if 0 <= b < 64 else 0


def _right(a: int, b: int) -> int:
    return a >> b if b >= 0 else -int(a < 0)


MEANT: dict[str, Callable[[int, int], int]] = {
    "//": _floored,
    "%": _rest,
    "<<": _left,
    ">>": _right,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
}
# What terms of the verifier call them.
WORDS = {
    **{"//": "quotient", "%": "mod", "<<": "shl", ">>": "shr"},
    **{"&": "bitand", "|": "bitor", "^": "bitxor"},
}
TEXT = (
    "Func f; In A: {0}, B: {0}; Var x; f[x] = {1}; f.block(x:1024); f.tensorize(x:0);f.compile();"
)


def numbers(tensor: torch.Tensor) -> list[int]:
    """Return the elements as Python's numbers."""
    return [int(one) for one in tensor]


def wrapped(value: int, dtype: str) -> int:
    """Return the number of a type that a whole number wraps to."""
    info = torch.iinfo(TYPES[dtype])
    return (value - info.min) % (info.max - info.min + 1) + info.min


def bytes_of(dtype: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return all pairs of numbers of 8 bits."""
    info = torch.iinfo(TYPES[dtype])
    every = torch.arange(info.min, info.max + 1, dtype=TYPES[dtype])
    return every.repeat_interleave(256), every.repeat(256)


def edges(dtype: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return pairs of the numbers at which a type, its signs and its widths end."""
    info = torch.iinfo(TYPES[dtype])
    bits = info.bits
    near = [0, 1, 2, 3, 7, bits - 2, bits - 1, bits, bits + 1, 255, 256]
    powers = [2**at + more for at in (7, 8, 15, bits - 2) for more in (-1, 0, 1)]
    some = {*near, *powers, info.max, info.max - 1}
    ends = sorted({*some, *(-one for one in some), info.min, info.min + 1})
    held = torch.tensor([one for one in ends if info.min <= one <= info.max], dtype=TYPES[dtype])
    return held.repeat_interleave(len(held)), held.repeat(len(held))


def pairs(dtype: str) -> tuple[torch.Tensor, torch.Tensor]:
    return bytes_of(dtype) if dtype in NARROW else edges(dtype)


def routes(one: Program, given: dict[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield what each route computes."""
    yield "reference", run(one, given)["f"]
    yield "kernel", imported(text_of(one)).f(*given.values())
    yield "test", computed(one, "f", given, {})
    arrays: Any = {name: value.numpy() for name, value in given.items()}
    yield "ring", torch.as_tensor(in_ring(one, arrays, {"x": len(given["A"])})["f"])


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("sign", MEANT)
def test_pairs(sign: str, dtype: str) -> None:
    one = written(TEXT.format(dtype, f"A[x] {sign} B[x]"))
    a, b = pairs(dtype)
    exact = [MEANT[sign](left, right) for left, right in zip(numbers(a), numbers(b), strict=True)]
    wanted = torch.tensor([wrapped(value, dtype) for value in exact], dtype=TYPES[dtype])
    for route, found in routes(one, {"A": a, "B": b}):
        wrong = numbers((found != wanted).nonzero().flatten()[:3])
        assert found.dtype is wanted.dtype, route
        assert not wrong, [(route, int(a[at]), int(b[at]), int(found[at])) for at in wrong]
    for left, right, value in list(zip(numbers(a), numbers(b), exact, strict=True))[::7]:
        if right or sign != "%":  # a term that divides by 0 has no number
            assert carried_out(WORDS[sign], (left, right)) == value


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", TYPES)
def test_pairs_divided_upwards(dtype: str) -> None:
    one = written(TEXT.format(dtype, "cdiv(A[x], B[x])"))
    a, b = pairs(dtype)
    exact = [
        -(-left // right) if right else 0
        for left, right in zip(numbers(a), numbers(b), strict=True)
    ]
    wanted = [wrapped(value, dtype) for value in exact]
    for route, found in routes(one, {"A": a, "B": b}):
        assert numbers(found) == wanted, route
    assert verify(one, text_of(one)).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("dtype", TYPES)
def test_complement(dtype: str) -> None:
    one = written(TEXT.format(dtype, "~A[x] + 0 * B[x]"))
    a, b = pairs(dtype)
    for route, found in routes(one, {"A": a, "B": b}):
        assert torch.equal(found, ~a), route
    info = torch.iinfo(TYPES[dtype])
    for value in (info.min, 0, 1, info.max):
        assert carried_out("invert", (value,)) == -1 - value


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("by", [0, 1, 3, 7])
@pytest.mark.parametrize("sign", ["<<", ">>", "//", "%", "&", "^"])
def test_a_written_number_on_the_right(sign: str, by: int, dtype: str) -> None:
    one = written(TEXT.format(dtype, f"(A[x] {sign} {by}) + 0 * B[x]"))
    a, b = pairs(dtype)
    exact = [wrapped(MEANT[sign](left, by), dtype) for left in numbers(a)]
    for route, found in routes(one, {"A": a, "B": b}):
        assert numbers(found) == exact, route


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("number", [1, 100])
@pytest.mark.parametrize("sign", ["<<", ">>", "//", "%", "|"])
def test_a_written_number_on_the_left(sign: str, number: int, dtype: str) -> None:
    one = written(TEXT.format(dtype, f"({number} {sign} B[x]) + 0 * A[x]"))
    a, b = pairs(dtype)
    exact = [wrapped(MEANT[sign](number, right), dtype) for right in numbers(b)]
    for route, found in routes(one, {"A": a, "B": b}):
        assert numbers(found) == exact, route


@pytest.mark.parametrize("sign", ["&", "|", "^"])
def test_bools(sign: str) -> None:
    one = written(TEXT.format("bool", f"A[x] {sign} ~B[x]"))
    a = torch.tensor([False, False, True, True])
    b = torch.tensor([False, True, False, True])
    wanted = torch.tensor(
        [bool(MEANT[sign](p, not q)) for p, q in zip(numbers(a), numbers(b), strict=True)]
    )
    for route, found in routes(one, {"A": a, "B": b}):
        assert torch.equal(found, wanted), route
    assert verify(one, text_of(one)).verdict is LayerVerdict.PROVED


PROVED = {
    "of data": "(A[x] {0} B[x]) + 1",
    "of a number": "(A[x] {0} 3) * 2",
    "by a number": "5 {0} B[x]",
    "again": "((A[x] {0} B[x]) {0} 1) {0} A[x]",
    "of sums": "(A[x] * B[x] + 7) {0} (A[x] - B[x])",
    "of a choice": "where(A[x] < B[x], A[x] {0} 1, B[x]) {0} 2",
    "beside floats": "cast(cast(A[x] {0} 2, f32) * 0.5, {1})",
    "of indices": "cast((x {0} 3) + (len(x) {0} 2), {1}) + A[x] - B[x]",
    "widened": "cast(cast(A[x], i64) {0} cast(B[x] & 3, i64), {1})",
}


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", PROVED)
@pytest.mark.parametrize("sign", MEANT)
def test_proved(sign: str, name: str, dtype: str) -> None:
    one = written(TEXT.format(dtype, PROVED[name].format(sign, dtype)))
    report = verify(one, text_of(one))
    assert report.verdict is LayerVerdict.PROVED, report.functions[0].layers[0].why


ROUNDED = (0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.49999997, 1e30, -1e30)
HALVES = (8388607.5, -8388607.5, 8388609.0, 4503599627370495.5, float("inf"), float("nan"))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["round", "trunc"])
def test_rounding(name: str, dtype: torch.dtype) -> None:
    one = written(f"Func f; In A; Var x; f[x] = {name}(A[x]); f.block(x:64); f.compile();")
    random = torch.Generator().manual_seed(1)
    whole = torch.randint(-9, 9, (200,), generator=random, dtype=dtype)
    some = torch.tensor((*ROUNDED, *HALVES, *(-one for one in HALVES)), dtype=dtype)
    a = torch.cat([some, whole + 0.5, whole * 1e-3, 2.0**whole, torch.nextafter(whole, -whole)])
    wanted = getattr(torch, name)(a)
    for route, found in {
        "reference": run(one, {"A": a})["f"],
        "kernel": imported(text_of(one)).f(a),
        "test": computed(one, "f", {"A": a}, {}),
    }.items():
        torch.testing.assert_close(
            found, wanted.to(found.dtype), rtol=0, atol=0, equal_nan=True, msg=route
        )
        assert torch.equal(found.signbit() & ~a.isnan(), wanted.signbit() & ~a.isnan()), route
    assert verify(one, text_of(one)).verdict is LayerVerdict.PROVED
