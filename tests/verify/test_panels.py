"""Results in panels: proved, and mistakes in the loop over them not."""

import re

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.codegen.launcher import ROOM
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import changed, text_of, written

PRODUCT = written(
    "Func f, g; In A, B; Var m, n; RVar k;"
    "g[n, k] = B[k, n]; f[m, n] = rdot(A[m, k], g[n, k], k);"
    "g.block(n:16, k:16); g.tensorize(n:0, k:0); g.persistent(2);"
    "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.persistent(); f.num_warps(4);"
    "f.descriptor(A, g, f); f.panels(n:32); f.compile();"
)
# A bias of the columns, a scale, three kernels of which the second is early.
OTHERS = written(
    "Func f, g, h; In A, B, C; SIn s; Var m, n; RVar k;"
    "g[n, k] = B[k, n] * s; h[n, k] = g[n, k] + 1.0; f[m, n] = rdot(A[m, k], h[n, k], k) + C[n];"
    "h.early(); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16);"
    "f.panels(n:64); f.compile();"
)
LOOP = "for panel in range(0, n_size, 32):"
PART = "n_part = min(32, n_size - panel)"
B, G, OUT = (
    "B_part = dt_part(B, 1, panel, n_part)",
    "g_part = dt_part(g, 0, panel, n_part)",
    "out_part = dt_part(out, 1, panel, n_part)",
)
LAST = "            )\n    return out\n"
LARGEST = "largest_part = max(m_size, n_part, k_size)"
PASSED = "                g_part,\n                *g_part.stride()"
SIZES = "                n_part,\n                k_size,\n                panel"
WAIT = "    if early:\n        tl.extra.cuda.gdc_wait()\n"
LET = "        tl.extra.cuda.gdc_launch_dependents()\n"
FIRST = "    if early:\n        if panel == 0:\n            tl.extra.cuda.gdc_wait()\n"


def with_more(lines: str) -> str:
    """The end of the function with more lines in it, at the end of the loop or after it."""
    return LAST.replace(")\n", f")\n{lines}")


def verdict(text: str, program: Program = PRODUCT) -> Verdict:
    return verify(program, text, seconds=60).verdict


@pytest.mark.parametrize("program", [PRODUCT, OTHERS], ids=["product", "others"])
def test_it_is_proved(program: Program) -> None:
    assert verdict(text_of(program), program) is Verdict.PROVED


def memory() -> str:
    """The line that makes memory for the turned side."""
    (line,) = (one for one in text_of(PRODUCT).splitlines() if one.startswith("    g = "))
    return f"{line}\n"


MISTAKES = [
    # Other panels.
    (LOOP, LOOP.replace("0,", "32,")),
    (LOOP, LOOP.replace("32", "64")),
    (LOOP, LOOP.replace("n_size", "m_size")),
    (LOOP, LOOP.replace("n_size", "n_size - 1")),
    (LOOP, LOOP.replace("32", "2097152")),
    (PART, PART.replace("32", "16")),
    (PART, PART.replace("32", "33")),
    (PART, "n_part = 32"),
    (PART, PART.replace("n_size", "m_size")),
    (PART, PART.replace(" - panel", "")),
    # Other parts.
    (B, B.replace("1,", "0,")),
    (B, B.replace("panel,", "0,")),
    (B, B.replace("n_part)", "n_size)")),
    (B, "B_part = B"),
    (B, B.replace("(B,", "(A,")),
    (G, "g_part = g"),
    (G, G.replace("panel,", "n_part,")),
    (OUT, "out_part = out"),
    (OUT, OUT.replace("1,", "0,")),
    (OUT, OUT.replace("(out,", "(B,")),
    (OUT, f"{OUT}\n        A_part = dt_part(A, 1, panel, n_part)"),
    (OUT, f"{OUT}\n        m_size = n_part"),
    (OUT, f"{OUT}\n        n_size = n_part"),
    # What is given to the kernels.
    (PASSED, PASSED.replace("g_part", "g")),
    (SIZES, SIZES.replace("panel", "0").replace("n_part", "panel")),
    (SIZES, SIZES.replace("n_part", "n_size")),
    ("dt_blocks(g_part,", "dt_blocks(g,"),
    ("dt_blocks(out_part,", "dt_blocks(out,"),
    ("((n_part + 15) // 16)", "((n_size + 15) // 16)"),
    # Who waits.
    (FIRST, ""),
    (FIRST, FIRST.replace("== 0", "!= 0")),
    (FIRST, FIRST.replace("== 0", "== 32")),
    (FIRST, FIRST.replace("panel", "n_size")),
    (f"{WAIT}\n", "\n"),
    (f"{WAIT}\n", f"{FIRST}\n"),
    (f"{WAIT}        tl.extra", f"{FIRST}        tl.extra"),
    (f"{WAIT}        tl.extra", "    if early:\n        tl.extra"),
    # Names that the loop binds again, and that are needed after it or in the next round.
    (LAST, with_more("        out = out_part\n")),
    (LAST, with_more("        n_size = n_part\n")),
    (LAST, with_more("        A = B_part\n")),
    (LAST, with_more("        g = out\n")),
    (LAST, with_more("        n_size, A = n_part, B\n")),
    # What is done or refused after the loop, or returned in it.
    (LAST, with_more("    if n_size < 32:\n        raise ValueError('x')\n")),
    (LAST, with_more("    m_size = k_size\n")),
    (OUT, f"{OUT}\n        if not out_part.numel():\n            return out_part"),
    # No programs that take blocks in turn.
    ('dt_turns_beside("g", programs, device, 2', 'dt_turns_beside("g", programs, device, 0'),
    ('dt_turns_sparing("f", programs, device, 1', 'dt_turns_sparing("f", programs, device, 0'),
    # Memory that one panel has after another one, a second loop, a result too early.
    ("    return out\n\n\n#", f"    {LOOP}\n        {PART}\n    return out\n\n\n#"),
    (PART, f"{PART}\n        return out"),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("old", "new"), MISTAKES)
