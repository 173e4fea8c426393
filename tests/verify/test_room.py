"""A result that fits into no memory is no example; a size that does is one."""

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of, written

ROWS = written("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.compile();")
SUM = written("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();")


def overflow(text: str, program: object) -> LayerVerdict:
    (found,) = (one for one in verify(program, text).layers if one.name == "overflow")  # type: ignore[arg-type]
    return found.verdict


def test_the_sum_of_two_sizes_of_a_result() -> None:
    text = changed(text_of(ROWS), "range(0, x_size)", "range(0, x_size + y_size - y_size)")
    assert overflow(text, ROWS) is LayerVerdict.PROVED


def test_the_sum_of_two_sizes_of_which_one_is_reduced() -> None:
    text = changed(text_of(SUM), "range(0, x_size)", "range(0, x_size + k_size - k_size)")
    assert overflow(text, SUM) is LayerVerdict.REFUTED
