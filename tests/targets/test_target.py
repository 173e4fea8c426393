"""Words that name GPUs, and how much of one a kernel takes."""

import pytest

from dtpoly.targets.kernel_binary import KernelBinary, Occupancy, kib, occupancy, resource_line
from dtpoly.targets.target import LIMITS, Target, parse_target


def test_every_target_that_is_listed() -> None:
    for word in LIMITS:
        target = parse_target(word)
        assert str(target) == word
        assert target.limits is LIMITS[word]


def test_other_spellings() -> None:
    assert parse_target("cuda:sm_90") == Target("cuda", 90)
    assert parse_target("cuda:90").warp_size == 32
    assert parse_target("hip:gfx942").warp_size == 64


@pytest.mark.parametrize(
    "word",
    ["", "cuda", "cuda:", "cuda:090", "cuda:999", "rocm:gfx942", "hip:942", "hip:gfx000", "90"],
)
def test_what_is_no_target(word: str) -> None:
    with pytest.raises(ValueError, match="is no target; such are cuda:80"):
        parse_target(word)


def binary(
    target: str, warps: int, registers: int, shared: int = 0, spilled: int = 0
) -> KernelBinary:
    return KernelBinary("f_kernel", parse_target(target), {}, warps, 3, registers, spilled, shared)


@pytest.mark.parametrize(
    ("one", "warps", "limit"),
    [
        # The numbers of NVIDIA's occupancy calculator.
        (binary("cuda:90", 4, 32), 64, "warps"),
        (binary("cuda:90", 4, 168), 12, "registers"),
        (binary("cuda:90", 8, 255), 8, "registers"),
        (binary("cuda:80", 4, 40), 48, "registers"),
        (binary("cuda:80", 4, 32, 48 * 1024), 12, "shared memory"),
        (binary("cuda:90", 1, 16), 32, "blocks"),
        (binary("cuda:86", 32, 32), 32, "warps"),
        (binary("cuda:90", 4, 32, 300 * 1024), 0, "shared memory"),
        (binary("hip:gfx942", 4, 128), 16, "registers"),
        (binary("hip:gfx942", 4, 64), 32, "warps"),
    ],
)
def test_occupancy(one: KernelBinary, warps: int, limit: str) -> None:
    assert occupancy(one) == Occupancy(warps, one.target.limits.warps, limit)


def test_resource_line() -> None:
    assert resource_line(binary("cuda:90", 4, 168, 48 * 1024)) == (
        "f_kernel for cuda:90: 168 registers, no spills, 48 KiB shared memory, 4 warps, "
        "occupancy about 19%, limited by registers"
    )
    assert resource_line(binary("cuda:86", 1, 20, 100, 8)) == (
        "f_kernel for cuda:86: 20 registers, 8 bytes spilled, 100 bytes shared memory, 1 warp, "
        "occupancy about 50%, limited by blocks"
    )


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (2**20, "1024 KiB")],
)
def test_bytes(size: int, shown: str) -> None:
    assert kib(size) == shown
