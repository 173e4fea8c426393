"""Every elementwise operation and every reduction, in every dtype, against torch."""

import itertools
from collections.abc import Callable

import pytest
import torch

from dtpoly.algorithm.dtypes import FLOATS, INTEGERS, DType, is_float
from dtpoly.algorithm.operations import (
    DRAWN,
    FROM_LIST,
    FUNCTIONS,
    INFIX,
    LIST,
    OPERATION,
    REDUCTION,
)
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.reference.labelled_operations import ELEMENTWISE
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.run import run
from dtpoly.source import Source

Tensor = torch.Tensor
NAN, INF = float("nan"), float("inf")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.25]
PROMOTING = [d for d in DType if not d.startswith("f8")]


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def value(text: str, **inputs: Tensor | float) -> Tensor:
    """The value of `f`."""
    return run(program(text), inputs)["f"]


def call(expression: str, *operands: Tensor) -> Tensor:
    """An expression in A[x], B[x], C[x]."""
    names = "ABC"[: len(operands)]
    text = f"Func f; In {', '.join(names)}; Var x; f[x] = {expression};"
    return value(text, **dict(zip(names, operands, strict=True)))


def same(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


def tensor(values: list[float], dtype: DType = DType.F64) -> Tensor:
    return torch.tensor(values).to(TORCH_DTYPE[dtype])


def elements(tensor: Tensor) -> list[float]:
    return [element.item() for element in tensor.flatten()]


def _cdiv(a: Tensor, b: Tensor) -> Tensor:
    return torch.ceil(a / b)


def _divided(a: Tensor, b: Tensor) -> Tensor:
    return a / b


def _fma(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return torch.addcmul(c, a, b)


# What torch calls by another name.
TORCH: dict[str, Callable[..., Tensor]] = {
    "cdiv": _cdiv,
    "div_rn": _divided,
    "fdiv": _divided,
    "fma": _fma,
    "sqrt_rn": torch.sqrt,
}
OPERATORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "//": lambda a, b: a // b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}


OF_WHOLES = {symbol for symbol, info in INFIX.items() if info.operands_are_whole}


def combinations(count: int) -> list[Tensor]:
    """Every special value with every other, as columns."""
    rows = list(itertools.product(SPECIAL, repeat=count))
    return [torch.tensor(column, dtype=torch.float64) for column in zip(*rows, strict=True)]


def whole(dtype: DType) -> list[Tensor]:
    """Pairs of whole numbers, the extremes among them; the second is never 0."""
    if dtype is DType.BOOL:
        numbers = [0, 1]
    else:
        bounds = torch.iinfo(TORCH_DTYPE[dtype])
        numbers = [bounds.min, bounds.max, 0, 1, 2, 7, *([-1, -7] if bounds.min else [])]
    # torch may stop the process where the least number is divided by -1.
    pairs = [(a, b) for a in numbers for b in numbers if b and (a, b) != (numbers[0], -1)]
    return [torch.tensor(side, dtype=TORCH_DTYPE[dtype]) for side in zip(*pairs, strict=True)]


def test_every_operation_is_here() -> None:
    # What stands at a place of a list is computed with the list (tests/codegen/test_lists.py).
    assert set(ELEMENTWISE) == set(OPERATION) - {*FROM_LIST}
    assert set(OPERATORS) == set(INFIX)


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"where", *DRAWN}))
def test_functions_of_floats(name: str) -> None:
    operands = combinations(FUNCTIONS[name].arity)
    arguments = [f"{letter}[x]" for letter in "ABC"[: len(operands)]]
    expected = TORCH.get(name) or getattr(torch, name)
    same(call(f"{name}({', '.join(arguments)})", *operands), expected(*operands))


@pytest.mark.parametrize("symbol", sorted(set(INFIX) - {"and", "or"} - OF_WHOLES))
def test_operators_of_floats(symbol: str) -> None:
    a, b = combinations(2)
    same(call(f"A[x] {symbol} B[x]", a, b), OPERATORS[symbol](a, b))


def test_negation_and_plus() -> None:
    (a,) = combinations(1)
    same(call("-A[x]", a), -a)
    same(call("+A[x]", a), a)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("symbol", sorted(set(INFIX) - {"and", "or"}))
