"""Tests that a file which changes the meaning of its names while it is loaded is not proved."""

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.verify.plan.runtime import FIRST, LAST
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import ROOT, changed, program_of, text_of, written

MATMUL = program_of(ROOT / "examples/matmul.dt")
TEXT = text_of(MATMUL)
IMPORT = "import triton.tools.tensor_descriptor\n"

# What is put behind the imports.
ADDED: dict[str, str] = {
    "min is max": "min = max",
    "min is a function": "def min(a, b):\n    return b",
    "range is a kernel": "@triton.jit\ndef range(a, b):\n    return a",
    "tl is something else": "tl = triton",
    "torch is a function": "def torch():\n    pass",
    "another import": "import math as tl",
    "an import of a name": "from math import pow as min",
    "a constant that does something": "done = globals().update(min=max)",
    "a constant in a constant": "done = [min := max]",
    "a default that does something": "def other(a=globals().update(min=max)):\n    pass",
    "a hint that does something": "def other(a: globals().update(min=max)):\n    pass",
    "a statement": "globals().update(min=max)",
    "a condition": "if True:\n    min = max",
    "a class": "class min:\n    pass",
    "a part of the runtime": "def dt_device(*a):\n    globals().update(min=max)",
    "a name for the exception": (
        "def other():\n    try:\n        pass\n    except ValueError as min:\n        pass"
    ),
    "a name of the file from inside": "def other():\n    global dt_device\n    dt_device = max",
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", ADDED)
def test_it_is_not_proved(name: str) -> None:
    assert verify(MATMUL, TEXT).verdict is LayerVerdict.PROVED
    text = changed(TEXT, IMPORT, f"{IMPORT}{ADDED[name]}\n")
    assert verify(MATMUL, text).verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize("old", ["m_start = ", "matmul_acc = "])
def test_a_name_inside_of_a_kernel_hides_nothing(old: str) -> None:
    text = changed(TEXT, old, f"min = max\n    {old}")
    assert verify(MATMUL, text).verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize("name", ["dt_device", "matmul_kernel"])
def test_a_parameter_hides_no_function(name: str) -> None:
    text = f"{TEXT}\n\ndef other(A, {name}=None):\n    return A\n"
    (first, *_) = verify(MATMUL, text).layers
    assert first.verdict is LayerVerdict.UNKNOWN
    assert first.why == f"'{name}' is defined, which has a meaning of its own"


@pytest.mark.sampled
@pytest.mark.parametrize("space", ["\x0c", "\x0b", "\x1c", "\x85", "\u2028"])
def test_a_line_is_what_python_takes_for_one(space: str) -> None:
    """With other lines, the runtime would be found where a string has the known one."""
    start, end = TEXT.index(FIRST), TEXT.index(LAST) + len(LAST)
    good = TEXT[start:end]
    wrong = changed(good, "def dt_function(", "def dt_functions(")
    string = f"r'''\n{good}\n'''\n"
    shifted = f'"""{space * string.count(chr(10))}"""\n'
    for runtime in (good, wrong):
        text = f"{TEXT[:start]}{string}{shifted}{runtime}{TEXT[end:]}"
        assert verify(MATMUL, text).layers[0].why.startswith(f"the character {space!a}")
        report = verify(MATMUL, text.replace(space, " "))
        assert "runtime" in report.layers[0].why


@pytest.mark.parametrize("space", ["\x0c", "\x0b", "\x1c", "\x85", "\u2028", "\t", "\r"])
def test_a_comment_with_strange_spaces_is_not_read(space: str) -> None:
    """Not all who read a file see the same lines there."""
    text = changed(TEXT, IMPORT, f"{IMPORT}# one{space}two\n")
    assert verify(MATMUL, text).verdict is LayerVerdict.UNKNOWN


def test_other_letters_in_comments_and_lines_of_windows_change_nothing() -> None:
    text = changed(TEXT, IMPORT, f"{IMPORT}# größer als ∅\n")
    assert verify(MATMUL, text).verdict is LayerVerdict.PROVED
    assert verify(MATMUL, TEXT.replace("\n", "\r\n")).verdict is LayerVerdict.PROVED


def test_a_file_with_a_test_is_proved() -> None:
    sizes = {"m": 4, "n": 4, "k": 5}
    text = code_of(judge(MATMUL, DIRECTIVES).scheduled, "", sizes).text
    assert 'if __name__ == "__main__":' in text
    assert verify(MATMUL, text).verdict is LayerVerdict.PROVED
    text = changed(text, 'if __name__ == "__main__":', 'if __name__ != "__main__":')
    assert verify(MATMUL, text).verdict is LayerVerdict.UNKNOWN


NAMES = written(
    "Func class, max; In lambda, range; SIn sum; Var len; RVar in;"
    "class[len] = rsum(lambda[len, in] * sum, in); max[len] = class[len] + range[len];"
    "class.compile(); max.compile();"
)


def test_names_that_python_needs() -> None:
    report = verify(NAMES, text_of(NAMES))
    assert [one.name for one in report.functions] == ["class", "max"]
    assert report.verdict is LayerVerdict.PROVED
    wrong = changed(text_of(NAMES), "range(0, in_size)", "range(1, in_size)", -1)
    assert verify(NAMES, wrong).verdict is LayerVerdict.REFUTED


def test_a_name_that_another_has_is_not_taken() -> None:
    program = written("Func f; In lambda, lambda_; Var x; f[x] = lambda[x] - lambda_[x];")
    text = text_of(program)
    assert verify(program, text).verdict is not LayerVerdict.REFUTED
