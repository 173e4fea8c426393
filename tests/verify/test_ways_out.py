"""Tests that the ways out which messages offer for hand-written kernels work."""

import pytest

from dtpoly.diagnostics import Diagnostic
from dtpoly.source import Source
from dtpoly.verdict_messages import of_edited
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.handwritten import algorithm, text

# The softmax is given the stride of its columns, and does not use it.
WITH_STRIDE = (
    text("softmax")
    .replace("softmax.stride(0), len(col),", "softmax.stride(0), logits.stride(1), len(col),")
    .replace("output_row_stride, n_cols", "output_row_stride, column_stride, n_cols")
)
WITHOUT_REACH = text("softmax").replace("reach(logits) < 2**31, ", "")
WITHOUT_SIZES = text("add").replace("# assume: len(i) <= 2**30\n", "")


def told(name: str, kernel: str) -> Diagnostic:
    (found,) = of_edited(verify(algorithm(name), kernel), Source("kernel.py", kernel))
    return found


def verdict(name: str, kernel: str) -> LayerVerdict:
    return verify(algorithm(name), kernel).verdict


def promised(kernel: str, hint: str) -> str:
    """Return the file with the line that the hint ends with."""
    _, mark, promise = hint.partition("# assume: ")
    assert mark, hint
    return kernel.replace("\n\n\n@triton.jit", f"\n# assume: {promise}\n\n\n@triton.jit")


def test_a_stride_that_is_taken_to_be_1() -> None:
    found = told("softmax", WITH_STRIDE)
    assert found.code == "DT311"
    assert found.hint == (
        "the kernel takes logits.stride(1) to be 1: multiply the index by it; or, if it is 1, "
        "pass 1 in its place, or promise it beside a launch: # assume: logits.stride(1) == 1"
    )
    multiplied = WITH_STRIDE.replace(
        "= row_start_ptr + col_offsets", "= row_start_ptr + col_offsets * column_stride"
    )
    assert verdict("softmax", multiplied) is LayerVerdict.PROVED
    passed = WITH_STRIDE.replace("logits.stride(1)", "1")
    assert verdict("softmax", passed) is LayerVerdict.PROVED
    assert verdict("softmax", promised(WITH_STRIDE, found.hint)) is LayerVerdict.PROVED


def test_a_promise_of_another_stride_is_none_of_this_one() -> None:
    for other in ("softmax.stride(1) == 1", "logits.stride(0) == 1", "logits.stride(1) == 2"):
        kernel = promised(WITH_STRIDE, f"# assume: {other}")
        assert verdict("softmax", kernel) is not LayerVerdict.PROVED


def test_a_stride_in_32_bits() -> None:
    hint = told("softmax", WITHOUT_REACH).hint
    assert hint == (
        "compute it in 64 bits, as in i.to(tl.int64) * stride; "
        "or promise beside a launch: # assume: reach(logits) < 2**31"
    )
    assert verdict("softmax", promised(WITHOUT_REACH, hint)) is LayerVerdict.PROVED
    wide = WITHOUT_REACH.replace("row_idx * input_row", "row_idx.to(tl.int64) * input_row")
    assert verdict("softmax", wide) is LayerVerdict.PROVED


def test_a_size_that_32_bits_do_not_hold() -> None:
    found = told("add", WITHOUT_SIZES)
    assert found.code == "DT312"
    assert "i.to(tl.int64)" in found.hint
    assert verdict("add", promised(WITHOUT_SIZES, found.hint)) is LayerVerdict.PROVED


def test_a_launch_whose_result_is_given_a_name() -> None:
    """The hint says how it is written; without the name it is read."""
    kernel = text("add")
    found = told("add", kernel.replace("# verify: ", "# verify: total = "))
    assert "this is not an expression: 'total = add_kernel[" in found.label
    assert found.hint.startswith("write the call alone, without a result: # verify: kernel[(")
    promise = told("add", kernel.replace("len(i) <= 2**30", "len(i) <= "))
    assert "this is not an expression: 'len(i) <='" in promise.label
    assert "write the call" not in promise.hint
    assert verdict("add", kernel) is LayerVerdict.PROVED


def test_what_nothing_is_known_about_sends_nobody_to_the_ring() -> None:
    """It runs functions that call kernels, which a hand-written file does not have."""
    found = told("add", text("add").replace("total, len(i)", "total, sum(i)"))
    assert "docs/handwritten.md" in found.hint
    assert "--ring" not in found.hint


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["row_sum", "bias_silu", "transpose", "matmul", "outer"])
def test_what_is_promised_is_enough(name: str) -> None:
    """Without any promise, one hint after the other leads to a proof."""
    kernel = "\n".join(
        line for line in text(name).splitlines() if not line.startswith("# assume: ")
    )
    hint = ""
    for _ in range(8):
        report = verify(algorithm(name), kernel)
        if report.verdict is LayerVerdict.PROVED:
            return
        (found,) = of_edited(report, Source("kernel.py", kernel))
        hint = found.hint
        kernel = promised(kernel, hint)
    raise AssertionError(hint)
