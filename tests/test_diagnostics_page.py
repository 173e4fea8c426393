"""docs/diagnostics.md is what the catalogue and the examples say; --update-golden rewrites it."""

import re
import textwrap
from collections.abc import Iterator

from dtpoly.catalogue import CATALOGUE
from dtpoly.render.diagnostic_text import plain, render_one
from tests.conftest import Golden
from tests.diagnostic_examples import Example, examples

GROUPS = {
    "DT100": "Reading and syntax",
    "DT120": "Names and indices",
    "DT140": "Shapes and reductions",
    "DT150": "Calls and arguments",
    "DT160": "Dtypes",
    "DT170": "Sizes",
    "DT175": "The whole file",
    "DT180": "Directives",
    "DT200": "Legality",
    "DT220": "Primitives of one's own",
    "DT240": "Spaces of schedules",
    "DT270": "Gradients",
    "DT300": "Generated code",
    "DT330": "Installation and settings",
}

INTRODUCTION = """\
# Diagnostics

Everything that dtpoly has to say about an input has a code. A code stands for one kind of mistake,
and keeps it in every version. An *error* makes the input wrong; a *warning* and a *note* do not.

Each entry shows an input, the message, and the remedy; then further messages of the same kind.

<!-- Written by `pytest tests/test_diagnostics_page.py --update-golden`. -->
"""


def page() -> str:
    """The whole page."""
    return "\n".join((INTRODUCTION, *_contents(), *_entries()))


def pages() -> str:
    """The entries alone, which are installed with the package for `dtpoly explain CODE`."""
    return "\n".join(part for part in _entries() if not part.startswith("\n## "))


def _contents() -> Iterator[str]:
    for code, entry in CATALOGUE.items():
        if code in GROUPS:
            yield f"\n**{GROUPS[code]}**\n"
        yield f"- [{code}](#{code.lower()}) {entry.title}"
    yield ""


def _entries() -> Iterator[str]:
    for code, entry in CATALOGUE.items():
        if code in GROUPS:
            yield f"\n## {GROUPS[code]}\n"
        first, *others = [example for example in examples() if example.code == code]
        severity = next(d.severity for d in first.diagnostics if d.code == code)
        yield f"### {code}\n"
        yield f"**{entry.title[0].upper()}{entry.title[1:]}** ({severity})\n"
        if first.text:
            yield _fenced("dt", first.text)
        if first.call:
            yield _fenced("python", first.call)
        yield _fenced("text", _messages(first))
        yield _wrapped(f"*Remedy.* {entry.remedy}")
        if others:
            yield _fenced("text", "\n".join(map(_messages, others)))


def _wrapped(text: str) -> str:
    """Wrap a paragraph; no line begins with an operator, which would be the mark of a list."""
    kept = re.sub(r" (?=[-+*>#] )", "\0", text)
    lines = textwrap.wrap(kept, 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ") + "\n"


def _messages(example: Example) -> str:
    """Return what was said of an example, with a blank line between two messages."""
    return "\n".join(plain(render_one(d)) for d in example.diagnostics)


def _fenced(language: str, text: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def test_page(golden: Golden) -> None:
    golden("../../docs/diagnostics.md", page())


def test_installed_pages(golden: Golden) -> None:
    golden("../../dtpoly/catalogue/pages.md", pages())
