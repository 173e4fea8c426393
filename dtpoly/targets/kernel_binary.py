"""The result of compiling a kernel for a GPU: the text of every stage, and its needs there."""

from collections.abc import Mapping

from dtpoly.frozen import dataclass
from dtpoly.targets.target import Target


class Failed(Exception):
    """Triton cannot compile a kernel; says why, and in which line of the file if that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class KernelBinary:
    """A compiled kernel. Spilled bytes are those of one lane, shared ones those of a block."""

    kernel: str
    target: Target
    stages: Mapping[str, str | bytes]
    num_warps: int
    num_stages: int
    registers: int
    spilled: int
    shared: int


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The warps on a multiprocessor at the same time, the most there may be, and the limit."""

    warps: int
    most: int
    limit: str

    @property
    def share(self) -> float:
        """Return the share of the possible warps, from 0 to 1."""
        return self.warps / self.most


def occupancy(binary: KernelBinary) -> Occupancy:
    """Return an estimate from what a block needs."""
    limits = binary.target.limits
    step = limits.register_step
    registers = max(-(-binary.registers // step) * step, step)
    shared = binary.shared + limits.block_overhead
    blocks = {
        "warps": limits.warps // binary.num_warps,
        "blocks": limits.blocks,
        "registers": limits.registers // registers // binary.num_warps,
    }
    if shared:
        blocks["shared memory"] = limits.shared // shared
    limit = min(blocks, key=lambda name: blocks[name])
    return Occupancy(blocks[limit] * binary.num_warps, limits.warps, limit)


def resource_line(binary: KernelBinary) -> str:
    """Say in a line what a kernel needs."""
    spilled = f"{binary.spilled} bytes spilled" if binary.spilled else "no spills"
    parts = [f"{binary.registers} registers", spilled, f"{kib(binary.shared)} shared memory"]
    parts.append(f"{binary.num_warps} warp{'s' if binary.num_warps > 1 else ''}")
    found = occupancy(binary)
    limit = "" if found.warps == found.most else f", limited by {found.limit}"
    parts.append(f"occupancy about {found.share:.0%}{limit}")
    return f"{binary.kernel} for {binary.target}: {', '.join(parts)}"


def kib(size: int) -> str:
    """Return a number of bytes as a person reads it."""
    if size < 1024:
        return f"{size} bytes"
    return f"{size / 1024:.4g} KiB"
