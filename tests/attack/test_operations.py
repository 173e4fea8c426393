"""Random single operations: the campaign, with operations that are not what they are read as."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import TileValue, Unread
from dtpoly.verify.algebra.whole import name as name_of
from dtpoly.verify.triton.typed_operations import OperationKinds, meaning, of_tile
from tests.attack.case import Call, Case
from tests.attack.launching import launched
from tests.attack.operating import Operation
from tests.attack.operations import attempt, judged
from tests.attack.outcome import Verdict

ADD = Operation("(a_i8 + b_i8)", "i", "i64", "+")


@pytest.mark.parametrize("seed", range(2))
def test_a_slice_of_the_campaign(seed: int) -> None:
    outcome = attempt(seed)
    assert outcome.verdict is not Verdict.CRASH, outcome.case
    figures = outcome.figures
    assert figures["operations compared"] >= 40
    # The generator makes what the verifier reads, but for numbers that a type does not hold, such
    # as 255 beside a truth, which Triton refuses, too.
    assert figures.get("operations refused", 0) <= 8


@pytest.mark.parametrize(
    ("read", "done"),
    [
        ("(a_i8 + b_i8)", "(a_i8.to(tl.int32) + b_i8)"),
        ("(a_f16 * b_f16)", "(a_f16.to(tl.float32) * b_f16)"),
        ("(a_i32 // (COUNT + 1))", "((a_i32 - (((a_i32 % 7) + 7) % 7)) // 7)"),
        ("tl.sum(r_f16, axis=1)", "tl.sum(r_f16.to(tl.float32), axis=1)"),
        ("tl.max(r_i8, axis=1)", "-tl.max(r_i8, axis=1)"),
        ("(a_f32 < b_f32)", "(a_f32 <= b_f32)"),
        ("a_f64.to(tl.float16)", "a_f64.to(tl.float32)"),
        ("tl.where(c_bool, a_i16, b_i16)", "tl.where(c_bool, b_i16, a_i16)"),
        ("tl.dot(d_f16, e_f16)", "tl.dot(e_f16, d_f16)"),
        ("tl.maximum(a_f32, b_f32, propagate_nan=tl.PropagateNan.ALL)", "tl.maximum(a_f32, b_f32)"),
    ],
)
def test_an_operation_that_does_something_else_is_seen(read: str, done: str) -> None:
    labels = {"r": "r", "d": "dg"}.get(read[7], "i") if read.startswith("tl.") else "i"
    out = "bool" if "<" in read else "i64" if "_i" in read else "f64"
    one = Operation(read, labels, out, "planted")

    def other(case: Case, call: Call, tensors: Mapping[str, torch.Tensor]) -> None:
        launched(replace(case, text=case.text.replace(read, done)), call, tensors)

    assert judged([one], 0).verdict is Verdict.AGREE
    assert judged([one, ADD], 0, other).verdict is Verdict.WRONG


@pytest.mark.parametrize("value", ["(a_bool + b_bool)", "(a_bool - b_bool)", "(-a_bool)"])
def test_truths_are_not_added_up_as_numbers(value: str) -> None:
    """Triton does it in one bit."""
    outcome = judged([Operation(value, "i", "i64", "truths")], 0)
    assert outcome.verdict is Verdict.AGREE, outcome.what


@pytest.mark.parametrize(
    "value",
    [
        "tl.maximum(a_i32, 2.0)",
        "tl.minimum(2.0, a_i32, propagate_nan=tl.PropagateNan.ALL)",
        "tl.maximum(a_i32, b_f32)",
        "tl.where(c_bool, a_i32, 3.0)",
        "tl.where(c_bool, b_f32, a_i64)",
        "tl.where(YES, a_i32, b_f32)",
        "tl.where(NO, 3.0, a_i32)",
        "tl.fma(a_i32, 1.0, b_f32)",
        "tl.fma(a_f16, b_f16, c_f16)",
        "tl.fma(a_f32, b_f32, c_f32)",
        "(a_i8 + (NO - -2))",
        "(a_i8 * (YES + YES))",
        "(a_i16 + (YES * 3))",
        "(a_i8 + (NO | 2))",
        "(a_i8 + (1 & 1))",
        "~(a_bool ^ (1 & 1))",
        "(a_i32 + (YES < 3))",
        "(a_i32 + (NO >= 0.5))",
        "(a_i32 + (2 > YES))",
        "(a_i32 * n)",
        "(a_i32 + n)",
        "(n - a_i32) // 2",
        "(a_i32 + n) < b_i32",
        "tl.maximum(a_i32 + n, b_i32)",
    ],
)
@pytest.mark.parametrize("out", ["i64", "f64"])
def test_values_come_to_the_type_that_triton_computes_in(value: str, out: str) -> None:
    outcome = judged([Operation(value, "i", out, "types")], 0)
    assert outcome.verdict is Verdict.AGREE, outcome.what


@pytest.mark.parametrize(
    "value", ["a_i32", "a_i8", "a_f32", "a_f16", "2", "0.5", "a_bool.to(tl.int8)"]
)
def test_a_number_in_a_tensor_of_truths_is_not_read(value: str) -> None:
    """Before 3.9 Triton stores its last eight bits, so that 256 is False."""
    outcome = judged([Operation(value, "i", "bool", "store")], 0)
    assert outcome.figures["operations refused"] == 1


@pytest.mark.parametrize("value", ["a_i32 != 0", "a_f32.to(tl.int1)", "a_bool", "1", "0", "True"])
def test_truths_are_stored(value: str) -> None:
    outcome = judged([Operation(value, "i", "bool", "store")], 0)
    assert outcome.verdict is Verdict.AGREE, outcome.what
    assert outcome.figures["operations compared"] == 1


@pytest.mark.parametrize("other", ["256", "2", "0.5"])
def test_what_is_no_truth_is_not_read_in_the_place_of_masked_truths(other: str) -> None:
    value = f"tl.load(a_bool_ptr + at, mask=a_bool, other={other})"
    outcome = judged([Operation(value, "i", "bool", "load")], 0)
    assert outcome.figures["operations refused"] == 1


@pytest.mark.parametrize("one", [kinds.SIZE, kinds.NUMBER])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_a_reduction_of_what_is_no_tile_is_not_read(name: str, one: str) -> None:
    with pytest.raises(Unread, match="was not checked against Triton"):
        meaning(name, [one], 1)


def test_a_size_with_lanes_is_no_constant() -> None:
    """So a float as written makes f32 of it, and a sum of it has its type."""
    size = TileValue(("lane",), name_of("lane"), kinds.SIZE)
    assert meaning("add", ["float", of_tile(size)], 1) == OperationKinds("tl.float32", "tl.float32")
    assert meaning("div", [of_tile(size), "int"], 1) == OperationKinds("tl.float32", "tl.float32")
    assert meaning("max", [of_tile(size)], 1) == OperationKinds(kinds.SIZE, kinds.SIZE)
    assert meaning("sub", ["tl.int8", of_tile(size)], 1) == OperationKinds(kinds.SIZE, kinds.SIZE)
