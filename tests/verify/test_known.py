"""The functions that the verifier knows are those that are emitted."""

from pathlib import Path

from dtpoly.verify.triton import helpers
from dtpoly.verify.triton.known import is_known, meaning
from dtpoly.verify.triton.unit.unit import read_unit
from tests.verify.fingerprints import table
from tests.verify.texts import ROOT, changed, program_of, text_of


def test_the_table_is_of_the_functions_that_are_emitted() -> None:
    assert Path(helpers.__file__).read_text() == table(), "python -m tests.verify.fingerprints"


def test_a_changed_function_is_not_known() -> None:
    text = text_of(program_of(ROOT / "examples/matmul.dt"))
    assert is_known(read_unit(text), "dt_real")
    assert not is_known(read_unit(changed(text, "1 << 30", "1 << 31")), "dt_offset")
    # What it uses counts too.
    other = changed(
        text, "def dt_promoted(names, *dtypes):", "def dt_promoted(names, *dtypes, a=0):"
    )
    assert not is_known(read_unit(other), "dt_promoted")


def test_a_line_that_is_set_in_further_is_another() -> None:
    text = text_of(program_of(ROOT / "examples/matmul.dt"))
    refusal = "raise dt_wrong(name, tensor, rank, dtypes, device)"
    # Behind the `return` of the branch before, it is never reached.
    assert not is_known(
        read_unit(changed(text, f"    {refusal}", f"        {refusal}")), "dt_check"
    )
    assert is_known(read_unit(changed(text, refusal, f"{refusal}   ")), "dt_check")


def test_a_function_of_no_known_name_has_no_meaning() -> None:
    assert meaning(read_unit(text_of(program_of(ROOT / "examples/matmul.dt"))), "dt_grid") is None
