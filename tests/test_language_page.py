"""The directives in docs/language.md: what each of them says of itself in its own file."""

import textwrap
from collections.abc import Iterable, Iterator

from dtpoly.checking import check
from dtpoly.diagnostics import Severity
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.reference import Reference
from dtpoly.source import Source
from tests.conftest import Published

WIDTH = 100
REFERENCES = tuple(one.reference for one in DIRECTIVES)
ALGORITHM = """
Func f, g; In A, B; Var m, n, x, y, r, s; RVar k;
g[x] = A[x]; f[x] = g[x];
"""


def rows(of: Iterable[Reference]) -> Iterator[str]:
    """The rows of the table; they lead to the paragraphs that say more."""
    for one in of:
        more = f". [More](#{one.heading.lower().replace(' ', '-')})" if one.heading else ""
        mark = "**+** " if one.is_extension else ""
        for row in one.rows:
            examples = " ".join(f"`{example}`" for example in row.examples)
            yield f"| {mark}{examples} | {row.meaning}{more} |\n"


def sections(of: Iterable[Reference]) -> Iterator[str]:
    """The paragraphs under their headings, in the order of the first directives below these."""
    found: dict[str, list[str]] = {}
    for one in of:
        if one.heading:
            found.setdefault(one.heading, [f"### {one.heading}"]).append(wrapped(one.paragraph))
    yield from ("\n\n".join(parts) for parts in found.values())


def wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def test_table(published: Published) -> None:
    head = "| directive | meaning |\n|---|---|\n"
    published("language.md", "directives", head + "".join(rows(REFERENCES)))


def test_paragraphs(published: Published) -> None:
    published("language.md", "paragraphs", "\n\n".join(sections(REFERENCES)) + "\n")


def test_every_directive_has_an_example_of_itself() -> None:
    for cls in DIRECTIVES:
        examples = [example for row in cls.reference.rows for example in row.examples]
        assert examples
        for example in examples:
            func, _, rest = example.partition(".")
            assert (func in ("f", "g"), rest.partition("(")[0]) == (True, cls.name)
            found = check(Source("t.dt", ALGORITHM + example)).diagnostics
            # Errors before DT185 are about the text, its names, and kinds of arguments.
            errors = [one for one in found if one.severity is Severity.ERROR]
            assert all(one.code >= "DT185" for one in errors), (example, errors)


def test_a_paragraph_has_a_heading() -> None:
    assert all(bool(one.heading) == bool(one.paragraph) for one in REFERENCES)
