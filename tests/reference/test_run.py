"""The meaning of whole programs, against torch's own words for the same thing."""

from collections.abc import Mapping

import pytest
import torch
import torch.nn.functional as F

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.reference.run import run
from dtpoly.source import Source

Tensor = torch.Tensor


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def value(text: str, **inputs: Tensor | float) -> Tensor:
    """The value of `f`."""
    return run(program(text), inputs)["f"]


def refused(text: str, **inputs: Tensor | float) -> Diagnostic:
    with pytest.raises(DtpolyError) as error:
        run(program(text), inputs)
    return error.value.diagnostics[0]


def elements(tensor: Tensor) -> list[float]:
    return [element.item() for element in tensor.flatten()]


def random(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-12)


MATMUL = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
SOFTMAX = """
    Func f, s; In A; Var x; RVar y;
    s[x] = rsum(exp(A[x, y]), y); f[x, y] = exp(A[x, y]) / reshape(s[x], x, 1);
"""
COPY = "Func f; In A; Var x, y; f[x, y] = A[x, y];"


class TestLabels:
    def test_definitions_permute_to_the_left_side(self) -> None:
        a = random(3, 5)
        close(value("Func f; In A; Var x, y; f[y, x] = A[x, y];", A=a), a.T)

    def test_a_label_that_the_right_lacks_repeats(self) -> None:
        a = random(5)
        text = "Func f, g; In A; Var x, y; g[x, y] = A[y]; f[x] = 2.0;"
        f = run(program(text), {"A": a}, sizes={"x": 3})
        close(f["g"], a.expand(3, 5))
        close(f["f"], torch.full((3,), 2.0, dtype=torch.float64))

    def test_operands_meet_by_label(self) -> None:
        a, b = random(3, 5), random(3)
        text = "Func f; In A, B; Var x; RVar k; f[x] = rsum(A[x, k], k) + B[x];"
        close(value(text, A=a, B=b), a.sum(1) + b)

    def test_a_reduction_binds_its_label(self) -> None:
        a = random(3, 5)
        text = "Func f; In A; Var x; RVar k; f[x, k] = A[x, k] / rsum(A[x, k], k);"
        close(value(text, A=a), a / a.sum(1, keepdim=True))

    def test_a_bound_label_may_be_bound_again_inside(self) -> None:
        a = random(3, 5)
        text = """
            Func f; In A; Var x; RVar k;
            f[x, k] = A[x, k] + rsum(A[x, k] * rmax(A[x, k], k), k);
        """
        inner = (a * a.amax(1, keepdim=True)).sum(1, keepdim=True)
        close(value(text, A=a), a + inner)

    def test_a_reshape_repeats_along_a_label_that_its_operand_lacks(self) -> None:
        a = random(4)
        text = "Func f; In A, B; Var x; RVar k; f[x] = rsum(reshape(A[x], x, k) + B[k], k);"
        b = random(7)
        close(value(text, A=a, B=b), 7 * a + b.sum())

    def test_rank_0(self) -> None:
        a = random(5)
        text = "Func f, g, s; In A; RVar k; s[] = rsum(A[k], k); g[k] = A[k] / s[]; f[] = s[] + 1;"
        found = run(program(text), {"A": a})
        close(found["s"], a.sum())
        close(found["g"], a / a.sum())
        close(found["f"], a.sum() + 1)

    def test_a_tensor_input_may_have_rank_0(self) -> None:
        text = "Func f; In A, B; Var x; f[x] = A[x] * B[];"
        close(value(text, A=torch.ones(2), B=torch.tensor(3.0)), torch.full((2,), 3.0).double())

    def test_len(self) -> None:
        text = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k) / len(k) + len(x);"
        a = random(3, 5)
        close(value(text, A=a), a.mean(1) + 3)


