"""Finds the settings file of a folder.

It is the nearest one, from the folder upwards: `dtpoly.toml`, or a `pyproject.toml` with a table
[tool.dtpoly]. DTPOLY_SETTINGS names another file; if it is empty, no file is read.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from dtpoly.system.owners import is_of_others

SETTINGS = "DTPOLY_SETTINGS"
OWN, SHARED = "dtpoly.toml", "pyproject.toml"
MARK = b"tool.dtpoly"  # stands in a shared file that has settings of dtpoly


def settings_file(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the settings file for a command that runs in the present folder, if there is one."""
    named = environment.get(SETTINGS)
    if named is not None:
        return Path(named) if named else None
    try:
        folder = Path.cwd()
    except OSError:  # The folder is gone.
        return None
    for place in (folder, *folder.parents):
        own, shared = place / OWN, place / SHARED
        if _is_there(own):
            return own
        if _has_settings(shared):
            return shared
    return None


def _is_there(path: Path) -> bool:
    """True if there is such a file; a folder that nobody may look into has none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _has_settings(path: Path) -> bool:
    """True if a file can be read and may have a table of dtpoly."""
    try:
        return path.is_file() and MARK in path.read_bytes().replace(b" ", b"")
    except OSError:
        return False


def is_foreign(path: Path) -> bool:
    """True if a file belongs neither to this user nor to the system, so that it is not trusted.

    Settings can name plugins, and a plugin is run. So nobody else may set them, as in a folder that
    everyone can write to.
    """
    return is_of_others(path.stat())
