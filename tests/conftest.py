"""Gives all tests golden files, tables in the documentation, and a process that compiles."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest
from hypothesis import settings

from tests import resuming, rotating, sampling
from tests.cli.server import Server

# This comes before anything imports triton: these processes run Triton's interpreter.
os.environ.setdefault("TRITON_INTERPRET", "1")
# The caches of the tests are apart from those of the user.
os.environ.setdefault("DTPOLY_CACHE_DIR", str(Path(gettempdir()) / f"dtpoly-tests-{os.getuid()}"))

# A process that a shell starts in the background ignores interruptions, and all its children would,
# too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Each property has this many examples; where tests that take minutes run, there are more.
settings.register_profile("ordinary", max_examples=40, deadline=None)
settings.register_profile("long", max_examples=400, deadline=None)

GOLDEN = Path(__file__).parent / "golden"
DOCS = Path(__file__).parent.parent / "docs"

# What tests ask for that compare with a text that is kept, and write it anew if they shall.
WRITES = frozenset({"golden", "published"})

Golden = Callable[[str, str], None]
Published = Callable[[str, str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files that differ"
    )
    rotating.add_options(parser)
    sampling.add_options(parser)
    resuming.add_options(parser)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if WRITES & {*getattr(item, "fixturenames", ())}:
            item.add_marker("kept")
    sampling.leave_out(config, items)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI") == "true":
        raise pytest.UsageError("golden files are not rewritten in CI: look at each change")
    seed = config.getoption("--rotating")
    if seed is not None:
        seconds = float(str(config.getoption("--rotating-seconds")))
        config.pluginmanager.register(rotating.Rotation(seed, seconds))
    resuming.begin(config)
    settings.load_profile("ordinary" if "not long" in config.option.markexpr else "long")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with the file of that name below tests/golden."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        before = path.read_bytes().decode() if path.exists() else None
        if update and text != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            return
        assert before is not None, f"tests/golden/{name} is missing: pytest --update-golden"
        assert text == before

    return compare


@pytest.fixture
def published(request: pytest.FixtureRequest) -> Published:
    """Compare a text with the part of that name of a page: between `<!-- name -->` and the end."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(page: str, name: str, text: str) -> None:
        path = DOCS / page
        before = path.read_bytes().decode()
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        head, _, rest = before.partition(begin)
        shown, found, tail = rest.partition(end)
        assert found, f"docs/{page} has no part '{name}'"
        if update and shown != text:
            path.write_bytes(f"{head}{begin}{text}{end}{tail}".encode())
            return
        assert shown == text

    return compare


@pytest.fixture(scope="session")
def served() -> Iterator[Server]:
    """Call the command line in a process where Triton compiles instead of interpreting."""
    with Server.start() as server:
        yield server
