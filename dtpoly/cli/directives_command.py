"""Implements `dtpoly directives [NAME]`, which says what each directive of a schedule means.

All of it comes from the file of the directive: its parameters, its docstring, and its part of the
reference, from which docs/language.md is made, too.
"""

import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from inspect import cleandoc

import click
from click.shell_completion import CompletionItem

from dtpoly.cli.lazy import load
from dtpoly.cli.output import report, terminal_width, wants_colour, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.plugins import load_installed
from dtpoly.python_places import file_of
from dtpoly.render.printable import printable
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.explained_directives import meaning
from dtpoly.schedule.foreign import is_foreign
from dtpoly.schedule.primitive import Primitive, signatures
from dtpoly.suggest import near

VERSION = 1  # of the JSON document
HEAD = ("directive", "what it does")
WIDTH = 80  # where there is no terminal
INDENT = "  "


def complete_names(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of one of dtpoly's own directives."""
    return [CompletionItem(one.name) for one in DIRECTIVES if one.name.startswith(incomplete)]


@click.command(
    short_help="Say what directives there are, and what each means.",
    epilog="""\b
Examples:
  dtpoly directives block
  dtpoly directives
  dtpoly directives skew --plugin skew.py
  dtpoly directives --json""",
)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=complete_names)
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(name: str | None, primitives: Primitives, as_json: bool) -> int:
    """List all directives, or say what a single one means and how it is written.

    The directives of plugins and of installed packages are listed, too. What a directive does in
    your file is said by `dtpoly explain FILE`.
    """
    installed = load_installed(primitives)
    every = (*primitives, *installed.primitives)
    asked = every if name is None else (_named(name, every),)
    if installed.found:
        # A package that is broken is in nobody's way.
        report(installed.found, sys.stderr)
    if as_json:
        data = [_data(one) for one in asked]
        write(json.dumps({"version": VERSION, "directives": data}, indent=2) + "\n")
    elif name is None:
        table: Callable[..., str] = load("dtpoly.render.text_table").table
        colour = wants_colour(sys.stdout, os.environ)
        rows = [(signatures(one)[-1], _summary(one)) for one in every]
        write(table(HEAD, rows, terminal_width(sys.stdout), colour=colour))
    else:
        width = min(terminal_width(sys.stdout) or WIDTH, WIDTH)
        lines = "\n\n".join(_parts(asked[0], width)).split("\n")
        write("".join(f"{printable(line)}\n" for line in lines))
    return 0


def _named(name: str, every: Primitives) -> type[Primitive]:
    """Return the directive of that name, or of that name in another language."""
    known = {word: cls for cls in every for word in (cls.name, *cls.aliases)}
    elsewhere = {word: cls for cls in every for word in cls.elsewhere}
    found = known.get(name) or elsewhere.get(name)
    if found is None:
        meant = near(name, (*known, *elsewhere))
        hint = f"did you mean '{meant}'?" if meant else "`dtpoly directives` lists all"
        raise click.BadParameter(f"there is no directive '{name}'; {hint}", param_hint="NAME")
    return found


def _summary(cls: type[Primitive]) -> str:
    """Return its meaning in a line, which a user's own directive may lack."""
    rows = cls.reference.rows
    return meaning(cls) or (_without_marks(rows[0].meaning) if rows else "")


def _rule(cls: type[Primitive]) -> str:
    """Return what stands in its docstring below the first line."""
    text = cleandoc(cls.__doc__ or "") if meaning(cls) else ""
    return text.partition("\n")[2].strip("\n")


def _parts(cls: type[Primitive], width: int) -> Iterator[str]:
    """Yield the paragraphs that say all about a directive."""
    yield "\n".join(signatures(cls))
    if _summary(cls):
        yield "\n".join(textwrap.wrap(_summary(cls), width))
    if _rule(cls):
        yield _rule(cls)
    if cls.reference.rows:
        yield "\n".join(("Examples:", *_examples(cls, width)))
    if cls.reference.paragraph:
        text = _without_marks(cls.reference.paragraph)
        yield textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    if names := "\n".join(_names(cls)):
        yield names


def _examples(cls: type[Primitive], width: int) -> Iterator[str]:
    for row in cls.reference.rows:
        yield f"{INDENT}{' '.join(row.examples)}"
        indent = INDENT * 3
        text = _without_marks(row.meaning)
        yield textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


def _names(cls: type[Primitive]) -> Iterator[str]:
    """Yield what else it is called, and where it comes from."""
    if cls.aliases:
        yield f"Also written: {', '.join(cls.aliases)}."
    if cls.elsewhere:
        yield f"Called in other languages: {', '.join(cls.elsewhere)}."
    if is_foreign(cls):
        yield f"Defined in: {file_of(cls)}."


def _without_marks(text: str) -> str:
    """Return a text of the reference without what Markdown needs for emphasis."""
    return re.sub(r"\*\*(?:\+\*\* )?", "", text)


def _data(cls: type[Primitive]) -> dict[str, object]:
    """Return a directive as data for JSON; texts of the reference stay Markdown."""
    own = cls.reference
    return {
        "name": cls.name,
        "aliases": [*cls.aliases],
        "elsewhere": [*cls.elsewhere],
        "forms": [*signatures(cls)],
        "summary": _summary(cls),
        "rule": _rule(cls),
        "examples": [{"texts": [*one.examples], "meaning": one.meaning} for one in own.rows],
        "paragraph": own.paragraph,
        "is_extension": own.is_extension,
        "defined_in": str(file_of(cls)) if is_foreign(cls) else None,
    }
