"""Has the form of what the reference of the language says of a directive."""

from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """Ways to write a directive, and what they mean."""

    examples: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Rows of the table of directives, and a paragraph below a heading; both are in Markdown.

    What is not in the thesis that the language comes from is an extension.
    """

    rows: tuple[ReferenceRow, ...] = ()
    heading: str = ""
    paragraph: str = ""
    is_extension: bool = True
