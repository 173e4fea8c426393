"""Kernels of which some warps load for the others: what they say, and what Triton makes of it."""

from unittest import mock

import pytest
import torch

from dtpoly.carried import memory
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.process import told_by
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.specializing import NAMES, RANDOM, random_product

PRODUCT = (
    "Func f; In A: f16, B: f16; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:128, n:32); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.num_warps(8);"
    "f.warp_specialize();"
)


def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def test_the_loop_over_the_product_is_said_to_be_so() -> None:
    (only,) = [line for line in generated(PRODUCT).text.splitlines() if "warp_specialize=" in line]
    loop = "for k_start in tl.range(0, k_size, 16, warp_specialize=specialized):"
    assert only.strip() == loop


def test_where_programs_take_blocks_in_turn_it_is_the_loop_over_these() -> None:
    text = generated(f"{PRODUCT} f.persistent();").text
    assert text.count("warp_specialize=specialized") == 1
    head, _, rest = text.partition("warp_specialize=specialized")
    assert head.rstrip().endswith("B_blocks is not None),")
    assert "flatten=not specialized and (even or A_blocks is not None" in head
    assert rest.startswith(",\n    ):\n        pid = ")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f.num_warps(8);", "f.num_warps(4);"),
        ("f.num_warps(8);", ""),
        ("f.num_warps(8);", "f.num_warps(8); f.num_stages(1);"),
        ("f.descriptor(A, B, f);", "f.descriptor(A, f);"),
        ("f.descriptor(A, B, f);", "f.descriptor(A, B);"),
        ("m:128", "m:64"),
        ("rdot(A[m, k], B[k, n], k)", "rdot(A[k, m], B[k, n], k)"),
        ("rdot(A[m, k], B[k, n], k)", "rdot(A[m, k] + 1, B[k, n], k)"),
        ("rdot(A[m, k], B[k, n], k)", "rdot(A[m, k], B[k, n], k) / rmax(A[m, k], k)"),
        # The second group would take the rows of the block below.
        ("rdot(A[m, k], B[k, n], k)", "rdot(A[m, k], B[k, n], k) + A[m, n]"),
        ("rdot(A[m, k], B[k, n], k)", "rdot(A[m, k], B[k, n], k) * m"),
        ("A: f16, B: f16", "A: i8, B: i8"),
        ("k:16", "k:0"),
    ],
)
def test_what_is_another_loop_is_as_it_was_and_told(old: str, new: str) -> None:
    assert old in PRODUCT
    said = "f.warp_specialize();"
    one, other = (
        generated(text.replace(old, new)) for text in (PRODUCT, PRODUCT.replace(said, ""))
    )
    assert one.text.replace(f"    # {said}\n", "") == other.text
    state = judge(load(Source("f.dt", PRODUCT.replace(old, new))), DIRECTIVES).scheduled
    told = {(one.code, one.title) for one in vain(state, one.stages, DIRECTIVES)}
    assert ("DT198", "'warp_specialize' changes nothing here") in told


def test_a_matrix_times_itself_is_as_it_was() -> None:
    """Both sides would have one descriptor, whose blocks are cut for the left one alone."""
    itself = PRODUCT.replace("B[k, n]", "A[n, k]").replace(", B: f16", "").replace("(A, B,", "(A,")
    (kernel,) = generated(itself.replace("n:32", "n:128")).stages.kernels
    assert [one.name for one in kernel.described] == ["A_blocks", "f_blocks"]
    assert not kernel.own


@pytest.mark.long
def test_a_matrix_of_which_a_label_is_shorter_is_as_it_was() -> None:
    """No size that the kernel has is the length of such an axis."""
    shifted = PRODUCT.replace("A[m, k]", "A[m, k + 8]").replace("Func f;", "Func f, g;")
    shifted += "f.compile(); g[m] = rsum(A[m, k], k); g.compile();"
    made = generated(shifted)
    assert not any(kernel.own for kernel in made.stages.kernels)
    A, B = torch.randn(128, 72).half(), torch.randn(64, 128).half()
    expected = (A[:, 8:].float() @ B.float()).half()
    torch.testing.assert_close(imported(made.text).f(A, B), expected, rtol=1e-2, atol=1e-2)
    found = verify(load(Source("f.dt", shifted)), made.text, seconds=60)
    assert found.verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("more", ["", "f.persistent();"])
def test_it_changes_no_result(more: str) -> None:
    one, other = (
        imported(generated(f"{text} {more}").text)
        for text in (PRODUCT, PRODUCT.replace("f.warp_specialize();", ""))
    )
    for sizes in ((128, 32, 16), (129, 40, 24), (127, 32, 8), (300, 72, 40), (5, 8, 104)):
        m, n, k = sizes
        A, B = torch.randn(m, k).half(), torch.randn(k, n).half()
        with mock.patch.object(one, "dt_specialized", wraps=one.dt_specialized) as asked:
            assert one.f(A, B).equal(other.f(A, B))
        asked.assert_called_once()
        assert one.dt_specialized(*asked.call_args.args) == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(RANDOM))
def test_random_products(seed: int) -> None:
    text = random_product(seed)
    program, made = load(Source("f.dt", text)), generated(text)
    assert verify(program, made.text, seconds=60).verdict is LayerVerdict.PROVED
    for sizes in ((8, 136, 72), (136, 8, 40), (264, 64, 24)):
        given: dict[str, int] = dict(zip(("m", "n", "k"), sizes, strict=True))
        inputs = Recipe(seed).inputs(program, given)
        compared(imported(made.text), program, ("f",), inputs, given)


def test_only_what_tensor_cores_multiply_is_so() -> None:
    A = torch.zeros(64, 64).t()  # which has no descriptor

    def asked(most: int, *dtypes: torch.dtype | None) -> int:
        tensors = [A if one is None else A.to(one).t().contiguous() for one in dtypes]
        blocks = [memory.dt_descriptor(one, (32, 32), (0, 1)) for one in tensors]
        return memory.dt_specialized(most, blocks)

    assert asked(2, torch.float16, torch.float16) == 1
    assert asked(2, torch.bfloat16, torch.bfloat16) == 1
    assert asked(4, torch.float32, torch.float32, torch.float32) == 1
    assert asked(4, torch.float16, torch.float16) == 1
    assert asked(2, torch.float32, torch.float32) == 0
    assert asked(2, torch.float16, torch.bfloat16) == 0
    assert asked(4, torch.float64, torch.float64) == 0
    assert asked(2, torch.int16, torch.int16) == 0
    assert asked(2, torch.float8_e4m3fn, torch.float8_e4m3fn) == 0
    assert asked(2, None, torch.float16) == 0
    assert asked(2, torch.float16, None) == 0


def test_a_label_of_that_name() -> None:
    text = PRODUCT.replace("m", "specialized").replace("nuspecialized_warps", "num_warps")
    made = imported(generated(text.replace("specializedax", "max")).text)
    A, B = torch.randn(40, 24).half(), torch.randn(24, 16).half()
    assert made.f(A, B).allclose(A @ B, atol=1e-2)


@pytest.mark.long
def test_triton_makes_two_groups_and_one_that_loads() -> None:
    found = told_by("tests.codegen.specializing")
    assert len(found) == len(NAMES) * 3 * 2 + RANDOM
    for one in found:
        is_so = one["target"] == "cuda:90" and one["size"] == 256
        assert (one["is_so"], one["warps"]) == (is_so, 12 if is_so else 8), one
        assert not (is_so and one["spilled"]), one
