"""The page on exploring says what is in a file, and its strategy searches."""

import re
from pathlib import Path

from dtpoly.explore.store.results import Outcome
from dtpoly.explore.store.schema import TABLES
from dtpoly.explore.strategies.choice import STRATEGIES, chosen
from dtpoly.explore.strategies.strategy import StrategySetting
from tests.conftest import DOCS, Published
from tests.explore.fields import softmax

PAGE = "exploring.md"
TEXT = (DOCS / PAGE).read_text()


def test_the_tables_are_those_of_a_file(published: Published) -> None:
    shown = ";\n\n".join(table.strip() for table in TABLES)
    published(PAGE, "tables", f"```sql\n{shown};\n```\n")


def test_all_outcomes_and_strategies_are_named() -> None:
    assert [f"| {one} |" in TEXT for one in Outcome] == [True] * len(Outcome)
    assert [f"`{one}`" in TEXT for one in STRATEGIES] == [True] * len(STRATEGIES)


def test_the_strategy_of_the_page_works(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    path = tmp_path / "wander.py"
    path.write_text(code)
    space = softmax()
    strategy = chosen(str(path))(StrategySetting(space))
    asked: list[tuple[int, ...]] = []
    while points := strategy.ask(8):
        for point in points:
            asked.append(point)
            strategy.tell(point, 10.0 - sum(point))
    # From the first corner to the last one, a step at a time.
    assert asked[0] == (0, 0, 0)
    assert asked[-1] == (3, 3, 2)
    assert len(asked) == len(set(asked)) < space.count
