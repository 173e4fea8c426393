"""Imports a module by its name when it is first needed, so that a command starts fast."""

import importlib
import sys
from collections.abc import Iterable
from functools import partial
from types import ModuleType
from typing import Any

import click
from click.core import ParameterSource

from dtpoly.cli.interruption import be_raised
from dtpoly.cli.settable import with_variables
from dtpoly.cli.settings_place import settings_file
from dtpoly.cli.verbosity import with_verbose
from dtpoly.diagnostics import DtpolyError
from dtpoly.missing_package import kernel_package, missing_package
from dtpoly.suggest import near

HELP = ("-h", "--help")
# Under these names a context has the settings file and what it sets for the command.
FILE, FOUND = "dtpoly.settings_file", "dtpoly.settings_found"


def load(module: str) -> Any:
    """Import a module that only some runs need, such as a renderer or torch.

    All lazy imports use this function.
    """
    return importlib.import_module(module)


class _Later(ModuleType):
    """Stands in for a module, which is loaded when one of its members is first used."""

    def __getattr__(self, name: str) -> Any:
        """Import the module, and return the member that is asked for."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def put_off(*names: str) -> None:
    """Let modules load when they are used, because libraries load more than this program needs."""
    for name in names:
        sys.modules.setdefault(name, _Later(name))


def load_with_torch(module: str, why: str) -> Any:
    """Import a module that needs torch or triton; `why` says to a user what needs them.

    Raises DtpolyError if one of them is not installed.
    """
    try:
        return load(module)
    except ModuleNotFoundError as error:
        package = kernel_package(error)
        if package is None:
            raise
        raise DtpolyError([missing_package(package, why)]) from None


class WithoutSettings(click.Command):
    """A command for which a settings file says nothing, such as the one that looks at the file."""


class LazyGroup(click.Group):
    """A group whose commands are the `command` objects of modules.

    `modules` is the name of a module, with `{}` in the place of the command's name. A hyphen in a
    command's name is an underscore in the module's name.
    """

    def __init__(self, *args: Any, modules: str, names: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.modules = modules
        self.names = names

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the given order."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None.

        From now on an interruption raises an exception.
        """
        if cmd_name not in self.names:
            return None
        found: click.Command = load(self.modules.format(cmd_name.replace("-", "_"))).command
        be_raised()
        return with_verbose(with_variables(found, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; for a misspelt word, suggest a name."""
        word = args[0]
        if word not in self.names and not word.startswith("-") and not ctx.resilient_parsing:
            meant = near(word, self.names)
            ctx.fail(f"no command '{word}'" + (f"; did you mean '{meant}'?" if meant else ""))
        name, command, rest = super().resolve_command(ctx, args)
        is_run = command is not None and not ctx.resilient_parsing and not is_help(rest)
        if name is not None and is_run and not isinstance(command, WithoutSettings):
            self._take_settings(ctx, name)
        return name, command, rest

    def _take_settings(self, context: click.Context, name: str) -> None:
        """Give a command the values of the settings file, if there is one. Raises DtpolyError."""
        path = settings_file()
        if path is None:
            return
        settings: ModuleType = load("dtpoly.cli.settings_reader")
        file = settings.read_settings(path)
        found = settings.settings_of(file, name, self.names, partial(self.named, context))
        context.default_map = {name: {key: one.value for key, one in found.items()}}
        context.meta[FILE], context.meta[FOUND] = file, found
        log: ModuleType | None = sys.modules.get("dtpoly.cli.stage_log")
        if log is not None:
            words = [f"{'.'.join(one.keys)} = {one.value}" for one in found.values()]
            log.tell(f"'{file.source.name}' sets {', '.join(words) or 'nothing for this command'}")

    def named(self, context: click.Context, name: str) -> click.Command:
        """Return the command of a name that there is."""
        found = self.get_command(context, name)
        assert found is not None, name
        return found


def is_help(words: Iterable[str]) -> bool:
    """True if a user only asks how a command is called."""
    return any(word in HELP for word in words)


def of_settings(error: click.BadParameter) -> Exception:
    """Return the error as what it is if the value came from the settings file or a variable."""
    context, option = error.ctx, error.param
    if context is None or option is None:
        return error
    source = context.get_parameter_source(option.name)
    if source is ParameterSource.DEFAULT_MAP:
        settings: ModuleType = load("dtpoly.cli.settings_reader")
        meta = context.meta
        keys, why = meta[FOUND][option.name].keys, error.message.rstrip(".")
        wrong: Exception = settings.wrong_value(meta[FILE], keys, why, context.info_name)
        return wrong
    if source is ParameterSource.ENVIRONMENT:
        error.param_hint = f"{option.envvar} in the environment"
    return error
