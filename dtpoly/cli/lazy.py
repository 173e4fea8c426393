"""Imports a module by its name when it is first needed, so that a command starts fast."""

import importlib
import sys
from types import ModuleType
from typing import Any

import click

from dtpoly.cli.interruption import be_raised
from dtpoly.suggest import near


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


def load_triton(module: str) -> Any | None:
    """Import a module that needs triton; if triton is not installed, say so and return None."""
    try:
        return load(module)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("torch", "triton"):
            raise
        print(f"error: {package} is not installed: pip install {package}", file=sys.stderr)
        return None


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
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; for a misspelt word, suggest a name."""
        word = args[0]
        if word not in self.names and not word.startswith("-") and not ctx.resilient_parsing:
            meant = near(word, self.names)
            ctx.fail(f"no command '{word}'" + (f"; did you mean '{meant}'?" if meant else ""))
        return super().resolve_command(ctx, args)
