"""Reads a settings file, and gives each command the values that the file sets for its options.

The top table holds for each command that has such an option, and a table with the name of a command
for that command alone, which comes first. A name that no command knows is an error, and so is a
value that the option does not take; both are shown in the file.
"""

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

from dtpoly.cli.settable import settable, variable
from dtpoly.cli.settings_place import OWN, SETTINGS, is_foreign
from dtpoly.cli.toml_places import key_span, table_span, wrong_span
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span
from dtpoly.suggest import near

UNREADABLE, UNKNOWN, WRONG_VALUE = "DT331", "DT332", "DT333"
TOOL = ("tool", "dtpoly")
# Returns the command of a name.
CommandOf = Callable[[str], click.Command]


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The table of dtpoly in a settings file."""

    path: Path
    source: Source
    head: tuple[str, ...]  # where the table is: nowhere in dtpoly.toml, in [tool.dtpoly] else
    table: Mapping[str, Any]

    def span(self, *keys: str) -> Span | None:
        """Return the place of a key, whose last word is its name."""
        return key_span(self.source, (*self.head, *keys))


@dataclass(frozen=True, slots=True)
class OptionSetting:
    """An option that the file sets: where, and to which value."""

    option: click.Option
    keys: tuple[str, ...]
    value: Any


def read_settings(path: Path) -> SettingsFile:
    """Read a settings file. Raises DtpolyError if that is impossible, or if it is no TOML."""
    name = _short(path)
    try:
        if is_foreign(path) and SETTINGS not in os.environ:
            why = "it belongs to another user, who could let it run a plugin"
            raise _unreadable(name, why, f"{SETTINGS}={name} reads it all the same")
        source = Source(name, path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        hint = f"name another file in {SETTINGS}, or make it readable"
        raise _unreadable(name, f"{reason[:1].lower()}{reason[1:]}", hint) from None
    except UnicodeDecodeError:
        raise _unreadable(name, "it is not UTF-8", "save it as UTF-8") from None
    try:
        found: Any = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise _no_toml(source, str(error)) from None
    except RecursionError:
        raise _unreadable(name, "its brackets nest too deep", "write fewer brackets") from None
    head = () if path.name == OWN else TOOL
    for at, word in enumerate(head):
        found = _as_table(found).get(word, {})
        if not _is_table(found):
            raise _wrong(source, head[: at + 1], "it is no table", f"write [{'.'.join(head)}]")
    return SettingsFile(path, source, head, _as_table(found))


def settings_of(
    file: SettingsFile, name: str, commands: Sequence[str], command_of: CommandOf
) -> dict[str, OptionSetting]:
    """Return what a file sets for a command, by the name of the parameter. Raises DtpolyError."""
    known = dict(settable(command_of(name)))
    found: dict[str, OptionSetting] = {}
    for key, value in file.table.items():
        if _is_table(value) and key in commands:
            continue
        has_tables = any(map(_is_table, _as_list(value)))
        if key in known and not (has_tables and key in commands):
            found[_parameter(known[key])] = _setting(file, known[key], (key,), value, name)
        elif has_tables or not _is_somewhere(key, commands, command_of):
            if key in commands:
                hint = f"write [{'.'.join((*file.head, key))}]"
                raise _wrong(file.source, (*file.head, key), "a command has a table", hint)
            raise _unknown(file, (key,), commands if has_tables else _every(commands, command_of))
    own = file.table.get(name)
    for key, value in _as_table(own).items():
        if key not in known:
            raise _unknown(file, (name, key), known, f"dtpoly {name}")
        found[_parameter(known[key])] = _setting(file, known[key], (name, key), value, name)
    return found


def wrong_value(file: SettingsFile, keys: tuple[str, ...], why: str, command: str) -> DtpolyError:
    """Return the error that an option of a command does not take the value that the file sets."""
    hint = f"dtpoly {command} --help says what --{keys[-1]} takes"
    if len(keys) == 1:
        hint += f"; a value for this command alone stands in [{'.'.join((*file.head, command))}]"
    return _wrong(file.source, (*file.head, *keys), why, hint)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _as_table(value: Any) -> Mapping[str, Any]:
    """Return a value if it is a table; any other value has no keys."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _parameter(option: click.Option) -> str:
    assert option.name is not None
    return option.name


