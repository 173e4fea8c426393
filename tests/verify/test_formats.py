"""The types of values, as the verifier reads them from the page of the language."""

import pytest

from dtpoly.algorithm.dtypes import DType, promote
from dtpoly.algorithm.expressions import Apply, Reduce, walk
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.operations import OPERATIONS, REDUCTION
from dtpoly.algorithm.program import Program
from dtpoly.verify.algebra.formats import RULES, TYPES, format_of, formats_of, joined, of_type
from tests.codegen.cases import random_case
from tests.verify.texts import FILES, program_of, written


def test_there_is_a_row_for_every_operation() -> None:
    assert set(RULES) == {*(one.name for one in OPERATIONS), *REDUCTION, "rdot"}


@pytest.mark.parametrize("left", DType)
@pytest.mark.parametrize("right", DType)
def test_two_types_promote_as_torch_does(left: DType, right: DType) -> None:
    wanted = promote(left, right)
    if wanted is not None:
        found = joined([of_type(TYPES[left]), of_type(TYPES[right])])
        assert found == of_type(TYPES[wanted])


def _declared(program: Program) -> bool:
    return all(tensor.dtype is not None for tensor in program.tensors)


def test_what_the_text_fixes_is_what_the_frontend_says() -> None:
    programs = [*(random_case(seed).program for seed in range(60)), *map(program_of, FILES)]
    compared = 0
    for program in filter(_declared, programs):
        types, formats = types_of(program), formats_of(program)
        for func in program.funcs:
            for expr in walk(func.body):
                known = type_of(expr, types)
                if known.dtype is not None and not known.weak:
                    assert format_of(expr, formats).kind == TYPES[known.dtype]
                    compared += isinstance(expr, Apply | Reduce)
    assert compared > 20


# Of `e`, where A is f16, B is i8, C is bool, D has the caller's type, and s is a number.
KINDS = {
    "A[x] + 1": "tl.float16",
    "A[x] + s": "tl.float16",
    "B[x] + 1": "tl.int8",
    "B[x] + s": "tl.float32",
    "B[x] + x": "tl.int64",
    "C[x] + 1": "tl.int64",
    "A[x] + B[x]": "tl.float16",
    "B[x] / 2": "tl.float32",
    "sqrt(B[x])": "tl.float32",
    "A[x] < B[x]": "tl.int1",
    "where(C[x], B[x], A[x])": "tl.float16",
    "D[x] + 1": "stored D",
    "D[x] + B[x]": "stored D",
    "D[x] + A[x]": "stored D tl.float16",
    "rsum(B[k], k) + B[x]": "tl.int32",
    "rsum(C[k], k) + B[x]": "tl.int32",
    "rmax(B[k], k) + B[x]": "tl.int8",
    "rsum(A[k], k) + A[x]": "tl.float16",
    "rargmax(A[k], k) + B[x]": "tl.int64",
    "s + 1": "tl.float32",
    "len(x) * 2": "tl.int64",
}


@pytest.mark.parametrize("text", KINDS)
def test_an_expression_has_the_type_of_the_page(text: str) -> None:
    inputs = "In A: f16, B: i8, C: bool, D; SIn s;"
    rest = f"other[x] = A[x] + B[x] + C[x] + D[x] + s + rsum(A[k], k); e[x] = {text};"
    program = written(f"Func e, other; {inputs} Var x; RVar k; {rest}")
    assert formats_of(program)["e"].kind == KINDS[text]
