"""Random algorithms with random schedules through `dtpoly check`."""

from tests.attack.pairs import checked as attempt

__all__ = ["attempt"]
