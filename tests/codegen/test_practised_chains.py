"""Chains from practice: which are compiled, proved and right, and which are refused, with a reason.

The chains were written first. Where an outcome changes, this table does.
"""

from collections.abc import Mapping

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.practised_chains import PRACTISED
from tests.codegen.running import compared, imported
from tests.verify.texts import text_of

# The code of what is refused, and what the message has in it: the part, or the way out.
REFUSED: Mapping[str, tuple[str, str]] = {
    "a sum above a threshold that moves": ("DT307", "no factor and no sum"),
    "the entropy of a softmax": ("DT307", "take the product apart"),
    "a cosine of rows divided by their largest": ("DT307", "a loop stands between the two"),
    "quantised rows times a vector": ("DT307", "'floor' jumps"),
    # The loss reads the scores in two loops, and its schedule brings only one of them together.
    "a contrastive loss": ("DT201", "no loop over 'y' of 'f' is around every read of 's'"),
    # The schedule names a reader that does not read the mean.
    "a variance with weights of a softmax": ("DT195", "'mean' is read by f"),
    "a fourth central moment in parts": ("DT239", "pow(A[x, y] - reshape(mean[x], x, 1), 4)"),
    "a variance in parts": ("DT239", "pow(A[x, y] - reshape(mean[x], x, 1), 2)"),
    "a covariance of two rows": ("DT307", "no sum of powers of deviations"),
    "a norm that no square overflows": ("DT307", "no factor and no sum"),
    "a log-sum-exp of a base of two": ("DT307", "no factor and no sum"),
}
SLOW = ("a window with a sink in parts", "a masked window with a sink in parts")
RUN = [one for one in PRACTISED if one not in REFUSED]
SIZES = ((5, 49), (3, 177), (17, 16))
RECIPES = (
    Recipe(1, DType.F64, Layout.PLAIN, Data.ASCENDING),
    Recipe(2, DType.F64, Layout.PLAIN, Data.RANDOM),
)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.long] * (one in SLOW)) for one in RUN]
)
def test_it_is_proved_and_right(name: str) -> None:
    of = load(Source("f.dt", PRACTISED[name]))
    text = text_of(of)
    assert verify(of, text, seconds=120).verdict is LayerVerdict.PROVED
    for rows, columns in SIZES:
        known = {"x": rows, "y": columns, "k": 5, "n": 3}
        sizes = {label.name: known[label.name] for label in of.labels}
        for recipe in RECIPES:
            compared(imported(text), of, ("f",), recipe.inputs(of, sizes), sizes)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_a_part_and_a_way_out(name: str) -> None:
    code, words = REFUSED[name]
    with pytest.raises(DtpolyError) as caught:
        text_of(load(Source("f.dt", PRACTISED[name])))
    (found,) = caught.value.diagnostics
    assert found.code == code
    told = " ".join((found.label, found.hint, *(note.text for note in found.notes)))
    assert words in told, told
    assert found.hint
    has_place = any(note.span is not None for note in found.notes)
    assert has_place or "'" in told or "pow(" in told


def test_how_many_there_are() -> None:
    """Half of the list was worked on, and half was only looked at in the end."""
    assert len(PRACTISED) == 30
    worked_on, held_out = [*PRACTISED][::2], [*PRACTISED][1::2]
    assert sum(one not in REFUSED for one in worked_on) == 10
    assert sum(one not in REFUSED for one in held_out) == 9
