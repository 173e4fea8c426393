"""Whole numbers keep their values where they are compared, and wrap as torch's do."""

import torch

from tests.reference.test_run import elements, value


class TestWholeNumbers:
    def test_a_number_is_compared_as_what_it_is(self) -> None:
        a = torch.tensor([0, 44, 255], dtype=torch.uint8)
        assert elements(value("Func f; In A; Var x; f[x] = A[x] < 300;", A=a)) == [True] * 3

    def test_a_label_is_compared_as_what_it_is(self) -> None:
        lengths = torch.tensor([0, 3], dtype=torch.uint8)
        text = "Func f; In A, B; Var b, l; f[b, l] = where(l < A[b], B[b, l], 0);"
        text = text.replace("A[b]", "reshape(A[b], b, 1)")
        kept = value(text, A=lengths, B=torch.ones(2, 300))
        assert elements(kept.sum(1)) == [0, 3]

    def test_a_label_as_a_value_is_i64(self) -> None:
        a = torch.tensor([100, 100], dtype=torch.int8)
        total = value("Func f; In A; Var x; f[x] = A[x] + 100 * x;", A=a)
        assert (total.dtype, elements(total)) == (torch.int64, [100, 200])

    def test_a_comparison_of_numbers_is_a_number(self) -> None:
        a = torch.tensor([100, -128], dtype=torch.int8)
        total = value("Func f; In A; SIn n: i32; Var x; f[x] = A[x] + (n < 3) * 100;", A=a, n=2)
        assert (total.dtype, elements(total)) == (torch.int8, [-56, -28])
