"""Kernels of lists with one mistake each: none that computes something wrong is proved."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_lists import floats, listed, program, text_of
from tests.verify import earlier_functions

# What is written, and what stands in its place. Each place makes a mutant of its own.
CHANGES: tuple[tuple[str, str], ...] = (
    # The function that keeps lists: it is known by its text, so each change makes it unknown.
    (r"\(values > top\)", "(values < top)"),
    (r" \| \(\(values != values\) & \(top == top\)\)", ""),
    (r" \| \(\((values|others) != \1\) & \((top|one) != \2\)\)", ""),
    (r"is_same & \(places < place\)", "is_same & (places <= place)"),
    (r"here == ahead", "here == ahead + 1"),
    (r"here < ahead", "here <= ahead"),
    (r"range\(0, count\)", "range(0, count - 1)"),
    (r"count \+ 1", "count"),
    (r"here - 1", "here"),
    (r"is_top &= at == place", "is_top &= at >= place"),
    (r"is_top &= left_places == place", "is_top &= left_places <= place"),
    (r"others = tl.where\(is_top, nothing, others\)", "others = others"),
    (r"goes_on == 1", "goes_on == 0"),
    (r"ahead != count", "ahead == count"),
    (r"tl.max\(enters", "tl.min(enters"),
    (r"tl.min\(is_behind.to\(tl.int32\)\) == 0", "tl.max(is_behind.to(tl.int32)) == 0"),
    (r"PropagateNan.ALL", "PropagateNan.NONE"),
    (r"0x7FFFFFFFFFFFFFFF", "0"),
    (r"return values, places", "return values, at"),
    # What kernels do with it.
    (r'float\("-inf"\)', "0.0"),
    (r'float\("-inf"\)', 'float("inf")'),
    (r"9223372036854775807(?=, tl.int64\))", "0"),
    (r"9223372036854775807(?=, tl.int64\))", "-1"),
    (r"(?<=, )9223372036854775807(?=\))", "0"),
    (r"(?<=k_mask\[None, :\], )k\[None, :\]", "(k[None, :] + 1)"),
    (r"(?<= )k\[None, :\]\.to\(tl\.int64\)", "(k[None, :] - k_start).to(tl.int64)"),
    (r"(?<= )k\[None, :\]\.to\(tl\.int64\)", "k_start.to(tl.int64) + 0 * k[None, :]"),
    (r"(?<=dt_list\(\n)( +)index_list,\n +index_at(?=,)", r"\1index_list,\n\1(0 * index_at)"),
    (r"(?<=candidate = )tl\.where\(k_mask\[None, :\], (A_tile\w*), float\(\"-inf\"\)\)", r"\1"),
    (r"(?<=candidate = )tl\.where\(k_mask", "tl.where(~k_mask"),
    (r"place\w*\[None, None, :\] == j", "place[None, None, :] <= j"),
    (r"place\w*\[None, None, :\] == j", "place[None, None, :] == 1 + j"),
    (r"place\w*\[None, None, :\] == j\w*\[None, :, None\]", "place[None, None, :] == 0"),
    (r"(?<=places_there_2, 2, )dt_max", "dt_min"),
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
    (r"(?<= {8})1(?=,\n +4,)", "0"),
    (r"(?<= {8})4(?=,\n +\))", "3"),
    (r"(?<=tl\.full\(\()(\d), 4\)", r"\1, 2)"),
    (r"(?<= {8})k\[None, :\](?=\.to)", "(2 * k[None, :])"),
    (r"(?<=    )(A_tile|candidate)(?=,\n)", r"-\1"),
    (r"index_list, index_at = dt_list\(", "index_at, index_list = dt_list("),
)
NAMES = ("one tile", "tiles")
SIZES = ((5, 37), (4, 16), (3, 2), (2, 48))


def mutants(name: str) -> Iterator[tuple[str, str]]:
    """Yield what is changed, and the text with this change, for every place of every change."""
    whole = text_of(program(name))
    start, end = whole.index("@triton.jit\ndef dt_max"), whole.index("value_plan = {")
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


def with_earlier_text(name: str) -> str:
    """Return a kernel that keeps lists by the function that an earlier version wrote."""
    today = f"@triton.jit\n{TEXTS['dt_list']}"
    earlier = f"{earlier_functions.LARGER}\n\n{earlier_functions.LIST}"
    return text_of(program(name)).replace(today, earlier)


@pytest.mark.parametrize("name", NAMES)
def test_the_earlier_text_is_proved(name: str) -> None:
    made = with_earlier_text(name)
    assert "found_values" in made
    assert verify(program(name), made).verdict is LayerVerdict.PROVED
    wrong = made.replace("(b > a)", "(b < a)")
    assert verify(program(name), wrong).verdict is not LayerVerdict.PROVED


@pytest.mark.long
def test_the_earlier_text_is_right() -> None:
    assert is_right(with_earlier_text("tiles"))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_no_wrong_list_is_proved(name: str) -> None:
    refused, wrong = tried(name)
    assert not wrong
    assert refused >= 40
