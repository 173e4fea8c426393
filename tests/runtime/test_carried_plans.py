"""Tests what plans by hand compute in Triton's interpreter; each key of a plan has a test."""

import inspect
from typing import Any

import pytest
import torch

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


def launch(kernel: str, tensors: dict[str, str], **keys: Any) -> dict[str, Any]:
    return {"kernel": f"{kernel}_kernel", "func": kernel, "tensors": tensors, **keys}


def test_a_function_is_as_a_person_would_write_it() -> None:
    made = module_of(SCALE, SCALE_PLAN)
    assert str(inspect.signature(made.f)) == "(A, a, n, *, out=None)"
    assert (made.f.__name__, made.f.__qualname__) == ("f", "f")
    assert made.f.__module__ == made.__name__ == made.scale_kernel.fn.__module__
    assert made.f.__doc__ == "`f[x, y]`; into `out`, if one is given."


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 16), (4, 64), (0, 3), (3, 0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64, torch.bfloat16])
def test_numbers_lanes_flags_types_and_fours(shape: tuple[int, int], dtype: torch.dtype) -> None:
    f = module_of(SCALE, SCALE_PLAN).f
    A = torch.randn(shape).to(dtype)
    for given in (A, A.t().contiguous().t()):
        result = f(given, 2.0, 3)
        assert (result.dtype, result.shape) == (dtype, A.shape)
        torch.testing.assert_close(result, A * 2 + 3)
    out = torch.empty((shape[0], shape[1] + 3), dtype=dtype)[:, :-3]
    assert f(A, torch.tensor(2.0), torch.tensor(3), out=out) is out
    torch.testing.assert_close(out, A * 2 + 3)


def test_names_of_the_source_are_in_messages() -> None:
    text = SCALE.replace("A_", "class__")
    plan: Plan = eval(repr(SCALE_PLAN).replace("'A'", "'class_'").replace("A.s", "class_.s"))
    plan = eval(repr(plan).replace("real(A)", "real(class_)"))
    plan |= {"names": {"class_": "class", "a": "lambda", "y": "is"}}
    f = module_of(text, plan).f
    assert str(inspect.signature(f)) == "(class_, a, n, *, out=None)"
    assert f.__doc__ == "`f[x, is]`; into `out`, if one is given."
    wrong: list[tuple[Any, str]] = [
        (([], 1.0, 1), "'class' must be a tensor, not list"),
        ((torch.ones(2, 2), "1", 1), "'lambda' must be a number, not '1'"),
    ]
    for given, message in wrong:
        with pytest.raises(TypeError) as caught:
            f(*given)
        assert str(caught.value) == message


def test_sizes_are_passed() -> None:
    f = module_of(FILL, FILL_PLAN).f
    assert str(inspect.signature(f)) == "(a, *, out=None, x, device=None)"
    for x in (5, torch.tensor(5)):
        assert f(0.5, x=x).tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert f(0.5, x=0).shape == (0,)
    out = torch.empty(3)
    assert f(1, x=3, out=out, device="cpu") is out
    assert torch.equal(out, torch.tensor([1.0, 2.0, 3.0]))


# A size that may be passed, and else is the largest that fits.
WINDOW = """
@triton.jit
def window_kernel(X_ptr, X_stride_0, f_ptr, f_stride_0, h_size, r_size, offset: tl.constexpr):
    h = tl.program_id(0).to(offset)
    total = 0.0
    for r in range(0, r_size):
        total += tl.load(X_ptr + (2 * h + r) * X_stride_0)
    tl.store(f_ptr + h * f_stride_0, total)
"""
WINDOW_PLAN: Plan = {
    "function": "f",
    "inputs": {"X": ("f32", 1)},
    "sizes": {"r": "2", "h": "fit(X.shape[0], 0, r - 1, 2)"},
    "passed": {"h": ()},
    "demands": [
        {
            "inside": "X",
            "axis": 0,
            "extent": "X.shape[0]",
            "index": "2 * h + r",
            "high": "2 * h + r - 2",
            "where": ("h",),
            "sizes": "h={h}, r=2",
        }
    ],
    "results": {"f": {"shape": ("h",), "dtype": "X"}},
    "indices": ("2 * h + r",),
    "launches": [
        launch("window", {"X": "_", "f": "h_size"}, programs=("h",))
        | {"numbers": {"h_size": "h", "r_size": "r"}}
    ],
}


