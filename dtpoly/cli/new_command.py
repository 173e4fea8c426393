"""Implements `dtpoly new [NAME]`, which writes a .dt file to begin with."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from dtpoly.cli.file_arguments import complete_files
from dtpoly.cli.lazy import load
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.saving import save
from dtpoly.suggest import near
from dtpoly.templates import ENDING, template_about, template_names, template_text

VERSION = 1  # of the JSON document
HEAD = ("template", "what it computes")
STANDARD_OUTPUT = "-"


def complete_templates(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a template."""
    return [CompletionItem(name) for name in template_names() if name.startswith(incomplete)]


@click.command(
    short_help="Write a file to begin with.",
    epilog="""\b
Examples:
  dtpoly new
  dtpoly new softmax
  dtpoly new flash_attention -o kernels/attention.dt
  dtpoly new layer_norm -o -""",
)
@click.argument("name", metavar="[TEMPLATE]", required=False, shell_complete=complete_templates)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="The file to write; - is standard output.  [default: TEMPLATE.dt]",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(name: str | None, output: str | None, as_json: bool) -> int:
    """Write an algorithm with a schedule that is legal and proved, as a place to begin.

    Without a name, the templates are listed. A file that is there is never replaced.
    """
    if name is None:
        if output is not None:
            raise click.UsageError("say which template -o shall be written from")
        _list(as_json)
        return 0
    if name not in template_names():
        raise click.BadParameter(
            f"there is no template '{name}'{_meant(name)}", param_hint="TEMPLATE"
        )
    text = template_text(name)
    if output == STANDARD_OUTPUT:
        if as_json:
            raise click.UsageError("--json and '-o -' both print something: say one of both")
        write(text)
        return 0
    path = Path(output or f"{name}{ENDING}")
    if path.exists() or path.is_symlink():
        raise click.UsageError(f"'{path}' is there already; name another file with -o")
    if not save(path, text.encode()):
        return 1
    steps = [f"dtpoly {command} {path}" for command in ("check", "explain", "compile")]
    if as_json:
        document = {"version": VERSION, "template": name, "file": str(path), "next": steps}
        write(json.dumps(document, indent=2) + "\n")
    else:
        write("".join(f"{step}\n" for step in ("next:", *(f"  {one}" for one in steps))))
    return 0


def _list(as_json: bool) -> None:
    """Print the templates with what they compute."""
    found = {name: template_about(name) for name in template_names()}
    if as_json:
        listed = [{"name": name, "about": about} for name, about in found.items()]
        write(json.dumps({"version": VERSION, "templates": listed}, indent=2) + "\n")
        return
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    colour = wants_colour(sys.stdout, os.environ)
    write(table(HEAD, list(found.items()), terminal_width(sys.stdout), colour=colour))


def _meant(name: str) -> str:
    """Return the templates that a user may mean: those with the word in them, or a near one."""
    known = template_names()
    within = [one for one in known if name.lower() in one]
    meant = within or [one for one in [near(name, known)] if one is not None]
    if not meant:
        return f"; there are {', '.join(known)}"
    return f"; did you mean {_either(meant)}?"


def _either(names: Iterable[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)
