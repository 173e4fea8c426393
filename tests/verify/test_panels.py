"""Results in panels: proved, and mistakes in what a plan and its kernels do for a panel not."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
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
CUT = '"cut": {"g": 0, "f": 1, "B": 1}'
PANELS = f'"panels": {{"labels": ("n",), "size": 32, {CUT}}}'
INDICES = '    "indices": ("m", "n", "k"),\n'
MEMORY = '"g": {"shape": ("n", "k")'
SIZES = (
    '"n_size": "n", "k_size": "k"},\n            "flags": {"even": "n % 16 == 0 and k % 16 == 0"}'
)
BLOCKS = '"programs": ("cdiv(k, 16)", "cdiv(n, 16)")'
TENSORS = '"tensors": {"B": "k_size n_size", "g": "n_size k_size"}'
WAIT = "    if early:\n        tl.extra.cuda.gdc_wait()\n"
LET = "        tl.extra.cuda.gdc_launch_dependents()\n"
FIRST = "    if early:\n        if panel == 0:\n            tl.extra.cuda.gdc_wait()\n"


def verdict(text: str, program: Program = PRODUCT) -> LayerVerdict:
    return verify(program, text, seconds=60).verdict


@pytest.mark.parametrize("program", [PRODUCT, OTHERS], ids=["product", "others"])
def test_it_is_proved(program: Program) -> None:
    assert verdict(text_of(program), program) is LayerVerdict.PROVED


MISTAKES = [
    # Other panels.
    (PANELS, PANELS.replace("32", "2097152")),
    (PANELS, PANELS.replace("32", "0")),
    (PANELS, PANELS.replace("32", "-32")),
    (PANELS, PANELS.replace("32", '"32"')),
    (PANELS, PANELS.replace('"n"', '"m"')),
    (PANELS, PANELS.replace('"n"', '"n", "k"')),
    (PANELS, PANELS.replace('"n"', '"n - 1"')),
    (PANELS, PANELS.replace('("n",)', "()")),
    # Other parts.
    (CUT, CUT.replace('"B": 1', '"B": 0')),
    (CUT, CUT.replace(', "B": 1', "")),
    (CUT, CUT.replace('"B"', '"A"')),
    (CUT, CUT.replace('"g": 0', '"g": 1')),
    (CUT, CUT.replace('"g": 0, ', "")),
    (CUT, CUT.replace('"f": 1', '"f": 0')),
    (CUT, CUT.replace('"f": 1, ', "")),
    (CUT, CUT.replace("}", ', "A": 1}')),
    (CUT, CUT.replace("}", ', "A": 0}')),
    (CUT, CUT.replace("}", ', "B": 1}')),
    (CUT, '"cut": {}'),
    # Memory and indices of something else than the whole.
    (MEMORY, MEMORY.replace('"n"', '"min(n, 32)"')),
    (MEMORY, MEMORY.replace('"n"', '"m"')),
    (INDICES, INDICES.replace('"n", ', "")),
    # What is given to the kernels.
    (SIZES, SIZES.replace('"n_size": "n"', '"n_size": "B.shape[0]"')),
    (SIZES, SIZES.replace('"n_size": "n"', '"n_size": "32"')),
    (SIZES, SIZES.replace('"n_size": "n"', '"n_size": "n + 1"')),
    (SIZES, SIZES.replace("n % 16 == 0 and", "32 % 16 == 0 and")),
    (TENSORS, TENSORS.replace('"B"', '"A"')),
    (BLOCKS, BLOCKS.replace('"cdiv(n, 16)"', '"2"')),
    (BLOCKS, BLOCKS.replace('"cdiv(n, 16)"', '"cdiv(n, 32)"')),
    # Who waits.
    ('"panel": "first"', '"panel": "last"'),
    ('"panel": "last"', '"panel": "first"'),
    ('            "panel": "first",\n', ""),
    (FIRST, ""),
    (FIRST, FIRST.replace("== 0", "!= 0")),
    (FIRST, FIRST.replace("== 0", "== 32")),
    (FIRST, FIRST.replace("panel", "n_size")),
    (f"{WAIT}\n", "\n"),
    (f"{WAIT}\n", f"{FIRST}\n"),
    (f"{WAIT}        tl.extra", f"{FIRST}        tl.extra"),
    (f"{WAIT}        tl.extra", "    if early:\n        tl.extra"),
    # No programs that take blocks in turn.
    ('"turns": 2', '"turns": 0'),
    ('            "turns": 2,\n', ""),
    ('            "turns": 1,\n', ""),
    # Memory that one panel has after another one.
    (TENSORS, f'{TENSORS}, "scratch": {{"g": {{"shape": ("n", "k"), "dtype": "B"}}}}'),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("old", "new"), MISTAKES)
def test_mistakes(old: str, new: str) -> None:
    assert old != new
    assert verdict(changed(text_of(PRODUCT), old, new)) is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("size", ["1", "16", "33", "64", "1048576"])
def test_panels_of_any_size(size: str) -> None:
    text = changed(text_of(PRODUCT), PANELS, PANELS.replace("32", size))
    assert verdict(text) is LayerVerdict.PROVED


def test_a_kernel_that_ends_a_panel_need_not_say_so() -> None:
    text = changed(text_of(PRODUCT), '            "panel": "last",\n', "")
    assert verdict(text) is LayerVerdict.PROVED


def test_memory_that_is_made_for_each_panel() -> None:
    """A panel may get the memory of the panel before, while that is still read."""
    text = changed(text_of(PRODUCT), f'    "between": {{{MEMORY}', f'    "more": {{{MEMORY}')
    assert verdict(text) is not LayerVerdict.PROVED
    start = text.index('    "more"')
    line = text[start : text.index("\n", start) + 1]
    scratch = '"scratch": {"g": {"shape": ("n", "k"), "dtype": "B"}}'
    text = changed(changed(text, line, ""), TENSORS, f"{TENSORS},\n            {scratch}")
    assert verdict(text) is not LayerVerdict.PROVED


@pytest.mark.long
def test_the_second_kernel_begins_a_panel() -> None:
    """It may not: it needs what the first one stores."""
    text = text_of(PRODUCT)
    second = text.index("@triton.jit", text.index("@triton.jit") + 1)
    given = changed(text[second:], f"{WAIT}{LET}", FIRST)
    end = given.index("\n\n\n")
    given = f"{given[:end]}\n{WAIT.rstrip()}{given[end:]}"
    given = given.replace("m_size, n_size, k_size,\n", "m_size, n_size, k_size,\n    panel,\n", 1)
    assert verdict(text[:second] + changed(given, '"last"', '"first"')) is not LayerVerdict.PROVED
    sizes = '"k_size": "k"},\n            "descriptors"'
    for zero, is_so in (
        ("0", LayerVerdict.PROVED),
        ("n", LayerVerdict.UNKNOWN),
        ("32", LayerVerdict.UNKNOWN),
    ):
        other = changed(given, sizes, sizes.replace("}", f', "panel": "{zero}"}}'))
        assert verdict(text[:second] + other) is is_so


def in_panels(text: str, cut: str = CUT) -> str:
    """Return the text, whose launches are done for 32 columns at a time."""
    panels = PANELS.replace(CUT, cut)
    return changed(text, INDICES, f"{INDICES}    {panels},\n")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("body", "around_it"),
    [
        ("f[m, n] = rdot(A[m, k], g[n, k], k) * m;", LayerVerdict.PROVED),
        ("f[m, n] = rdot(A[m, k], g[n, k], k) * n;", LayerVerdict.UNKNOWN),
        ("f[m, n] = rdot(A[m, k], g[n, k], k) * len(n);", LayerVerdict.UNKNOWN),
        ("f[m, n] = rdot(A[m, k], pad(g, 0.0)[n - 1, k], k);", LayerVerdict.UNKNOWN),
    ],
)
def test_panels_by_hand(body: str, around_it: LayerVerdict) -> None:
    """At once all are proved; in panels that one which needs no more than the same columns."""
    program = written(
        f"Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n]; {body}"
        "g.block(n:16, k:16); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    assert verdict(text_of(program), program) is LayerVerdict.PROVED
    assert verdict(in_panels(text_of(program)), program) is around_it


@pytest.mark.sampled
@pytest.mark.parametrize("made", ["n", "n + 0", "B.shape[1]", "max(n, n)"])
def test_a_size_by_another_name(made: str) -> None:
    """All of these are those of the part."""
    size = SIZES.replace('"n_size": "n"', f'"n_size": "{made}"')
    assert verdict(changed(text_of(PRODUCT), SIZES, size)) is LayerVerdict.PROVED


@pytest.mark.parametrize("indices", ["n * m", "n + m", "2 * n"])
def test_what_is_looked_at_before_the_panels(indices: str) -> None:
    """More indices that must fit change nothing."""
    more = INDICES.replace('"n"', f'"n", "{indices}"')
    assert verdict(changed(text_of(PRODUCT), INDICES, more)) is LayerVerdict.PROVED


@pytest.mark.long
def test_a_demand_on_the_whole_size_does_not_hold_of_its_parts() -> None:
    demand = '"demands": [{"shape": "B", "is": ("k", "n")}'
    whole = f'{demand}, {{"size": "n", "is": "max(n // 16, 1) * 16", "seen": "x"}}'
    even = SIZES.replace("n % 16 == 0", "n == n")
    text = changed(text_of(PRODUCT), demand, whole)
    assert verdict(changed(text, SIZES, even)) is not LayerVerdict.PROVED


def test_two_labels_of_what_is_cut() -> None:
    """The one that is not cut would have its whole size, of a part of what has it."""
    program = written(
        "Func f, g; In A, B; Var m, n, p; RVar k; g[p, k] = B[k, p];"
        "f[m, n] = rdot(A[m, k], g[n, k], k);"
        "g.block(p:16, k:16); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    text = text_of(program)
    assert verdict(text, program) is LayerVerdict.PROVED
    start = text.index('    "indices"')
    line = text[start : text.index("\n", start) + 1]
    for labels in ('("n",)', '("p",)', '("n", "p")'):
        panels = PANELS.replace('("n",)', labels)
        assert (
            verdict(changed(text, line, f"{line}    {panels},\n"), program) is LayerVerdict.UNKNOWN
        )


@pytest.mark.parametrize(
    ("how", "cut", "around_it"),
    [
        ("f.atomic(k);", CUT, LayerVerdict.PROVED),
        ("", CUT, LayerVerdict.UNKNOWN),
        ("", CUT.replace("}", ', "f_k_partial": 2}'), LayerVerdict.PROVED),
    ],
    ids=["added up in memory", "kept apart", "kept apart in parts"],
)
def test_sums_in_parts_of_their_rows(how: str, cut: str, around_it: LayerVerdict) -> None:
    """Each panel begins its own; those kept apart must not be where other panels have theirs."""
    program = written(
        "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
        "f[m, n] = rdot(A[m, k], g[n, k], k);"
        f"g.block(n:16, k:16); f.block(m:16, n:16, k:16); {how}"
        "f.tensorize(m:0, n:0, k:0); f.compile();"
    )
    assert verdict(text_of(program), program) is LayerVerdict.PROVED
    assert verdict(in_panels(text_of(program), cut), program) is around_it