def _setting(
    file: SettingsFile, option: click.Option, keys: tuple[str, ...], value: Any, command: str
) -> OptionSetting:
    """Return a setting with its value as words of a command line. Raises DtpolyError."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise wrong_value(file, keys, "it takes true or false", command)
        return OptionSetting(option, keys, value)
    values = _as_list(value)
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values):
        raise wrong_value(file, keys, "it takes a text or a number", command)
    words = [_beside(file, option, str(one)) for one in values]
    if option.multiple:
        return OptionSetting(option, keys, words)
    if isinstance(value, list):
        raise wrong_value(file, keys, "it takes one value, and no list", command)
    return OptionSetting(option, keys, words[0])


def _as_list(value: object) -> list[object]:
    """Return a value if it is a list, else a list with it."""
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _beside(file: SettingsFile, option: click.Option, word: str) -> str:
    """Return the path of a file that lies beside the settings file, else the word itself."""
    path = file.path.parent / word
    return str(path) if "FILE" in (option.metavar or "") and path.exists() else word


def _is_somewhere(key: str, commands: Iterable[str], command_of: CommandOf) -> bool:
    """True if a command has that option; commands are loaded until one is found."""
    return any(key in dict(settable(command_of(name))) for name in commands)


def _every(commands: Iterable[str], command_of: CommandOf) -> Iterator[str]:
    """Yield the names of the options of all commands."""
    for name in commands:
        yield from dict(settable(command_of(name)))


def check_all(file: SettingsFile, commands: Sequence[str], command_of: CommandOf) -> None:
    """Raise DtpolyError if the file has anything wrong for any command."""
    for name in commands:
        settings_of(file, name, commands, command_of)


def unknown_variables(
    environment: Iterable[str],
    others: Iterable[str],
    commands: Iterable[str],
    command_of: CommandOf,
) -> dict[str, str]:
    """Return the variables that look like settings and mean nothing, each with a near name."""
    known = {*others}
    for name in commands:
        known.update(variable(name, key) for key, _ in settable(command_of(name)))
    return {
        one: near(one, sorted(known)) or ""
        for one in sorted(environment)
        if one.startswith("DTPOLY_") and one not in known
    }


def _short(path: Path) -> str:
    """Return a path from the present folder if that is shorter."""
    try:
        return min(os.path.relpath(path), str(path), key=len)
    except ValueError:  # it is on another drive
        return str(path)


def _unreadable(name: str, why: str, hint: str) -> DtpolyError:
    title = f"the settings file '{name}' cannot be read"
    told = Diagnostic(UNREADABLE, Severity.ERROR, title, None, notes=(Note(why),), hint=hint)
    return DtpolyError([told])


def _no_toml(source: Source, why: str) -> DtpolyError:
    what, span = wrong_span(source, why)
    hint = "mend the line; https://toml.io says how TOML is written"
    title = "a settings file is not TOML"
    return DtpolyError([Diagnostic(UNREADABLE, Severity.ERROR, title, span, what, hint=hint)])


def _unknown(
    file: SettingsFile, keys: tuple[str, ...], known: Iterable[str], of: str = "any command"
) -> DtpolyError:
    key = keys[-1]
    names = sorted(dict.fromkeys(known))
    meant = near(key, names)
    is_table = isinstance(file.table.get(key), Mapping) and len(keys) == 1
    place = table_span if is_table else key_span
    span = place(file.source, (*file.head, *keys))
    title = f"there is no setting '{key}'"
    label = "no command has this name" if is_table else f"no option of {of} that can be set"
    hint = f"did you mean '{meant}'?" if meant else f"there are {', '.join(names)}"
    notes = () if span is not None else (Note(f"{label}, in '{file.source.name}'"),)
    return DtpolyError([Diagnostic(UNKNOWN, Severity.ERROR, title, span, label, notes, hint)])


def _wrong(source: Source, keys: tuple[str, ...], why: str, hint: str) -> DtpolyError:
    title = f"the setting '{keys[-1]}' has a wrong value"
    span = key_span(source, keys) or table_span(source, keys)
    notes = () if span is not None else (Note(f"{why}, in '{source.name}'"),)
    return DtpolyError([Diagnostic(WRONG_VALUE, Severity.ERROR, title, span, why, notes, hint)])
