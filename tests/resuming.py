"""Goes on with a run that was stopped, or that was cut into parts.

    pytest -m "not gpu and not alone" -n 32 --ended build/ended.txt

The file has the name of each test that passed or was skipped, a line each. They are left out of the
next run with the same file; tests that failed run again. Who has changed the sources begins a new
file: nothing here knows what a test depends on.
"""

from pathlib import Path
from typing import Any

import pytest

GIVEN = "ended"  # what the processes of a run are told, so that all leave out the same tests


def add_options(parser: pytest.Parser) -> None:
    """Add the option of a run that goes on where another one stopped."""
    parser.addoption(
        "--ended", type=Path, metavar="FILE", help="leave out the tests of a file, and add to it"
    )


def begin(config: pytest.Config) -> None:
    """Note tests that end, if the run asks for that."""
    path: Path | None = config.getoption("--ended")
    told: dict[str, Any] | None = getattr(config, "workerinput", None)
    if told is not None:
        config.pluginmanager.register(Ended(None, frozenset(told.get(GIVEN, ()))))
    elif path is not None:
        before = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
        config.pluginmanager.register(Ended(path, frozenset(before)))


class Ended:
    """Leaves tests out that ended before, and notes those that end now."""

    def __init__(self, path: Path | None, before: frozenset[str]) -> None:
        """Take the file, which only the first process of a run writes, and what it had."""
        self.path, self.before = path, before

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a process of this run what to leave out; one that is replaced is told the same."""
        node.workerinput[GIVEN] = sorted(self.before)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what ended before."""
        left_out = [item for item in items if item.nodeid in self.before]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item.nodeid not in self.before]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that passed, or that was skipped."""
        is_end = report.skipped or (report.when == "call" and report.passed)
        if self.path is not None and is_end:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(f"{report.nodeid}\n")
