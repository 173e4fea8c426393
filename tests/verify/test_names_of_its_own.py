"""Tests that names which the verifier makes up never meet those of a file."""

from keyword import iskeyword

import pytest

from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.proof.obligations import attempts
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import written

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
# The columns of a result of which each program stores one: right if there is one for each column.
REPEATED = (
    HEAD
    + """\
def k(a_ptr, o_ptr, n, s):
    p = tl.program_id(0)
    for i in range(0, n):
        a = tl.load(a_ptr + i)
        tl.store(o_ptr + i * s + p, a)


# verify: k[(GRID,)](A, f, len(x), f.stride(0))
# assume: reach(f) < 2**31, len(x) <= 2**15, len(LABEL) <= 2**15
"""
)
COPIED = (
    HEAD
    + """\
def k(a_ptr, o_ptr, d, n, m, s, t, u, v):
    for one in range(0, d):
        for two in range(0, n):
            for three in range(0, m):
                a = tl.load(a_ptr + one * s + two * t + three)
                tl.store(o_ptr + one * u + two * v + three, a)


# verify: k[(1,)](A, f, len(b), len(x), len(y), A.stride(0), A.stride(1), f.stride(0), f.stride(1))
# assume: reach(f) < 2**31, reach(A) < 2**31, len(b) <= 2**15, len(x) <= 2**15, len(y) <= 2**15
"""
)
CUBE = written("Func f; In A; Var b, x, y; f[b, x, y] = A[b, x, y];")


def repeated(label: str, grid: str) -> LayerVerdict:
    program = written(f"Func f; In A; Var x, {label}; f[x, {label}] = A[x];")
    text = REPEATED.replace("LABEL", label).replace("GRID", grid)
    return verify(program, text).verdict


# The name that a number of programs had where it stood there, and names near to it.
@pytest.mark.parametrize("label", ["programs_13_3", "programs", "programs_13_3_size", "line_13"])
def test_a_label_is_no_number_of_programs(label: str) -> None:
    assert repeated(label, f"len({label})") is LayerVerdict.PROVED
    assert repeated(label, "any") is not LayerVerdict.PROVED


@pytest.mark.parametrize("old", ["one", "two", "three"])
@pytest.mark.parametrize("new", ["out", "lane", "program", "wrapped", "shifted", "index"])
def test_a_loop_is_called_as_it_likes(old: str, new: str) -> None:
    text = COPIED.replace(f"{old} ", f"{new} ").replace(f"{old})", f"{new})")
    text = text.replace(f"+ {old},", f"+ {new},")
    assert f" {old}" not in text
    assert verify(CUBE, text).verdict is LayerVerdict.PROVED


def test_what_is_no_size_of_a_label_has_a_name_that_no_label_has() -> None:
    program = written("Func f; In A; Var x, y; f[x, y] = A[x];")
    text = REPEATED.replace("LABEL", "y").replace("GRID", "any")
    names = set[str]()
    for one in attempts(program, text, 60.0, lambda _: is_empty):
        for obligation in one.run.obligations:
            names |= obligation.region.names
    words = {one for one in names if one.isidentifier() and not iskeyword(one)}
    assert names > words
    assert words <= {"x_size", "y_size"}