def test_a_size_may_be_passed() -> None:
    f = module_of(WINDOW, WINDOW_PLAN).f
    X = torch.arange(7.0)
    assert f(X).tolist() == [1, 5, 9]
    assert f(X, h=2).tolist() == [1, 5]
    with pytest.raises(ValueError, match=r"and 2 \* h \+ r reaches 8 for sizes h=4, r=2"):
        f(X, h=4)


def test_memory_between_kernels_of_which_one_waits() -> None:
    """Three kernels, of which the last is given a size that no tensor has, and waits."""
    plan = changed(
        ADD_PLAN,
        between={
            "twice": {"shape": ("x",), "dtype": "type(real)", "pitched": True},
            "more": {"shape": ("x",), "dtype": "promoted(A, f64)"},
        },
    )
    one = plan["launches"][0]
    waiting = one | {"kernel": "last_kernel", "early": True, "near": ("x",), "counts": ("2 * x",)}
    plan["launches"] = [
        one | {"tensors": {"A": "x_size", "B": "x_size", "twice": "x_size"}},
        one | {"tensors": {"twice": "x_size", "B": "x_size", "more": "x_size"}},
        waiting | {"tensors": {"more": "x_size", "twice": "x_size", "f": "x_size"}},
    ]
    last = ADD.replace("add_kernel", "last_kernel").replace(
        "offset: tl", "early: tl.constexpr, offset: tl"
    )
    f = module_of(ADD + last, plan).f
    A, B = torch.randn(20), torch.randn(20)
    torch.testing.assert_close(f(A, B), (A + B) + B + (A + B))


SCRATCH = """
@triton.jit
def reversed_kernel(
    A_ptr, A_stride_0, own_ptr, own_stride_0, own_stride_1, f_ptr, f_stride_0, x_size,
    offset: tl.constexpr,
):
    pid = tl.program_id(0).to(offset)
    at = tl.arange(0, 4).to(offset)
    own = own_ptr + pid * own_stride_0
    tl.store(own + at * own_stride_1, tl.load(A_ptr + (pid * 4 + at) * A_stride_0))
    tl.debug_barrier()
    tl.store(f_ptr + (pid * 4 + at) * f_stride_0, tl.load(own + (3 - at) * own_stride_1))
"""


def test_memory_of_programs() -> None:
    plan: Plan = {
        "function": "f",
        "inputs": {"A": ("i32", 1)},
        "sizes": {"x": "A.shape[0]"},
        "results": {"f": {"shape": ("x",), "dtype": "A"}},
        "indices": ("x",),
        "launches": [
            launch("reversed", {"A": "x_size", "own": "- -", "f": "x_size"}, programs=("x // 4",))
            | {"scratch": {"own": {"shape": ("4",), "dtype": "i32"}}, "numbers": {"x_size": "x"}}
        ],
    }
    f = module_of(SCRATCH, plan).f
    A = torch.arange(12, dtype=torch.int32)
    assert f(A).tolist() == [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8]


BOTH = """
@triton.jit
def both_kernel(
    A_ptr, A_stride_0, g_ptr, g_stride_0, f_ptr, f_stride_0, before, offset: tl.constexpr,
):
    pid = tl.program_id(0).to(offset)
    if pid < before:
        tl.store(g_ptr + pid * g_stride_0, 2 * tl.load(A_ptr + pid * A_stride_0))
    else:
        at = pid - before
        tl.store(f_ptr + at * f_stride_0, 3 * tl.load(A_ptr + at * A_stride_0))
"""


