"""Reads the page of a code, as docs/diagnostics.md has it: an example, its message, the remedy.

The pages lie beside this module, because the documentation is not installed.
`pytest tests/test_diagnostics_page.py --update-golden` writes both.
"""

from pathlib import Path

PAGES = Path(__file__).parent / "pages.md"


def page_of(code: str) -> str:
    """Return the Markdown below the heading of a code."""
    text = PAGES.read_text(encoding="utf-8")
    _, _, rest = f"\n{text}".partition(f"\n### {code}\n")
    return rest.partition("\n### ")[0].strip() + "\n"
