"""Whole numbers and bools in the ring have the language's types: they wrap, promote and divide."""

import numpy as np
import pytest
import torch

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.generate import code_of
from dtpoly.reference.run import run as reference
from dtpoly.ring.ring_algorithm import in_ring
from dtpoly.ring.ring_values import NUMPY
from dtpoly.ring.trying import Equal, NotRun, WrongTrial, tried
from tests.codegen.cases import limited, random_case, verdict
from tests.verify.texts import changed, text_of, written

HEAD = "In A: i8, B: u8, C: bool, D: i16, E: i32, F; SIn n: i32; Var x; RVar k;"
VALUES = {
    "they wrap": "A[x] + cast(127, i8)",
    "an opposite and a size": "-A[x] * abs(A[x]) - cast(-128, i8) + len(x) * 100",
    "bytes": "B[x] - 200 * B[x]",
    "they promote": "A[x] * B[x] + (D[x] - E[x]) + C[x]",
    "numbers do not widen": "A[x] + 300 + n * 1000",
    "indices do": "A[x] + x * 100",
    "compared as what they are": "where(A[x] < 300, A[x], 0) + where(B[x] > -1, B[x], 0)",
    "both ways": "minimum(A[x], 300) + maximum(B[x], A[x]) + clamp(D[x], -5, 70000)",
    "divided": "A[x] % B[x] + cdiv(A[x], B[x]) + D[x] % -3 + cdiv(-7, A[x])",
    "rounded down": "A[x] // B[x] + E[x] // 7 - D[x] // -3 + 100 // A[x]",
    "shifted": "(A[x] << 3) + (A[x] >> B[x]) + (E[x] << D[x]) + (200 >> A[x]) + (B[x] >> 4)",
    "bits": "(A[x] & 15 | D[x] ^ 300) + ~B[x] + (E[x] & n) + (~A[x] ^ x)",
    "bits of bools": "where(C[x] & ~C[x] | C[x] ^ (A[x] < 3), A[x], B[x])",
    "drawn": "random_bits(n, x) % 100 + (random_bits(A[x] + 1, B[x], D[x]) >> 40)",
    "drawn as a float": "where(random(n, x) < 0.5, A[x], B[x]) * random(n + 1, x, A[x])",
    "rounded floats": "round(F[x] * 3) + trunc(F[x]) + round(A[x])",
    "into floats": "A[x] / B[x] + sqrt(B[x]) + A[x] * 1.5 + floor(A[x] / 2)",
    "from floats": "cast(F[x], i8) + cast(F[x] * 2.5, u8) + cast(2.5, i8) + cast(-2.5, i16)",
    "back from floats": "cast(A[x] * 1.5, i16) + cast(A[x] / 4, i8)",
    "narrowed": "cast(cast(E[x], i16), u8) + cast(E[x] != 0, i8) + cast(A[x], bool)",
    "powers": "pow(A[x], 3) + pow(A[x], 7) + pow(D[x], B[x]) + pow(E[x], A[x]) + pow(A[x], n)",
    "powers in floats": "pow(A[x], 2.0) + pow(F[x], 5) + pow(F[x], n) + pow(F[x], 0.5)",
    "bools": "where(C[x] + C[x] * C[x], C[x], not C[x]) + pow(C[x], 2)",
    "a bool and a number": "A[x] + (n < 3) * 127 * len(x)",
    "literals are compared": "where(0.1 < 0.25 and 1e-5 < 3 and -3.5 < -2, A[x], B[x])",
    "sums": "rsum(A[k] * cast(100, i8), k) + rsum(B[k] - 200, k) + rsum(C[k], k)",
    "products": "rprod(A[k] * D[k], k) + rprod(C[k], k) + rprod(E[k], k)",
    "products of matrices": "rdot(A[k] + B[k], B[k], k) + rdot(E[k], E[k], k) + A[x]",
    "extremes": "rmax(A[k] - 100, k) + rmin(B[k] + 100, k) + where(rmax(C[k], k), 1, 2)",
    "places": "rargmax(A[k] + 100, k) + rargmin(D[k] * 999, k) + A[x]",
    "outside": "pad(A, 5)[x - 1] + pad(B, 255)[x + 1] * pad(F, 2.5)[x - 2]",
    "a fraction and its parts": "A[x] % 2.5 + F[x] % A[x]",
}
WAYS = {"elements": "", "tiles": "f.block(x:4); f.tensorize(x:0);"}