class TestReads:
    def test_stencil(self) -> None:
        a = random(3, 7)
        text = "Func f; In A; Var x, y; f[x, y] = A[x, y] - 2 * A[x, y + 1] + A[x, y + 2];"
        close(value(text, A=a), a[:, :-2] - 2 * a[:, 1:-1] + a[:, 2:])

    def test_stride(self) -> None:
        a = random(9)
        close(value("Func f; In A; Var x; f[x] = A[2 * x + 1];", A=a), a[1::2])

    def test_reversed(self) -> None:
        a, b = random(4), random(4, seed=1)
        text = "Func f; In A, B; Var x; f[x] = A[3 - x] * B[x];"
        close(value(text, A=a, B=b), a.flip(0) * b)

    def test_diagonal(self) -> None:
        a = random(4, 4)
        close(value("Func f; In A; Var x; f[x] = A[x, x];", A=a), a.diagonal())

    def test_sum_of_labels(self) -> None:
        a, b = random(6), random(3)
        text = "Func f; In A, B; Var x, y; f[x, y] = A[x + y] * B[y];"
        close(value(text, A=a, B=b), a.unfold(0, 3, 1) * b)

    def test_constant(self) -> None:
        a = random(3, 4)
        close(value("Func f; In A; Var y; f[y] = A[1, y] + A[0, 2];", A=a), a[1] + a[0, 2])

    def test_of_a_prefix(self) -> None:
        a, b = random(6), random(4)
        text = "Func f, g; In A, B; Var x, y; g[y] = B[y] + A[y + 2]; f[x] = g[x];"
        close(value(text, A=a, B=b), b + a[2:])

    def test_affine_of_a_func(self) -> None:
        a = random(6)
        text = "Func f, g; In A; Var x, u; g[u] = A[u] * 2; f[x] = g[x] + g[x + 1];"
        found = run(program(text), {"A": a})["f"]
        close(found, 2 * (a[:-1] + a[1:]))

    @pytest.mark.parametrize("padding", [0.0, 1.5, float("-inf")])
    def test_pad(self, padding: float) -> None:
        a, b = random(4), torch.zeros(4)
        text = f"Func f; In A, B; Var x; f[x] = pad(A, {padding})[x - 1] + B[x];"
        expected = F.pad(a, (1, 0), value=padding)[:4]
        close(value(text, A=a, B=b), expected)

    def test_pad_on_both_sides_of_both_axes(self) -> None:
        a = random(3, 4)
        text = "Func f; In A, B; Var x, y; f[x, y] = pad(A, 7)[x - 2, 2 * y - 1] + B[x, y];"
        expected = F.pad(a, (1, 3, 2, 2), value=7.0)[:6, ::2][:, :4]
        close(value(text, A=a, B=torch.zeros(6, 4)), expected)

    def test_pad_with_a_scalar_input_and_of_nothing(self) -> None:
        text = "Func f; In A, B; SIn p; Var x; f[x] = pad(A, p)[x - 1] + B[x];"
        expected = torch.full((3,), 2.5, dtype=torch.float64)
        close(value(text, A=torch.ones(0), B=torch.zeros(3), p=2.5), expected)

    def test_pad_keeps_the_dtype_of_the_tensor(self) -> None:
        text = "Func f; In A: i8, B: i8; Var x; f[x] = pad(A, 3)[x - 1] + B[x];"
        a = torch.tensor([1, 2], dtype=torch.int8)
        found = value(text, A=a, B=torch.zeros(2, dtype=torch.int8))
        assert found.dtype is torch.int8
        assert elements(found) == [3, 1]

    @pytest.mark.parametrize("stride", [1, 2])
    def test_convolution(self, stride: int) -> None:
        x, w = random(2, 3, 9, 8), random(4, 3, 3, 2)
        text = f"""
            Func f; In X, W; Var b, f_, h, w; RVar c, r, s;
            f[b, f_, h, w] = rdot(
                X[b, c, {stride} * h + r, {stride} * w + s], W[f_, c, r, s], c, r, s);
        """
        close(value(text, X=x, W=w), F.conv2d(x, w, stride=stride))

    def test_padded_convolution(self) -> None:
        x, w = random(2, 3, 6, 5), random(4, 3, 3, 3)
        text = """
            Func f; In X, W, Z; Var b, f_, h, w; RVar c, r, s;
            f[b, f_, h, w] = Z[h, w] + rdot(
                pad(X, 0)[b, c, h + r - 1, w + s - 1], W[f_, c, r, s], c, r, s);
        """
        found = run(program(text), {"X": x, "W": w, "Z": torch.zeros(6, 5)}, sizes={"b": 2})["f"]
        close(found, F.conv2d(x, w, padding=1))


