"""Loads of what atomic operations of earlier launches left: read as reductions in memory."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import changed, text_of, written

SUM = written(
    "Func f, g; In A: f32, B; Var x; RVar k; f[] = rsum(A[k], k); g[x] = f[] * B[x];"
    "f.block(k:32); f.atomic(k); f.compile(); g.compile();"
)
LARGEST = written(
    "Func f, g; In A: i32; Var x; RVar k; f[x] = rmax(A[x, k], k); g[x] = f[x] * len(k);"
    "f.block(k:32); f.atomic(k); f.compile(); g.compile();"
)
NARROW = written(
    "Func f: f16, g: f32; In A: f16; Var x; RVar k; f[x] = rsum(A[x, k], k); g[x] = f[x] * 3;"
    "f.block(k:32); f.atomic(k); f.compile(); g.compile();"
)
INIT = "    tl.store(f_ptr, 0.0)\n"
AT_END = '    tl.atomic_add(f_ptr, f_acc, sem="relaxed")\n'
OF_LARGEST = "f_at_program + x * f_stride_0"
WRONG: dict[str, tuple[Program, str, str]] = {
    "it begins with something": (SUM, INIT, INIT.replace("0.0", "1.0")),
    "it does not begin": (SUM, INIT, "    pass\n"),
    "another operation": (SUM, "tl.atomic_add", "tl.atomic_max"),
    "twice": (SUM, AT_END, 2 * AT_END),
    "only some do it": (SUM, AT_END, AT_END.replace("f_acc,", "f_acc, mask=k_block > 0,")),
    "it is stored besides": (SUM, AT_END, f"{AT_END}    tl.store(f_ptr, f_acc)\n"),
    "it is stored, not put to it": (SUM, AT_END, "    tl.store(f_ptr, f_acc)\n"),
    "something else is put to it": (SUM, "f_acc += A_value", "f_acc += A_value * 2"),
    "half of a block": (SUM, "32 * k_block + 32)", "32 * k_block + 16)"),
    "the load changes it": (
        SUM,
        "    f_value = tl.load(f_ptr).to(real)\n",
        '    tl.atomic_add(f_ptr, 0.0, sem="relaxed")\n    f_value = tl.load(f_ptr).to(real)\n',
    ),
    "it begins with what is not the least": (LARGEST, "-2147483648", "0"),
    "rounded where the sum is not": (*(NARROW, "f_value = tl.load", "f_value = 1 / 3 + tl.load"),),
}


def is_proved(program: Program, text: str) -> bool:
    """Of `g`, which loads what is gathered."""
    (layers,) = (f.layers for f in verify(program, text).functions if f.name == "g")
    return all(layer.verdict is Verdict.PROVED for layer in layers)


@pytest.mark.parametrize("program", [SUM, LARGEST, NARROW])
def test_as_it_is_emitted_it_is_proved(program: Program) -> None:
    assert is_proved(program, text_of(program))


@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, old, new = WRONG[name]
    assert not is_proved(program, changed(text_of(program), old, new))


def _of_g(text: str) -> tuple[str, str]:
    """What stands before the wrapper `g`, and from there on."""
    start = text.index("\ndef g(")
    return text[:start], text[start:]


@pytest.mark.parametrize("at", ["    g_launch(", "    return out\n\n\n"])
def test_not_if_it_begins_after_it_was_gathered(at: str) -> None:
    before, wrapper = _of_g(text_of(SUM))
    first, last = (wrapper.index(one) for one in ("    f_init_launch(", "    programs = "))
    begins = wrapper[first:last]
    rest = wrapper[:first] + wrapper[last:]
    end = rest.index(at)
    assert not is_proved(SUM, before + rest[:end] + begins + rest[end:])


def test_not_if_it_is_loaded_before() -> None:
    before, wrapper = _of_g(text_of(SUM))
    first, last = (wrapper.index(one) for one in ("    if programs:\n", "    g_launch("))
    gathers = wrapper[first:last]
    rest = wrapper[:first] + wrapper[last:]
    end = rest.index("    return out\n\n\n")
    assert not is_proved(SUM, before + rest[:end] + gathers + rest[end:])


def test_not_without_its_launch() -> None:
    before, wrapper = _of_g(text_of(SUM))
    old = "    if programs:\n        f_launch("
    new = "    if programs > 1:\n        f_launch("
    assert not is_proved(SUM, before + changed(wrapper, old, new))
