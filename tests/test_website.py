"""The website has a page for each page of docs/ and for each example, and its links lead there."""

import posixpath
import re
from pathlib import Path

import pytest

from website.pages import (
    DOCS,
    LINK,
    OWN_PAGES,
    as_page,
    copied_files,
    example_page,
    examples,
    gallery,
    made_pages,
    page_of,
    ratios,
)

ROOT = DOCS.parent
NAVIGATION = (ROOT / "mkdocs.yml").read_text()
PAGES = sorted(file.name for file in DOCS.glob("*.md"))
FOLDERS = "dtpoly/", "benchmarks/", "tests/", "docs/"


@pytest.mark.parametrize("name", PAGES)
def test_each_page_is_in_the_navigation(name: str) -> None:
    assert re.search(rf": {re.escape(name)}$", NAVIGATION, re.MULTILINE)


@pytest.mark.parametrize("path", [*(f"docs/{name}" for name in PAGES), *OWN_PAGES])
def test_links_lead_to_pages_of_the_website(path: str) -> None:
    text = as_page((ROOT / path).read_text(), path)
    known = {*PAGES, *copied_files(), *(page for page, _ in made_pages())}
    known |= {f"images/{file.name}" for file in (DOCS / "images").iterdir()}
    here = page_of(path) or ""
    for found in LINK.finditer(text):
        if "://" not in found[2]:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(here), found[2]))
            file = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[2]))
            assert place in known or (ROOT / file).is_dir() or file.startswith(FOLDERS), place


def test_words_for_the_tests_are_left_out() -> None:
    text = "a\n\n```dt note DT174\nFunc f;\n```\n\n- b\n\n  ```sh slow\n  ls\n  ```\n"
    assert as_page(text, "docs/x.md") == text.replace(" note DT174", "").replace(" slow", "")


def test_links_are_those_of_the_place_of_a_page() -> None:
    text = (
        "[a](../examples/softmax.dt) [b](language.md#a-file) [c](../README.md) [d](https://x.y/z)"
    )
    assert as_page(text, "docs/x.md") == (
        "[a](examples/softmax.dt.md) [b](language.md#a-file) [c](index.md) [d](https://x.y/z)"
    )
    assert as_page("[e](docs/proofs.md)", "README.md") == "[e](proofs.md)"


def test_the_gallery_has_all_examples_and_what_was_measured() -> None:
    page, every = gallery(), examples()
    assert {"examples/softmax.dt", "examples/attentions/alibi.dt"} <= {*every}
    assert all(f"({path}.md)" in page for path in every)
    measured = ratios()
    assert {"softmax.dt", "matmul.dt"} <= {*measured}
    assert all(0 < least <= most for least, most in measured.values())
    assert min(least for least, _ in measured.values()) < 1  # losses are shown, too
    for name, (least, most) in measured.items():
        (row,) = (line for line in page.splitlines() if line.startswith(f"| [`{name}`]"))
        assert row.endswith(f"| {least:.2f} to {most:.2f} |")


def test_the_page_of_an_example_has_its_text() -> None:
    text = Path(ROOT / "examples/softmax.dt").read_text()
    page = example_page("examples/softmax.dt")
    assert f"```dtpoly\n{text}```" in page
    assert page.startswith("# softmax.dt\n\nSoftmax of each row of a matrix")
