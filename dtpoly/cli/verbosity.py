"""Defines the option `-v`, which logs what took how long, before and after the word of a command.

Python's logging takes a while to load, so it is loaded only if somebody asks for the log.
"""

from collections.abc import Callable
from importlib import import_module

import click

WORDS = ("-v", "--verbose")
HELP_OF_VERBOSE = "Log on standard error what takes how long; -vv logs also what takes no time."


def _begin(context: click.Context, parameter: click.Parameter, level: int) -> None:
    """Begin to log, if the option is given."""
    if level and not context.resilient_parsing:
        begin: Callable[[click.Context, int], None]
        begin = import_module("dtpoly.cli.stage_log").begin
        begin(context.find_root(), level)


verbose_option = click.option(
    *WORDS, count=True, expose_value=False, callback=_begin, is_eager=True, help=HELP_OF_VERBOSE
)


def with_verbose(command: click.Command) -> click.Command:
    """Let a command take `-v`, too, without a line of its own in each help, and return it."""
    if not any(WORDS[0] in option.opts for option in command.params):
        option = click.Option(
            [*WORDS], count=True, expose_value=False, is_eager=True, hidden=True, callback=_begin
        )
        command.params.append(option)
    return command
