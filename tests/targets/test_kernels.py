"""Every listing, every example and random programs become machine code for three GPUs."""

from itertools import count, islice

import pytest

from tests.cli.server import Server
from tests.codegen.cases import random_case, verdict
from tests.codegen.compiling import ALL, LACKING
from tests.codegen.listings import (
    ADDED,
    AT_PLACES,
    LONG,
    PLACED,
    PRODUCTS,
    RECURRENT,
    WITH_KERNELS,
)

CASES = 50
AT_ONCE = 10


def legal(first: int) -> list[str]:
    """Return this many seeds, from `first` on, whose schedules are legal."""
    seeds = (seed for seed in count(first) if verdict(random_case(seed)).is_legal)
    return [*map(str, islice(seeds, AT_ONCE))]


def check(served: Server, *words: str) -> None:
    """Check that nothing is wrong with the machine code."""
    code, out, err = served("call", "tests.codegen.compiling:main", *words)
    assert code == 0, out + err


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*WITH_KERNELS, *PRODUCTS, *RECURRENT])
def test_a_listing(served: Server, name: str) -> None:
    check(served, name)


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*ADDED, *PLACED, *AT_PLACES, *LONG])
def test_a_file_that_has_tests_of_its_own(served: Server, name: str) -> None:
    check(served, name)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 2 * CASES, 2 * AT_ONCE))
def test_a_kernel_of_random_programs(served: Server, first: int) -> None:
    check(served, *legal(first))


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 8 * CASES, 2 * AT_ONCE))
def test_all_kernels_of_random_programs(served: Server, first: int) -> None:
    check(served, *(f"{seed}{ALL}" for seed in legal(first)))


def test_what_is_lacking_is_said(served: Server) -> None:
    words = ("Func f: f8e4m3; In A; Var x; f[x] = A[x]; f.tensorize(x:16); f.compile();",)
    for target, what in LACKING.items():
        assert what in words[0]
        code, _, err = served(
            "compile", "--emit", "ptx", "--target", target, "-", stdin=words[0].encode()
        )
        assert code
        assert "type fp8e4nv not supported in this architecture" in err


COUNTERS = {
    "the tail of a loop that counts in 64 bits": (
        "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]);"
        "f.block(y:128); f.tensorize(y:16); f.compile();",
        "x=65536,y=65541",
    ),
    "a tail that starts in 64 bits": (
        "Func f; In A; Var y; RVar x; f[y] = rsum(A[x, y], x);"
        "f.block(x:xb/512); f.tensorize(x:32, xb:32); f.compile();",
        "x=1024,y=8",
    ),
}


@pytest.mark.parametrize("case", COUNTERS)
def test_a_counter_has_one_type(served: Server, case: str) -> None:
    """Behind a loop Triton keeps the counter's name, with its type."""
    text, sizes = COUNTERS[case]
    words = ("compile", "--no-verify", "--emit", "ptx", "--target", "cuda:90", "--size", sizes)
    code, _, err = served(*words, "-", stdin=text.encode())
    assert code == 0, err


def test_blocks_that_start_anywhere_have_descriptors(served: Server) -> None:
    """Triton's interpreter has none of these; a GPU has."""
    text = (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k + 1], B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.compile();"
    )
    words = ("compile", "--no-verify", "--emit", "ttir", "--target", "cuda:90")
    code, out, err = served(*words, "--size", "m=32,n=32,k=31", "-", stdin=text.encode())
    assert code == 0, err
    for access in ("load %A_blocks", "load %B_blocks", "store %f_blocks"):
        assert f"tt.descriptor_{access}[" in out


def test_addresses_are_spread_along_the_lanes_of_a_mask(served: Server) -> None:
    """A row is read where columns are on a diagonal: the mask has lanes that the address lacks."""
    text = (
        "Func b, f; In A: f32, B: f32, C: f32; Var x, y, z, w;"
        "b[x, y, z, w] = reshape(A[x, y, z], x, y, z, 1) * B[x, y, z, w];"
        "f[x, y] = C[x, y] + b[x, y, x, x]; f.compile(); f.block(x:4);"
        "f.tensorize(x:2, z:64, w:0); b.fuse_at(f, x);"
    )
    words = ("compile", "--no-verify", "--emit", "ttir", "--target", "cuda:90")
    code, out, err = served(*words, "--size", "x=8,y=8", "-", stdin=text.encode())
    assert code == 0, err
    assert "tensor<2x2x1x!tt.ptr<f32>> -> tensor<2x2x2x!tt.ptr<f32>>" in out
