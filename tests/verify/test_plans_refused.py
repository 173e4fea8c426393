"""Plans that are not proved: of an unknown form, or not of what the algorithm says."""

from typing import Any

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.plan_sources import SOURCES, data_for, program_of
from tests.verify.planned import planned_text, with_data

NOTHING: Any = object()


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Data with something else at a place, or with nothing there."""
    at, *rest = path
    part = put(value[at], tuple(rest), new) if rest else new
    if isinstance(value, dict):
        entries: dict[str, Any] = {**value, at: part}
        return {key: one for key, one in entries.items() if one is not NOTHING}
    parts: list[Any] = [*value[:at], *([] if part is NOTHING else [part]), *value[at + 1 :]]
    return parts if isinstance(value, list) else tuple(parts)


def judged(name: str, data: dict[str, Any]) -> tuple[LayerVerdict, str]:
    """Return the verdict of a plan, and why it is not proved."""
    program = program_of(name)
    text = with_data(planned_text(program), "f", data)
    (function,) = verify(program, text, seconds=60).functions
    why = next((one.why for one in function.layers if one.verdict is not LayerVerdict.PROVED), "")
    return function.verdict, why


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*SOURCES])
def test_each_plan_is_proved(name: str) -> None:
    assert judged(name, data_for(name)) == (LayerVerdict.PROVED, "")


L0, L1 = ("launches", 0), ("launches", 1)
FORMS: list[tuple[str, tuple[Any, ...], Any, str]] = [
    ("pointwise", ("more",), 1, "a plan with 'more'"),
    ("pointwise", ("launches",), NOTHING, "a plan without 'launches'"),
    ("pointwise", ("launches",), (), "'launches' is no list"),
    ("pointwise", ("function",), "g", "a plan of 'g' for 'f'"),
    ("pointwise", ("sizes", "x"), 1, "the size of 'x' is no string"),
    ("pointwise", ("sizes", "x"), "A.stride(0)", "'A.stride(0)' in a formula"),
    ("pointwise", ("sizes", "x"), "A.shape[True]", "an axis of 'A.shape[True]'"),
    ("pointwise", ("sizes", "x"), "A.shape[0][0]", "in a formula"),
    ("pointwise", ("sizes", "x"), "A.shape[0] if A else 1", "in a formula"),
    ("pointwise", ("sizes", "x"), "print(1)", "'print(1)' in a formula"),
    ("pointwise", ("sizes", "x"), "(A.shape[0], 1)", "in a formula"),
    ("pointwise", ("sizes", "x"), "A.shape[0]\n", "other characters than are printed"),
    ("pointwise", ("sizes", "x"), "A.shape[0] # 1", "not written as a formula"),
    ("pointwise", ("sizes", "x"), "A.shape[0x0]", "not written as a formula"),
    ("pointwise", ("sizes", "x"), "A.shape[0", "not written as a formula"),
    ("pointwise", ("sizes", "x"), "A.shape[0] + 10000000000000000000", "in a formula"),
    ("pointwise", ("sizes", "x"), "B.shape[1]", "'B' has 1 axes"),
    ("pointwise", ("sizes", "x"), "f.shape[0]", "'f' of 'f.shape[0]' is not a tensor"),
    ("pointwise", ("sizes", "x"), "y", "'y' of 'y' is not known here"),
    ("pointwise", ("sizes", "x"), None, "the size of 'x', which only a call can say"),
    ("pointwise", ("passed",), {"x": ()}, "the size of 'x', which no call of this can pass"),
    ("pointwise", ("limits",), {"z": 3}, "'limits' of 'z', which has no size"),
    ("pointwise", ("limits",), {"x": -3}, "is no whole number"),
    ("pointwise", ("names",), {"x": "z"}, "'x', which is called 'z'"),
    ("pointwise", ("names",), {"z_": "z"}, "'z_', which is called 'z'"),
    ("pointwise", ("shown",), {"x": "{y.f}"}, "in a formula"),
    ("pointwise", ("shown",), {"x": "{z}"}, "'z' in a text for a message"),
    ("argmax", ("demands", 0, "reduction"), "{print(1)}", "'reduction' with a brace"),
    ("softmax", (*L0, "tiles", 0, 2), "{print(1)}", "a word of a tile with a brace"),
    ("pointwise", (*L0, "func"), "{print(1)}", "'func' with a brace"),
    ("pointwise", ("adds",), [("{print(1)}", "rsum", "A")], "'adds' with a brace"),
    ("pointwise", ("sizes", "dt_panel"), "1", "'dt_panel', which has a meaning of its own"),
    ("pointwise", ("shown",), {"x": "{x"}, "the braces of '{x'"),
    ("pointwise", ("inputs", "A"), ("f32", 2), "'A', which is something else in the algorithm"),
    ("pointwise", ("inputs", "A"), ("float", 1), "'A', which is something else"),
    ("pointwise", ("inputs", "A"), ("float", True), "is no whole number"),
    ("pointwise", ("inputs", "A"), "unread", "'A', which is something else"),
    ("pointwise", ("inputs", "A"), "text", "is 'text', which no input is"),
    ("pointwise", ("inputs", "A"), ["float", 2], "is no tuple"),
    ("pointwise", ("inputs",), {"B": ("float", 1), "A": ("float", 2)}, "does not take (A, B,"),
    ("pointwise", ("inputs", "C"), "unread", "does not take (A, B, *, out=None)"),
    ("pointwise", ("demands", 0), {"is": ("y",), "shape": "B"}, "a demand of an unknown form"),
    ("pointwise", ("demands", 0, "shape"), "f", "which is no tensor of the caller"),
    ("pointwise", ("demands", 0, "is"), ("x", "y"), "the shape of 'B', which has 1 axes"),
    ("pointwise", ("demands", 0, "is"), ("z",), "the size of 'z'"),
    ("pointwise", ("demands", 0, "is"), "y", "'is' is no tuple"),
    ("pointwise", ("types", "real"), "f16", "which is no type of a kernel"),
    ("pointwise", ("types", "real"), "real(A)", ""),
    ("pointwise", ("types", "real"), "real(A, f64)", "'f64', which is no input"),
    ("pointwise", ("types", "real"), "f32", ""),
    ("pointwise", ("types", "real"), "stored(A, B)", ""),
    ("pointwise", ("meet",), [("A", "z")], "the dtype 'z'"),
    ("pointwise", ("adds",), [("f", "rsum")], "'adds' of other parts"),
    ("pointwise", ("results", "f", "dtype"), "A", "a result of another dtype than 'f' has"),
    ("pointwise", ("results", "f", "dtype"), "f64", "a result of another dtype than 'f' has"),
    ("pointwise", ("results", "f", "dtype"), "promoted(A)", "which is no dtype"),
    ("pointwise", ("results", "f", "dtype"), "type(real)", "which is no dtype of inputs"),
    ("pointwise", ("results", "f", "shape"), ("x", "y + 1"), "a result of another shape"),
    ("pointwise", ("results", "f", "shape"), ("2 * x", "y"), "a result of another shape"),
    ("pointwise", ("results", "f", "shape"), ("x", "y", "1"), "words for 2 axes of 'f'"),
    ("pointwise", ("results", "f", "pitched"), 1, "is neither True nor False"),
    (
        "pointwise",
        ("results", "g"),
        {"shape": (), "dtype": "A"},
        "the result 'g', which is not the name of a Func",
    ),
    ("in_place", ("results", "f", "into"), NOTHING, "the result 'f', which does not go into 'F'"),
    ("in_place", ("results", "f", "into"), "A", "the result 'f', which does not go into 'F'"),
    ("in_place", ("results", "f", "into"), "x", "the result 'f', which does not go into 'F'"),
    ("in_place", ("results", "f", "into"), 1, "'into' is no string"),
    ("in_place", ("results", "f", "pitched"), True, "the rows of 'f', which are the caller's"),
    ("in_place", ("results", "f", "shape"), ("x + 1",), "a result of another shape than 'F' has"),
    ("in_place", ("results", "f", "dtype"), "promoted(A, F)", "that is not like 'F'"),
    ("in_place", ("between", "g", "into"), "A", "with 'into'"),
    ("pointwise", ("results", "f", "into"), "A", "the result 'f', which is in place"),
    ("several", ("results", "u"), NOTHING, "returns (f, t), not (f, t, u)"),
    ("several", ("results", "t"), NOTHING, "returns (f, u), not (f, t, u)"),
    ("several", ("results", "f"), NOTHING, "returns (t, u), not (f, t, u)"),
    ("several", ("results", "u", "dtype"), "f64", "a result of another dtype than 'u' has"),
    ("several", ("results", "t", "shape"), ("x + 1",), "a result of another shape than 't' has"),
    ("several", ("results", "t", "shape"), ("x", "y"), "words for 1 axes of 't'"),
    ("pointwise", ("between",), {"A": {"shape": (), "dtype": "A"}}, "two things are called 'A'"),
    ("pointwise", ("panels",), {"labels": (), "size": 32, "cut": {}}, "panels of no label"),
    ("pointwise", ("panels",), {"labels": ("z",), "size": 32, "cut": {}}, "panels of 'z'"),
    ("pointwise", (*L0, "more"), 1, "a launch with 'more'"),
    ("pointwise", (*L0, "kernel"), "g", "'f' is given other kernels than it launches"),
    ("pointwise", (*L0, "programs"), (), "is not stored"),
    ("pointwise", (*L0, "programs"), "x", "'programs' is no tuple"),
    ("pointwise", (*L0, "programs"), ("x - 5",), "a number of programs that may be negative"),
    ("pointwise", (*L0, "before"), ("x",), "'f_kernel' has no 'even'"),
    ("pointwise", (*L0, "tensors", "A"), "x_size", "words for 1 axes of 'A'"),
    ("pointwise", (*L0, "tensors", "A"), "x_size even", "'even', which is no size"),
    ("pointwise", (*L0, "tensors", "A"), "offset y_size", "'offset', which is no size"),
    ("pointwise", (*L0, "tensors", "A"), "x_size A_ptr", "'A_ptr', which is no size"),
    ("pointwise", (*L0, "tensors", "A"), "x_size z", "'z', which is no size"),
    ("pointwise", (*L0, "tensors", "A"), "x_size  y_size", "for the axes of 'A'"),
    ("pointwise", (*L0, "tensors", "A"), NOTHING, "is not given 'f_stride_1'"),
    ("pointwise", (*L0, "numbers", "x_size"), NOTHING, "which is no size that the kernel"),
    ("pointwise", (*L0, "numbers", "z"), "x", "'f_kernel' has no 'even'"),
    (
        "pointwise",
        (*L0, "numbers", "x_size"),
        "x * y",
        "is not a whole number that can be followed",
    ),
    ("pointwise", (*L0, "lanes"), {"y_size": "lanes(y)"}, "'y_size'"),
    ("pointwise", (*L0, "flags", "even"), NOTHING, "'f_kernel' is not given 'even'"),
    ("pointwise", (*L0, "flags", "even"), "x", "which is no comparison of formulas"),
    ("pointwise", (*L0, "flags", "even"), "0 < x < y", "which is no comparison of formulas"),
    ("pointwise", (*L0, "flags", "even"), "x % 4 == 0 or y % 16 == 0", "no comparison"),
    ("pointwise", (*L0, "flags", "more"), "x == 0", "'f_kernel' has no 'more'"),
    ("pointwise", (*L0, "flags", "real"), "x == 0", "is given a constant twice"),
    ("pointwise", (*L0, "flags", "early"), "x == x", "'early', which the runtime gives"),
    ("pointwise", (*L0, "flags", "specialized"), "x == x", "which the runtime gives"),
    ("pointwise", (*L0, "lanes"), {"offset": "lanes(x)"}, "'offset', which the runtime gives"),
    ("pointwise", (*L0, "types"), (), "'f_kernel' is not given 'real'"),
    ("pointwise", (*L0, "types"), ("real", "other"), "the type 'other'"),
    ("pointwise", (*L0, "fours"), (), "'fours' of nothing"),
    ("pointwise", (*L0, "fours"), NOTHING, "'f_kernel' is not given 'fours'"),
    ("pointwise", (*L0, "early"), True, "'f_kernel' has no 'early'"),
    ("pointwise", (*L0, "specialized"), (2, ("A", "B")), "specialized by other descriptors"),
    ("pointwise", (*L0, "specialized"), (8, ()), "a launch that is specialized for 8 bytes"),
    ("pointwise", (*L0, "panel"), "first", "does not begin a panel"),
    ("pointwise", (*L0, "panel"), "last", "does not end a panel"),
    ("pointwise", (*L0, "panel"), "next", "the launch 'next' of a panel"),
    ("pointwise", (*L0, "num_warps"), 3, "3 warps"),
    ("pointwise", (*L0, "num_warps"), 64, "is no whole number from 1 to 32"),
    ("pointwise", (*L0, "turns"), 0, "'turns' is no whole number"),
    ("pointwise", (*L0, "tiles"), [("f", "x")], "a tile of other parts"),
    ("pointwise", (*L0, "scratch"), {"s": {"shape": (), "dtype": "A"}}, "does not need"),
    ("conv", ("passed",), NOTHING, ""),
    ("conv", ("sizes", "x"), "max((A.shape[0] - max(r - 1, 0)) // 2, 0)", "for the size of 'x'"),
    ("conv", ("passed", "x"), ("c",), "'c', which no call can pass"),
    ("conv", ("demands", 0, "high"), NOTHING, "stays inside, without an index"),
    ("conv", ("demands", 0, "sizes"), "{z}", "'z' in a text for a message"),
    ("numbers", ("passed",), NOTHING, "the size of 'y', which only a call can say"),
    ("numbers", ("sizes", "y"), "A.shape[0]", "the size of 'y', which a call must pass"),
    ("numbers", ("inputs", "B"), ("float", 1), "'B', which is something else"),
    ("numbers", ("inputs", "s"), "bool", "'s', which is something else"),
    ("numbers", ("inputs", "n"), ("int", 0, 5), "'n', which is something else"),
    ("numbers", ("inputs", "n"), ("int", -5, -2), "'n', which is something else"),
    ("numbers", ("inputs", "n"), ("int", -(2**63) - 1, -2), "is no whole number from -"),
    ("numbers", ("inputs", "n"), "int", "is 'int', which no input is"),
    ("numbers", (*L0, "numbers", "n"), "s", "which is a type for Triton"),
    ("numbers", (*L0, "numbers", "n"), "n + 1", "is not the size of a label"),
    ("described", (*L0, "descriptors", "A_blocks", "block"), (16, 12), "blocks (16, 12) of 'A'"),
    ("described", (*L0, "descriptors", "A_blocks", "block"), (16,), "blocks (16,) of 'A'"),
    ("described", (*L0, "descriptors", "A_blocks", "axes"), (1, 0), "must stay the last one"),
    ("described", (*L0, "descriptors", "A_blocks", "axes"), (0, 0), "must stay the last one"),
    ("described", (*L0, "descriptors", "A_blocks", "of"), "z", "which is not passed besides"),
    ("described", (*L0, "descriptors", "A_blocks"), NOTHING, "is not given 'f_blocks'"),
    ("described", (*L0, "descriptors", "A_blocks", "more"), 1, "with 'more'"),
    ("described", (*L0, "turns"), NOTHING, ""),
    ("specialized", (*L0, "specialized"), NOTHING, "is not given 'specialized'"),
    ("specialized", (*L0, "specialized", 1), ("A_blocks", "B_blocks"), "by other descriptors"),
    ("two", ("between", "g"), NOTHING, "'g' is no tensor that is known here"),
    ("two", ("between", "g", "shape"), ("x - 1",), ""),
    ("two", ("between", "g", "shape"), ("g.shape[0]",), "is not a tensor that is known here"),
    ("two", (*L1, "early"), False, "'f_kernel' is not given 'early'"),
    ("two", L0, NOTHING, "'f' is given other kernels than it launches"),
    ("panels", ("panels", "size"), 2**21, "panels of more than"),
    ("panels", ("panels", "size"), 0, "is no whole number from 1"),
    ("panels", ("panels", "labels"), ("k",), "panels of two sizes"),
    ("panels", ("panels", "cut", "B"), 0, "panels of two sizes"),
    ("panels", ("panels", "cut", "B"), 2, "parts of 'B' along its axis 2"),
    ("panels", ("panels", "cut", "B"), NOTHING, "'B' is no tensor that is known here"),
    ("panels", ("panels", "cut", "f"), NOTHING, "'f' is no tensor that is known here"),
    ("panels", ("panels", "cut", "A"), 0, "panels of two sizes"),
    ("panels", (*L0, "panel"), NOTHING, ""),
    ("panels", ("panels",), NOTHING, "does not begin a panel"),
    ("beside", (*L0, "before"), NOTHING, ""),
    ("beside", (*L0, "before"), ("cdiv(m, 8)",), ""),
    ("beside", (*L0, "turns"), 1, "of which one launch is two kernels"),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "path", "new", "why"), FORMS)
def test_it_is_not_proved(name: str, path: tuple[Any, ...], new: Any, why: str) -> None:
    verdict, said = judged(name, put(data_for(name), path, new))
    assert verdict is not LayerVerdict.PROVED
    assert why in said


def test_results_stand_in_the_order_of_the_file() -> None:
    data = data_for("several")
    made = data["results"]
    swapped = {**data, "results": {one: made[one] for one in ("f", "u", "t")}}
    why = "a function that returns (f, u, t), not (f, t, u)"
    assert judged("several", swapped) == (LayerVerdict.UNKNOWN, why)


def test_what_is_read_is_not_replaced_before() -> None:
    data = data_for("in_place")
    turned = {**data, "launches": [*reversed(data["launches"])]}
    text = with_data(planned_text(program_of("in_place")), "f", turned)
    swapped = text.replace("f_plan, g_kernel, f_kernel", "f_plan, f_kernel, g_kernel")
    assert swapped != text
    report = verify(program_of("in_place"), swapped, seconds=60)
    assert report.verdict is not LayerVerdict.PROVED
    whys = [layer.why for layer in report.functions[0].layers if layer.name == "order"]
    assert any("loads of 'F' what line" in why for why in whys), whys


def test_results_are_not_each_other() -> None:
    """Both have one shape and one dtype, so that only their values differ."""
    data = data_for("several")
    (launch,) = data["launches"]
    names = {"t": "u", "u": "t"}
    tensors = {names.get(one, one): words for one, words in launch["tensors"].items()}
    swapped = {**data, "launches": [{**launch, "tensors": tensors}]}
    verdict, _ = judged("several", swapped)
    assert verdict is not LayerVerdict.PROVED


def test_several_results_are_not_made_in_panels() -> None:
    panels = {"labels": ("x",), "size": 32, "cut": {"A": 0, "f": 0, "t": 0, "u": 0}}
    verdict, why = judged("several", {**data_for("several"), "panels": panels})
    assert (verdict, why) == (LayerVerdict.UNKNOWN, "panels of several results")
