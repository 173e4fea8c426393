"""Runs tests with a fault in the code, and says which of them notice it.

The faulty module is compiled from its edited source as it is imported; no file is touched.
"""

import json
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.mutation.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]


def edited(fault: Fault) -> str:
    """The source with the fault in it."""
    source = (ROOT / fault.file).read_text()
    if source.count(fault.old) != 1:
        raise ValueError(f"{fault.file} has {source.count(fault.old)} times: {fault.old!r}")
    return source.replace(fault.old, fault.new)


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.text, self.path, "exec")


class _Finder(MetaPathFinder):
    """Finds one module, with another text."""

    def __init__(self, module: str, text: str) -> None:
        self.module, self.text = module, text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin, self.text)
        return spec


class _Outcomes:
    """Takes down how each test ends."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.found[report.nodeid] = report.outcome


def main(what: str, tests: Sequence[str]) -> None:
    """Print the outcomes as the last line."""
    (fault,) = (fault for fault in FAULTS if fault.what == what)
    assert fault.module not in sys.modules
    sys.meta_path.insert(0, _Finder(fault.module, edited(fault)))
    outcomes = _Outcomes()
    options = ["-q", "--no-header", "-p", "no:cacheprovider", "--tb=line"]
    pytest.main([*options, *tests], plugins=[outcomes])
    print()
    print(json.dumps(outcomes.found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
