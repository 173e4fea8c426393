"""Writes what a release needs besides its packages: its part of the changelog, and checksums.

`python .github/release_files.py notes v1.2.3 -o notes.md` refuses a tag that is not the version of
the sources, or that the changelog does not know. `... checksums dist -o SHA256SUMS` writes a line
for each file, which `sha256sum --check` reads. Both need only the standard library.
"""

import argparse
import hashlib
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = re.compile(r"^## \[?v?([0-9][^\s\]]*)\]?.*$", re.MULTILINE)


class ReleaseError(Exception):
    """Raised if the sources are not those of the release."""


def notes(tag: str, root: Path = ROOT) -> str:
    """Return what the changelog says of a tag such as v1.2.3. Raises ReleaseError."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    version = project["project"]["version"]
    if tag != f"v{version}":
        raise ReleaseError(f"the tag is {tag}, but pyproject.toml has version {version}")
    module = (root / "dtpoly" / "__init__.py").read_text(encoding="utf-8")
    if f'__version__ = "{version}"' not in module:
        raise ReleaseError(f"dtpoly/__init__.py has another version than {version}")
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = [*HEAD.finditer(text)]
    for one in heads:
        if one[1] == version:
            end = re.compile(r"^## ", re.MULTILINE).search(text, one.end())
            return text[one.end() : end.start() if end else len(text)].strip() + "\n"
    raise ReleaseError(f"CHANGELOG.md has no part '## {version}': rename 'Unreleased' to it")


def checksums(folder: Path) -> str:
    """Return a line for each file of a folder: its SHA-256, two blanks, and its path."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if not files:
        raise ReleaseError(f"there is no file in {folder}")
    lines = (f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.as_posix()}" for one in files)
    return "".join(f"{line}\n" for line in lines)


def main(arguments: list[str]) -> int:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["notes", "checksums"])
    parser.add_argument("of", help="a tag such as v1.2.3, or a folder")
    parser.add_argument("-o", dest="output", type=Path, required=True, help="the file to write")
    asked = parser.parse_args(arguments)
    try:
        text = notes(asked.of) if asked.what == "notes" else checksums(Path(asked.of))
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    asked.output.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
