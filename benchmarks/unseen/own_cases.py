"""Reads operators that a user wrote as cases: `.dt` files, which say their sizes in comments."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import click

from benchmarks.unseen.cases import Case
from benchmarks.unseen.drawing import TINY, Draw, Drawn
from dtpoly.algorithm.dtypes import DType
from dtpoly.diagnostics import Severity, has_errors
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source

# What a file may say of its case. `sizes` is needed; the others are as in the drawn lists.
WORDS = ("sizes", "dtype", "filling", "library", "precision", "multiples", "shorter")
MARK = "#"


def own_cases(folder: Path) -> Iterator[Case]:
    """Yield a case for each `.dt` file of a folder. Raises ClickException where one is wrong."""
    files = sorted(folder.glob("*.dt"))
    if not files:
        raise click.ClickException(f"{folder} has no .dt files")
    for path in files:
        yield _case(path)


def _case(path: Path) -> Case:
    said: dict[str, list[str]] = {}
    written = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in written:
        word, colon, value = line.removeprefix(MARK).strip().partition(":")
        if line.startswith(MARK) and colon and word in WORDS:
            said.setdefault(word, []).append(value.strip())
    if "sizes" not in said:
        raise click.ClickException(
            f"{path} says no sizes: begin it with a line such as `# sizes: m=4096 k=1024`"
        )
    text = "\n".join(line for line in written if not line.startswith(MARK) and line.strip())
    drawn = Drawn(
        text,
        _numbers(path, said["sizes"]),
        multiples=_numbers(path, said.get("multiples", [])),
        fillings=dict(_pair(path, one) for one in said.get("filling", [])),
        library=_last(said, "library", ""),
        precision=_last(said, "precision", ""),
        shorter=dict(_shorter(path, one) for one in said.get("shorter", [])),
    )
    _read(path, text)
    dtype = _last(said, "dtype", DType.F32)
    if dtype not in {*DType}:
        raise click.ClickException(f"{path}: `{dtype}` is no dtype; there are {', '.join(DType)}")
    draw = Draw(Random(path.stem))
    tiny = {
        label: min(size, drawn.multiples.get(label, 1) * draw.one(*TINY))
        for label, size in drawn.sizes.items()
    }
    return Case(path.stem, path.stem, False, drawn, dtype, tiny, {})


def _read(path: Path, text: str) -> None:
    """Raise ClickException with the first diagnostic where the algorithm is none."""
    parsed = parse(Source(path.name, text + "\n"))
    found = (*parsed.found, *resolve(parsed.file).found)
    if has_errors(found):
        first = next(one for one in found if one.severity is Severity.ERROR)
        raise click.ClickException(f"{path}: {first.code}: {first.title}")


def _last(said: Mapping[str, list[str]], word: str, otherwise: str) -> str:
    return said.get(word, [otherwise])[-1]


def _numbers(path: Path, lines: list[str]) -> dict[str, int]:
    """Read `m=4096 k=1024`."""
    found: dict[str, int] = {}
    for one in " ".join(lines).split():
        label, _, number = one.partition("=")
        if not number.isdigit():
            raise click.ClickException(f"{path}: `{one}` is no size; write it as `m=4096`")
        found[label] = int(number)
    return found


def _pair(path: Path, line: str) -> tuple[str, str]:
    """Read `ptr offsets e`: an input, and how it is filled."""
    name, _, how = line.partition(" ")
    if not how:
        raise click.ClickException(f"{path}: `{line}` does not say how {name} is filled")
    return name, how


def _shorter(path: Path, line: str) -> tuple[str, tuple[int, ...]]:
    """Read `X 0 2`: by how much each axis of an input is shorter than what is read of it."""
    name, *less = line.split()
    if not less or not all(one.isdigit() for one in less):
        raise click.ClickException(f"{path}: `{line}` does not say a number for each axis")
    return name, tuple(map(int, less))