def test_mistakes(old: str, new: str) -> None:
    assert old != new
    assert verdict(changed(text_of(PRODUCT), old, new)) is not Verdict.PROVED


def test_memory_that_is_made_for_each_panel() -> None:
    """What a panel before had may be given to it, while that is still read."""
    text = changed(text_of(PRODUCT), memory(), "")
    made = memory().strip().replace("n_size", "n_part").replace("g =", "g_part =")
    assert verdict(changed(text, G, made)) is not Verdict.PROVED
    both = changed(text_of(PRODUCT), OUT, f"{OUT}\n        {memory().strip()}")
    assert verdict(both) is not Verdict.PROVED


def test_the_second_kernel_begins_a_panel() -> None:
    """It may not: it needs what the first one stores."""
    text = text_of(PRODUCT)
    second = text.index("@triton.jit", text.index("@triton.jit") + 1)
    given = changed(text[second:], f"{WAIT}{LET}", FIRST)
    end = given.index("\n\n\n")
    given = f"{given[:end]}\n{WAIT.rstrip()}{given[end:]}"
    given = given.replace("m_size, n_size, k_size,\n", "m_size, n_size, k_size,\n    panel,\n", 1)
    launch = given.index("f_launch(")
    sizes = "                n_part,\n                k_size,\n"
    given = given[:launch] + given[launch:].replace(sizes, f"{sizes}                panel,\n", 1)
    assert verdict(text[:second] + given) is not Verdict.PROVED
    zero = given[:launch] + given[launch:].replace(
        f"{sizes}                panel,\n", f"{sizes}                0,\n", 1
    )
    assert verdict(text[:second] + zero) is Verdict.PROVED  # so it waits in any case


