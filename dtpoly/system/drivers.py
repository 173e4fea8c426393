"""Says whether a machine has the driver of a GPU."""

from collections.abc import Sequence
from pathlib import Path

# Where the driver of a GPU shows that there is one; asking torch takes seconds.
DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg", r"C:\Windows\System32\nvcuda.dll")


def has_driver(paths: Sequence[str] = DRIVERS) -> bool:
    """Return whether there may be a GPU here."""
    return any(Path(path).exists() for path in paths)