class TestDots:
    def test_matmul(self) -> None:
        a, b = random(5, 7), random(7, 3)
        close(value(MATMUL, A=a, B=b), a @ b)

    def test_labels_that_both_have_and_that_stay_are_batches(self) -> None:
        a, b = random(2, 4, 5), random(2, 5, 3)
        text = "Func f; In A, B; Var i, m, n; RVar k; f[i, m, n] = rdot(A[i, m, k], B[i, k, n], k);"
        close(value(text, A=a, B=b), torch.bmm(a, b))

    def test_the_label_may_stand_anywhere(self) -> None:
        a, b = random(7, 5), random(3, 7)
        text = "Func f; In A, B; Var m, n; RVar k; f[n, m] = rdot(A[k, m], B[n, k], k);"
        close(value(text, A=a, B=b), (a.T @ b.T).T)

    def test_several_labels(self) -> None:
        a, b = random(2, 3, 4), random(4, 3, 5)
        text = "Func f; In A, B; Var m, n; RVar j, k; f[m, n] = rdot(A[m, j, k], B[k, j, n], j, k);"
        close(value(text, A=a, B=b), torch.einsum("mjk,kjn->mn", a, b))

    def test_of_vectors(self) -> None:
        a, b = random(6), random(6, seed=1)
        text = "Func f; In A, B; RVar k; f[] = rdot(A[k], B[k], k);"
        close(value(text, A=a, B=b), torch.dot(a, b))

    def test_inside_an_expression(self) -> None:
        a, b, c = random(2, 3), random(3, 4), random(4)
        text = """
            Func f; In A, B, C; Var m, n; RVar k;
            f[m, n] = maximum(rdot(A[m, k], exp(B[k, n]), k) + C[n], 0);
        """
        close(value(text, A=a, B=b, C=c), torch.relu(a @ torch.exp(b) + c))

    def test_a_large_one_does_not_build_the_product(self) -> None:
        # 2000^3 products would take 64 GB.
        a, b = torch.ones(2000, 2000), torch.ones(2000, 2000)
        assert value(MATMUL, A=a, B=b)[1234, 567].item() == 2000

    def test_whole_numbers_are_exact(self) -> None:
        a = torch.tensor([[2**40 + 1, 3]])
        b = torch.tensor([[2**20 + 1], [5]])
        expected = (2**40 + 1) * (2**20 + 1) + 15
        assert elements(value(MATMUL, A=a, B=b)) == [expected]

    def test_bytes_accumulate_in_i32(self) -> None:
        a = torch.full((1, 1000), 100, dtype=torch.int8)
        found = value(MATMUL, A=a, B=a.T)
        assert (found.dtype, found.item()) == (torch.int32, 10_000_000)

    def test_nan_spoils_its_row_only(self) -> None:
        a, b = random(2, 3), random(3, 2)
        a[0, 1] = float("nan")
        assert elements(value(MATMUL, A=a, B=b).isnan()) == [True, True, False, False]

    def test_causal(self) -> None:
        a = random(4, 4)
        text = "Func f; In S; Var m, l; f[m, l] = where(l <= m, S[m, l], -inf);"
        mask = torch.ones(4, 4).tril().bool()
        close(value(text, S=a), a.masked_fill(~mask, float("-inf")))

    def test_causal_attention(self) -> None:
        q, k, v = random(2, 5, 4), random(2, 5, 4, seed=1), random(2, 5, 3, seed=2)
        text = """
            Func f, s, p, t; In Q, K, V; Var h, m, n; RVar d, l;
            s[h, m, l] = where(l <= m, rdot(Q[h, m, d], K[h, l, d], d) / sqrt(len(d)), -inf);
            p[h, m, l] = exp(s[h, m, l] - rmax(s[h, m, l], l));
            t[h, m, n] = rdot(p[h, m, l], V[h, l, n], l);
            f[h, m, n] = t[h, m, n] / rsum(p[h, m, l], l);
        """
        expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        close(value(text, Q=q, K=k, V=v), expected)


class TestZeroSizes:
    @pytest.mark.parametrize("m", [0, 2])
    @pytest.mark.parametrize("k", [0, 3])
    @pytest.mark.parametrize("n", [0, 4])
    def test_matmul(self, m: int, k: int, n: int) -> None:
        a, b = random(m, k), random(k, n)
        close(value(MATMUL, A=a, B=b), a @ b)

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
    def test_softmax(self, shape: tuple[int, int]) -> None:
        a = random(*shape)
        close(value(SOFTMAX, A=a), torch.softmax(a, 1))

    def test_a_stencil_larger_than_its_tensor(self) -> None:
        text = "Func f; In A; Var x; f[x] = A[x] + A[x + 3];"
        assert value(text, A=random(2)).shape == (0,)

    def test_a_window_of_nothing(self) -> None:
        text = "Func f; In A, B; Var x; RVar r; f[x] = rdot(A[x + r], B[r], r);"
        close(value(text, A=random(4), B=random(0)), torch.zeros(4).double())

    def test_pad_of_nothing_at_nothing(self) -> None:
        text = "Func f; In A, B; Var x; f[x] = pad(A, 1)[x - 1] + B[x];"
        assert value(text, A=random(0), B=random(0)).shape == (0,)


