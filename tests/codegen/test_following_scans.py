"""Scans that follow a loop of their reader: one kernel, beside the reference, and proved."""

from collections.abc import Mapping

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.listings import FILES as KNOWN
from tests.codegen.listings import RECURRENT
from tests.codegen.running import compared, imported
from tests.codegen.test_scans import has_recurrences, text_of
from tests.oracle.cases import scanning_case

STATE = """
Func h, y;
In A, B, C;
Var t, d, s: 4;
RVar u, q: 4;
h[t, d, s] = scan_affine(A[u, d, s], B[u, d, s], u, t, 0);
y[t, d] = rsum(h[t, d, q] * reshape(C[t, q], t, 1, q), q);
y.block(d:4);
y.tensorize(d:0, q:0, t:8);
h.fuse_at(y, t);
y.compile();
"""
ROWS = """
Func {funcs};
In A, B;
Var x, t;
RVar u, w;
{body}
y.block(x:2);
y.tensorize(x:0, t:8);
{fused}
y.compile({more});
"""


def rows(body: str, fused: str, more: str = "") -> str:
    """Return a file whose result goes along rows."""
    funcs = ", ".join(dict.fromkeys((*(one.split(".")[0] for one in fused.split()[::2]), "y")))
    return ROWS.format(funcs=funcs, body=body, fused=fused, more=more)


FILES = {
    "states": STATE,
    "step by step": STATE.replace(", t:8", ""),
    "reverse": STATE.replace("u, t, 0", "u, t, 0, reverse"),
    "the state before": STATE.replace("u, t, 0", "u, t, 0, before"),
    "before, from the end": STATE.replace("u, t, 0", "u, t, 0, before, reverse"),
    "two sums": rows(
        "a[x, t] = scan_sum(A[x, u], u, t);\nb[x, t] = scan_max(B[x, w], w, t);\n"
        "y[x, t] = a[x, t] * b[x, t] + a[x, t];",
        "a.fuse_at(y, t); b.fuse_at(y, t);",
    ),
    "a sum that is returned, too": rows(
        "a[x, t] = scan_sum(A[x, u], u, t);\ny[x, t] = a[x, t] * a[x, t] + B[x, t];",
        "a.fuse_at(y, t);",
        "a",
    ),
    "a first state": rows(
        "f[x] = exp(C[x]);\nh[x, t] = scan_affine(A[x, u], B[x, u], u, t, f[x]);\n"
        "y[x, t] = h[x, t] * h[x, t];",
        "h.fuse_at(y, t); f.fuse_at(y, x);",
    ).replace("In A, B;", "In A, B, C;"),
    "a sum of a maximum": rows(
        "a[x, t] = scan_sum(A[x, u], u, t);\nb[x, t] = scan_max(a[x, w], w, t);\n"
        "y[x, t] = b[x, t] - a[x, t] + B[x, t];",
        "b.fuse_at(y, t); a.fuse_at(y, t);",
    ),
}
LARGEST = """
Func a, y;
In A;
Var x;
RVar t, u;
a[x, t] = scan_sum(A[x, u], u, t);
y[x] = rmax(a[x, t], t);
y.block(x:2);
y.tensorize(x:0, t:8);
a.fuse_at(y, t);
y.compile();
"""
FILES["the largest sum"] = LARGEST
FILES.update({name: KNOWN[name].read_text() for name in RECURRENT})
# 0 and 1, around the tiles, and primes that no tile divides.
LENGTHS = (0, 1, 7, 8, 9, 37)
DTYPES = (DType.F64, DType.F32, DType.BF16, DType.F16)
SHARE = {DType.F64: 1e-11, DType.F32: 2e-4, DType.BF16: 4e-2, DType.F16: 4e-3}


def program(name: str) -> Program:
    return load(Source("scan.dt", FILES[name]))


def text(name: str) -> str:
    return code_of(judge(program(name), DIRECTIVES).scheduled).text


def sizes_of(of: Program, length: int, other: int) -> Mapping[str, int]:
    """Return sizes with this many steps."""
    along = {"t", "u", "w"}
    names = {label.name: length if label.name in along else other for label in of.labels}
    return names | of.fixed


@pytest.mark.parametrize("name", FILES)
def test_one_kernel_that_keeps_nothing_in_memory(name: str) -> None:
    made = text(name)
    assert made.count("@triton.jit\ndef y") == 1
    assert "_scratch_ptr" not in made


