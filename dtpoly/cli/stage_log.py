"""Logs each stage of a command with the time that it took.

The log goes to standard error through the logger `dtpoly` of Python's logging, so that a program
that calls commands can send it elsewhere. A stage is logged when it is over, or when another one
begins inside of it.
"""

import logging
import sys
import time

import click

from dtpoly.budget import START, deafen, listen
from dtpoly.render.printable import printable

LOGGER = logging.getLogger("dtpoly")
FORMAT = "dtpoly: %(message)s"
SHORT = 0.001  # seconds; what takes less is logged by -vv alone
ELSE = "everything else"  # what is done outside of stages, such as loading modules


class StageLog:
    """Takes the time between two stages."""

    def __init__(self) -> None:
        self.began = self.since = time.perf_counter()
        self.stage = START

    def __call__(self, stage: str) -> None:
        """Log the stage that ends here; another one begins."""
        now = time.perf_counter()
        self._log(self.stage, now - self.since)
        self.stage, self.since = stage, now

    def end(self) -> None:
        """Log the last stage, and the time of all."""
        self(START)
        LOGGER.info("%8.3f s  in all", time.perf_counter() - self.began)

    def _log(self, stage: str, seconds: float) -> None:
        level = logging.INFO if seconds >= SHORT else logging.DEBUG
        words = ELSE if stage == START else printable(stage)
        LOGGER.log(level, "%8.3f s  %s", seconds, words)


def begin(root: click.Context, level: int) -> None:
    """Log the stages until the outermost context is closed; a second call only logs more."""
    LOGGER.setLevel(min(LOGGER.level or logging.INFO, logging.DEBUG if level > 1 else logging.INFO))
    if root.meta.get(FORMAT):
        return
    root.meta[FORMAT] = True
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(FORMAT))
    LOGGER.addHandler(handler)
    log = StageLog()
    listen(log)

    def end() -> None:
        deafen(log)
        log.end()
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(logging.NOTSET)

    root.call_on_close(end)


def tell(words: str) -> None:
    """Log a sentence, if anything is logged."""
    LOGGER.info("%s", printable(words))