class TestLayouts:
    """Strides are honoured: views give what their contiguous copies give."""

    @pytest.mark.parametrize(
        "view",
        [
            random(5, 3).T,
            random(6, 10)[::2, 1::2],
            random(3, 1).expand(3, 5),
            random(1, 5).expand(3, 5),
            random(2, 3, 5)[1],
            random(15).as_strided((3, 5), (2, 1)),
        ],
        ids=["transposed", "sliced", "expanded", "expanded rows", "offset", "overlapping"],
    )
    def test_views(self, view: Tensor) -> None:
        close(value(SOFTMAX, A=view), torch.softmax(view.contiguous(), 1))
        close(value(MATMUL, A=view, B=view.T), view.contiguous() @ view.T.contiguous())
        shifted = "Func f; In A; Var x, y; f[x, y] = A[x, y + 1];"
        close(value(shifted, A=view), view[:, 1:])

    def test_a_result_is_no_view_of_an_input(self) -> None:
        a = random(2, 3)
        found = value(COPY, A=a)
        found.zero_()
        assert a.abs().sum() > 0

    def test_results_are_contiguous(self) -> None:
        assert value("Func f; In A; Var x, y; f[y, x] = A[x, y];", A=random(2, 3)).is_contiguous()


class TestCalls:
    def test_wanted_funcs_only(self) -> None:
        text = "Func f, g, h; In A; Var x; f[x] = A[x]; g[x] = f[x]; h[x] = 2 * g[x];"
        assert set(run(program(text), {"A": random(2)}, wanted=["g"])) == {"g"}
        assert set(run(program(text), {"A": random(2)})) == {"f", "g", "h"}

    def test_the_compute_dtype(self) -> None:
        a = random(3, 5).float()
        found = run(program(SOFTMAX), {"A": a}, compute=torch.float32)["f"]
        torch.testing.assert_close(found, torch.softmax(a, 1))

    def test_scalars_are_numbers_or_tensors_without_axes(self) -> None:
        text = "Func f; In A; SIn a; Var x; f[x] = a * A[x];"
        for number in (3, 3.0, torch.tensor(3), torch.tensor(3.0, dtype=torch.float16)):
            close(value(text, A=torch.ones(2), a=number), torch.full((2,), 3.0).double())

    def test_program_id_is_0_in_one_program(self) -> None:
        text = "Func f; In A; Var x; f[x] = A[x] + program_id(0);"
        close(value(text, A=torch.ones(3)), torch.ones(3).double())

    def test_program_id_follows_the_schedule(self) -> None:
        def blocks_of_two(func: str, indices: Mapping[str, Tensor]) -> Tensor:
            assert func == "f"
            return indices["x"] // 2

        text = "Func f; In A; Var x, y; f[x, y] = A[x, y] * program_id(0);"
        found = run(program(text), {"A": torch.ones(5, 2)}, program_index=blocks_of_two)["f"]
        assert elements(found[:, 0]) == [0, 0, 1, 1, 2]

    def test_programs_are_numbered_along_axis_0(self) -> None:
        text = "Func f; In A; Var x; f[x] = A[x] * program_id(1);"
        found = run(program(text), {"A": torch.ones(2)}, program_index=lambda _, at: at["x"])["f"]
        assert elements(found) == [0, 0]

    def test_program_id_is_that_of_the_element_also_under_a_reduction(self) -> None:
        text = """
            Func f; In A; RVar k;
            f[k] = A[k] + 10 * rsum(A[k] * program_id(0) + 100 * rsum(program_id(0) * A[k], k), k);
        """
        a = torch.ones(3)
        found = run(program(text), {"A": a}, program_index=lambda _, at: at["k"])["f"]
        assert elements(found) == [1 + 10 * (3 * k + 100 * 3 * 3 * k) for k in range(3)]

    def test_program_id_under_a_reduction_over_each_label(self) -> None:
        text = """
            Func f; In A; RVar j, k;
            f[j, k] = rsum(rsum(program_id(0) * A[j, k], j), k);
        """
        found = run(
            program(text),
            {"A": torch.ones(2, 3)},
            program_index=lambda _, at: 10 * at["j"] + at["k"],
        )["f"]
        assert elements(found) == [6 * (10 * j + k) for j in range(2) for k in range(3)]