@pytest.mark.sampled
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", FILES)
def test_the_kernel_is_the_reference(name: str, length: int) -> None:
    of, turn = program(name), LENGTHS.index(length) + list(FILES).index(name)
    dtype, layout = DTYPES[turn % 4], (*Layout,)[turn % 3]
    data = (Data.RANDOM, Data.ASCENDING, Data.BELOW_ZERO)[turn % 3]
    for other in (1, 5):
        given = Recipe(seed=turn, dtype=dtype, layout=layout, data=data).inputs(
            of, sizes_of(of, length, other)
        )
        made = imported(text(name)).y(**given)
        wanted = run(of, given, wanted=("y",))["y"]
        found = torch.as_tensor(made[0] if isinstance(made, tuple) else made)
        wanted = wanted.to(found.dtype)  # what is too large for a type is infinite in it
        finite = wanted[wanted.isfinite()].abs()
        limit = SHARE[dtype] * (max(1.0, float(finite.max())) if finite.numel() else 1.0)
        torch.testing.assert_close(found.double(), wanted.double(), rtol=SHARE[dtype], atol=limit)


@pytest.mark.parametrize("name", FILES)
def test_it_is_proved(name: str) -> None:
    assert verify(program(name), text(name), seconds=60).verdict is LayerVerdict.PROVED


BESIDE = "a sum of a maximum"
STATES = (
    ("h_carry = tl.full((4, 4), 0.0, real)", "h_carry = tl.full((4, 4), 1.0, real)"),
    ("h_scan_factor * h_carry[None, :, :] + h_scan", "h_scan_factor * h_carry[None, :, :]"),
    ("h_scan_factor * h_carry[None, :, :] + h_scan", "h_scan"),
    ("[:, None, None] == 7", "[:, None, None] == 6"),
    ("tl.range(0, t_size - 7, 8)", "tl.range(0, t_size - 7, 16)"),
    ("tl.where(t_mask[:, None, None], ", "tl.where(~t_mask[:, None, None], "),
)
TWO = (
    ("a_carry = tl.full((2,), 0.0, real)", "a_carry = tl.full((2,), 1.0, real)"),
    ('b_carry = tl.full((2,), float("-inf"), real)', "b_carry = tl.full((2,), 0.0, real)"),
    ("a_scan = a_carry[:, None] + a_scan", "a_scan = a_carry[:, None] - a_scan"),
    ("a_scan = a_carry[:, None] + a_scan", "a_scan = b_carry[:, None] + a_scan"),
    ("dt_max(b_carry[:, None], b_scan)", "b_scan"),
    ("dt_max(b_carry[:, None], b_scan)", "dt_max(a_carry[:, None], b_scan)"),
    ('float("-inf")),\n            1', 'float("-inf")) + a_carry[:, None],\n            1'),
    ("a_carry += tl.sum(", "a_carry = tl.sum("),
)
ONE = (
    ("dt_max(y_acc, a_scan)", "dt_max(y_acc, a_carry[:, None])"),
    ("dt_max(y_acc, a_scan)", "dt_max(a_scan, a_scan)"),
    ("a_scan = a_carry[:, None] + a_scan", "a_scan = y_acc + a_scan"),
    ("a_carry += tl.sum(", "a_carry -= tl.sum("),
    ('tl.where(t_mask[None, :], a_scan, float("-inf"))', "a_scan"),
)
MISTAKES = [
    *(("states", *one) for one in STATES),
    *((BESIDE, *one) for one in TWO),
    *(("the largest sum", *one) for one in ONE),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[" ".join(one[::2]) for one in MISTAKES])
def test_a_mistake_is_not_proved(mistake: tuple[str, str, str]) -> None:
    name, old, new = mistake
    made = text(name)
    assert old in made
    changed = verify(program(name), made.replace(old, new), seconds=60)
    assert changed.verdict is not LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_random_programs(part: int) -> None:
    """Of random schedules those in which a scan follows a loop are right, and none is refuted."""
    followed = 0
    for seed in range(5000 + 100 * part, 5100 + 100 * part):
        case = scanning_case(seed)
        verdict = judge(case.program, DIRECTIVES)
        if not verdict.is_legal:
            continue
        scans = (one.scan for one in verdict.scheduled.model.statements)
        made = text_of(case) if any(scan and scan.follows for scan in scans) else None
        if made is None:
            continue
        followed += 1
        assert verify(case.program, made, seconds=20).verdict is not LayerVerdict.REFUTED
        for more in () if has_recurrences(case.program) else (0, 1, 5):
            sizes = {label: size + more for label, size in case.sizes.items()}
            given = Recipe(seed=seed).inputs(case.program, sizes)
            compared(
                imported(made),
                case.program,
                outputs(case.program),
                given,
                sizes,
                layout=Layout.SLICED,
            )
    assert followed > 0
