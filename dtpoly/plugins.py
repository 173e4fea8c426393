"""Loads the primitives that users define in Python files and installed packages.

A plugin is either a file that is named (`--plugin skew.py`) or a package with an entry point in
the group `dtpoly.primitives`, whose value is a primitive or a tuple of them.
"""

import contextlib
import importlib
import linecache
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard, cast

import dtpoly.plugin_messages as messages
from dtpoly.algorithm.program import Directive
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frozen import dataclass
from dtpoly.python_places import raised_at
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.vet import vet

GROUP = "dtpoly.primitives"
LOADED = "<plugin "  # begins the name of a module that was made of a plugin's file


@dataclass(frozen=True, slots=True)
class Loaded:
    """Primitives, and what is wrong with others that could not be loaded."""

    primitives: Primitives
    found: tuple[Diagnostic, ...] = ()


def with_plugins(
    plugins: Iterable[str | Path | type[Primitive]], primitives: Primitives = DIRECTIVES
) -> Primitives:
    """Return the primitives and those of plugins: files, or classes. Raises DtpolyError."""
    found: list[Diagnostic] = []
    more: list[type[Primitive]] = []
    for plugin in dict.fromkeys(p if isinstance(p, type) else str(p) for p in plugins):
        if isinstance(plugin, type):
            more.append(plugin)
            continue
        try:
            more.extend(load_file(plugin))
        except DtpolyError as error:
            found.extend(error.diagnostics)
    found.extend(vet(more, primitives))
    if found:
        raise DtpolyError(found)
    return (*primitives, *more)


def load_file(path: str) -> Primitives:
    """Return the primitives that a Python file defines. Raises DtpolyError.

    The file is run; what it prints goes to standard error.
    """
    try:
        if Path(path).is_fifo():
            raise ValueError("it is a pipe, and a plugin is read again for messages about it")
        # No message shows what is in a file that no plugin is, to which somebody made a link.
        if os.path.islink(path) and not os.path.realpath(path).endswith(".py"):
            raise ValueError("it is a link to a file whose name does not end in '.py'")
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DtpolyError([messages.unreadable(path, reason)]) from None
    linecache.checkcache(path)
    try:
        code = compile(data, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise DtpolyError([messages.no_python(path, error)]) from None
    module = ModuleType(f"{LOADED}{path}>")
    module.__file__ = path
    # A dataclass looks its module up there while it is made.
    sys.modules[module.__name__] = module
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(code, vars(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A user's code may raise anything.
        span = raised_at(error, module.__name__)
        raise DtpolyError([messages.fails(path, error, span)]) from None
    found = _defined_in(module)
    if not found:
        raise DtpolyError([messages.nothing_in(path, module)])
    return found


def _defined_in(module: ModuleType) -> Primitives:
    """Return the primitives of a module in their order, without those called `_Name`."""
    classes = dict.fromkeys(
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    )
    return tuple(
        cls for cls in classes if issubclass(cls, Primitive) and not cls.__name__.startswith("_")
    )


@dataclass(frozen=True, slots=True)
class InFile:
    """A primitive that a plugin's file defines: no module that another process could import."""

    path: str
    name: str


def portable(primitives: Primitives) -> tuple[type[Primitive] | InFile, ...]:
    """Return the directives that are not dtpoly's own, in a form that another process can load."""
    return tuple(
        InFile(os.path.abspath(cls.__module__[len(LOADED) : -1]), cls.__qualname__)
        if cls.__module__.startswith(LOADED)
        else cls
        for cls in primitives
        if cls not in DIRECTIVES
    )


def from_portable(found: Iterable[type[Primitive] | InFile]) -> Primitives:
    """Return the primitives that `portable` was given. Raises DtpolyError.

    A file that this process has loaded is not run again, so that its classes stay what they are.
    """
    classes: list[type[Primitive]] = []
    for one in found:
        if isinstance(one, InFile):
            known = _loaded_from(one.path) or load_file(one.path)
            classes.extend(cls for cls in known if cls.__qualname__ == one.name)
        else:
            classes.append(one)
    return (*DIRECTIVES, *classes)


def _loaded_from(path: str) -> Primitives:
    """Return the primitives that this process has loaded from a file, by any of its names."""
    for name, module in [*sys.modules.items()]:
        if name.startswith(LOADED) and os.path.abspath(name[len(LOADED) : -1]) == path:
            return _defined_in(module)
    return ()


def completed(directives: Iterable[Directive], primitives: Primitives) -> Loaded:
    """Return the primitives; those of installed packages too, if a directive is none of the others.

    So a broken package is in nobody's way, and a file that needs none is not slowed down.
    """
    wanted = {directive.name for directive in directives}
    if wanted <= _words(primitives):
        return Loaded(primitives)
    installed = load_installed(primitives)
    every = (*primitives, *installed.primitives)
    return Loaded(every, () if wanted <= _words(every) else installed.found)


def _words(primitives: Primitives) -> set[str]:
    return {word for cls in primitives for word in (cls.name, *cls.aliases)}


def load_installed(known: Primitives = DIRECTIVES) -> Loaded:
    """Load the primitives of installed packages; names that are known keep their meaning."""
    metadata: Any = importlib.import_module("importlib.metadata")  # takes 40 ms
    points: list[Any] = list(metadata.entry_points(group=GROUP))
    good: list[type[Primitive]] = []
    found: list[Diagnostic] = []
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                value: object = point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # A user's code may raise anything.
            span = raised_at(error, str(point.module))
            found.append(messages.fails(messages.called(point), error, span))
            continue
        items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        for cls in items:
            if not _is_primitive(cls):
                found.append(messages.no_primitive(point, cls))
            elif cls not in (*known, *good):
                wrong = list(vet([cls], [*known, *good]))
                found.extend(wrong)
                good.extend(() if wrong else (cls,))
    return Loaded(tuple(good), tuple(found))


def _is_primitive(value: object) -> TypeGuard[type[Primitive]]:
    return isinstance(value, type) and issubclass(value, Primitive)
