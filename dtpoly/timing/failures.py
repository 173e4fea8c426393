"""Turns whatever a candidate raised into one line, and decides whether the device is lost."""

import re

import torch

LONGEST = 300  # letters of a message

# After these, nothing that was on the device can be used any more.
LOST = re.compile(
    r"illegal memory access|illegal instruction|misaligned address|device-side assert"
    r"|unspecified launch failure|launch timed out|hardware stack|invalid program counter"
)


class WrongResult(Exception):
    """A result is not the right one."""

    def __init__(self, why: str, error: float) -> None:
        super().__init__(why)
        self.error = error


class LostDevice(Exception):
    """No row can be measured in this process any more."""


def told(error: Exception) -> str:
    """Return one line; of what the device did, raise what stops the process instead."""
    if isinstance(error, LostDevice):
        raise error
    message = " ".join(str(error).split())
    if LOST.search(message):
        raise LostDevice(message[:LONGEST]) from error
    if isinstance(error, torch.OutOfMemoryError):
        return "out of memory"
    if isinstance(error, WrongResult):
        return f"wrong: {message}"
    return f"{type(error).__name__}: {message}"[:LONGEST]
