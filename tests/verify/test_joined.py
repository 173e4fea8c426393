"""`and` and `or` are read of single truths alone; what only `compile` refuses is no unit."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.handwritten import algorithm, text
from tests.verify.texts import changed

# Python's `and` gives one whole side: in the interpreter lanes of the other side are lost.
WRONG = {
    "two tiles": ("outer", "(i[:, None] < rows) & (j[", "(i[:, None] < rows) and (j["),
    "a tile and a truth": ("outer", "mask=mask)", "mask=mask and True)"),
    "a truth and a tile": ("outer", "mask=mask)", "mask=True and mask)"),
    "or": (
        "add",
        "y = tl.load(y_ptr + offsets, mask=mask)",
        "y = tl.load(y_ptr, mask=mask or mask)",
    ),
    "tiles of one axis": ("column_max", "mask=cols < n_cols)", "mask=(cols < n_cols) and True)"),
    "a tile of several": ("bias_silu", "(i < I) & (j < J)", "(i < I and True) & (j < J)"),
    "a number": ("add", "offsets < n_elements", "offsets < (n_elements and n_elements)"),
    "numbers": ("add", "offsets < n_elements", "offsets < (2 and n_elements)"),
    "not": ("add", "offsets < n_elements", "not offsets >= n_elements"),
    "not, with an axis": ("outer", "(i[:, None] < rows)", "(not i[:, None] >= rows)"),
    "a sign": ("outer", "& (j[None, :] < cols)", "& (+(j[None, :] < cols))"),
    "three": ("outer", "mask=mask)", "mask=mask and mask and mask)"),
    "in a branch": ("add", "    mask = ", "    if 2 and n_elements:\n        pass\n    mask = "),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_joined_by_a_word_is_not_proved(name: str) -> None:
    file, old, new = WRONG[name]
    assert verify(algorithm(file), changed(text(file), old, new)).verdict is not LayerVerdict.PROVED


NO_PYTHON = {
    "a parameter twice": ("x_ptr, y_ptr", "x_ptr, x_ptr, y_ptr"),
    "an argument twice": ("mask=mask)", "mask=mask, mask=mask)"),
    "global": ("    mask = ", "    mask = 1\n    global mask\n    mask = "),
    "nonlocal": ("    mask = ", "    nonlocal pid\n    mask = "),
    "break": ("    mask = ", "    break\n    mask = "),
}


@pytest.mark.parametrize("name", NO_PYTHON)
def test_what_python_does_not_compile_is_not_proved(name: str) -> None:
    old, new = NO_PYTHON[name]
    assert verify(algorithm("add"), changed(text("add"), old, new)).verdict is LayerVerdict.UNKNOWN