class TestRefusals:
    def test_a_missing_input(self) -> None:
        found = refused(COPY)
        assert (found.code, found.title, found.hint) == (
            "DT159",
            "the tensor 'A' is missing",
            "pass A=...",
        )

    def test_a_missing_number(self) -> None:
        found = refused("Func f; SIn a; f[] = a;")
        assert (found.code, found.title) == ("DT159", "the number 'a' is missing")

    def test_all_that_is_missing_at_once(self) -> None:
        with pytest.raises(DtpolyError) as error:
            run(program(MATMUL), {"C": random(2)})
        titles = [diagnostic.title for diagnostic in error.value.diagnostics]
        assert titles == [
            "the tensor 'A' is missing",
            "the tensor 'B' is missing",
            "the program has no input 'C'",
        ]

    def test_an_unknown_label_or_func_or_a_size_below_0(self) -> None:
        with pytest.raises(DtpolyError) as error:
            run(program(COPY), {"A": random(1, 1)}, sizes={"z": 2, "x": -1}, wanted=["g"])
        assert [(d.code, d.title, d.hint) for d in error.value.diagnostics] == [
            ("DT159", "the program has no Func 'g'", "it has f"),
            ("DT159", "the program has no label 'z'", "it has x, y"),
            ("DT159", "the size of 'x' is -1", "a size is 0 or more"),
        ]

    def test_a_wrong_rank(self) -> None:
        found = refused(COPY, A=random(3))
        assert (found.code, found.title, found.label) == (
            "DT157",
            "'A' has the wrong rank",
            "needs 2 axes",
        )
        assert found.notes[0].text == "its shape is (3,)"

    def test_a_number_with_axes(self) -> None:
        found = refused("Func f; SIn a; f[] = a;", a=random(2))
        assert (found.code, found.hint) == ("DT157", "pass a number or a tensor without axes")

    def test_a_wrong_dtype(self) -> None:
        found = refused("Func f; In A: f16; Var x; f[x] = A[x];", A=random(3))
        assert (found.code, found.title, found.label) == (
            "DT158",
            "'A' has the wrong dtype",
            "is declared f16",
        )
        assert (found.notes[0].text, found.hint) == (
            "a tensor of f64 was given",
            "convert it: .to(torch.float16)",
        )

    def test_a_dtype_that_the_language_lacks(self) -> None:
        found = refused(COPY, A=torch.ones(1, 1, dtype=torch.complex64))
        assert (found.code, found.notes[0].text) == (
            "DT158",
            "a tensor of torch.complex64 was given",
        )

    def test_a_number_for_a_tensor(self) -> None:
        found = refused(COPY, A=1.0)
        assert (found.code, found.notes[0].text) == ("DT158", "a float was given")

    @pytest.mark.parametrize("given", ["3", None, [1.0]])
    def test_what_is_no_number(self, given: object) -> None:
        with pytest.raises(DtpolyError) as error:
            run(program("Func f; SIn a; f[] = a;"), {"a": given})  # type: ignore[dict-item]
        found = error.value.diagnostics[0]
        assert (found.code, found.hint) == ("DT158", "pass a number")
        assert found.notes[0].text == f"a {type(given).__name__} was given"

    def test_a_number_that_no_dtype_holds(self) -> None:
        text = "Func f; SIn a: i64; f[] = a;"
        assert refused(text, a=2**63).hint == "pass a number that i64 can hold"
        text = "Func f; SIn a; f[] = a;"
        assert refused(text, a=torch.tensor(1j)).hint.startswith("convert it to one of bool")

    def test_a_fraction_for_a_whole_number(self) -> None:
        text = "Func f; SIn a: i32; f[] = a;"
        assert refused(text, a=0.5).code == "DT158"
        assert refused(text, a=2**31).hint == "pass a number that i32 can hold"
        assert value(text, a=2**31 - 1).item() == 2**31 - 1

    @pytest.mark.parametrize("operation", ["rargmax", "rargmin"])
    @pytest.mark.parametrize("rows", [0, 2])
    def test_an_extreme_of_nothing(self, operation: str, rows: int) -> None:
        text = f"Func f; In A; Var x; RVar k; f[x] = {operation}(A[x, k], k);"
        found = refused(text, A=random(rows, 0))
        assert (found.code, found.label) == ("DT156", "the size of 'k' is 0")
        assert found.span is not None
        assert found.span.text == f"{operation}(A[x, k], k)"

    def test_tensors_that_disagree(self) -> None:
        assert refused(MATMUL, A=random(2, 3), B=random(4, 5)).code == "DT172"

    def test_dtypes_that_only_the_caller_decides(self) -> None:
        small = torch.ones(2).to(torch.float8_e4m3fn)
        text = "Func f; In A, B; Var x; f[x] = A[x] + B[x];"
        assert refused(text, A=small, B=torch.ones(2)).code == "DT161"
        conditional = "Func f; In C; Var x; f[x] = where(C[x], 1, 2);"
        assert refused(conditional, C=torch.ones(2)).code == "DT160"
