"""Kernels of lists with one mistake each: none that computes something wrong is proved."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_lists import floats, listed, program, text_of

# What is written, and what stands in its place. Each place makes a mutant of its own.
CHANGES: tuple[tuple[str, str], ...] = (
    # The function that keeps lists: it is known by its text, so each change makes it unknown.
    (r"\(b > a\)", "(b < a)"),
    (r" \| \(b != b\)", ""),
    (r" \| \(\((values|others) != \1\) & \(top != top\)\)", ""),
    (r"found_places = tl.where\(here == step, place", "found_places = tl.where(here == step, one"),
    (r"here == step", "here == step + 1"),
    (r"range\(0, count\)", "range(0, count - 1)"),
    (r"tl.minimum\(one, ", "tl.maximum(one, "),
    (r"is_top &= places == place", "is_top &= places <= place"),
    (r"is_other &= at == place", "is_other &= at >= place"),
    (r"others = tl.where\(is_other, nothing, others\)", "others = others"),
    (r"0x7FFFFFFFFFFFFFFF", "0"),
    (r"return found_values, found_places", "return found_values, places"),
    # What kernels do with it.
    (r'float\("-inf"\)', "0.0"),
    (r'float\("-inf"\)', 'float("inf")'),
    (r"9223372036854775807(?=, tl.int64\))", "0"),
    (r"9223372036854775807(?=, tl.int64\))", "-1"),
    (r"(?<=, )9223372036854775807(?=\))", "0"),
    (r"(?<= {12})9223372036854775807(?=,)", "0"),
    (r"(?<=k_mask\[None, :\], )k\[None, :\]", "(k[None, :] + 1)"),
    (r"(?<= )k\[None, :\]\.to\(tl\.int64\)", "(k[None, :] - k_start).to(tl.int64)"),
    (r"(?<= )k\[None, :\]\.to\(tl\.int64\)", "k_start.to(tl.int64) + 0 * k[None, :]"),
    (r"(?<=dt_list\(value_list, )value_at", "index_at"),
    (r"(?<=candidate = )tl\.where\(k_mask\[None, :\], (A_tile\w*), float\(\"-inf\"\)\)", r"\1"),
    (r"(?<=candidate = )tl\.where\(k_mask", "tl.where(~k_mask"),
    (r"place\w*\[None, None, :\] == j", "place[None, None, :] <= j"),
    (r"place\w*\[None, None, :\] == j", "place[None, None, :] == 1 + j"),
    (r"place\w*\[None, None, :\] == j\w*\[None, :, None\]", "place[None, None, :] == 0"),
    (r"(?<=places_there\w{0}, 2, )dt_max", "dt_min"),
    (r"(?<=places_there, 2, )dt_min", "dt_max"),
    (r"(value|index)_list\[:, None, :\]", r"-\1_list[:, None, :]"),
    (r"(value|index)_at\[:, None, :\]", r"(\1_at[:, None, :] + 1)"),
    (r"k_start \+ tl\.arange\(0, 16\)", "k_start + tl.arange(0, 16) + 1"),
    (r"k_size - 15, 16\)", "k_size - 15, 32)"),
    (r"k_size - 15, 16\)", "k_size - 31, 16)"),
    (r"range\(0, k_size", "range(16, k_size"),
    (r"if not even and k_size % 16 != 0:", "if not even and k_size % 16 == 1:"),
    (r"k_start = k_size - \(k_size % 16\)", "k_start = 0 * k_size"),
    (r"tl\.minimum\(index_there\w*, tl\.cast\(k_size, tl\.int64\)\)", "index_there"),
    (r"tl\.minimum\((index_there\w*), tl\.cast\(k_size", r"tl.minimum(\1, tl.cast(x_size"),
    (r"(?<=\n {12})1(?=,\n {12}4,)", "0"),
    (r"(?<=\n {12}1,\n {12})4(?=,)", "3"),
    (r"(?<=\.to\(tl\.int64\), 1, )4(?=\))", "2"),
    (r"(?<=tl\.full\(\()(\d), 4\)", r"\1, 2)"),
    (r"(?<=A_tile, )k\[None, :\]", "(2 * k[None, :])"),
    (r"dt_list\(value_list, value_at, A_tile", "dt_list(value_list, value_at, -A_tile"),
    (r"value_list, value_at = dt_list\(", "value_at, value_list = dt_list("),
)
NAMES = ("one tile", "tiles")
SIZES = ((5, 37), (4, 16), (3, 2), (2, 48))


def mutants(name: str) -> Iterator[tuple[str, str]]:
    """Yield what is changed, and the text with this change, for every place of every change."""
    whole = text_of(program(name))
    start, end = whole.index("@triton.jit\ndef dt_larger"), whole.index("value_plan = {")
    kernels = whole[start:end]
    for pattern, new in CHANGES:
        for found in re.finditer(pattern, kernels):
            put = found.expand(new)
            changed = kernels[: found.start()] + put + kernels[found.end() :]
            line = kernels[: found.start()].count("\n")
            yield f"line {line}: {found[0]!r} to {put!r}", whole[:start] + changed + whole[end:]


def is_right(made: str) -> bool:
    """Return whether a text computes what the algorithm says, at some sizes."""
    module: Any = imported(made)
    for size in SIZES:
        for rows in floats(size, torch.float32):
            wanted = listed(rows, 4)
            found = module.value(rows)
            same = torch.allclose(found[0], wanted[0], 0, 0, equal_nan=True)
            if not same or not torch.equal(found[1], wanted[1]):
                return False
    return True


def tried(name: str) -> tuple[int, list[str]]:
    """Return how many mutants are not proved, and those that are proved and wrong."""
    refused, wrong = 0, list[str]()
    for what, made in mutants(name):
        if verify(program(name), made, seconds=20).verdict is not LayerVerdict.PROVED:
            refused += 1
        elif not is_right(made):
            wrong.append(what)
    return refused, wrong


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_no_wrong_list_is_proved(name: str) -> None:
    refused, wrong = tried(name)
    assert not wrong
    assert refused >= 40
