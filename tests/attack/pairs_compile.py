"""Random algorithms with random schedules through `dtpoly compile`, with the proof."""

from tests.attack.pairs import compiled as attempt

__all__ = ["attempt"]
