"""Sizes on the command line, and how much memory they take."""

import re
from pathlib import Path

import click
import pytest

from dtpoly.checking import load
from dtpoly.cli.size_option import check_memory, elements, parse_sizes
from dtpoly.source import Source
from tests.cli.conftest import Entry
from tests.cli.process import SOFTMAX

MATMUL = load(
    Source(
        "matmul.dt",
        "Func f; In A, B; Var x, y; RVar k;"
        "f[x, y] = rsum(reshape(A[x, k], x, k, 1) * B[k, y], k); f.compile();",
    )
)


def test_words_become_sizes() -> None:
    assert parse_sizes(["x=4,y=1000", " k = 0 "], ["x", "y", "k"]) == {"x": 4, "y": 1000, "k": 0}
    assert parse_sizes([], ["x"]) == {}
    assert parse_sizes(["x=4,x=4"], ["x"]) == {"x": 4}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("x", "'x' is not of the form label=number"),
        ("", "'' is not of the form"),
        ("x=4,", "'' is not of the form"),
        ("x=1e3", "'x=1e3' is not of the form"),
        ("x=1.5", "'x=1.5' is not of the form"),
        ("x=4;y=3", "'x=4;y=3' is not of the form"),
        (f"x={'9' * 5000}", "is not of the form"),
        ("x=-1", "the size of 'x' is -1; it must be from 0 to"),
        ("x=99999999999999999", "the size of 'x' is 99999999999999999; it must be from 0 to"),
        ("x=3,x=4", "the size of 'x' is given twice: 3 and 4"),
        ("z=3", "the program has no label 'z'; it has x, width"),
        ("X=3", "the program has no label 'X'; did you mean 'x'?"),
        ("widht=3", "the program has no label 'widht'; did you mean 'width'?"),
    ],
)
def test_what_is_no_size(word: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=re.escape(message)):
        parse_sizes([word], ["x", "width"])


def test_memory_counts_inputs_funcs_and_the_largest_temporary() -> None:
    sizes = {"x": 2, "k": 3, "y": 5}
    assert elements(MATMUL, sizes) == 2 * 3 + 3 * 5 + 2 * 5 + 3 * (2 * 3 * 5)


def test_what_does_not_fit_is_refused_with_its_sizes() -> None:
    sizes = {"x": 1024, "k": 1024, "y": 1024}
    check_memory(MATMUL, sizes, 25)
    with pytest.raises(click.BadParameter) as caught:
        check_memory(MATMUL, sizes, 4)
    assert caught.value.message == (
        "x=1024, k=1024, y=1024 needs about 24.0 GiB, the limit is 4 GiB; "
        "take smaller sizes, or allow more with --memory"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--size", "x=3"),
        ("run", "--reference", "--size", "x=3"),
        ("cost", "--size", "x=3"),
        ("schedule", "--budget", "0", "--size", "x=3"),
        ("explore", "--simulate", "--size", "x=3"),
    ],
)
def test_a_missing_size_is_the_same_mistake_everywhere(
    call: Entry, tmp_path: Path, words: tuple[str, ...]
) -> None:
    name, *options = words
    path = tmp_path / "softmax.dt"
    path.write_text(SOFTMAX)
    code, out, err = call(name, str(path), *options)
    assert (code, out) == (2, "")
    assert "the size of 'y' must be passed" in err


@pytest.mark.parametrize("name", ["schedule", "explore", "cost", "compile", "verify"])
def test_a_file_without_a_func(call: Entry, tmp_path: Path, name: str) -> None:
    path = tmp_path / "empty.dt"
    path.write_text("")
    code, out, err = call(name, str(path))
    assert (code, out) == (1, "")
    assert "has no Func" in err


@pytest.mark.parametrize(
    "command",
    [("run",), ("explain",), ("cost",), ("show", "--stage", "map")],
)
def test_a_size_that_the_file_fixes_is_given_no_other_value(
    command: tuple[str, ...], call: Entry, tmp_path: Path
) -> None:
    file = tmp_path / "pool.dt"
    file.write_text("Func f; In X; Var h; RVar r: 3; f[h] = rmax(X[2 * h + r], r); f.compile();")
    word, *options = command
    code, out, err = call(word, str(file), *options, "--size", "h=4,r=2")
    assert code in (1, 2)
    assert out == ""
    assert "the size of 'r' is 3, not 2" in err
