"""Kernels with launches that were recorded, and the frames that are written from them."""

from collections.abc import Sequence
from pathlib import Path

from dtpoly.frozen import dataclass
from dtpoly.watching.launch_record import Given, WatchedLaunch, WatchedTensor, written
from tests.cli.conftest import Entry

HEAD = """\
import triton
import triton.language as tl


@triton.jit
"""
MODULE, RECORD, FRAME = "kernels.py", "record.json", "frame.dt"


@dataclass(frozen=True, slots=True)
class RecordedKernel:
    """A kernel named `k`, what it was launched with, and its constants.

    The parameters are given the values of each launch in this order.
    """

    text: str
    launches: Sequence[tuple[tuple[int, ...], tuple[Given, ...]]]
    constants: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        inner = self.text.partition("(")[2].partition("):")[0]
        return tuple(one.partition(":")[0].strip() for one in inner.split(","))

    def put(self, here: Path) -> None:
        """Write the module and the record of its launches into a folder."""
        (here / MODULE).write_text(HEAD + self.text)
        launches = [
            WatchedLaunch(
                file=str(here / MODULE),
                name="k",
                grid=grid,
                given=dict(zip(self.parameters, given, strict=True)),
                constants=self.constants,
                options={},
            )
            for grid, given in self.launches
        ]
        (here / RECORD).write_text(written(launches))


def tensor(
    *shape: int,
    storage: int = -1,
    strides: tuple[int, ...] | None = None,
    dtype: str = "float32",
    address: int = 0,
) -> WatchedTensor:
    """Return a tensor as a watch sees it: a contiguous one without strides."""
    if strides is None:
        steps: list[int] = []
        last = 1
        for size in reversed(shape):
            steps.append(steps[-1] * last if steps else 1)
            last = size
        strides = tuple(reversed(steps))
    return WatchedTensor(shape, strides, dtype, storage, address)


def framed(call: Entry, here: Path, kernel: RecordedKernel) -> str:
    """Return the frame that is written from the launches of a kernel."""
    kernel.put(here)
    call("verify", "--init", f"{MODULE}::k", "--watched", RECORD, "-o", FRAME)
    return (here / FRAME).read_text()
