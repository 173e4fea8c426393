"""Files whose functions are made of plans: what else stands in them, and what is refused."""

import hashlib

import pytest

from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.plan.files import check_form, has_plans
from dtpoly.verify.plan.runtime import FIRST, LAST, MAKER
from dtpoly.verify.proof.report import Layer
from dtpoly.verify.proof.verify import Verdict, verify
from dtpoly.verify.triton.helpers import RUNTIME
from tests.verify.planned import IMPORTS, planned_text
from tests.verify.planned import RUNTIME as IMPORT
from tests.verify.texts import changed, text_of, written

PROGRAM = written("Func f; In A; Var x; f[x] = A[x] * 2.0; f.block(x:16); f.compile();")
TEXT = planned_text(PROGRAM)
CALL = "f = dt_function(f_plan, f_kernel)"
WRAPPER = "def f(A, *, out=None):\n    return out\n"


def first_layer(text: str) -> Layer:
    (function,) = verify(PROGRAM, text, seconds=60).functions
    return function.layers[0]


def test_the_file_itself_is_proved() -> None:
    assert verify(PROGRAM, TEXT, seconds=60).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (IMPORT, "", "the runtime of this file is not"),
        (IMPORT, "from dtpoly.runtime import dt_function as other\n", "the runtime of this"),
        (IMPORT, f"{IMPORT}{IMPORT}", "the runtime of this file is not"),
        (IMPORT, f"{IMPORT}import math\n", "'import math'"),
        (IMPORT, f"{IMPORT}import functools\n", "'import functools'"),
        (CALL, f"{CALL}\n{CALL}", "'f' is defined twice"),
        (CALL, f"{WRAPPER}\n\n{CALL}", "'f' is defined twice"),
        (CALL, f"{CALL}\n\n\n{WRAPPER.replace('f(', 'f_(')}", "'f_', which is not made of a plan"),
        (CALL, f"{CALL}; f_kernel = 1", "two statements in a line"),
        (CALL, f"{CALL}\ng = dt_function(f_plan, f_kernel)", "'dt_function(f_plan, f_kernel)'"),
        (CALL, f"{CALL}\ng_plan = {{}}", "'g_plan', which no function is made of"),
        (CALL, f"{CALL}\nf_plan = {{}}", "'f_plan' is defined twice"),
        (CALL, f"{CALL}\nf_plan['sizes'] = {{}}", "nothing of that kind"),
        (CALL, f"{CALL}\ndt_function = 1", "'dt_function' is defined twice"),
        (CALL, f"{CALL}\n\n\ndef dt_function(a):\n    return a", "'dt_function' is defined"),
        (CALL, "f = dt_function(f_plan)", "is given other kernels than it launches"),
        (CALL, "f = dt_function(f_plan, f_kernel, f_kernel)", "is given other kernels"),
        (CALL, "f = dt_function(f_plan, other)", "'other' is no kernel"),
        (CALL, "f = dt_function(f_plan, f_kernel, out=1)", "'dt_function(f_plan, f_kernel, out="),
        (CALL, "f = dt_function(*f_plan, f_kernel)", "'dt_function(*f_plan, f_kernel)'"),
        ("f_plan = {", "g_plan = 1\nf_plan = {", ""),
    ],
)
def test_what_stands_beside_the_parts_is_refused(old: str, new: str, why: str) -> None:
    layer = first_layer(changed(TEXT, old, new))
    assert layer.verdict is (Verdict.UNKNOWN if why else Verdict.PROVED)
    assert why in layer.why


def test_what_a_function_needs_stands_above_it() -> None:
    plan = TEXT[TEXT.index("f_plan = {") : TEXT.index(CALL)]
    assert "for 'f'" in first_layer(changed(TEXT, plan, "") + f"\n\n{plan}").why
    text = changed(changed(TEXT, IMPORT, ""), CALL, f"{CALL}\n{IMPORT}")
    assert "'dt_function' is not there yet" in first_layer(text).why
    kernel = TEXT[TEXT.index("@triton.jit") : TEXT.index("f_plan = {")]
    assert "'f_kernel' is not there yet" in first_layer(changed(TEXT, kernel, "") + kernel).why


BODY = "dt_known = {1: 2}\ndt_known |= {3: 4}\n\n\ndef dt_function(plan, *kernels):\n    return 1\n"


def carried(monkeypatch: pytest.MonkeyPatch, body: str = BODY) -> str:
    """The file with a runtime, which is the known one."""
    runtime = f"{FIRST}\n{BODY}{LAST}"
    monkeypatch.setitem(
        RUNTIME, MAKER, ("imported", hashlib.sha256(runtime.encode()).hexdigest()[:32])
    )
    text = changed(TEXT, IMPORT, "import functools\nfrom typing import Any\n")
    return changed(text, CALL, f"{FIRST}\n{body}{LAST}\n\n{CALL}")


def test_the_runtime_is_known_by_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = carried(monkeypatch)
    assert verify(PROGRAM, text, seconds=60).verdict is Verdict.PROVED
    layer = first_layer(carried(monkeypatch, BODY.replace("2", "5")))
    assert layer.verdict is Verdict.UNKNOWN
    assert layer.way == "compile this file again"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (FIRST, f"'''\n{FIRST}", "a statement around the runtime"),
        (CALL, f"{CALL}\ndt_known = 1", "'dt_known' is defined twice"),
        (CALL, f"{CALL}\nfunctools = 1", "'functools' is defined twice"),
        (CALL, f"{CALL}\n{FIRST}\n{LAST}", "the runtime of this file is not"),
        (
            "    pid = ",
            "    dt_known = 1\n    pid = ",
            "'dt_known' is defined, which has a meaning of its own",
        ),
    ],
)
def test_nothing_is_mixed_with_the_runtime(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, why: str
) -> None:
    text = changed(carried(monkeypatch), old, new)
    text = text + "'''\n" if "'''" in new else text
    layer = first_layer(text)
    assert layer.verdict is Verdict.UNKNOWN
    assert why in layer.why


def test_a_file_without_plans_is_to_be_compiled_again() -> None:
    old = text_of(PROGRAM)
    assert has_plans(TEXT)
    assert not has_plans(old)
    check_form(TEXT)
    with pytest.raises(Unread) as refused:
        check_form(old)
    assert refused.value.way == "compile this file again"
    assert old.splitlines()[refused.value.line - 1].startswith("f_launch = dt_launcher(")


def test_the_known_runtime_is_that_of_the_compiler() -> None:
    module = pytest.importorskip("dtpoly.plan.runtime_text")
    text = module.runtime_text().rstrip("\n")
    assert hashlib.sha256(text.encode()).hexdigest()[:32] == RUNTIME[MAKER][1]
    carried = changed(TEXT, f"{IMPORTS}{IMPORT}", module.IMPORTS)
    carried = changed(carried, CALL, f"{text}\n\n\n{CALL}")
    assert verify(PROGRAM, carried, seconds=60).verdict is Verdict.PROVED
