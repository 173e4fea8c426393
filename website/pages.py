"""Makes the pages of the website that are not in docs/: the first page, examples, and their list.

mkdocs calls `on_files` and `on_page_markdown`, since mkdocs.yml names this file. All other
functions are about texts alone, so that tests need no mkdocs.
"""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# What stands behind the language of a block is for the tests of the pages.
FENCE = re.compile(r"^(\s*```\w+) [^\n]*$", re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)]*)?(\))")
OWN_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
GALLERY = "gallery.md"
MEASURED = "benchmarks/results/kernels_h200.json"
EXAMPLES = (".dt", ".dts", ".py")
GALLERY_WORDS = """\
Each `.dt` file has an algorithm and a schedule, compiles as it is, and is proved. The speed is the
time of the best peer over ours in one run on an H200, from the worst to the best of the shapes that
were measured: above 1 ours is faster. [Performance](performance.md) has all rows, and says who the
peers are."""


def page_of(path: str) -> str | None:
    """Return the address in the website of a file of the repository; None if it is not there."""
    file = ROOT / path
    if path in OWN_PAGES:
        return OWN_PAGES[path]
    if path == "examples" or (path.startswith("examples/") and file.is_dir()):
        return GALLERY
    if path.startswith("examples/") and file.suffix in EXAMPLES and file.is_file():
        return f"{path}.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if file.is_file() else None


def as_page(text: str, path: str) -> str:
    """Return the text of a page of the repository as the website has it: links, and blocks."""
    page = page_of(path) or path

    def linked(found: re.Match[str]) -> str:
        target, at = found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        place = page_of(file)
        if place is None:
            return found[0]
        return f"{found[1]}{posixpath.relpath(place, posixpath.dirname(page) or '.')}{at}{found[4]}"

    return LINK.sub(linked, FENCE.sub(r"\1", text))


def examples() -> tuple[str, ...]:
    """Return all examples, as paths of the repository."""
    folder = ROOT / "examples"
    found = (one for one in folder.rglob("*") if one.suffix in EXAMPLES and one.is_file())
    return tuple(sorted(one.relative_to(ROOT).as_posix() for one in found))


def example_page(path: str) -> str:
    """Return the page of an example: what its first comment says, and the file."""
    text = (ROOT / path).read_text()
    language = "python" if path.endswith(".py") else "dtpoly"
    name = path.removeprefix("examples/")
    how = "" if path.endswith(".py") else f"\n```sh\ndtpoly explain {path}\n```\n"
    return f"# {name}\n\n{about(path)}\n\n```{language}\n{text}```\n{how}"


def about(path: str) -> str:
    """Return the first paragraph of the first comment of an example, or of its docstring."""
    text = (ROOT / path).read_text()
    if path.endswith(".py"):
        return text.split('"""')[1].split("\n\n")[0].replace("\n", " ").strip()
    lines = list[str]()
    for line in text.splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines)


def ratios() -> Mapping[str, tuple[float, float]]:
    """Return the least and the largest ratio of the best peer's time to that of an example.

    Each row of the table was measured in one run. It also has texts that are no examples.
    """
    measured: dict[str, Any] = json.loads((ROOT / MEASURED).read_text())
    texts = ((one["name"], one["source"]) for one in measured["texts"])
    sources = {name: file for name, file in texts if (ROOT / "examples" / file).is_file()}
    found = dict[str, list[float]]()
    for row in measured["rows"]:
        timed = [one for one in row["times"] if one["median"] and not one["failure"]]
        peers = [one["median"] for one in timed if one["kind"] == "peer" and not one["is_unfit"]]
        for one in timed:
            if one["kind"] == "ours" and one["name"] in sources and peers:
                ratio = min(peers) / one["median"]
                found.setdefault(sources[one["name"]], []).append(ratio)
    return {name: (min(every), max(every)) for name, every in found.items()}


def gallery() -> str:
    """Return the page that lists all examples."""
    lines = [
        "# Gallery",
        "",
        GALLERY_WORDS,
        "",
        "| example | what it is | speed |",
        "|---|---|---|",
    ]
    measured = ratios()
    for path in examples():
        name, what = path.removeprefix("examples/"), about(path).replace("|", "\\|")
        least, most = measured.get(name, (None, None))
        speed = "" if least is None else f"{least:.2f} to {most:.2f}"
        lines.append(f"| [`{name}`]({path}.md) | {what} | {speed} |")
    return "\n".join(lines) + "\n"


def made_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages that no file of docs/ is: address and text."""
    for path, page in OWN_PAGES.items():
        yield page, as_page((ROOT / path).read_text(), path)
    yield GALLERY, gallery()
    for path in examples():
        yield f"{path}.md", example_page(path)


def copied_files() -> Iterator[str]:
    """Yield the files that pages link to, which are shown as they are."""
    named = ((file.read_text(), f"docs/{file.name}") for file in sorted(DOCS.glob("*.md")))
    own = (((ROOT / path).read_text(), path) for path in OWN_PAGES)
    found = set[str]()
    for text, path in (*named, *own):
        for link in LINK.finditer(text):
            file = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))
            if page_of(file) == file and not file.startswith("docs/"):
                found.add(file)
    yield from sorted(found)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made, and the files that pages link to."""
    made: Any = import_module("mkdocs.structure.files").File.generated
    for page, text in made_pages():
        files.append(made(config, page, content=text))
    for path in copied_files():
        files.append(made(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Change the text of a page of docs/ to that of the website."""
    path = f"docs/{page.file.src_uri}"
    return as_page(markdown, path) if (ROOT / path).is_file() else markdown
