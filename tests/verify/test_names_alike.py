"""Names that a program or a kernel chooses, and those that a proof has for numbers of its own."""

import pytest

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.whole import compare, name, number
from dtpoly.verify.plan.held import FunctionReading
from dtpoly.verify.proof.alike import check_apart
from dtpoly.verify.proof.verify import LayerVerdict, verify
from dtpoly.verify.triton.unit.unit import Unit, read_unit
from tests.verify.texts import written

HEAD = "import triton\nimport triton.language as tl\n\n"
ONES = """\
# verify: ones[(any,)](f)
# assume: len({label}) <= 2**20


@triton.jit
def ones(o):
    tl.store(o + tl.program_id(0), 1.0)
"""
# As names of `any` may be made of a line and a column.
LABELS = (
    *("programs_4_16", "programs_4_6", "programs", "any_line_4_column_6_as_a", "line_4_column_6"),
    *("any__line_4__column_6__as_a", "id_of_program_0_1", "lane_1", "out_0_", "A_shape_0_"),
)


@pytest.mark.parametrize("label", LABELS)
def test_any_number_of_programs_is_no_size(label: str) -> None:
    program = written(f"Func f; Var {label}; f[{label}] = 1.0;")
    text = HEAD + ONES.format(label=label)
    assert verify(program, text).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("label", LABELS)
def test_as_many_programs_as_the_label_has_are_enough(label: str) -> None:
    program = written(f"Func f; Var {label}; f[{label}] = 1.0;")
    text = HEAD + ONES.format(label=label).replace("any,", f"len({label}),")
    assert verify(program, text).verdict is LayerVerdict.PROVED


COUNTED = """\
# verify: copy[(1,)](
#     A, f, len(i), len(j), len(k), A.stride(0), A.stride(1), f.stride(0), f.stride(1)
# )
# assume: len(i) <= 2**30, len(j) <= 2**30, len(k) <= 2**30, reach(A) < 2**31, reach(f) < 2**31


@triton.jit
def copy(a, o, l, n, m, s0, s1, t0, t1):
    for {first} in range(0, l):
        for {second} in range(0, n):
            for {third} in range(0, m):
                value = tl.load(a + {first} * s0 + {second} * s1 + {third})
                tl.store(o + {first} * t0 + {second} * t1 + {third}, value)
"""


@pytest.mark.parametrize(
    "counters",
    [
        ("x", "y", "z"),
        ("out", "y", "z"),
        ("x", "out", "z"),
        ("x", "y", "out"),
        ("lane", "program", "wrapped"),
        ("i_size", "j_size", "k_size"),
    ],
)
def test_a_loop_may_call_its_counter_as_it_likes(counters: tuple[str, str, str]) -> None:
    """One called `out` was taken for an index of the result: a right kernel was refuted."""
    program = written("Func f; In A; Var i, j, k; f[i, j, k] = A[i, j, k];")
    names = dict(zip(("first", "second", "third"), counters, strict=True))
    assert verify(program, HEAD + COUNTED.format(**names)).verdict is LayerVerdict.PROVED


def unit() -> Unit:
    return read_unit(HEAD)


@pytest.mark.parametrize(
    "names",
    [
        ("A.shape[0]", "A_shape_0_"),
        ("A.stride(1)", "A_stride_1_"),
        ("blocks(A: 16)", "blocks_A__16_"),
        ("lane.1", "lane_1"),
        ("next_power_of_2(i_size)", "next_power_of_2_i_size_"),
    ],
)
def test_two_names_that_are_written_as_one_are_not_read(names: tuple[str, str]) -> None:
    reading = FunctionReading(ProofRun(lambda _: False), unit(), "f", {}, {}, frozenset(), {})
    first, second = map(name, names)
    check_apart(reading, (), compare(">=", first, number(0)))
    with pytest.raises(Unread, match="one name"):
        check_apart(reading, (), compare(">=", first, second))
