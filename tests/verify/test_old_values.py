"""Kernels that write results in place are proved only if each old element is read before."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.schedule.told import read

SHIFTS = (-2, -1, 0, 1, 2)
LINE = ("", "w.tensorize(x:4);", "w.tensorize(x:0);", "w.block(x:8); w.tensorize(x:4);")
PLANE = ("", "w.tensorize(x:1, y:4);", "w.block(x:2); w.tensorize(x:0, y:4);", "w.block(y:4);")
BESIDE = ("", "f.tensorize(x:4);", "f.block(x:8); f.tensorize(x:4);")


def sources() -> Iterator[str]:
    """Small programs in place: elements move by any distance, in any loops and kernels."""
    for shift, loops in product(SHIFTS, LINE):
        yield f"Func w into W; In W; Var x; w[x] = pad(W, 0)[x + {shift}] * 2; w.compile(); {loops}"
    for shift, other, loops in product((-1, 0, 1), (-1, 0, 1), PLANE):
        read = f"pad(W, 0)[x + {shift}, y + {other}]"
        yield f"Func w into W; In W; Var x, y; w[x, y] = {read} + 1; w.compile(); {loops}"
    for shift, loops in product((-1, 0, 1), BESIDE):
        yield (
            "Func f, w into W; In W, A; Var x; w[x] = W[x] + A[x];"
            f"f[x] = w[x] * pad(W, 0)[x + {shift}]; w.fuse_at(f, x); f.compile(w); {loops}"
        )
    for shift, loops in product((-1, 0, 1), LINE):
        yield (
            "Func z, w into W; In W; Var x; z[x] = pad(W, 0)[x + 1];"
            f"w[x] = z[x] + pad(W, 0)[x + {shift}]; w.compile(); z.block(x:8); {loops}"
        )
    for loops in ("", "w.block(x:4);", "s.fuse_at(w, x);", "s.fuse_at(w, x); w.block(x:4);"):
        yield (
            "Func s, w into W; In W; Var x; RVar k; s[] = rsum(W[k], k);"
            f"w[x] = W[x] / (1 + s[]); w.compile(); {loops}"
        )
    for loops in ("", "a.block(x:8); b.block(x:8);", "b.fuse_at(a, x); a.tensorize(x:4);"):
        yield (
            "Func a into A, b into B; In A, B; Var x; a[x] = A[x] + B[x]; b[x] = B[x] - A[x];"
            f"a.compile(b); {loops}"
        )


@cache
def emitted(source: str) -> tuple[bool, str]:
    """Whether a schedule is legal, and its kernels, which are made all the same."""
    verdict = judge(read(source), DIRECTIVES)
    return verdict.is_legal, code_of(verdict.scheduled).text


def is_proved(source: str, text: str) -> bool:
    return verify(read(source), text, seconds=60).verdict is LayerVerdict.PROVED


SOURCES = [*sources()]


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_what_is_legal_is_proved_and_nothing_else(part: int) -> None:
    for source in SOURCES[part::8]:
        is_legal, text = emitted(source)
        assert is_proved(source, text) is is_legal, source


@pytest.mark.long
def test_there_are_many_of_both() -> None:
    found = [emitted(source)[0] for source in SOURCES]
    assert min(found.count(True), found.count(False)) >= 30


def legal() -> list[str]:
    return [source for source in SOURCES if emitted(source)[0]]


HEAD = "# The runtime of dtpoly"
BARRIER = re.compile(r"^ +tl\.debug_barrier\(\)\n", re.MULTILINE)


def without_a_barrier(text: str) -> Iterator[str]:
    for found in BARRIER.finditer(text):
        yield text[: found.start()] + text[found.end() :]


def with_barriers_elsewhere(text: str) -> Iterator[str]:
    """Put each barrier behind the store that it stands before, or before all of the kernel.

    In a loop, a barrier behind a store may be before that of the next round, which is enough.
    """
    moved = re.compile(r"^(    tl\.debug_barrier\(\)\n)((?: +tl\.store\(.*\n)+)", re.MULTILINE)
    if moved.search(text):
        yield moved.sub(r"\2\1", text)
    first = re.search(r"^    pid = .*\n|^    # Grid.*\n|^    # One program.*\n", text, re.MULTILINE)
    if BARRIER.search(text) and first:
        at = first.end()
        rest = BARRIER.sub("", text[at:])
        yield f"{text[:at]}    tl.debug_barrier()\n{rest}"


def in_loops_that_run_ahead(text: str) -> Iterator[str]:
    if ", num_stages=1)" in text:
        yield text.replace(", num_stages=1)", ")")


PLANS = (
    (r', "into": "\w+"', ""),
    (r'"into": "W"', '"into": "w"'),
    (r'"into": "W"', '"into": "x"'),
    (r'"into": "W"', '"into": "Z"'),
    (r'"into": "W"', '"into": 1'),
    (r'"into": "(\w+)"', r'"into": "\1", "pitched": True'),
    (r'("w": \{"shape": \()"x"', r'\1"x + 1"'),
    (r'("w": \{.*"dtype": )"W"', r'\1"f32"'),
    (r'"into": "A"', '"into": "B"'),
    (r'"tensors": \{"W"(.*)"w":', r'"tensors": {"w"\1"W":'),
)


def with_another_plan(text: str) -> Iterator[str]:
    for pattern, other in PLANS:
        if re.search(pattern, text):
            yield re.sub(pattern, other, text)


def with_the_order_changed(text: str) -> Iterator[str]:
    """Let the last kernel run first."""
    found = re.search(
        r'"launches": \[\n((?:        \{\n(?:            .*\n)*        \},\n)+)', text
    )
    if found:
        launches = re.findall(r"        \{\n(?:            .*\n)*        \},\n", found[1])
        if len(launches) > 1:
            turned = "".join(reversed(launches))
            changed = text[: found.start(1)] + turned + text[found.end(1) :]
            names = re.findall(r'"kernel": "(\w+)"', turned)
            yield re.sub(
                r"dt_function\((\w+), .*\)", rf"dt_function(\1, {', '.join(names)})", changed
            )


def with_other_tensors(text: str) -> Iterator[str]:
    """Write the input itself, read the result, or read what was replaced once more."""
    yield re.sub(r"tl\.store\(w_ptr", "tl.store(W_ptr", text)
    yield re.sub(r"tl\.load\(W_ptr", "tl.load(w_ptr", text)
    again = re.compile(
        r"^( +)(W_tile\w* = tl\.load\(.*\)(?:\.to\(real\))?)\n(?:(?!\n\n)(?:.*\n))*?"
        r"(?=\1tl\.store\(w_ptr.*\n)\1tl\.store\(w_ptr.*\n",
        re.MULTILINE,
    )
    for found in again.finditer(text):
        line = f"{found[1]}tl.debug_barrier()\n{found[1]}{found[2]}\n"
        yield text[: found.end()] + line + text[found.end() :]


MUTATIONS = (
    without_a_barrier,
    with_barriers_elsewhere,
    in_loops_that_run_ahead,
    with_another_plan,
    with_the_order_changed,
    with_other_tensors,
)


def mutants(source: str) -> list[str]:
    """Texts with one mistake: in the kernels, or in the plan."""
    text, rest = emitted(source)[1].split(HEAD)
    head, _, last = rest.rpartition("dt_function(")
    found = dict[str, None]()
    for mutation in MUTATIONS:
        whole = f"{text}{HEAD}{head}dt_function({last}"
        for made in mutation(text):
            found[f"{made}{HEAD}{head}dt_function({last}"] = None
        if mutation is with_the_order_changed:
            found |= dict.fromkeys(mutation(whole))
        found.pop(whole, None)
    return [*found]


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_no_mutant_is_proved(part: int) -> None:
    for source in legal()[part::8]:
        for at, text in enumerate(mutants(source)):
            assert not is_proved(source, text), (source, at, text.split(HEAD)[0])


@pytest.mark.long
def test_there_are_many_mutants() -> None:
    assert sum(len(mutants(source)) for source in legal()) >= 300