@pytest.mark.sampled
@pytest.mark.parametrize(
    "way", [pytest.param("elements", marks=pytest.mark.long), pytest.param("tiles")]
)
@pytest.mark.parametrize("name", VALUES)
def test_right_kernels_are_equal(name: str, way: str) -> None:
    program = written(f"Func f; {HEAD} f[x] = {VALUES[name]}; {WAYS[way]} f.compile();")
    assert isinstance(tried(program, text_of(program), "f", 60), Equal)


def test_a_declared_type_wraps_too() -> None:
    program = written("Func f: i8; In E: i32; Var x; f[x] = E[x] * 3; f.compile();")
    assert isinstance(tried(program, text_of(program), "f", 60), Equal)


@pytest.mark.parametrize("name", VALUES)
def test_types_are_those_of_the_language(name: str) -> None:
    """So is each value that is made of whole numbers alone, as the reference says."""
    program = written(f"Func f; {HEAD} f[x] = {VALUES[name]}; f.compile();")
    dtype = types_of(program)["f"].dtype
    given: dict[str, torch.Tensor | int] = {
        "A": torch.tensor([-128, 127, -1, 0, 7], dtype=torch.int8),
        "B": torch.tensor([255, 0, 3, 1, 128], dtype=torch.uint8),
        "C": torch.tensor([True, False, True, True, False]),
        "D": torch.tensor([-32768, 32767, 5, -1, 0], dtype=torch.int16),
        "E": torch.tensor([-(2**31), 2**31 - 1, 0, 77, -1], dtype=torch.int32),
        "F": torch.tensor([0.5, 0.25, 3.0, 2.0, 1.5], dtype=torch.float64),
        "n": 2,
    }
    known = {n: v.numpy() if isinstance(v, torch.Tensor) else v for n, v in given.items()}
    found = in_ring(program, known, {"x": 5, "k": 5})["f"]
    if dtype is None or is_float(dtype):
        assert found.dtype == np.float64
        return
    assert found.dtype == NUMPY[dtype]
    if "F" not in VALUES[name] and "/" not in VALUES[name]:
        passed = {rule.label: 5 for rule in size_rules(program) if rule.is_passed}
        wanted = reference(program, given, sizes=passed)["f"]
        assert np.array_equal(found, wanted.numpy())


SUM = "A_value + A_value"
PRODUCT = "A_value * tl.cast(x_size, tl.int8)"
WRONG = {
    "a sum too wide": ("(A[x] + A[x]) / 2", SUM, "A_value.to(tl.int32) + A_value"),
    "a product too wide": (
        *("rsum(A[k] * len(x) + x, k)", PRODUCT, "A_value.to(tl.int32) * x_size"),
    ),
    "an unsigned one": ("A[x] / 3", ".to(tl.float32)", ".to(tl.uint8).to(tl.float32)"),
    "another sign of the rest": ("A[x] % -3", "rest + b, rest)", "rest, rest)"),
    "a cast that is missing": ("cast(F[x], i64) * 1.5", "tl.cast(F_value, tl.int64)", "F_value"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_not(name: str) -> None:
    value, old, new = WRONG[name]
    program = written(f"Func f; {HEAD} f[x] = {value}; f.compile();")
    assert isinstance(tried(program, changed(text_of(program), old, new), "f", 60), WrongTrial)


def test_what_the_language_leaves_open() -> None:
    program = written("Func f; In A; Var x; f[x] = A[x] * cast(3e9, i32); f.compile();")
    assert tried(program, text_of(program), "f", 5) == NotRun(
        "the ring has no words for a float that i32 lacks"
    )


def test_sizes_that_name_no_label_are_passed_over() -> None:
    program = written("Func f; In A; Var x, y; f[x] = A[x]; f.compile();")
    found = tried(program, text_of(program), "f", 5, [{}, {"x": 3}])
    assert found == Equal(({"x": 1}, {"x": 3}, {"x": 5}, {"x": 2}, {"x": 12}))


# Those in which a literal is cast, and literals are compared.
SEEDS = (500113, 500420)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int) -> None:
    case = random_case(seed)
    code = code_of(verdict(case).scheduled)
    with limited():
        for func in code.stages.outputs:
            assert isinstance(tried(case.program, code.text, func, 60), Equal)
