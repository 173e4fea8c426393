"""docs/settings.md names all variables and options; --update-golden rewrites the options."""

import re
from functools import partial
from pathlib import Path

import click
import pytest

from dtpoly.cli.environment import VARIABLES
from dtpoly.cli.main import COMPLETION_VARIABLE, cli
from dtpoly.cli.settable import settable, variable
from dtpoly.cli.settings_reader import check_all, read_settings
from tests.conftest import DOCS, Published

pytestmark = pytest.mark.always

ROOT = Path(__file__).parent.parent
PAGE = (DOCS / "settings.md").read_text()
ROOMS = ("dtpoly", "frontend", "codegen")
SOURCES = {
    path: path.read_text()
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
    if path.name != "environment.py"  # has the list itself
}
OURS = re.compile(r"\b_?DTPOLY_[A-Z_]+")
READ = re.compile(
    r"environ(?:ment)?(?:\.get\(|\.pop\(|\[)\s*\"([A-Z_]+)\"|\"([A-Z_]+)\" in environ"
)
ROW = re.compile(r"^\| (.*?) \|", re.MULTILINE)
TOML = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def of_options() -> dict[str, tuple[str, ...]]:
    context = click.Context(cli)
    return {name: tuple(key for key, _ in settable(cli.named(context, name))) for name in cli.names}


def in_tables() -> set[str]:
    return {name for row in ROW.findall(PAGE) for name in re.findall(r"`([A-Z_]+)`", row)}


def test_each_variable_of_the_sources_is_on_the_page() -> None:
    found = {name for text in SOURCES.values() for name in OURS.findall(text)}
    options = {variable(name, key) for name, keys in of_options().items() for key in keys}
    assert found - options == {*VARIABLES, COMPLETION_VARIABLE}
    assert {*VARIABLES, COMPLETION_VARIABLE} <= in_tables()


def test_each_variable_of_others_is_on_the_page() -> None:
    found = {a or b for text in SOURCES.values() for a, b in READ.findall(text)}
    assert {"NO_COLOR", "TRITON_INTERPRET", "CUDA_VISIBLE_DEVICES"} <= found
    assert found <= in_tables()


def test_the_page_names_no_variable_that_nobody_reads() -> None:
    everything = "".join(SOURCES.values())
    assert [name for name in sorted(in_tables()) if name not in everything] == []


def test_the_options_are_on_the_page(published: Published) -> None:
    rows = [
        f"| `{name}` | {', '.join(f'`{key}`' for key in keys)} |"
        for name, keys in of_options().items()
        if keys
    ]
    published(
        "settings.md", "options", "\n".join(("| command | settings |", "|---|---|", *rows, ""))
    )


def test_the_examples_of_files_are_right(tmp_path: Path) -> None:
    examples = TOML.findall(PAGE)
    assert len(examples) == 2
    for text in examples:
        path = tmp_path / ("pyproject.toml" if "[tool." in text else "dtpoly.toml")
        path.write_text(text)
        check_all(read_settings(path), cli.names, partial(cli.named, click.Context(cli)))