def test_operators_of_whole_numbers_wrap_as_torch_does(dtype: DType, symbol: str) -> None:
    a, b = whole(dtype)
    expected = OPERATORS[symbol](a, b)
    actual = call(f"A[x] {symbol} B[x]", a, b)
    if symbol == "/":
        same(actual, a.double() / b.double())
    else:
        assert actual.dtype is expected.dtype
        same(actual, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("number", [3, 300, 70_000, 2**31, 2**40, -1])
def test_division_beside_a_number_that_the_type_cannot_hold(dtype: DType, number: int) -> None:
    a, _ = whole(dtype)
    same(call(f"A[x] / {number}", a), a.double() / number)
    same(
        call(f"{number} / (A[x] * A[x] + 1)", a),
        torch.full(a.shape, number, dtype=torch.float64) / (a * a + 1),
    )


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "name", ["abs", "ceil", "floor", "maximum", "minimum", "pow", "round", "trunc"]
)
def test_functions_of_whole_numbers(dtype: DType, name: str) -> None:
    a, b = whole(dtype)
    b = b.clamp(-3, 3)
    operands = [a, b][: FUNCTIONS[name].arity]
    arguments = ["A[x]", "B[x]"][: len(operands)]
    actual = call(f"{name}({', '.join(arguments)})", *operands)
    same(actual, getattr(torch, name)(*operands))


@pytest.mark.parametrize("name", ["exp", "sqrt", "sigmoid", "erf", "cos"])
def test_functions_that_make_floats_of_whole_numbers(name: str) -> None:
    a = torch.arange(5, dtype=torch.int8)
    same(call(f"{name}(A[x])", a), getattr(torch, name)(a.double()))


@pytest.mark.parametrize(("left", "right"), list(itertools.product(PROMOTING, repeat=2)))
def test_addition_promotes_as_torch_does(left: DType, right: DType) -> None:
    a, b = tensor([1, 2, 0], left), tensor([1, 0, 3], right)
    expected = a + b
    actual = call("A[x] + B[x]", a, b)
    assert actual.dtype is (torch.float64 if expected.is_floating_point() else expected.dtype)
    torch.testing.assert_close(actual.double(), expected.double(), rtol=1e-2, atol=0)


@pytest.mark.parametrize("dtype", [d for d in DType if not is_float(d)])
@pytest.mark.parametrize("number", ["2", "-1", "0.5"])
def test_a_number_counts_by_its_category(dtype: DType, number: str) -> None:
    a = tensor([1, 0, 1], dtype)
    expected = a + (float(number) if "." in number else int(number))
    actual = call(f"A[x] + {number}", a)
    same(actual, expected.double() if expected.is_floating_point() else expected)


def test_a_scalar_input_is_a_number() -> None:
    a = tensor([100, 1], DType.I8)
    text = "Func f; In A; SIn a; Var x; f[x] = A[x] + a;"
    for one in (100, torch.tensor(100), 0.5, True):  # without a type it is a float
        same(value(text, A=a, a=one), a.double() + float(one))
    text = text.replace("SIn a", "SIn a: i32")
    same(value(text, A=a, a=100), a + 100)
    same(value(text, A=a, a=torch.tensor(100)), a + 100)
    same(value(text, A=a, a=True), a + 1)


@pytest.mark.parametrize("dtype", DType)
def test_every_dtype_is_read_exactly(dtype: DType) -> None:
    a = tensor([0, 1, 2, 0.5, 3], dtype)
    found = call("A[x]", a)
    same(found, a.double() if is_float(dtype) else a)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_inputs_do_not_round_what_is_computed(dtype: DType) -> None:
    a = tensor([1, 3], dtype)
    same(call("A[x] / 3", a), torch.tensor([1, 3], dtype=torch.float64) / 3)


class TestBooleans:
    A = torch.tensor([True, True, False, False])
    B = torch.tensor([True, False, True, False])

    @pytest.mark.parametrize("symbol", ["and", "or", "==", "!=", "<", "<="])
    def test_operators(self, symbol: str) -> None:
        same(call(f"A[x] {symbol} B[x]", self.A, self.B), OPERATORS[symbol](self.A, self.B))

    def test_not(self) -> None:
        same(call("not A[x]", self.A), ~self.A)

    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            ("A[x] + B[x]", A | B),
            ("A[x] * B[x]", A & B),
            ("maximum(A[x], B[x])", A | B),
            ("minimum(A[x], B[x])", A & B),
            ("abs(A[x])", A),
            ("pow(A[x], B[x])", A | ~B),
            ("A[x] % B[x]", A & ~A & B),
            ("cdiv(A[x], B[x])", A & B),
            ("floor(A[x])", A),
            ("clamp(A[x], B[x], B[x])", B),
        ],
    )
    def test_arithmetic_stays_boolean(self, expression: str, expected: Tensor) -> None:
        used = [self.A, self.B][: 1 + ("B" in expression)]
        same(call(expression, *used), expected)

    def test_arithmetic_with_a_number_is_whole(self) -> None:
        same(call("A[x] + 1", self.A), self.A + 1)