def test_one_launch_of_two_kernels() -> None:
    plan: Plan = {
        "function": "f",
        "inputs": {"A": ("f32", 1)},
        "sizes": {"x": "A.shape[0]"},
        "results": {"f": {"shape": ("x",), "dtype": "A"}},
        "between": {"g": {"shape": ("x",), "dtype": "A"}},
        "launches": [
            launch("both", {"A": "_", "g": "_", "f": "_"}, before=("x",), programs=("x", "1"))
        ],
    }
    f = module_of(BOTH, plan).f
    assert f(torch.arange(4.0)).tolist() == [0, 3, 6, 9]


TURNS = """
@triton.jit
def turn_kernel(
    A_ptr, A_stride_0, A_stride_1, f_ptr, f_stride_0, f_stride_1, x_size, y_size, PANEL
    offset: tl.constexpr,
):
    for block in tl.range(tl.program_id(0), x_size * y_size, tl.num_programs(0)):
        x = block // y_size
        y = block % y_size
        value = tl.load(A_ptr + x * A_stride_0 + y * A_stride_1)
        tl.store(f_ptr + x * f_stride_0 + y * f_stride_1, value + VALUE)
"""


@pytest.mark.parametrize("width", [0, 1, 4, 5, 8, 11])
def test_programs_take_turns_in_panels(width: int) -> None:
    """The first kernel knows where its panel begins; the last one reads what that one left."""
    tensors = {"A": "x_size y_size", "g": "x_size y_size"}
    how = {"programs": ("x", "y"), "turns": 2, "numbers": {"x_size": "x", "y_size": "y"}}
    plan: Plan = {
        "function": "f",
        "inputs": {"A": ("f32", 2)},
        "sizes": {"x": "A.shape[0]", "y": "A.shape[1]"},
        "results": {"f": {"shape": ("x", "y"), "dtype": "A", "pitched": True}},
        "between": {"g": {"shape": ("x", "y"), "dtype": "A"}},
        "panels": {"labels": ("y",), "size": 4, "cut": {"A": 1, "g": 1, "f": 1}},
        "launches": [
            launch("first", tensors, panel="first") | how,
            launch("last", {"g": "x_size y_size", "f": "x_size y_size"}, panel="last") | how,
        ],
    }
    first = TURNS.replace("turn", "first").replace("PANEL", "panel,").replace("VALUE", "panel")
    last = TURNS.replace("turn", "last").replace("PANEL", "").replace("VALUE", "1")
    f = module_of(first + last, plan).f
    A = torch.randn(3, width)
    at = torch.arange(width) // 4 * 4
    torch.testing.assert_close(f(A), A + at + 1)


DESCRIBED = """
@triton.jit
def turned_kernel(
    A_ptr, A_stride_0, A_stride_1, A_stride_2, f_ptr, f_stride_0, f_stride_1, A_blocks, OWN
    offset: tl.constexpr,
):
    x = tl.program_id(0) * 4
    at = x + tl.arange(0, 4)[:, None]
    y = tl.arange(0, 8)[None, :]
    if A_blocks is not None:
        tile = LOADED
        tl.store(f_ptr + at * f_stride_0 + y * f_stride_1, tile)
    else:
        tile = tl.load(A_ptr + at * A_stride_1 + y * A_stride_2)
        tl.store(f_ptr + at * f_stride_0 + y * f_stride_1, -tile)
"""


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("step", [None, 4, 3])
def test_descriptors(is_turned: bool, step: int | None) -> None:
    """The kernel tells which of its ways it went: it has a descriptor, or None."""
    block = {"of": "A", "block": (1, 4, 8), "axes": (1, 0, 2) if is_turned else (0, 1, 2)}
    plan: Plan = {
        "function": "f",
        "inputs": {"A": ("f32", 3)},
        "sizes": {"x": "A.shape[1]"},
        "results": {"f": {"shape": ("x", "8"), "dtype": "A"}},
        "launches": [
            launch("turned", {"A": "_ _ _", "f": "_ _"}, programs=("x // 4",))
            | {"descriptors": {"A_blocks": block | ({} if step is None else {"step": step})}}
        ],
    }
    loaded = f"tl.reshape(A_blocks.load([{'x, 0' if is_turned else '0, x'}, 0]), (4, 8))"
    f = module_of(DESCRIBED.replace("LOADED", loaded).replace("OWN", ""), plan).f
    A = torch.randn(1, 8, 8)
    sign = -1 if step == 3 else 1  # the interpreter wants multiples of 16 bytes
    torch.testing.assert_close(f(A), sign * A[0])
    torch.testing.assert_close(f(A.transpose(1, 2)), -A[0].t())


