"""The versions and the class of machine that results were measured with."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("islpy", "pyparsing", "click")


def machine() -> dict[str, str]:
    """Versions, processor and cores; no names of hosts or users."""
    return {
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
    }


def _cpu() -> str:
    """Return the name of the processor."""
    known = Path("/proc/cpuinfo")
    if known.exists():
        for line in known.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or "unknown"
