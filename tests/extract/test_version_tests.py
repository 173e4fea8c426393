"""Functions with two definitions: that of Triton's version is taken, where a test decides it."""

from pathlib import Path

import pytest

from dtpoly.checking import load
from dtpoly.cli.taken_kernel import given_kernels
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify

HEAD = "import triton\nimport triton.language as tl\nfrom packaging import version\n\n"
NEW = 'version.parse(triton.__version__) >= version.parse("3.0.0")'
BLOCKS = """\
if {test}:
    @triton.jit
    def twice(x):
        return x * {yes}
else:
    @triton.jit
    def twice(x):
        return x * {no}
"""
KERNEL = """


@triton.jit
def k(Y, X, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + at, mask=at < n)
    tl.store(Y + at, twice(x), mask=at < n)
"""
LINES = "# verify: k[(cdiv(len(n), 1024),)](Y, X, len(n), BLOCK=1024)\n# assume: len(n) <= 2**30\n"
ALGORITHM = "Func Y: f32; In X: f32; Var n; Y[n] = X[n] * 2.0; Y.compile();\n"


def _report(text: str, folder: Path) -> tuple[LayerVerdict | None, tuple[str, ...]]:
    (folder / "k.py").write_text(text)
    source = Source("k.dt", LINES + ALGORITHM)
    try:
        given = given_kernels(f"{folder / 'k.py'}::k", source)
    except DtpolyError:
        return None, ()
    return verify(load(Source("k.dt", ALGORITHM)), given.source.text).verdict, given.assumed


def _blocks(test: str, *, is_new: bool = True) -> str:
    """Return a module in which the block that Triton 3.6 to 3.9 takes is right, and no other."""
    yes, no = ("2.0", "3.0") if is_new else ("3.0", "2.0")
    return HEAD + BLOCKS.format(test=test, yes=yes, no=no) + KERNEL


RIGHT = {
    "at least": _blocks(NEW),
    "not before": _blocks(NEW.replace(">=", "<"), is_new=False),
    "not": _blocks(f"not {NEW}", is_new=False),
    "turned": _blocks('version.parse("3.0") <= version.parse(triton.__version__)'),
    "above": _blocks(NEW.replace(">= ", "> ").replace("3.0.0", "2.1")),
    "a name": _blocks("TRITON3").replace("if TRITON3", f"TRITON3 = {NEW}\nif TRITON3"),
    "by Version": _blocks('Version(triton.__version__) >= Version("3.0")').replace(
        "from packaging import version", "from packaging.version import Version"
    ),
    "of a later one": _blocks(NEW.replace("3.0.0", "3.10"), is_new=False),
}
WRONG = {
    "the other block": _blocks(NEW, is_new=False),
    "the other block of a later one": _blocks(NEW.replace("3.0.0", "3.10")),
    "it differs from version to version": _blocks(NEW.replace("3.0.0", "3.7")),
    "it differs within a version": _blocks(NEW.replace("3.0.0", "3.9.1")),
    "another test": _blocks("FAST"),
    "another version": _blocks(NEW.replace("triton.__version__", "tl.__version__")),
    "another parser": _blocks(NEW).replace("from packaging import version", "import version"),
    "a version that is set": _blocks(NEW).replace("if ", 'triton.__version__ = "2.0"\nif '),
    "a parser that is set": _blocks(NEW).replace("if ", "version.parse = other\nif "),
    "a name that is set twice": _blocks("TRITON3").replace(
        "if TRITON3", f"TRITON3 = {NEW}\nTRITON3 = False\nif TRITON3"
    ),
    "a text and no number": _blocks(NEW.replace('"3.0.0"', '"3.0rc1"')),
    "texts are compared": _blocks('triton.__version__ >= "3.0.0"'),
    "a third definition": _blocks(NEW) + "\n\n@triton.jit\ndef twice(x):\n    return x * 3.0\n",
    "it is set afterwards": _blocks(NEW) + "\n\ntwice.fn = None\n",
    "a test in a test": _blocks(NEW).replace("else:", f"elif {NEW}:"),
    "both are tested": _blocks(f"{NEW} and FAST"),
}


@pytest.mark.parametrize("one", RIGHT)
def test_the_definition_of_these_versions_is_taken(one: str, tmp_path: Path) -> None:
    verdict, assumed = _report(RIGHT[one], tmp_path)
    assert verdict is LayerVerdict.PROVED
    assert any("as for Triton 3.6 to 3.9" in said for said in assumed)


@pytest.mark.sampled
@pytest.mark.parametrize("one", WRONG)
def test_no_other_one_is_proved(one: str, tmp_path: Path) -> None:
    verdict, _ = _report(WRONG[one], tmp_path)
    assert verdict is not LayerVerdict.PROVED
