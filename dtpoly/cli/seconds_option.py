"""Defines the option `--seconds` of commands, and limits the time of their work."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from math import isnan
from typing import Any

import click

from dtpoly.budget import SECONDS, check, most_bytes, within
from dtpoly.system.apart import ended_after, note

MOST = 1e8  # three years


class Seconds(click.FloatRange):
    """A number of seconds above 0.

    The clocks of a system allow at most MOST, which inf stands for.
    """

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, which is neither nan nor infinite."""
        found: float = super().convert(value, param, ctx)
        if isnan(found):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return min(found, MOST)


def seconds_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that says how long a command may compute."""
    option = click.option(
        "--seconds",
        type=Seconds(),
        default=SECONDS,
        show_default=True,
        help="Stop computing after this time.",
    )
    return option(command)


def timed(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option to a command, and limit the command from its beginning to its end."""

    @wraps(command)
    def in_time(*given: Any, seconds: float, **named: Any) -> Any:
        with limited(seconds):
            return command(*given, **named)

    return seconds_option(in_time)


def with_seconds(given: dict[str, Any], usual: float) -> dict[str, Any]:
    """Return the options of a command, with the usual time if its user gave none."""
    return {**given, "seconds": given["seconds"] or usual}


@contextmanager
def limited(seconds: float, spent: float = 0.0) -> Generator[None]:
    """Limit the computing time of the work inside, which is ended from outside if necessary.

    `spent` seconds of it are already used.
    """
    left = max(seconds - spent, 0.0)
    with within(seconds, note, spent), ended_after(left, most_bytes(), check):
        yield
