"""Calls that produce the diagnostics about an installation and its settings."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from dtpoly.cli.main import cli
from dtpoly.cli.settings_reader import check_all, read_settings
from dtpoly.diagnostics import DtpolyError
from dtpoly.missing_package import missing_package


def settings(text: str, file: str = "dtpoly.toml") -> None:
    """Look whether the settings in a file are right for all commands."""
    Path(file).write_text(text)
    check_all(read_settings(Path(file)), cli.names, partial(cli.named, click.Context(cli)))


def no_torch() -> None:
    raise DtpolyError([missing_package("torch")])


def no_settings() -> None:
    read_settings(Path("fast.toml"))


def latin_1_settings() -> None:
    Path("dtpoly.toml").write_bytes(b"# la m\xe9diane\n")
    read_settings(Path("dtpoly.toml"))


def no_toml() -> None:
    settings("seconds = 1 minute\n")


def no_end() -> None:
    settings("[verify\n")


def misspelt_setting() -> None:
    settings("secnds = 60\n")


def misspelt_command() -> None:
    settings("[tool.dtpoly.verfy]\nring = true\n", "pyproject.toml")


def of_another_command() -> None:
    settings("[check]\nring = true\n")


def no_number() -> None:
    settings("seconds = true\n")


def no_flag() -> None:
    settings('[verify]\nring = "yes"\n')


def several() -> None:
    settings("[compile]\nseconds = [20, 60]\n")


def no_table() -> None:
    settings('legal = "softmax"\n')


def no_table_of_ours() -> None:
    settings('tool.dtpoly = "fast"\n', "pyproject.toml")


CALLS: dict[str, Callable[[], object]] = {
    "DT330": no_torch,
    "DT331": no_toml,
    "DT331_end": no_end,
    "DT331_missing": no_settings,
    "DT331_bytes": latin_1_settings,
    "DT332": misspelt_setting,
    "DT332_command": misspelt_command,
    "DT332_other": of_another_command,
    "DT333": no_number,
    "DT333_flag": no_flag,
    "DT333_several": several,
    "DT333_command": no_table,
    "DT333_table": no_table_of_ours,
}
