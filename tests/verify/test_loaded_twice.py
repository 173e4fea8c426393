"""What a kernel loads twice, and stores in between, is not taken for the same value.

One kernel has a copy of A in memory. It multiplies a tile of the copy, writes over the copy, and
where there is a nan, it adds up what is there then. Another one adds up exponentials of what it
loads, less the largest of what it loads after it has written zeros there.
"""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify

COPIED = """Func h, f; In A, B; Var i, j, l; RVar k in [0, i + 1);
h[i, l] = A[i, l];
f[i, j] = rdot(h[i, k], B[k, j], k);
f.block(i:32);
f.tensorize(i:0, j:0, k:32);
h.fuse_at(f, i);
f.compile();
"""
# The tile on the diagonal, as matrices, with what is done before the branch and the loop in it.
CUT = """    if l_size >= i_start + 1:
        k_3 = (i_start + tl.arange(0, 32)).to(offset)
        k_3_mask = (k_3 < l_size) | even
        k_3_mask_2 = k_3 < i_size
        sum_before = f_acc
        tl.debug_barrier()
        {tile} = tl.load(
            {address}[:, None] + k_3[None, :] * {stride},
            mask=(k_3[None, :] <= i[:, None]) & i_mask[:, None] & k_3_mask[None, :],
            other=0.0,
        )
        B_cut = tl.load(
            B_at_j[None, :] + k_3[:, None] * B_stride_0,
            mask=k_3_mask_2[:, None] & k_3_mask[:, None] & j_mask[None, :],
            other=0.0,
        ).to(A_B_dtype)
        f_acc = tl.dot(
            {tile}.to(A_B_dtype), B_cut, f_acc, input_precision="ieee", out_dtype=real
        )
        is_nan = (f_acc != f_acc).to(tl.int32)
        has_nan = tl.max(tl.max(is_nan, 1), 0)
        tl.debug_barrier()
{between}        if has_nan >= 1:
            f_acc = sum_before
{again}"""
OF_COPY = ("h_cut", "h_f_at_program_i_i_start", "h_f_scratch_stride_2")
OF_INPUT = ("A_cut", "A_at_i", "A_stride_1")

SUMMED = """Func f, h, top, e, total; In A; Var x; RVar y;
h[x, y] = A[x, y] * 3;
top[x] = rmax(h[x, y], y);
e[x, y] = exp(h[x, y] - reshape(top[x], x, 1));
total[x] = rsum(e[x, y], y);
f[x] = log(total[x]) + top[x];
f.block(x:1);
f.tensorize(total.y:16, top.y:16);
e.inline();
total.fuse_at(f, x);
top.online(total, y);
h.fuse_at(f, x);
f.num_stages(1);
f.compile();
"""
# What is done between the load of a tile and the largest number of what is loaded again.
AGAIN = """        tl.debug_barrier()
        tl.store(h_f_at_program + y * h_f_scratch_stride_2, {old} * {factor}{mask})
        tl.debug_barrier()
        {new} = tl.load(h_f_at_program + y * h_f_scratch_stride_2{mask}{other})
"""


def program_of(source: str) -> tuple[Program, str]:
    checked = check(Source("source.dt", source))
    assert checked.program is not None
    assert checked.verdict is not None
    return checked.program, code_of(checked.verdict.scheduled).text


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def made(source: tuple[str, str, str], *, is_overwritten: bool) -> tuple[Program, str]:
    """Return a program and its text, in which a branch on a nan reads a copy or the input."""
    program, text = program_of(COPIED)
    head, rest = text.split("    if l_size >= i_start + 1:\n")
    loop, tail = rest.split("    tl.store(\n        f_ptr", 1)
    start = head.index("    for l_start in")
    copying = head[start : head.index("    f_acc = tl.full(")]
    tile, address, stride = source
    for old, new in (
        ("            tl.debug_barrier()\n", ""),
        (", 1, loop_unroll_factor=4", ""),
        ("h_f_tile", "again_tile"),
        ("B_tile", "B_again"),
        ("i_mask_2", "is_taken"),
        ("A_B_stored", "A_B_dtype"),
        (OF_COPY[1], address),
        (OF_COPY[2], stride),
    ):
        loop = loop.replace(old, new)
    over = copying.replace("A_tile", "A_over").replace("i_mask_2", "is_below")
    between = indented(over) + "        tl.debug_barrier()\n" if is_overwritten else ""
    again = indented(loop)
    cut = CUT.format(tile=tile, address=address, stride=stride, between=between, again=again)
    return program, f"{head}{cut}    tl.store(\n        f_ptr{tail}"


@pytest.mark.parametrize("is_overwritten", [False, True])
def test_what_is_only_read_may_be_loaded_again(is_overwritten: bool) -> None:
    program, text = made(OF_INPUT, is_overwritten=is_overwritten)
    assert verify(program, text).verdict is LayerVerdict.PROVED


def test_what_is_stored_may_not_be_loaded_again() -> None:
    program, text = made(OF_COPY, is_overwritten=True)
    text = text.replace("A_over,", "A_over + 1.0,")
    assert "A_over + 1.0" in text
    report = verify(program, text)
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "is loaded twice for what must be the same" in report.functions[0].layers[0].why


def test_a_maximum_of_what_is_loaded_later_is_none_of_what_was_loaded_before() -> None:
    program, text = program_of(SUMMED)
    assert verify(program, text).verdict is LayerVerdict.PROVED
    whole = AGAIN.format(old="h_f_tile", new="h_new", factor=0.0, mask="", other="")
    part = AGAIN.format(
        old="h_f_tile_3", new="h_new_2", factor=0.0, mask=", mask=y_mask", other=", other=0.0"
    )
    for before, old, new in (
        (whole, "        top_max_tile = h_f_tile", "        top_max_tile = h_new"),
        (
            part,
            "        top_max_tile_2 = h_f_tile_3_seen",
            '        top_max_tile_2 = tl.where(y_mask, h_new_2, float("-inf"))',
        ),
    ):
        assert old in text
        text = text.replace(old, before + new)
    report = verify(program, text)
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "is loaded twice for what must be the same" in report.functions[0].layers[0].why
