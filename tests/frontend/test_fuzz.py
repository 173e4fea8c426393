"""Tests that any input gets an answer soon, and no exception but DtpolyError."""

import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.pace import is_kept_once
from dtpoly.algorithm.show import show
from dtpoly.checking import check
from dtpoly.diagnostics import Diagnostic, DtpolyError, apply_edits, has_errors
from dtpoly.frontend.format import format_source
from dtpoly.frontend.reading import decode
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.source import Source
from tests.generation.algorithms import Limits
from tests.generation.choice import Choose, pick, seeded
from tests.generation.mutations import mutated, random_bytes
from tests.generation.schedules import program

THESIS = tuple(
    path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parents[1] / "data" / "thesis").glob("*.dt"))
)
CODE = re.compile(r"DT[12]\d\d")
SECONDS = 2.0  # of processor time, so that a busy machine does not count; proofs included

CHUNKS = 3
CHUNK = 100
LONG_CHUNKS = 11
LONG_CHUNK = 1_000


def diagnose(data: bytes) -> tuple[Source, tuple[Diagnostic, ...]]:
    """Return what the CLI would say of a file with these bytes."""
    try:
        source = decode("fuzz.dt", data)
    except DtpolyError as error:
        return Source("fuzz.dt", ""), error.diagnostics
    checked = check(source)
    assert (checked.program is None) == has_errors(checked.diagnostics)
    if checked.program is not None:
        assert check(Source("shown.dt", show(checked.program))).program == checked.program
        formatted = Source("formatted.dt", format_source(source))
        assert check(formatted).program == checked.program
        assert format_source(formatted) == formatted.text
    return source, checked.diagnostics


def seconds(data: bytes) -> float:
    """Return how long it takes to say what is wrong."""
    start = time.process_time()
    _, found = diagnose(data)
    assert plain(render(found, width=40))
    return time.process_time() - start


def look(data: bytes) -> tuple[Diagnostic, ...]:
    """Diagnose, and check what can be checked of any answer."""
    source, found = diagnose(data)
    text = plain(render(found))
    assert is_kept_once(SECONDS, lambda: seconds(data))
    assert text.count("\n") >= len(found)
    for diagnostic in found:
        check_diagnostic(diagnostic)
    mended = next((d.edits for d in found if (d.edits and not has_errors([d])) or d.edits), ())
    if mended and source.text:
        check(Source("mended.dt", apply_edits(source.text, mended)))
    return found


def check_diagnostic(diagnostic: Diagnostic) -> None:
    """A stable code, a title of one line, places inside of the source, edits side by side."""
    assert CODE.fullmatch(diagnostic.code)
    assert diagnostic.title
    assert "\n" not in diagnostic.title
    edits = sorted((edit.span for edit in diagnostic.edits), key=lambda span: span.start)
    spans = (diagnostic.span, *(note.span for note in diagnostic.notes), *edits)
    for span in spans:
        if span is not None:
            assert 0 <= span.start <= span.end <= len(span.source.text), diagnostic
    for first, second in pairwise(edits):
        assert first.end <= second.start, diagnostic


def mutation(choose: Choose) -> bytes:
    """A valid file after some changes."""
    text = pick(choose, THESIS) if choose(2) else show(program(choose, Limits(funcs=3)))
    return mutated(choose, text).encode("utf-8", "surrogatepass")


def fuzz(make: Callable[[Choose], bytes], chunk: int, count: int) -> None:
    """Look at so many inputs, each of a seed of its own; the last one is shown on a failure."""
    looked = 0
    seed = chunk * count
    try:
        while looked < count:
            look(make(seeded(seed)))
            looked, seed = looked + 1, seed + 1
    finally:
        print(f"seed {seed}: {make(seeded(seed))!r}")
    assert looked == count


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_bytes(chunk: int) -> None:
    fuzz(random_bytes, chunk, CHUNK)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutations(chunk: int) -> None:
    fuzz(mutation, chunk, CHUNK)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(LONG_CHUNKS))
def test_many_random_bytes(chunk: int) -> None:
    fuzz(random_bytes, chunk, LONG_CHUNK)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(LONG_CHUNKS))
def test_many_mutations(chunk: int) -> None:
    fuzz(mutation, chunk, LONG_CHUNK)


@pytest.mark.long
def test_mutations_are_of_all_kinds() -> None:
    """Some mutations stay valid, and those that do not are wrong in many ways."""
    codes: set[str] = set()
    valid = 0
    for seed in range(CHUNK):
        found = look(mutation(seeded(seed)))
        valid += not has_errors(found)
        codes |= {diagnostic.code for diagnostic in found}
    assert 0 < valid < CHUNK
    assert len(codes) > 20
