"""A kernel may leave elements of a result as they were, if a line says that this is meant."""

from dtpoly.verify.proof.report import Layer, LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.verify.test_data_named import proof_of_text
from tests.verify.texts import written

# The blocks of a square on its diagonal and below; a block above it ends at once.
BELOW = """\
import triton
import triton.language as tl

# tensors: X[r, n], {use}(Y[r, n])
# verify: k[(cdiv(len(r), 16), cdiv(len(n), 16))](X, Y, len(r), len(n))
# assume: reach(X) < 2**31, reach(Y) < 2**31
{said}

@triton.jit
def k(X, Y, rows, columns):
    p = tl.program_id(0)
    q = tl.program_id(1)
    if q > p:
        return
    i = p * 16 + tl.arange(0, 16)
    j = q * 16 + tl.arange(0, 16)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    x = tl.load(X + i[:, None] * columns + j[None, :], mask=mask)
    tl.store(Y + i[:, None] * columns + j[None, :], x, mask=mask)
"""
PARTLY = "# assume: partly(Y)"


def below(said: str = PARTLY, use: str = "out", change: tuple[str, str] = ("", "")) -> Report:
    text = BELOW.format(said=said, use=use)
    old, new = change
    assert old in text
    return proof_of_text(text.replace(old, new) if old else text)


def layer(report: Report, name: str) -> Layer:
    (found,) = [one for one in report.layers if one.name == name]
    return found


def test_what_is_not_stored_is_refuted_and_the_way_out_is_said() -> None:
    for use in ("out", "inout"):
        found = layer(below("", use), "stores")
        assert found.verdict is LayerVerdict.REFUTED
        assert found.why == "is not stored"
        assert found.way.endswith(PARTLY)


def test_the_way_out_is_one() -> None:
    for use in ("out", "inout"):
        report = below(use=use)
        assert report.verdict is LayerVerdict.PROVED
        assert "at most once" in layer(report, "stores").claim
        assert any("partly(Y)" in one for one in report.functions[0].assumed)


def test_nothing_else_is_allowed_by_it() -> None:
    store = "tl.store(Y + i[:, None] * columns + j[None, :], x, mask=mask)"
    twice = f"{store}\n    tl.debug_barrier()\n    {store}"
    wrong = {
        "stored twice": (store, twice),
        "by two programs": ("j = q * 16", "j = q * 0"),
        "outside": ("(j[None, :] < columns)", "(j[None, :] <= columns)"),
        "to the input": ("tl.store(Y", "tl.store(X"),
        "of what was never stored": (
            "x = tl.load(X + i[:, None] * columns + j[None, :], mask=mask)",
            "x = tl.load(Y + i[:, None] * columns + j[None, :], mask=mask)",
        ),
    }
    for name, change in wrong.items():
        assert below(change=change).verdict is not LayerVerdict.PROVED, name


def test_an_algorithm_says_what_each_element_is() -> None:
    program = written("Func Y: f32; In X: f32; Var r, n; Y[r, n] = X[r, n]; Y.compile();")
    whole = BELOW.replace("    if q > p:\n        return\n", "")
    assert verify(program, whole.format(said="", use="out")).verdict is LayerVerdict.PROVED
    report = verify(program, whole.format(said=PARTLY, use="out"))
    assert {one.verdict for one in report.layers} == {LayerVerdict.UNKNOWN}
    assert all("'partly(Y)' beside an algorithm" in one.why for one in report.layers)