class TestWhere:
    def test_nan_in_the_branch_that_is_not_chosen(self) -> None:
        a = tensor([-4.0, 4.0])
        same(call("where(A[x] >= 0, sqrt(A[x]), 0)", a), tensor([0.0, 2.0]))
        same(call("where(A[x] < 0, A[x], nan)", a), tensor([-4.0, NAN]))

    def test_the_condition_does_not_promote(self) -> None:
        a, b = tensor([1, 2], DType.I8), tensor([3, 4], DType.I16)
        found = call("where(A[x] < 2, A[x], B[x])", a, b)
        same(found, torch.tensor([1, 4], dtype=torch.int16))

    def test_a_choice_between_numbers_is_a_number(self) -> None:
        a = tensor([1, 2], DType.I8)
        assert call("A[x] + where(x < 1, 1, 2)", a).dtype is torch.int8

    def test_a_reshaped_number_is_a_number(self) -> None:
        a = tensor([1, 2], DType.I8)
        assert call("A[x] + reshape(1, 1)", a).dtype is torch.int8

    def test_infinity_makes_floats_of_whole_numbers(self) -> None:
        a = tensor([1, 2], DType.I32)
        same(call("where(x < 1, A[x], -inf)", a), tensor([1.0, -INF]))


class TestIndices:
    def test_an_index_is_a_whole_number(self) -> None:
        text = "Func f; In A; Var x, y; f[x, y] = 10 * x + y + 0 * len(x);"
        found = run(program(text), {"A": tensor([0])}, sizes={"x": 2, "y": 3})["f"]
        same(found, torch.tensor([[0, 1, 2], [10, 11, 12]]))

    def test_an_index_aligns_by_name(self) -> None:
        text = "Func f; In A; Var x, y; f[x, y] = A[x, y] * x;"
        a = torch.ones(3, 2)
        same(value(text, A=a), torch.arange(3.0).double()[:, None].expand(3, 2))

    def test_a_sum_of_indices(self) -> None:
        text = "Func f; In A; RVar k; f[] = rsum(k, k) + 0 * rsum(A[k], k);"
        assert value(text, A=torch.zeros(5, dtype=torch.int64)).item() == 10


class TestWholeNumbersByZero:
    """NumPy's rule: 0. What a GPU does is undefined."""

    @pytest.mark.parametrize("expression", ["A[x] % B[x]", "cdiv(A[x], B[x])"])
    def test_is_zero(self, expression: str) -> None:
        a, b = tensor([5, -5, 0], DType.I32), tensor([0, 0, 0], DType.I32)
        same(call(expression, a, b), a * 0)

    def test_cdiv_rounds_up(self) -> None:
        a, b = tensor([7, 8, -7, 0], DType.I32), tensor([4, 4, 4, 4], DType.I32)
        same(call("cdiv(A[x], B[x])", a, b), tensor([2, 2, -1, 0], DType.I32))

    def test_cdiv_of_the_largest(self) -> None:
        a, b = tensor([2**31 - 1], DType.I64).int(), tensor([2], DType.I32)
        assert call("cdiv(A[x], B[x])", a, b).item() == 2**30

    def test_mod_has_the_sign_of_the_divisor(self) -> None:
        a, b = tensor([7, -7, 7, -7], DType.I32), tensor([3, 3, -3, -3], DType.I32)
        same(call("A[x] % B[x]", a, b), tensor([1, 2, -2, -1], DType.I32))


