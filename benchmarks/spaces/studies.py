"""Which space is explored at which sizes, and with which arguments of dtpoly for each step, out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.files import ROOT

SPACES = ROOT / "examples" / "spaces"
BASELINES = Path(__file__).parent / "baselines"
DEVICE = "h200"  # which texts are compiled for beforehand
POINTS = 2_000  # of a larger space so many, drawn evenly


@dataclass(frozen=True, slots=True)
class Explored:
    """A space at sizes; `baseline` is a file of functions in the folder of baselines."""

    space: str
    sizes: str
    dtype: str = "f32"
    baseline: str = ""

    @property
    def name(self) -> str:
        """What its file of results is called."""
        return self.space

    def results(self, folder: Path) -> Path:
        """Its file of results."""
        return folder / f"{self.name}.sqlite"


STUDIES = (
    Explored("dyt", "x=16384,y=16384", baseline="dyt"),
    Explored("geglu", "x=16384,y=16384", baseline="geglu"),
    Explored("swiglu", "x=16384,y=16384", baseline="swiglu"),
    Explored("tvd", "x=8192,y=32768", baseline="tvd"),
    Explored("kl_div", "x=8192,y=32768", baseline="kl_div"),
    Explored("rms_norm", "x=8192,y=4096", baseline="rms_norm"),
    Explored("softmax", "x=4096,y=16384", baseline="softmax"),
    Explored("matmul", "m=8192,n=8192,k=8192", "f16", "matmul"),
    Explored("mmsigmoid", "m=1024,n=1024,k=64", baseline="mmsigmoid"),
    Explored("two_mm_inner", "m=1024,n=1024,k=64,l=64", baseline="two_mm"),
    Explored("two_mm_outer", "m=1024,n=1024,k=64,l=64", baseline="two_mm"),
    Explored("attention", "m=1024,n=64,k=64,l=1024", baseline="attention"),
)


def preparing(one: Explored, folder: Path, points: int = POINTS) -> list[str]:
    """Emit, compile and prove, where there is isl and no GPU."""
    return [*_explore(one, folder, points), "--emit", "--model", DEVICE]


def measuring(one: Explored, folder: Path, points: int = POINTS) -> list[str]:
    """Measure what was prepared, where there is a GPU and no isl."""
    baseline = str(BASELINES / f"{one.baseline}.py")
    return [*_explore(one, folder, points), "--baseline", baseline, "--slow", "3"]


def drawing(one: Explored, folder: Path, suffix: str) -> list[str]:
    """A page, or pictures."""
    path = one.results(folder)
    return ["report", str(path), "-o", str(path.with_suffix(suffix))]


def _explore(one: Explored, folder: Path, points: int) -> list[str]:
    """Both steps draw the same points: those of one seed."""
    where = [str(SPACES / f"{one.space}.dts"), "--size", one.sizes, "--dtype", one.dtype]
    drawn = ["--strategy", "random", "--seed", "0", "--budget", str(points)]
    return ["explore", *where, *drawn, "-o", str(one.results(folder))]


def chosen(words: Sequence[str]) -> list[Explored]:
    """Those of these names, or all. Raises KeyError for one that there is not."""
    known = {one.name: one for one in STUDIES}
    return [known[word] for word in words] if words else [*STUDIES]
