"""An example of every diagnostic: .dt files, and calls where a file alone cannot show it."""

import contextlib
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import check, load
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from tests.bits_examples import CALLS as BITS_CALLS
from tests.code_examples import CALLS as CODE_CALLS
from tests.gradient_examples import RUNS as GRADIENT_RUNS
from tests.plugin_examples import CALLS as PLUGIN_CALLS
from tests.refusal_examples import CALLS as REFUSAL_CALLS
from tests.setup_examples import CALLS as SETUP_CALLS
from tests.space_examples import CALLS as SPACE_CALLS
from tests.training_examples import CALLS as TRAINING_CALLS

FOLDER = Path(__file__).parent / "data" / "diagnostics"

TOTAL = """\
Func total;
In A;
Var x;
RVar k;

total[x] = rsum(A[x, k], k);
total.compile();
"""
BEST = TOTAL.replace("total", "best").replace("rsum", "rargmax")
TYPED = TOTAL.replace("In A", "In A: f32")
SCALED = TOTAL.replace("total", "scaled").replace("A[x, k]", "A[x, k] * B[k]")
SHIFTED = TOTAL.replace("total", "shifted").replace("A[x, k]", "A[x, k] - B[7]")


@dataclass(frozen=True)
class Example:
    """An input, the codes that it shows, and the messages."""

    name: str
    codes: tuple[str, ...]
    text: str  # a .dt file, "" if the example needs none
    call: str  # Python, "" for a file that is checked
    diagnostics: tuple[Diagnostic, ...]

    @property
    def code(self) -> str:
        """Return the code under which it is documented."""
        return self.codes[0]


def unreadable() -> None:
    read_file("missing.dt")


def folder() -> None:
    Path("kernels").mkdir()
    read_file("kernels")


def latin_1() -> None:
    Path("median.dt").write_bytes(b"# la m\xe9diane\nFunc median;\n")
    read_file("median.dt")


def nested() -> None:
    total = " + ".join(["A[x]"] * 250)
    load(Source("sum.dt", f"Func f; In A; Var x; f[x] = {total}; f.compile();"))


def many_errors() -> None:
    load(Source("many.dt", "f[x] = ;\n" * 150))


def large_file() -> None:
    Path("large.dt").write_text("# a comment\n" * 350_000)
    read_file("large.dt")


def large_text() -> None:
    load(Source("large.dt", "# a comment\n" * 100_000))


CALLS: dict[str, Callable[[], object]] = {
    "DT100": unreadable,
    "DT100_folder": folder,
    "DT101": latin_1,
    "DT106_operators": nested,
    "DT118": many_errors,
    "DT119": large_text,
    "DT119_file": large_file,
    **PLUGIN_CALLS,
    **REFUSAL_CALLS,
    **BITS_CALLS,
    **CODE_CALLS,
    **SPACE_CALLS,
    **SETUP_CALLS,
    **TRAINING_CALLS,
}


def of_nothing(program: Program) -> None:
    run(program, {"A": torch.zeros(3, 0)})


def wrong_rank(program: Program) -> None:
    run(program, {"A": torch.zeros(3)})


def wrong_dtype(program: Program) -> None:
    run(program, {"A": torch.zeros(3, 4, dtype=torch.float16)})


def missing_input(program: Program) -> None:
    run(program, {"B": torch.zeros(3, 4)})


def missing_size(program: Program) -> None:
    random_inputs(program, {"x": 3}, seed=0)


def another_size(program: Program) -> None:
    random_inputs(program, {"x": 3, "k": 5}, seed=0)


def broken_range(program: Program) -> None:
    run(program, {"E": torch.zeros(3, 4), "T": torch.tensor([2, 3])})


def two_inputs(program: Program) -> None:
    run(program, {"A": torch.zeros(3, 4), "B": torch.zeros(5)})


EMBEDDED = """\
Func f;
In E, T: i64 within len(v);
Var l, k, v;

f[l, k] = E[T[l], k];
"""
RUNS: dict[str, tuple[str, Callable[[Program], object]]] = {
    "DT156": (BEST, of_nothing),
    "DT157": (TOTAL, wrong_rank),
    "DT158": (TYPED, wrong_dtype),
    "DT159": (TOTAL, missing_input),
    "DT169": (TOTAL.replace("RVar k", "RVar k: 4"), another_size),
    "DT170": (TOTAL, missing_size),
    "DT255": (EMBEDDED, broken_range),
    "DT172": (SCALED.replace("In A", "In A, B"), two_inputs),
    "DT173": (SHIFTED.replace("In A", "In A, B"), two_inputs),
    **GRADIENT_RUNS,
}


# The names of all examples; the one that is named by the code alone comes first. To make the
# examples themselves takes some seconds, which nobody needs who only collects tests.
FILES = tuple(sorted(path.stem for path in FOLDER.glob("*.dt")))
NAMES = tuple(sorted((*FILES, *CALLS, *RUNS)))


def examples() -> tuple[Example, ...]:
    """Return all examples by code."""
    return tuple(map(example_of, NAMES))


@cache
def example_of(name: str) -> Example:
    """Return the example of a name."""
    if name in CALLS:
        call = CALLS[name]
        return Example(name, _codes(name), "", _body(call), _told(call, name))
    if name in RUNS:
        text, act = RUNS[name]
        told = _told(partial(act, load(Source(f"{name}.dt", text))), name)
        return Example(name, _codes(name), text, _body(act), told)
    return _from_file(FOLDER / f"{name}.dt")


def _codes(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"DT\d{3}", name))


def _from_file(path: Path) -> Example:
    source = Source(path.name, path.read_bytes().decode())
    checked = check(source)
    told = tuple(checked.diagnostics)
    if not told and checked.verdict is not None:  # then the message comes from code generation
        state = checked.verdict.scheduled
        told = tuple(vain(state, code_of(state).stages, DIRECTIVES))
    return Example(path.stem, _codes(path.stem), source.text, "", told)


def _body(function: Callable[..., object]) -> str:
    return textwrap.dedent(inspect.getsource(function).partition("\n")[2])


def _told(call: Callable[[], object], name: str) -> tuple[Diagnostic, ...]:
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            call()
        except DtpolyError as error:
            return tuple(d for d in error.diagnostics if d.code in _codes(name))
    raise AssertionError(f"{name}: nothing is wrong")
