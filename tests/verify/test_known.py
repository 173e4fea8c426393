"""The functions that the verifier knows are those that are emitted."""

from pathlib import Path

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.verify.proof.verify import LayerVerdict, verify
from dtpoly.verify.triton import helpers
from dtpoly.verify.triton.known import fingerprint, meaning
from dtpoly.verify.triton.unit.unit import read_unit
from tests.verify.fingerprints import table
from tests.verify.texts import changed, written


def test_the_table_is_of_the_functions_that_are_emitted() -> None:
    assert Path(helpers.__file__).read_text() == table(), "python -m tests.verify.fingerprints"


TESTED = written("Func f; In A; Var x; f[x] = A[x] * 2.0; f.block(x:4); f.compile();")


def with_test() -> str:
    """Return a file with a test of its own, which has functions that are known by their text."""
    return code_of(judge(TESTED, DIRECTIVES).scheduled, test={"x": 8}).text


def test_a_changed_function_is_not_known() -> None:
    text = with_test()
    assert verify(TESTED, text).verdict is LayerVerdict.PROVED
    for other in (
        "def dt_random(shape, dtype, generator, a=0):",
        "def dt_random(shape, dtype, a):",
    ):
        edited = changed(text, "def dt_random(shape, dtype, generator):", other)
        (function,) = verify(TESTED, edited).functions
        assert function.verdict is LayerVerdict.UNKNOWN
        assert "'dt_random' is not the function that is known" in function.layers[0].why


def test_a_line_that_is_set_in_further_is_another() -> None:
    unit = read_unit("def dt_fma(a, b, c):\n    if a:\n        b = c\n    return b\n")
    other = read_unit("def dt_fma(a, b, c):\n    if a:\n        b = c\n        return b\n")
    spaces = read_unit("def dt_fma(a, b, c):   \n    if a:\n        b = c\n    return b\n")
    assert fingerprint(unit, "dt_fma") != fingerprint(other, "dt_fma")
    assert fingerprint(unit, "dt_fma") == fingerprint(spaces, "dt_fma")


def test_a_function_of_no_known_name_has_no_meaning() -> None:
    unit = read_unit("@triton.jit\ndef dt_max(a, b):\n    return a\n")
    assert meaning(unit, "dt_max") is None
