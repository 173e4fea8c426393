"""Files whose functions are made of plans: what else stands in them, and what is refused."""

import hashlib
from pathlib import Path

import pytest

from dtpoly.plan import runtime_text
from dtpoly.verify.plan.kernel_files import has_plans
from dtpoly.verify.plan.runtime import FIRST, LAST, MAKER
from dtpoly.verify.proof.report import Layer
from dtpoly.verify.proof.verify import LayerVerdict, verify
from dtpoly.verify.triton.helpers import RUNTIME
from tests.verify.planned import RUNTIME as IMPORT
from tests.verify.planned import planned_text
from tests.verify.texts import ROOT, changed, program_of, text_of, written

PROGRAM = written("Func f; In A; Var x; f[x] = A[x] * 2.0; f.block(x:16); f.compile();")
TEXT = planned_text(PROGRAM)
CALL = "f = dt_function(f_plan, f_kernel)"
FUNCTION = "def f(A, *, out=None):\n    return out\n"


def first_layer(text: str) -> Layer:
    (function,) = verify(PROGRAM, text, seconds=60).functions
    return function.layers[0]


def test_the_file_itself_is_proved() -> None:
    assert verify(PROGRAM, TEXT, seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (IMPORT, "", "the runtime of this file is not"),
        (
            IMPORT,
            "from dtpoly.runtime import dt_function as other\n",
            "the runtime of this",
        ),
        (IMPORT, f"{IMPORT}{IMPORT}", "the runtime of this file is not"),
        (IMPORT, f"{IMPORT}import math\n", "'import math'"),
        (IMPORT, f"{IMPORT}import functools\n", "'import functools'"),
        (CALL, f"{CALL}\n{CALL}", "'f' is defined twice"),
        (CALL, f"{FUNCTION}\n\n{CALL}", "'f' is defined twice"),
        (CALL, f"{CALL}\n\n\n{FUNCTION.replace('f(', 'f_(')}", "'f_', which is not made of a plan"),
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
    assert layer.verdict is (LayerVerdict.UNKNOWN if why else LayerVerdict.PROVED)
    assert why in layer.why


@pytest.mark.parametrize("name", ["f", "f_plan", "dt_f", "f_plan_", "class", "plan"])
def test_plans_of_functions_that_are_called_like_plans(name: str) -> None:
    """Something else may have the name that the plan would have."""
    program = written(
        f"Func f, {name}_plan; In A; Var x; f[x] = A[x] * 2.0; {name}_plan[x] = A[x] + 1.0;"
        f"f.compile(); {name}_plan.compile();"
    )
    for text in (text_of(program), planned_text(program)):
        assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED


def test_what_a_function_needs_stands_above_it() -> None:
    plan = TEXT[TEXT.index("f_plan = {") : TEXT.index(CALL)]
    assert "for 'f'" in first_layer(changed(TEXT, plan, "") + f"\n\n{plan}").why
    text = changed(changed(TEXT, IMPORT, ""), CALL, f"{CALL}\n{IMPORT}")
    assert "'dt_function' is not there yet" in first_layer(text).why
    kernel = TEXT[TEXT.index("@triton.jit") : TEXT.index("f_plan = {")]
    assert "'f_kernel' is not there yet" in first_layer(changed(TEXT, kernel, "") + kernel).why


BODY = "dt_known = {1: 2}\ndt_known |= {3: 4}\n\n\ndef dt_function(plan, *kernels):\n    return 1\n"


def carried(monkeypatch: pytest.MonkeyPatch, body: str = BODY) -> str:
    """Return the file with a runtime, which is the known one."""
    runtime = f"{FIRST}\n{BODY}{LAST}"
    monkeypatch.setitem(
        RUNTIME, MAKER, ("imported", hashlib.sha256(runtime.encode()).hexdigest()[:32])
    )
    text = changed(TEXT, IMPORT, "import functools\nfrom typing import Any\n")
    return changed(text, CALL, f"{FIRST}\n{body}{LAST}\n\n{CALL}")


def test_the_runtime_is_known_by_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = carried(monkeypatch)
    assert verify(PROGRAM, text, seconds=60).verdict is LayerVerdict.PROVED
    layer = first_layer(carried(monkeypatch, BODY.replace("2", "5")))
    assert layer.verdict is LayerVerdict.UNKNOWN
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
    assert layer.verdict is LayerVerdict.UNKNOWN
    assert why in layer.why


NEEDED = [*runtime_text.IMPORTS.split("\n")]


@pytest.mark.sampled
@pytest.mark.parametrize("line", [one for one in NEEDED if one])
def test_the_runtime_has_all_that_it_imports(line: str) -> None:
    text = text_of(PROGRAM)
    layer = first_layer(changed(text, f"{line}\n", ""))
    assert layer.verdict is LayerVerdict.UNKNOWN
    assert line in layer.why or f"'{line.split()[-1]}' is not imported" in layer.why
    behind = changed(text, f"{line}\n", "") + f"\n\n{line}\n"
    assert first_layer(behind).verdict is LayerVerdict.UNKNOWN


def test_the_whole_runtime_is_known() -> None:
    assert verify(PROGRAM, text_of(PROGRAM)).verdict is LayerVerdict.PROVED


OLD = ROOT / "tests/data/earlier"


@pytest.mark.parametrize("path", sorted(OLD.glob("*.py.txt")), ids=lambda path: path.name)
def test_a_file_of_before_there_were_plans_is_to_be_compiled_again(path: Path) -> None:
    text = path.read_text()
    assert not has_plans(text)
    (function,) = verify(program_of(OLD / "softmax.dt"), text).functions
    layer = function.layers[0]
    assert layer.verdict is LayerVerdict.UNKNOWN
    assert layer.way == "compile this file again"
    assert layer.why == "a file of an older dtpoly, whose functions have no plans"
    assert text.splitlines()[layer.line - 1].startswith("def dt_is_current(")


KERNEL = TEXT[TEXT.index("@triton.jit") : TEXT.index("f_plan = {")]
HEAD = "import triton\nimport triton.language as tl\n\n\n"


@pytest.mark.parametrize(
    "text", ["", "import numpy\n", f"{HEAD}{KERNEL}", f"{HEAD}{KERNEL}def f(A):\n    return A\n"]
)
def test_a_file_that_does_not_say_what_it_launches_is_told_how_to(text: str) -> None:
    layer = first_layer(text)
    assert layer.verdict is LayerVerdict.UNKNOWN
    assert layer.why.startswith("the file has no plans, and no '# verify:' lines")
    assert "# verify: kernel[" in layer.way


def test_a_file_that_only_talks_of_plans_has_none() -> None:
    """The words by which a file with plans is recognised may also stand inside of a text."""
    layer = first_layer(f"'''\nf_plan = {{\n{CALL}\n'''\n{IMPORT}{HEAD}{KERNEL}")
    assert (layer.verdict, layer.why) == (LayerVerdict.UNKNOWN, "no function is made of a plan")
