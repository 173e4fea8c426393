"""Loads of what atomic operations of earlier launches left: read as reductions in memory."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
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
    """Return whether all layers of `g`, which loads what is gathered, are proved."""
    (layers,) = (f.layers for f in verify(program, text).functions if f.name == "g")
    return all(layer.verdict is LayerVerdict.PROVED for layer in layers)


@pytest.mark.parametrize("program", [SUM, LARGEST, NARROW])
def test_as_it_is_emitted_it_is_proved(program: Program) -> None:
    assert is_proved(program, text_of(program))


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, old, new = WRONG[name]
    assert not is_proved(program, changed(text_of(program), old, new))


def _of_g(text: str) -> tuple[str, list[str], str]:
    """Return what stands before the launches of `g`, these, and what stands behind them."""
    start = text.index("    ],\n", text.index("g_plan = {"))
    first = text.index('    "launches": [\n', text.index("g_plan = {")) + len('    "launches": [\n')
    launches = text[first:start].split("        },\n")[:-1]
    assert len(launches) == 3
    return text[:first], [f"{one}        }},\n" for one in launches], text[start:]


# What begins, what gathers, and what loads what was gathered.
ORDERS = [(1, 0, 2), (1, 2, 0), (0, 2, 1), (2, 0, 1), (2, 1, 0)]


@pytest.mark.sampled
@pytest.mark.parametrize("order", ORDERS)
def test_not_in_another_order(order: tuple[int, ...]) -> None:
    before, launches, behind = _of_g(text_of(SUM))
    text = before + "".join(launches[at] for at in order) + behind
    kernels = ("f_init_kernel", "f_kernel", "g_kernel")
    assert all(f'"{one}"' in launch for one, launch in zip(kernels, launches, strict=True))
    made = "g = dt_function(g_plan, {})".format
    given = made(", ".join(kernels[at] for at in order))
    assert not is_proved(SUM, changed(text, made(", ".join(kernels)), given))


@pytest.mark.parametrize("programs", ["cdiv(k, 32) - 1", "k // 32", "min(cdiv(k, 32), 1)"])
def test_not_without_its_launch(programs: str) -> None:
    before, launches, behind = _of_g(text_of(SUM))
    launches[1] = changed(launches[1], '"cdiv(k, 32)"', f'"{programs}"')
    assert not is_proved(SUM, before + "".join(launches) + behind)
