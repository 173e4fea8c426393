"""The gradient of each example is torch's, or it is refused; docs/gradients.md has the table.

`pytest tests/gradient/test_example_gradients.py --update-golden` writes the table.
"""

import pytest

from tests.conftest import Published
from tests.gradient.example_gradients import NAMES, Outcome, choices, example, outcomes

HEAD = "| example | of | by | |\n|---|---|---|---|\n"
# What has no gradient, and why: the code of the message.
REFUSED = {
    "attentions/ragged": "DT272",
    "adam_in_place": "DT273",
    "add_rms_norm_in_place": "DT273",
    "batch_norm": "DT273",
    "grouped_matmul": "DT272",
    "kv_cache_append": "DT272",
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_that_of_torch(name: str) -> None:
    found = list(outcomes(name))
    assert {one.refused for one in found} <= {REFUSED.get(name, "")}


def row(name: str, one: Outcome) -> str:
    """Return the row of the table about one function of an example."""
    said = f"[{one.refused}](diagnostics.md#{one.refused.lower()})" if one.refused else "as torch"
    return f"| {name} | {one.of} | {', '.join(one.by)} | {said} |\n"


def test_table(published: Published) -> None:
    rows = [
        row(name, Outcome(of, by, REFUSED.get(name, "")))
        for name in NAMES
        for of, by in choices(example(name))
    ]
    published("gradients.md", "examples", f"\n{HEAD}{''.join(rows)}\n")
