"""The page about the table has its figures, and says of each difference what became of it."""

import pytest

from tests.semantics.page import PAGE, with_figures


@pytest.mark.long
def test_the_figures_are_those_of_the_record() -> None:
    text = PAGE.read_text()
    assert text == with_figures(text), "run: python -m tests.semantics.page"
