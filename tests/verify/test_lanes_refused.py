"""Tiles and descriptors that Triton does not compile for some calls, or for none: not proved."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

HEAD = "import triton\nimport triton.language as tl\n\n"
COPY = """\
# verify: copy[(1,)](A, f, len(i), B={lanes})
# assume: len(i) <= 2**18, len(i) >= 1


@triton.jit
def copy(a, o, n, B: tl.constexpr):
    i = tl.arange(0, {count})
    tl.store(o + i, tl.load(a + i, mask=i < n), mask=i < n)
"""
POWERS = {
    "a power of two": ("next_power_of_2(len(i))", "B"),
    "one of more": ("next_power_of_2(len(i) + 7)", "B"),
    "twice a power": ("next_power_of_2(len(i))", "2 * B"),
    "four times": ("next_power_of_2(len(i))", "B * 4"),
    "the larger of two powers": ("max(next_power_of_2(len(i)), 64)", "B"),
}
OTHERS = {
    "a size": ("len(i)", "B"),
    "a power and one": ("next_power_of_2(len(i))", "B + 1"),
    "three times a power": ("next_power_of_2(len(i))", "3 * B"),
    "blocks": ("cdiv(len(i), 2)", "2 * B"),
    "the larger of a size and a number": ("max(len(i), 64)", "B"),
    "a sum of powers": ("next_power_of_2(len(i)) + next_power_of_2(len(i) + 1)", "B"),
}


def copying(lanes: str, count: str) -> str:
    return HEAD + COPY.format(lanes=lanes, count=count)


@pytest.mark.parametrize("name", POWERS)
def test_a_number_of_lanes_that_is_a_power_of_two(name: str) -> None:
    program = written("Func f; In A; Var i; f[i] = A[i];")
    assert verify(program, copying(*POWERS[name])).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("name", OTHERS)
def test_a_number_of_lanes_that_may_be_none(name: str) -> None:
    program = written("Func f; In A; Var i; f[i] = A[i];")
    assert verify(program, copying(*OTHERS[name])).verdict is LayerVerdict.UNKNOWN


PRODUCT = """\
# verify: product[(cdiv(len(m), 32), cdiv(len(n), 32))](
#     A, B, C, len(m), len(n), len(k), K={lanes}
# )
# assume: len(m) <= 2**27, len(n) <= 2**30, len(k) <= 2**10, {promise}
# assume: len(m) * len(k) < 2**31, len(k) * len(n) < 2**31, len(m) * len(n) < 2**31


@triton.jit
def product(a, b, c, m_size, n_size, k_size, K: tl.constexpr):
    m = tl.program_id(0) * 32 + tl.arange(0, 32)
    n = tl.program_id(1) * 32 + tl.arange(0, 32)
    k = tl.arange(0, K)
    rows, columns, steps = m < m_size, n < n_size, k < k_size
    x_mask = rows[:, None] & steps[None, :]
    y_mask = steps[:, None] & columns[None, :]
    x = tl.load(a + m[:, None] * k_size + k[None, :], mask=x_mask, other=0.0)
    y = tl.load(b + k[:, None] * n_size + n[None, :], mask=y_mask, other=0.0)
    z = tl.dot(x, y, input_precision="ieee")
    z_mask = rows[:, None] & columns[None, :]
    tl.store(c + m[:, None] * n_size + n[None, :], z, mask=z_mask)
"""
COLUMNS = {
    "what is promised": ("next_power_of_2(len(k))", "len(k) >= 16", LayerVerdict.PROVED),
    "what follows from more": ("next_power_of_2(len(k))", "len(k) >= 9", LayerVerdict.UNKNOWN),
    "nothing is promised": ("next_power_of_2(len(k))", "len(k) >= 1", LayerVerdict.UNKNOWN),
    "too little": ("next_power_of_2(len(k))", "len(k) >= 8", LayerVerdict.UNKNOWN),
    "at least 16 are asked for": (
        "max(next_power_of_2(len(k)), 16)",
        "len(k) >= 1",
        LayerVerdict.PROVED,
    ),
    "at least 8 are": ("max(next_power_of_2(len(k)), 8)", "len(k) >= 1", LayerVerdict.UNKNOWN),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_product_has_sixteen_columns_in_each_call(name: str) -> None:
    lanes, promise, verdict = COLUMNS[name]
    program = written("Func C; In A, B; Var m, n; RVar k; C[m, n] = rdot(A[m, k], B[k, n], k);")
    text = HEAD + PRODUCT.format(lanes=lanes, promise=promise)
    assert verify(program, text).verdict is verdict


FILL = """\
# verify: fill[(cdiv(len(i), 16), cdiv(len(j), 16))](f, len(i), len(j), f.stride(0))
# assume: len(i) <= 2**30, len(j) <= 2**30


@triton.jit
def fill(o, n, m, s):
    blocks = tl.make_tensor_descriptor(o, [n, m], [s, 1], [16, 16])
    blocks.store([tl.program_id(0) * 16, tl.program_id(1) * 16], {value})