@pytest.mark.parametrize(
    ("body", "around_it"),
    [
        ("f[m, n] = rdot(A[m, k], g[n, k], k) * m;", Verdict.PROVED),
        ("f[m, n] = rdot(A[m, k], g[n, k], k) * n;", Verdict.UNKNOWN),
        ("f[m, n] = rdot(A[m, k], g[n, k], k) * len(n);", Verdict.UNKNOWN),
        ("f[m, n] = rdot(A[m, k], pad(g, 0.0)[n - 1, k], k);", Verdict.UNKNOWN),
    ],
)
def test_a_loop_by_hand_around_launches(body: str, around_it: Verdict) -> None:
    """Without it all are proved; with it that one which needs no more than the same columns."""
    program = written(
        f"Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n]; {body}"
        "g.block(n:16, k:16); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    assert verdict(text_of(program), program) is Verdict.PROVED
    assert verdict(in_a_loop(text_of(program)), program) is around_it


def in_a_loop(text: str, kernels: int = 2) -> str:
    """The text with a loop over panels around the launches of so many kernels."""
    start = text.index("    programs = ")
    end = text.index("    return out\n", start)
    if kernels == 1:
        end = text.index("    programs = ", start + 1)
    launches = text[start:end]
    for one in ("n", "g", "B", "out", "largest"):
        whole = "n_size" if one == "n" else one
        launches = re.sub(rf"\b{whole}\b(?!\")", f"{one}_part", launches)
    lines = [f"    {LOOP}", *(f"        {one}" for one in (PART, B, G, OUT, LARGEST))]
    lines += [f"    {one}" for one in launches.splitlines()]
    around = text[:start] + "\n".join(lines) + "\n" + text[end:]
    return changed(around, "\n\n\ndt_floats", f"\n\n\n{ROOM['dt_part']}\n\ndt_floats")


def test_launches_after_the_loop() -> None:
    """Nothing is known of the order of launches then."""
    program = written(
        "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
        "f[m, n] = rdot(A[m, k], g[n, k], k);"
        "g.block(n:16, k:16); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    assert verdict(in_a_loop(text_of(program)), program) is Verdict.PROVED
    assert verdict(in_a_loop(text_of(program), 1), program) is Verdict.UNKNOWN


@pytest.mark.parametrize("made", ["n_size", "n_size + 0", "B.shape[1]", "max(n_size, n_size)"])
def test_a_size_by_another_name(made: str) -> None:
    """In the loop it would stand for that of a part, which it is not."""
    text = changed(text_of(PRODUCT), f"    {LOOP}", f"    whole = {made}\n    {LOOP}")
    assert verdict(text) is Verdict.PROVED
    assert verdict(changed(text, SIZES, SIZES.replace("n_part", "whole"))) is not Verdict.PROVED


@pytest.mark.parametrize(("made", "used"), [("{} * {}", "{} // {}"), ("{} + {}", "{} - {}")])
def test_a_size_in_what_is_computed_of_it(made: str, used: str) -> None:
    """It may be taken out of that again."""
    whole = made.format("n_size", "m_size")
    text = changed(text_of(PRODUCT), f"    {LOOP}", f"    whole = {whole}\n    {LOOP}")
    again = SIZES.replace("n_part", used.format("whole", "m_size"))
    assert verdict(changed(text, SIZES, again)) is not Verdict.PROVED


def test_two_labels_of_what_is_cut() -> None:
    """The one that is not cut would have its whole size, of a part of what has it."""
    program = written(
        "Func f, g; In A, B; Var m, n, p; RVar k; g[p, k] = B[k, p];"
        "f[m, n] = rdot(A[m, k], g[n, k], k);"
        "g.block(p:16, k:16); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    assert verdict(text_of(program), program) is Verdict.PROVED
    assert verdict(in_a_loop(text_of(program)), program) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("how", "around_it"),
    [("f.atomic(k);", Verdict.PROVED), ("", Verdict.UNKNOWN)],
    ids=["added up in memory", "kept apart"],
)
def test_sums_in_parts_of_their_rows(how: str, around_it: Verdict) -> None:
    """Each panel begins its own; memory for those kept apart would be made in each of them."""
    program = written(
        "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
        "f[m, n] = rdot(A[m, k], g[n, k], k);"
        f"g.block(n:16, k:16); f.block(m:16, n:16, k:16); {how}"
        "f.tensorize(m:0, n:0, k:0); f.compile();"
    )
    assert verdict(text_of(program), program) is Verdict.PROVED
    text = in_a_loop(text_of(program))
    assert verdict(text, program) is around_it


def test_sums_that_begin_before_the_panels() -> None:
    """All at once: right, but not of what one panel does."""
    program = written(
        "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
        "f[m, n] = rdot(A[m, k], g[n, k], k);"
        "g.block(n:16, k:16); f.block(m:16, n:16, k:16); f.atomic(k);"
        "f.tensorize(m:0, n:0, k:0); f.compile();"
    )
    text = in_a_loop(text_of(program))
    start = text.index("        f_init_launch(")
    begun = text[start : text.index("        programs = ", start)]
    before = begun.replace("n_part", "n_size").replace("_part", "").replace("    " * 2, "    ")
    moved = changed(changed(text, begun, ""), f"    {LOOP}", f"{before}    {LOOP}")
    assert verdict(moved, program) is Verdict.UNKNOWN
