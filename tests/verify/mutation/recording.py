"""The versions that results are recorded with."""

import platform
from collections.abc import Mapping
from importlib.metadata import version

PACKAGES = ("torch", "triton", "numpy", "islpy")


def versions() -> Mapping[str, str]:
    """Of Python, and of what runs and proves."""
    return {
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
