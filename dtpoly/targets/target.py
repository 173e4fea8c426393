"""Reads a word such as `cuda:90` as a GPU, and knows the limits of GPUs."""

from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """The resources of one multiprocessor (AMD: compute unit), which its blocks share.

    Registers are counted for one lane of a warp; they are given out in steps. Shared memory is in
    bytes, and `block_shared` is the most that one block may have.
    """

    registers: int
    register_step: int
    warps: int
    blocks: int
    shared: int
    block_shared: int
    block_overhead: int = 0  # shared memory that the system keeps for each block


KIB = 1024
AMPERE = DeviceLimits(2048, 8, 64, 32, 164 * KIB, 163 * KIB, KIB)
SMALL = DeviceLimits(2048, 8, 48, 24, 100 * KIB, 99 * KIB, KIB)
HOPPER = DeviceLimits(2048, 8, 64, 32, 228 * KIB, 227 * KIB, KIB)
# Four units of 512 registers a lane, each for up to eight warps.
CDNA = DeviceLimits(2048, 8, 32, 16, 64 * KIB, 64 * KIB)

LIMITS = {
    "cuda:80": AMPERE,
    "cuda:86": SMALL,
    "cuda:89": SMALL,
    "cuda:90": HOPPER,
    "cuda:100": HOPPER,
    "cuda:103": HOPPER,
    "cuda:120": SMALL,
    "hip:gfx90a": CDNA,
    "hip:gfx942": CDNA,
    "hip:gfx950": DeviceLimits(2048, 8, 32, 16, 160 * KIB, 160 * KIB),
}

# Where Triton makes warps that load for others, as dtpoly has tried it.
SPECIALIZED = ("cuda:90",)
# Where four warps multiply together, and read operands from shared memory as they do.
GROUPED = ("cuda:90", "cuda:100", "cuda:103")
# Where programs may wait for the launch before theirs.
WAITING = ("cuda:90", "cuda:100", "cuda:103", "cuda:120")


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of GPU: its backend in Triton (`cuda`, `hip`) and its architecture there."""

    backend: str
    arch: int | str

    @property
    def warp_size(self) -> int:
        """Return lanes of a warp (AMD: wavefront)."""
        return 64 if self.backend == "hip" else 32

    @property
    def limits(self) -> DeviceLimits:
        """Return the resources of one of its multiprocessors."""
        return LIMITS[str(self)]

    @property
    def has_waiting(self) -> bool:
        """Return whether programs may wait for the launch before theirs."""
        return str(self) in WAITING

    @property
    def has_groups(self) -> bool:
        """Return whether four warps multiply together what is in shared memory."""
        return str(self) in GROUPED

    @property
    def has_specialized(self) -> bool:
        """Return whether some warps of a program load for the others, where a kernel says so."""
        return str(self) in SPECIALIZED

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"


def parse_target(word: str) -> Target:
    """Return the target that a word names; `cuda:sm_90` is `cuda:90`. Raises ValueError.

    No others are taken than those that are listed: of what Triton's compiler does not know it
    may end the whole process.
    """
    backend, _, arch = word.partition(":")
    arch = arch.removeprefix("sm_") if backend == "cuda" else arch
    if f"{backend}:{arch}" not in LIMITS:
        raise ValueError(f"'{word}' is no target; such are {', '.join(LIMITS)}")
    return Target(backend, int(arch) if backend == "cuda" else arch)
