"""Has .dt files to begin with, for `dtpoly new`: each is the example of the same name.

A template is a file of this folder. Its first comment says in a sentence what it computes.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
ENDING = ".dt"


def template_names() -> tuple[str, ...]:
    """Return the names of all templates, in the order of the alphabet."""
    return tuple(sorted(path.stem for path in FOLDER.glob(f"*{ENDING}")))


def template_text(name: str) -> str:
    """Return the text of a template that there is."""
    return (FOLDER / f"{name}{ENDING}").read_text(encoding="utf-8")


def template_about(name: str) -> str:
    """Return the first paragraph of a template's first comment, in one line."""
    words: list[str] = []
    for line in template_text(name).splitlines():
        if not line.removeprefix("#").strip() or not line.startswith("#"):
            break
        words.extend(line.removeprefix("#").split())
    return " ".join(words)