"""
VALUES = {
    "a block": ("tl.full((16, 16), 2.0, tl.float32)", LayerVerdict.PROVED),
    "a block of others": (
        "tl.full((16, 1), 2.0, tl.float32) * tl.full((1, 16), 1.0, tl.float32)",
        LayerVerdict.PROVED,
    ),
    "a row": ("tl.full((1, 16), 2.0, tl.float32)", LayerVerdict.UNKNOWN),
    "a column": ("tl.full((16, 1), 2.0, tl.float32)", LayerVerdict.UNKNOWN),
    "one lane": ("tl.full((1, 1), 2.0, tl.float32)", LayerVerdict.UNKNOWN),
    "a line": ("tl.full((16,), 2.0, tl.float32)", LayerVerdict.UNKNOWN),
    "a number": ("2.0", LayerVerdict.UNKNOWN),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_descriptor_stores_blocks_of_its_shape(name: str) -> None:
    value, verdict = VALUES[name]
    program = written("Func f; Var i, j; f[i, j] = 2.0;")
    assert verify(program, HEAD + FILL.format(value=value)).verdict is verdict


def filling(axes: int) -> tuple[str, str]:
    """A program and a kernel for an array of so many axes; all but the last have one element."""
    labels = [f"x{at}" for at in range(axes)]
    sizes = ", ".join(f"len({one})" for one in labels)
    strides = ", ".join(f"f.stride({at})" for at in range(axes - 1))
    one = [f"len({label}) <= 1" for label in labels[:-1]]
    block = ", ".join([*("1",) * (axes - 1), "32"])
    names = ", ".join(f"n{at}" for at in range(axes))
    steps = ", ".join(f"s{at}" for at in range(axes - 1))
    text = (
        f"# verify: fill[(cdiv(len({labels[-1]}), 32),)](f, {sizes}, {strides})\n"
        f"# assume: {', '.join([*one, f'len({labels[-1]}) <= 2**30'])}\n\n\n"
        f"@triton.jit\ndef fill(o, {names}, {steps}):\n"
        f"    blocks = tl.make_tensor_descriptor(o, [{names}], [{steps}, 1], [{block}])\n"
        f"    at = [{'0, ' * (axes - 1)}tl.program_id(0) * 32]\n"
        f"    blocks.store(at, tl.full(({block}), 2.0, tl.float32))\n"
    )
    where = ", ".join(labels)
    return f"Func f; Var {where}; f[{where}] = 2.0;", HEAD + text


@pytest.mark.parametrize("axes", [2, 3, 4, 5, 6, 7])
def test_a_descriptor_has_five_axes_at_most(axes: int) -> None:
    program, text = filling(axes)
    wanted = LayerVerdict.PROVED if axes <= 5 else LayerVerdict.UNKNOWN
    assert verify(written(program), text).verdict is wanted


PIPED = """\
# verify: scratch[(1,)](A, g, f, len(i), len(j), num_stages=1)
# assume: len(i) * len(j) < 2**31, len(i) <= 2**20, len(j) <= 2**20


@triton.jit
def scratch(a, g, o, n, m):
    for i in {outer}:
        for j in tl.range(0, m, num_stages={stages}):
            tl.store(g + i * m + j, tl.load(a + i * m + j) * 2.0)
        tl.debug_barrier()
        for j in tl.range(0, m, num_stages={stages}):
            tl.store(o + i * m + j, tl.exp(tl.load(g + i * m + j)))
"""
LOOPS = {
    "no loop": ("range(0, n)", 1, LayerVerdict.PROVED),
    "none, as it is said": ("tl.range(0, n, num_stages=1)", 1, LayerVerdict.PROVED),
    "the loops inside, one after the other": ("range(0, n)", 3, LayerVerdict.PROVED),
    "the loop around them": ("tl.range(0, n, num_stages=2)", 1, LayerVerdict.REFUTED),
    "what may become one with those inside": (
        "tl.range(0, n, flatten=True)",
        3,
        LayerVerdict.REFUTED,
    ),
    "what says one stage, and may become one": (
        "tl.range(0, n, num_stages=1, flatten=True)",
        3,
        LayerVerdict.REFUTED,
    ),
    "what does not become one": ("tl.range(0, n, flatten=False)", 3, LayerVerdict.PROVED),
    "what is not pipelined if it does": ("tl.range(0, n, flatten=True)", 0, LayerVerdict.PROVED),
}


@pytest.mark.parametrize("name", LOOPS)
def test_values_go_through_memory_in_no_loop_that_may_be_pipelined(name: str) -> None:
    outer, stages, verdict = LOOPS[name]
    program = written("Func g, f; In A; Var i, j; g[i, j] = A[i, j] * 2.0; f[i, j] = exp(g[i, j]);")
    text = HEAD + PIPED.format(outer=outer, stages=stages).replace(", num_stages=0", "", 2)
    assert verify(program, text).verdict is verdict
