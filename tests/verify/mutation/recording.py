"""Finds the versions that results are recorded with."""

import platform
from collections.abc import Mapping
from importlib.metadata import version

PACKAGES = ("torch", "triton", "numpy", "islpy")


def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that run and prove."""
    return {
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
