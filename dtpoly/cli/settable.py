"""Says which options can be set outside of the command line, and under which names.

A settings file and the environment set the same options: all that `--help` shows, except those that
name one file of one call, such as `-o`, and those with which less is proved. In a file an option
has its long name without the dashes; in the environment it has the name of the command before it:
DTPOLY_COMPILE_RUNTIME.
"""

import re
from collections.abc import Iterator

import click

PREFIX = "DTPOLY"
FILE = re.compile(r"\[?FILE")  # how the metavar of an option begins that names a file


class EachTimeOption(click.Option):
    """An option with which less is proved: whoever wants that says so at each call.

    A line in a file of the project, which nobody looks at, must not make a proof weaker.
    """


def setting_name(option: click.Option) -> str:
    """Return the name of an option in a settings file, such as `no-verify`."""
    long = next((word for word in option.opts if word.startswith("--")), option.opts[0])
    return long.lstrip("-")


def settable(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """Yield the options of a command that can be set, each with its name."""
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden and not _is_of_one_call(option):
            yield setting_name(option), option


def _is_of_one_call(option: click.Option) -> bool:
    """True if an option is `--help`, proves less, or names a file that one call reads or writes."""
    names_file = isinstance(option.type, click.Path) or FILE.match(option.metavar or "") is not None
    is_each_time = option.is_eager or isinstance(option, EachTimeOption)
    return is_each_time or (names_file and not option.multiple)


def variable(command: str, name: str) -> str:
    """Return the environment variable that sets an option of a command."""
    return "_".join((PREFIX, command, name)).replace("-", "_").upper()


def with_variables(command: click.Command, name: str) -> click.Command:
    """Let the environment set the options of a command of that name, and return the command."""
    for setting, option in settable(command):
        option.envvar = variable(name, setting)
    return command