class TestCasts:
    @pytest.mark.parametrize("dtype", FLOATS)
    def test_round_to_a_float(self, dtype: DType) -> None:
        a = torch.linspace(-3, 3, 31, dtype=torch.float64)
        same(call(f"cast(A[x], {dtype})", a), a.to(TORCH_DTYPE[dtype]).double())

    @pytest.mark.parametrize("dtype", [d for d in DType if not is_float(d)])
    def test_convert_to_a_whole_number(self, dtype: DType) -> None:
        a = tensor([0.0, 1.7, 3.2, 100.0])
        same(call(f"cast(A[x], {dtype})", a), a.to(TORCH_DTYPE[dtype]))

    def test_of_a_number_is_a_tensor_of_that_dtype(self) -> None:
        a = tensor([1, 2], DType.I8)
        assert call("A[x] + cast(1, i32)", a).dtype is torch.int32

    def test_overflow(self) -> None:
        a = tensor([1e5, -1e5, 300.0])
        same(call("cast(A[x], f16)", a), tensor([INF, -INF, 300.0]))
        whole = tensor([300, -129], DType.I32)
        same(call("cast(A[x], i8)", whole), tensor([44, 127], DType.I8))

    def test_a_func_does_not_round_but_converts_to_whole_numbers(self) -> None:
        a = tensor([1 / 3, 2 / 3])
        same(value("Func f: f16; In A; Var x; f[x] = A[x];", A=a), a)
        whole = tensor([1, 2], DType.I8)
        assert value("Func f: i64; In A; Var x; f[x] = A[x];", A=whole).dtype is torch.int64
        assert value("Func f: f32; In A; Var x; f[x] = A[x];", A=whole).dtype is torch.float64
        flags = torch.tensor([True, False])
        same(value("Func f: i32; In A; Var x; f[x] = A[x];", A=flags), flags.int())


def reduce_over(name: str, a: Tensor) -> Tensor:
    return value(f"Func f; In A; Var x; RVar k; f[x] = {name}(A[x, k], k);", A=a)


TORCH_REDUCTION: dict[str, Callable[[Tensor], Tensor]] = {
    "rsum": lambda a: a.sum(1),
    "rprod": lambda a: a.prod(1),
    "rmax": lambda a: a.amax(1),
    "rmin": lambda a: a.amin(1),
    "rany": lambda a: a.any(1),
    "rall": lambda a: a.all(1),
    "rargmax": lambda a: a.argmax(1),
    "rargmin": lambda a: a.argmin(1),
}
ARITHMETIC = ["rsum", "rprod", "rmax", "rmin", "rargmax", "rargmin"]


