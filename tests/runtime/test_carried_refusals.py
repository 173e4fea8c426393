"""Calls that plans refuse: with which exception, in which words, and in which order."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.codegen.calls import refused, zeros
from tests.runtime.planned import (
    ADD,
    ADD_PLAN,
    FILL,
    FILL_PLAN,
    SCALE,
    SCALE_PLAN,
    Plan,
    changed,
    module_of,
)

ONES, TWO = torch.ones(3), torch.ones(3, 3)
BACKWARD = (
    "requires a gradient, and there is no backward of this function: "
    "call it under torch.no_grad(), or pass"
)


def add(plan: Plan | None = None) -> Any:
    return module_of(ADD, plan or ADD_PLAN).f


def freed() -> torch.Tensor:
    made = torch.ones(3)
    made.untyped_storage().resize_(0)
    return made


TENSORS: list[tuple[Any, type[Exception], str]] = [
    ([1.0], TypeError, "'B' must be a tensor, not list"),
    (np.ones(3), TypeError, "'B' must be a tensor, not ndarray"),
    (TWO.to_sparse(), TypeError, "'B' is torch.sparse_coo: pass B.to_dense()"),
    (TWO, ValueError, "'B' must have 1 dimensions, but its shape is (3, 3)"),
    (
        ONES.int(),
        TypeError,
        "'B' is torch.int32, and without a declared dtype it must be a float: "
        "declare one, as in `In B: i32;`, and generate this file again",
    ),
    (ONES.to("meta"), ValueError, "'B' is on meta, but others are on cpu"),
    (
        torch.complex(ONES, ONES).conj().imag,
        TypeError,
        "'B' is stored with its sign flipped: pass B.resolve_neg()",
    ),
    (torch.ones(3, requires_grad=True), RuntimeError, f"'B' {BACKWARD} B.detach()"),
    *(
        (one, ValueError, "'B' has no memory: it was freed, or torch does not store its zeros")
        for one in (freed(), zeros(3))
    ),
]


@pytest.mark.parametrize(("B", "error", "message"), TENSORS, ids=lambda one: type(one).__name__)
def test_tensors(B: Any, error: type[Exception], message: str) -> None:
    assert refused(error, add(), ONES, B) == message
    # What is wrong with a tensor is said before anything of sizes, numbers or dtypes.
    assert refused(error, add(), torch.ones(4), B) == message


def test_a_declared_dtype_and_the_device_of_the_first() -> None:
    f = add(changed(ADD_PLAN, inputs={"A": ("i64", 1), "B": ("float", 1)}))
    assert refused(TypeError, f, ONES, ONES) == (
        "'A' is torch.float32, but is declared torch.int64"
    )
    assert refused(ValueError, add(), ONES.to("meta"), ONES) == (
        "'A' is on meta: move it to a GPU, or start Python with TRITON_INTERPRET=1, and kernels "
        "run on the CPU in Triton's interpreter"
    )


def test_the_number_of_arguments() -> None:
    f = add()
    assert "f() missing 1 required positional argument: 'B'" in refused(TypeError, f, ONES)
    assert "f() takes 2 positional arguments" in refused(TypeError, f, ONES, ONES, ONES)
    assert "unexpected keyword argument 'x'" in refused(TypeError, f, ONES, ONES, x=3)
    assert refused(TypeError, f, ONES, A=ONES) == "f() got multiple values for argument 'A'"
    assert f(B=ONES, A=ONES).tolist() == [2, 2, 2]


NUMBERS: list[tuple[Any, Any, type[Exception], str]] = [
    ("1", 1, TypeError, "'a' must be a number, not '1'"),
    (1j, 1, TypeError, "'a' must be a number, not 1j"),
    (torch.ones(1), 1, TypeError, "'a' must be a number, not tensor([1.])"),
    (1.0, 1.5, TypeError, "'n' must be a whole number, not 1.5"),
    (1.0, torch.tensor(1.0), TypeError, "'n' must be a whole number, not 1.0"),
    (1.0, 128, ValueError, "'n' is 128, but must be from -128 to 127"),
    (1.0, -129, ValueError, "'n' is -129, but must be from -128 to 127"),
    (torch.ones((), requires_grad=True), 1, RuntimeError, f"'a' {BACKWARD} a.item()"),
]


@pytest.mark.parametrize(("a", "n", "error", "message"), NUMBERS, ids=str)
def test_numbers(a: Any, n: Any, error: type[Exception], message: str) -> None:
    assert refused(error, module_of(SCALE, SCALE_PLAN).f, TWO, a, n) == message


def test_limits_may_be_negative() -> None:
    f = module_of(
        SCALE, changed(SCALE_PLAN, inputs=SCALE_PLAN["inputs"] | {"n": ("int", -5, -2)})
    ).f
    for n in (-1, 0, -6):
        message = f"'n' is {n}, but must be from -5 to -2"
        assert refused(ValueError, f, TWO, 1.0, n) == message
    assert torch.equal(f(TWO, 1.0, -5), TWO - 5)


def test_a_truth_is_no_number() -> None:
    f = module_of(FILL, changed(FILL_PLAN, inputs={"a": "bool"})).f
    assert refused(TypeError, f, 1, x=2) == "'a' must be True or False, not 1"
    assert f(torch.tensor(True), x=2).tolist() == [1, 2]


# Sizes


def test_sizes_that_are_passed() -> None:
    f = module_of(FILL, changed(FILL_PLAN, limits={"x": 100}, names={"x": "is"})).f
    assert refused(TypeError, f, 1.0, x=2.0) == "'is' must be a whole number, not 2.0"
    assert refused(ValueError, f, 1.0, x=-1) == "'is' is -1, but must be from 0 to 100"
    assert refused(ValueError, f, "1", x=101) == "'is' is 101, but must be from 0 to 100"
    assert "missing 1 required keyword-only argument: 'x'" in refused(TypeError, f, 1.0)
    f = module_of(FILL, FILL_PLAN).f
    assert refused(ValueError, f, 1.0, x=2**63) == (
        f"'x' is {2**63}, but must be from 0 to {2**63 - 1}"
    )


def test_sizes_that_must_be_passed_instead() -> None:
    sizes = {"h": "A.shape[0] - r - s", "r": "A.shape[0] - h", "s": "A.shape[0] - h - r"}
    passed = {"h": ("r", "s"), "r": (), "s": ()}
    plan = changed(ADD_PLAN, sizes={"x": "A.shape[0]", **sizes}, passed=passed)
    f = add(plan | {"names": {"s": "class"}})
    assert refused(TypeError, f, ONES, ONES, r=1) == (
        "the size of 'h' must be passed, as h=...; or pass r=... and class=..."
    )
    assert refused(ValueError, f, ONES, ONES, r=-1).startswith("'r' is -1, but must be from 0")
    assert f(ONES, ONES, r=1, s=1).tolist() == f(ONES, ONES, h=2).tolist() == [2, 2, 2]


def test_a_size_that_a_tensor_shows_is_limited() -> None:
    f = add(changed(ADD_PLAN, limits={"x": 2}))
    assert refused(ValueError, f, ONES, ONES) == "'x' is 3, but must be from 0 to 2"
    assert f(ONES[1:], ONES[1:]).tolist() == [2, 2]


DISAGREE = "the tensors disagree on the size of 'x': "
DEMANDS: list[tuple[Plan, str]] = [
    ({"demands": ADD_PLAN["demands"]}, "it is 3 by A.shape[0], but 4 by B.shape[0]"),
    (
        {"shown": {"x": "by A.shape[0], which is {A.shape[0]} and read at x"}},
        "it is 3 by A.shape[0], which is 3 and read at x, but 4 by B.shape[0]",
    ),
    ({"sizes": {"x": "5"}}, "it is 5 as the file says, but 4 by B.shape[0]"),
    ({"sizes": {"x": "min(A.shape[0], 2)"}}, "it is 2 as passed, but 4 by B.shape[0]"),
    (
        {"demands": [{"size": "x", "is": "B.shape[0] - 2", "seen": "by B, {B.shape[0]} long"}]},
        "it is 3 by A.shape[0], but 2 by B, 4 long",
    ),
]


@pytest.mark.parametrize(("keys", "message"), DEMANDS, ids=str)
def test_sizes_that_disagree(keys: Plan, message: str) -> None:
    assert refused(ValueError, add(changed(ADD_PLAN, **keys)), ONES, torch.ones(4)) == (
        DISAGREE + message
    )


def test_the_first_demand_that_does_not_hold_is_told() -> None:
    demands = [
        {"size": "x", "is": "3", "seen": "first"},
        {"shape": "B", "is": ("x",)},
        {"size": "x", "is": "4", "seen": "last"},
    ]
    f = add(changed(ADD_PLAN, demands=demands))
    assert refused(ValueError, f, ONES, ONES).endswith("but 4 last")
    assert refused(ValueError, f, ONES, torch.ones(4)).endswith("but 4 by B.shape[0]")
    assert refused(ValueError, f, torch.ones(2), ONES).endswith("but 3 first")


def test_reads_outside() -> None:
    inside = {"inside": "A", "axis": 0, "extent": "A.shape[0]", "index": "x - k + 1"}
    inside |= {"low": "1 - B.shape[0]", "high": "x + 1", "where": ("x",), "sizes": "x={x}, k=2"}
    f = add(changed(ADD_PLAN, demands=[inside]))
    reads = "'A' is read outside of axis 0: A.shape[0] is 3, and x - k + 1 reaches"
    assert refused(ValueError, f, ONES, torch.ones(4)) == f"{reads} -3 for sizes x=3, k=2"
    assert refused(ValueError, f, ONES, torch.ones(1)) == f"{reads} 4 for sizes x=3, k=2"
    assert f(ONES[:0], torch.ones(4)).shape == (0,)  # nothing is read
    for left in ("where", "sizes", "low"):
        del inside[left]
    f = add(changed(ADD_PLAN, demands=[inside]))
    assert refused(ValueError, f, ONES, torch.ones(4)) == f"{reads} 4"


def test_nothing_to_choose_from() -> None:
    plan = changed(ADD_PLAN, demands=[{"reduction": "rargmax", "over": "x"}], names={"x": "is"})
    assert refused(ValueError, add(plan), ONES[:0], ONES[:0]) == (
        "'rargmax' has nothing to choose from: the size of 'is' is 0"
    )


# Dtypes and results


def test_a_dtype_that_memory_cannot_add_in() -> None:
    little = ONES.to(torch.float8_e5m2)
    for operation, dtype, is_refused in (
        ("rsum", little, True),
        ("rsum", ONES.half(), False),
        ("rmax", ONES.half(), True),
    ):
        f = add(changed(ADD_PLAN, adds=[("g", operation, "promoted(A, B)")]))
        if not is_refused:
            assert f(dtype, dtype).tolist() == [2, 2, 2]
            continue
        assert refused(TypeError, f, dtype, dtype) == (
            f"'g' would be {dtype.dtype}, and '{operation}' has no atomic form in that: "
            "declare Func g: f32, or take the atomic out, and generate this file again"
        )


def test_out() -> None:
    f = add()
    whole = torch.zeros(6)
    fake = FakeTensorMode().from_tensor(ONES)
    differs = "'out' is torch.float32 ({}) on {}, but the result is torch.float32 (3,) on cpu"
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([], TypeError, "'out' must be a tensor, not list"),
        (fake, TypeError, "'out' is a FakeTensor, and no input is"),
        (whole, ValueError, differs.format("6,", "cpu")),
        (ONES.to("meta"), ValueError, differs.format("3,", "meta")),
        (torch.ones(3, requires_grad=True), RuntimeError, f"'out' {BACKWARD} out.detach()"),
        (freed(), ValueError, "'out' has no memory: it was freed, or torch does not store its "),
        (whole[:1].expand(3), ValueError, "'out' overlaps itself: shape (3,), strides (0,)"),
        (whole[1:4], ValueError, "'out' overlaps 'A': pass a tensor with memory of its own"),
    ]
    for out, error, message in wrong:
        assert refused(error, f, whole[:3], ONES, out=out).startswith(message)
    assert f(whole[::2], ONES, out=whole[1::2]).tolist() == [1, 1, 1]
    version = whole._version
    f(whole[::2], ONES, out=whole[1::2])
    assert whole._version > version
    assert f(ONES[:0], ONES[:0], out=torch.empty(0)).shape == (0,)


def test_devices() -> None:
    f = module_of(FILL, FILL_PLAN).f
    assert refused(ValueError, f, 1.0, x=2, device="meta") == (
        "kernels do not run on meta: pass device='cuda'"
    )
    assert refused(ValueError, f, 1.0, x=2, out=torch.empty(2, device="meta")) == (
        "kernels do not run on meta: pass device='cuda'"
    )


# Limits of launches


def test_tiles_grids_and_sizes() -> None:
    scale = module_of(SCALE, SCALE_PLAN).f
    assert refused(ValueError, scale, torch.ones(1, 1).expand(1, 2**20 + 1), 1.0, 1) == (
        "a tile of 'f' would have 2097152 elements, and Triton's limit is 1048576: write "
        "f.tensorize(y:1024) and generate this file again"
    )
    room = torch.empty(3)
    for launch, message in (
        ({"programs": ("2**16 * x",)}, None),
        (
            {"programs": ("x", "715827883")},
            "'f' would need 2147483649 programs, and a grid has at most 2147483647: give each a "
            "larger block, and generate this file again",
        ),
        (
            {"programs": ("x", "715827883"), "turns": 1},
            "'f' has 2147483649 blocks, and one launch does at most 2146435072: make them larger, "
            "and generate this file again",
        ),
        ({"counts": ("2147483000",)}, "a size of 2147483000 is too near to 2**31: split the work"),
        (
            {"counts": ("2147483648",), "near": ("2147483000",)},
            "a size of 2147483000 is too near to 2**31: split the work",
        ),
    ):
        f = module_of(ADD, changed(ADD_PLAN, launch=launch))
        if message is not None:
            assert refused(ValueError, f.f, ONES, ONES, out=room) == message


def test_offsets_have_64_bits_where_they_are_needed() -> None:
    for counts, kind in (("2147483648", "int64"), ("1000", "int32")):
        made = module_of(ADD, changed(ADD_PLAN, launch={"counts": (counts,)}))
        with mock.patch.object(made, "dt_start", return_value=None) as start:
            made.f(ONES, ONES)
        assert str(start.call_args.args[-1]["offset"]) == kind


def test_a_launch_without_programs_is_none() -> None:
    made = module_of(ADD, changed(ADD_PLAN, launch={"programs": ("x - 3",)}))
    with mock.patch.object(made, "dt_start", return_value=None) as start:
        made.f(ONES, ONES)
        assert not start.called
        made.f(torch.ones(5), torch.ones(5))
    assert start.call_args.args[3] == 2