@pytest.mark.parametrize(("dtype", "is_so"), [(torch.float16, 1), (torch.float32, 0)])
def test_specialized(dtype: torch.dtype, is_so: int) -> None:
    """Only 2 bytes are the most here; the kernel says whether it is specialized."""
    blocks = {
        name: {"of": "A", "block": (1, 4, 16), "axes": (0, 1, 2)} for name in ("A_blocks", "more")
    }
    plan: Plan = {
        "function": "f",
        "inputs": {"A": ("float", 3)},
        "sizes": {"x": "A.shape[1]"},
        "results": {"f": {"shape": ("x", "16"), "dtype": "f32"}},
        "launches": [
            launch("turned", {"A": "_ _ _", "f": "_ _"}, programs=("x // 4",))
            | {"descriptors": blocks, "specialized": (2, ("more", "A_blocks"))}
        ],
    }
    own = "more, specialized: tl.constexpr,"
    text = DESCRIBED.replace("LOADED", "tl.full((4, 16), specialized, tl.float32)")
    f = module_of(text.replace("OWN", own).replace("arange(0, 8)", "arange(0, 16)"), plan).f
    assert set(f(torch.ones(1, 4, 16).to(dtype)).flatten().tolist()) == {is_so}


def test_an_input_that_nothing_looks_at() -> None:
    plan = changed(ADD_PLAN, inputs=ADD_PLAN["inputs"] | {"C": "unread"})
    f = module_of(ADD, plan).f
    A = torch.ones(3)
    for C in (None, "a word", torch.ones(1, device="meta")):
        assert f(A, A, C).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("text", "dtypes", "kind"),
    [
        ("f64", (torch.float16, torch.float16), "fp64"),
        ("real(A, B)", (torch.float16, torch.float64), "fp64"),
        ("stored(A, B)", (torch.float16, torch.bfloat16), "fp32"),
        ("stored(A)", (torch.float16, torch.float64), "fp16"),
    ],
)
def test_types(text: str, dtypes: tuple[torch.dtype, torch.dtype], kind: str) -> None:
    """A kernel is compiled with a type: the sum of 1 and a little shows which."""
    plan = changed(ADD_PLAN, types={"real": text})
    f = module_of(ADD, plan | {"results": {"f": {"shape": ("x",), "dtype": "f64"}}}).f
    little = {"fp64": 2.0**-40, "fp32": 2.0**-20, "fp16": 2.0**-9}
    A, B = (torch.ones(1, dtype=one) for one in dtypes)
    for name, value in little.items():
        if dtypes[1] is torch.float64 or name == "fp16":
            is_held = float(f(A, B * value)) > 1
            assert is_held == (list(little).index(name) >= list(little).index(kind))


def test_operands_and_what_meets() -> None:
    plan = changed(ADD_PLAN, types={"real": "real(A, B)", "met": "operand(A, B)"})
    plan |= {"meet": [("A", "B")], "results": {"f": {"shape": ("x",), "dtype": "f32"}}}
    plan["launches"] = [plan["launches"][0] | {"types": ("met",)}]
    f = module_of(ADD.replace("real", "met"), plan).f
    A = torch.ones(2).to(torch.float8_e5m2)
    assert f(A, A).tolist() == [2, 2]
    with pytest.raises(TypeError, match="no dtype holds both"):
        f(A, torch.ones(2))
    with pytest.raises(TypeError, match="of A and B: convert one"):
        f(A, torch.ones(2))
    with pytest.raises(TypeError, match="have no common type"):
        module_of(ADD, changed(ADD_PLAN, results=plan["results"])).f(A, torch.ones(2).double())