class TestReductions:
    def test_every_reduction_is_here(self) -> None:
        assert set(TORCH_REDUCTION) == set(REDUCTION) - {LIST}

    @pytest.mark.parametrize("name", ARITHMETIC)
    @pytest.mark.parametrize("shape", [(3, 7), (1, 1), (5, 1), (0, 4)])
    def test_floats(self, name: str, shape: tuple[int, int]) -> None:
        a = torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        expected = TORCH_REDUCTION[name](a)
        torch.testing.assert_close(reduce_over(name, a), expected, rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize("name", ["rsum", "rprod", "rmax", "rmin"])
    @pytest.mark.parametrize("special", [NAN, INF, -INF])
    def test_special_values(self, name: str, special: float) -> None:
        a = torch.tensor([[1.0, special, 2.0], [special, special, 0.0], [0.5, 1.0, -0.0]])
        same(reduce_over(name, a), TORCH_REDUCTION[name](a.double()))

    @pytest.mark.parametrize("name", ["rany", "rall"])
    def test_booleans(self, name: str) -> None:
        a = torch.tensor(list(itertools.product([False, True], repeat=3)))
        same(reduce_over(name, a), TORCH_REDUCTION[name](a))

    @pytest.mark.parametrize("dtype", [d for d in DType if not is_float(d)])
    @pytest.mark.parametrize("name", ["rmax", "rmin"])
    def test_extremes_keep_the_dtype(self, name: str, dtype: DType) -> None:
        a = torch.stack(whole(dtype))
        same(reduce_over(name, a), TORCH_REDUCTION[name](a))

    @pytest.mark.parametrize(
        ("dtype", "total"),
        [
            (DType.BOOL, torch.int32),
            (DType.U8, torch.int32),
            (DType.I8, torch.int32),
            (DType.I16, torch.int32),
            (DType.I32, torch.int64),
            (DType.I64, torch.int64),
        ],
    )
    def test_sums_of_whole_numbers_widen(self, dtype: DType, total: torch.dtype) -> None:
        a = torch.stack(whole(dtype))
        same(reduce_over("rsum", a), a.sum(1, dtype=total))
        same(reduce_over("rprod", a), a.prod(1, dtype=total))

    @pytest.mark.parametrize(
        ("name", "dtype", "identity"),
        [
            ("rsum", DType.F32, 0.0),
            ("rprod", DType.F32, 1.0),
            ("rmax", DType.F32, -INF),
            ("rmin", DType.F32, INF),
            ("rsum", DType.I8, 0),
            ("rprod", DType.I8, 1),
            ("rmax", DType.I8, -128),
            ("rmin", DType.I8, 127),
            ("rmax", DType.U8, 0),
            ("rmin", DType.U8, 255),
            ("rmax", DType.I64, -(2**63)),
            ("rmax", DType.BOOL, False),
            ("rmin", DType.BOOL, True),
            ("rany", DType.BOOL, False),
            ("rall", DType.BOOL, True),
        ],
    )
    def test_of_nothing_is_the_identity(self, name: str, dtype: DType, identity: float) -> None:
        a = torch.zeros(2, 0).to(TORCH_DTYPE[dtype])
        assert elements(reduce_over(name, a)) == [identity] * 2

    @pytest.mark.parametrize(
        ("name", "row", "expected"),
        [
            ("rargmax", [1.0, 3.0, 3.0, 2.0], 1),
            ("rargmin", [2.0, 1.0, 1.0, 1.0], 1),
            ("rargmax", [1.0, NAN, INF, NAN], 1),
            ("rargmin", [-INF, 0.0, NAN, NAN], 2),
            ("rargmax", [-INF, -INF, -INF, -INF], 0),
            ("rargmin", [0.0, -0.0, 0.0, -0.0], 0),
        ],
    )
    def test_the_first_of_equals(self, name: str, row: list[float], expected: int) -> None:
        assert reduce_over(name, torch.tensor([row])).item() == expected

    def test_the_first_of_many_equals(self) -> None:
        a = torch.zeros(3, 10_000)
        a[:, 4321:] = 1
        assert elements(reduce_over("rargmax", a)) == [4321] * 3
        assert elements(reduce_over("rargmin", a)) == [0] * 3

    @pytest.mark.parametrize("name", ["rargmax", "rargmin"])
    def test_the_first_of_equal_bytes_and_booleans(self, name: str) -> None:
        a = torch.tensor([[2, 1, 2, 1]], dtype=torch.uint8)
        expected = {"rargmax": 0, "rargmin": 1}[name]
        assert elements(reduce_over(name, a)) == [expected]
        assert elements(reduce_over(name, a == 2)) == [expected]

    @pytest.mark.parametrize("name", ["rsum", "rprod", "rmax", "rmin"])
    @pytest.mark.parametrize("shape", [(2, 3, 4), (2, 0, 4)])
    def test_several_labels(self, name: str, shape: tuple[int, int, int]) -> None:
        a = torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        text = f"Func f; In A; Var x; RVar j, k; f[x] = {name}(A[j, x, k], j, k);"
        lines = a.permute(1, 0, 2).flatten(1)
        expected = TORCH_REDUCTION[name](lines)
        torch.testing.assert_close(value(text, A=a), expected, rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize("shape", [(0, 3, 4), (2, 3, 0), (0, 3, 0)])
    def test_several_labels_of_nothing(self, shape: tuple[int, ...]) -> None:
        a = torch.zeros(shape)
        text = "Func f; In A; Var x; RVar j, k; f[x] = rmax(A[j, x, k], j, k);"
        assert elements(value(text, A=a)) == [-INF] * 3

    @pytest.mark.parametrize("total", ["rsum(A[x, k], k)", "rdot(A[x, k], A[x, k] + 1, k)"])
    def test_a_sum_starts_from_0(self, total: str) -> None:
        text = f"Func f; In A; Var x; RVar k; f[x] = 1 / {total};"
        a = torch.tensor([[-0.0]])
        assert elements(value(text, A=a)) == [INF]

    def test_of_an_expression(self) -> None:
        a = torch.randn(3, 5, dtype=torch.float64)
        text = "Func f; In A; Var x; RVar k; f[x] = log(rsum(exp(A[x, k]), k));"
        torch.testing.assert_close(value(text, A=a), a.logsumexp(1), rtol=1e-12, atol=1e-12)
