"""Lists the studies: which spaces are explored, at which sizes, and what dtpoly is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.files import ROOT

EXAMPLES = ROOT / "examples" / "spaces"
# The same, but so much smaller that all of them can be measured in minutes.
SMALLER = Path(__file__).parent / "schedules"
BASELINES = Path(__file__).parent / "baselines"
DEVICE = "h200"  # which texts are compiled for beforehand
POINTS = 2_000  # of a larger space so many, drawn evenly


@dataclass(frozen=True, slots=True)
class Explored:
    """A space at sizes; `baseline` is a file of functions in the folder of baselines.

    `others` are sizes at which nothing is compared: they show what predictions are worth.
    """

    space: str
    sizes: str
    others: tuple[str, ...] = ()
    dtype: str = "f32"
    baseline: str = ""

    @property
    def name(self) -> str:
        """Return the name of its file of results."""
        return self.space

    def results(self, folder: Path) -> Path:
        """Return its file of results, for all sizes."""
        return folder / f"{self.name}.sqlite"


_SQUARES = ("x=4096,y=4096", "x=512,y=65536")
_LOSSES = ("x=1024,y=131072", "x=4096,y=8192")
STUDIES = (
    Explored("dyt", "x=8192,y=16384", _SQUARES, baseline="dyt"),
    Explored("geglu", "x=8192,y=16384", _SQUARES, baseline="geglu"),
    Explored("swiglu", "x=8192,y=16384", baseline="swiglu"),
    Explored("tvd", "x=8192,y=32768", _LOSSES, baseline="tvd"),
    Explored("kl_div", "x=8192,y=32768", baseline="kl_div"),
    Explored("rms_norm", "x=8192,y=4096", ("x=32768,y=2048", "x=2048,y=8192"), baseline="rms_norm"),
    Explored("softmax", "x=4096,y=16384", ("x=16384,y=4096", "x=8192,y=8192"), baseline="softmax"),
    Explored(
        "matmul",
        "m=8192,n=8192,k=8192",
        ("m=4096,n=4096,k=4096", "m=8192,n=8192,k=512"),
        "f16",
        "matmul",
    ),
    Explored(
        "mmsigmoid",
        "m=1024,n=1024,k=64",
        ("m=512,n=1024,k=32", "m=2048,n=2048,k=128"),
        baseline="mmsigmoid",
    ),
    Explored(
        "two_mm_inner",
        "m=1024,n=1024,k=64,l=64",
        ("m=512,n=512,k=64,l=64", "m=256,n=256,k=64,l=64"),
        baseline="two_mm",
    ),
    Explored(
        "two_mm_outer",
        "m=1024,n=1024,k=64,l=64",
        ("m=512,n=1024,k=32,l=32", "m=256,n=512,k=32,l=32"),
        baseline="two_mm",
    ),
    Explored(
        "attention",
        "m=1024,n=64,k=64,l=1024",
        ("m=512,n=64,k=64,l=512", "m=2048,n=64,k=64,l=2048"),
        baseline="attention",
    ),
)


@dataclass(frozen=True, slots=True)
class How:
    """The options of a study: which spaces, how many points, and what dtpoly is told besides."""

    spaces: Path = SMALLER
    points: int = POINTS
    more: tuple[str, ...] = ()


def preparing(one: Explored, folder: Path, how: How, sizes: str = "") -> list[str]:
    """Emit, compile and prove, where there is isl and no GPU."""
    return [*_explore(one, folder, how, sizes), "--emit", "--model", DEVICE, *how.more]


def measuring(one: Explored, folder: Path, how: How, sizes: str = "") -> list[str]:
    """Measure what was prepared, or all, where there is a GPU; other sizes beside nothing."""
    baseline = str(BASELINES / f"{one.baseline}.py")
    beside = [] if sizes else ["--baseline", baseline]
    return [*_explore(one, folder, how, sizes), *beside, *how.more]


def drawing(one: Explored, folder: Path, suffix: str) -> list[str]:
    """Return a page, or pictures."""
    path = one.results(folder)
    return ["report", str(path), "-o", str(path.with_suffix(suffix))]


def _explore(one: Explored, folder: Path, how: How, sizes: str) -> list[str]:
    """Both steps draw the same points: those of one seed."""
    space = str(how.spaces / f"{one.space}.dts")
    where = [space, "--size", sizes or one.sizes, "--dtype", one.dtype]
    drawn = ["--strategy", "random", "--seed", "0", "--budget", str(how.points)]
    return ["explore", *where, *drawn, "-o", str(one.results(folder))]


def chosen(words: Sequence[str]) -> list[Explored]:
    """Return the studies of these names, or all. Raises KeyError for a name that there is not."""
    known = {one.name: one for one in STUDIES}
    return [known[word] for word in words] if words else [*STUDIES]
