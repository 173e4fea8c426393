"""Branches that leave out the merge of a list: right ones are proved, and no wrong one is."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_lists import floats, listed, program, text_of

KEPT = r"tl\.reduce\(index_list, 1, dt_min\)\[:, None\]"
ASKED = rf"\(~\((A_tile|candidate) < {KEPT}\)\)\.to\(tl\.int32\)"
TESTED = rf"if tl\.max\({ASKED}\) >= 1:"
LEAST = "tl.reduce(index_list, 1, dt_min)[:, None]"
# What is written, and what stands in its place. Each place makes a mutant of its own.
CHANGES: tuple[tuple[str, str], ...] = (
    # Which elements may enter: ties with what is no element, NaN, the other way round.
    (r"~\((\w+) < ", r"~(\1 <= "),
    (r"\(~\((\w+) < (.*?\[:, None\])\)\)", r"(\1 > \2)"),
    (r"\(~\((\w+) < (.*?\[:, None\])\)\)", r"(\1 >= \2)"),
    (r"\(~\((\w+) < (.*?\[:, None\])\)\)", r"((\1 > \2) | (\1 != \1))"),
    (r"\(~\((\w+) < (.*?\[:, None\])\)\)", r"(\1 == \2)"),
    (r"\(~\((\w+) < (.*?\[:, None\])\)\)", r"(\1 != \2)"),
    (r"~\((\w+) < ", r"(\1 < "),
    (r"~\((\w+) < ", r"~(\1 > "),
    (r"~\((\w+) < ", r"~(\1 == "),
    (r"~\((\w+) < ", r"~~(\1 < "),
    # What they are compared with: another element of the list, its places, another number.
    (KEPT, "tl.reduce(index_list, 1, dt_max)[:, None]"),
    (KEPT, "tl.reduce(index_at, 1, dt_min)[:, None]"),
    (KEPT, f"({LEAST} + 1)"),
    (KEPT, f"({LEAST} * 0.5)"),
    (KEPT, f"tl.maximum({LEAST}, 0.0)"),
    (KEPT, "tl.reduce(-index_list, 1, dt_min)[:, None]"),
    (KEPT, "tl.reduce(tl.where(place[None, :] == 0, index_list, 9.0), 1, dt_min)[:, None]"),
    (KEPT, "tl.reduce(tl.where(place[None, :] < 3, index_list, 9.0), 1, dt_min)[:, None]"),
    (KEPT, "tl.reduce(tl.reduce(index_list, 1, dt_min), 0, dt_max)"),
    (KEPT, "tl.sum(index_list, 1)[:, None]"),
    (KEPT, "0.0"),
    (KEPT, 'float("inf")'),
    # Which elements are compared.
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"(-\1)"),
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"(\1 - 1)"),
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"(\1 * 0.5)"),
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"tl.minimum(\1, 0.0)"),
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"tl.min(\1, 1)[:, None]"),
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"tl.min(\1, 0)[None, :]"),
    (r"(?<=~\()candidate(?= < tl\.reduce)", "tl.where(k_mask[None, :], 0.0, A_tile)"),
    (r"(?<=~\()candidate(?= < tl\.reduce)", "(A_tile - 9)"),
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"tl.where(k[None, :] % 2 == 0, \1, float('-inf'))"),
    (r"(?<=~\()(\w+)(?= < tl\.reduce)", r"tl.where(x[:, None] == x_start, \1, float('-inf'))"),
    (ASKED, r"((~(\1 < LEAST)) & (k[None, :] > k_start)).to(tl.int32)"),
    (ASKED, r"((~(\1 < LEAST)) & (x[:, None] > x_start)).to(tl.int32)"),
    (ASKED, r"((~(\1 < LEAST)) & (k[None, :] < 16)).to(tl.int32)"),
    (ASKED, r"((~(\1 < LEAST)) & (\1 == \1)).to(tl.int32)"),
    (ASKED, r"((~(\1 < LEAST)) & (\1 > 0)).to(tl.int32)"),
    # How the answers are put together.
    (r"if tl\.max\(", "if tl.min("),
    (r"if tl\.max\(", "if 1 - tl.max("),
    (r"\) >= 1:", ") >= 2:"),
    (r"\) >= 1:", ") > 1:"),
    (r"\) >= 1:", ") < 1:"),
    (r"\) >= 1:", ") == 0:"),
    (r"\) >= 1:", ") >= 1 and k_start < 16:"),
    (r"\) >= 1:", ") >= 1 and x_start == 0:"),
    (
        rf"if tl\.max\({ASKED}\) >= 1:",
        "if tl.sum(tl.max((~(\\1 < LEAST)).to(tl.int32), 1)) >= 2:",
    ),
    (
        rf"if tl\.max\({ASKED}\) >= 1:",
        "if tl.min(tl.max((~(\\1 < LEAST)).to(tl.int32), 1)) >= 1:",
    ),
    (
        rf"if tl\.max\({ASKED}\) >= 1:",
        "if tl.max(tl.min((~(\\1 < LEAST)).to(tl.int32), 1)) >= 1:",
    ),
    (TESTED, "if k_start == 0:"),
    (TESTED, "if k_size < 0:"),
    # What the branch does.
    (r"(?<=\n {16})index_list(?=,\n)", "-index_list"),
    (r"(?<=\n {16})index_at(?=,\n)", "index_at + 1"),
    (r"(?<=\n {16})(A_tile|candidate)(?=,\n)", r"(\1 + 1)"),
    (r"(?<=\n {16})(A_tile|candidate)(?=,\n)", r"tl.maximum(\1, 0.0)"),
    (r"(?<=\n {16})k\[None, :\](?=\.to)", "(k[None, :] + 1)"),
    (r"index_list, index_at = dt_list\(", "index_at, index_list = dt_list("),
    (r"index_list, index_at = dt_list\(", "index_list, unused = dt_list("),
    (r"index_list, index_at = dt_list\(", "unused, index_at = dt_list("),
    (r"(\n {12})(index_list, index_at = dt_list)", r"\1index_at += 1\1\2"),
    (r"(\n {12})(index_list, index_at = dt_list)", r"\1index_list = index_list * 2\1\2"),
    # What it begins with: nothing in order, and what is no list.
    (
        r'(?<=index_list = )tl\.full\(\(2, 4\), float\("-inf"\), real\)',
        "tl.full((2, 4), 9.0, real)",
    ),
    (
        r'(?<=index_list = )tl\.full\(\(2, 4\), float\("-inf"\), real\)',
        "tl.zeros((2, 4), real) + place[None, :]",
    ),
    (r"(?<=index_at = )tl\.full\(\(2, 4\), \d+, tl\.int64\)", "tl.full((2, 4), 0, tl.int64)"),
    (
        r"(?<=index_at = )tl\.full\(\(2, 4\), \d+, tl\.int64\)",
        "tl.full((2, 4), 0, tl.int64) + place[None, :]",
    ),
)
# What says the same in other words.
SAME: tuple[tuple[str, str], ...] = (
    (KEPT, "tl.min(index_list, 1)[:, None]"),
    (KEPT, "tl.min(index_list, 1, keep_dims=True)"),
    (r"\) >= 1:", ") > 0:"),
    (rf"\(~\((A_tile|candidate) < ({KEPT})\)\)", r"(~(\2 > \1))"),
    (
        rf"if tl\.max\({ASKED}\) >= 1:",
        "if tl.max(tl.max((~(\\1 < LEAST)).to(tl.int32), 1), 0) >= 1:",
    ),
)
SIZES = ((5, 37), (4, 16), (3, 2), (2, 80))


@cache
def base() -> tuple[Program, str]:
    of = program("tiles")
    return of, text_of(of)


def mutants(changes: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    """Yield what is changed, and the text with this change, for every place of every change."""
    _, whole = base()
    start, end = whole.index("def value_kernel("), whole.index("value_plan = {")
    kernel = whole[start:end]
    for pattern, new in changes:
        found = list(re.finditer(pattern, kernel))
        assert found, pattern
        for one in found:
            changed = (
                kernel[: one.start()]
                + one.expand(new).replace("LEAST", LEAST)
                + kernel[one.end() :]
            )
            line = kernel[: one.start()].count("\n")
            yield f"line {line}: {one[0]!r} to {new!r}", whole[:start] + changed + whole[end:]


def with_stale_tests() -> Iterator[tuple[str, str]]:
    """Yield texts whose branch asks about a list or a tile of another moment."""
    _, whole = base()
    loop = "    for k_start in tl.range(0, k_size - 15, 16):\n"
    asked = f"tl.max((~(A_tile < {LEAST})).to(tl.int32))"
    merge = whole[whole.index("            index_list, index_at = dt_list(") :]
    merge = merge[: merge.index("            )\n") + len("            )\n")]
    test = f"        if {asked} >= 1:\n"
    assert whole.count(test) == 1
    told = f"{merge}        open_now = {asked}\n"
    of_before = whole.replace(test + merge, f"        if open_now >= 1:\n{told}")
    yield "the tile before", of_before.replace(loop, f"    open_now = tl.max(x) * 0 + 1\n{loop}")
    kept = f"{merge}        least = {LEAST}\n"
    stale = whole.replace(test + merge, test.replace(LEAST, "least") + kept)
    yield "the least of the loop", stale.replace(loop, f'    least = float("inf")\n{loop}')
    yield (
        "the first list",
        whole.replace(test, test.replace(LEAST, "least")).replace(
            loop, f"    least = {LEAST} + 1\n{loop}"
        ),
    )
    also = merge.replace(
        "            index_list, index_at = dt_list(", "            a, b = dt_list("
    )
    yield "another list", whole.replace(test + merge, f"{test}{also}            index_list = a\n")
    after = f"{test}{merge}        else:\n            index_list = index_list + 1\n"
    yield "the other side", whole.replace(test + merge, after)
    twice = f"{test}{merge}{test}{merge.replace('A_tile', '(A_tile + 1)')}"
    yield "a second tile", whole.replace(test + merge, twice)


def rows_of(size: tuple[int, int]) -> Iterator[torch.Tensor]:
    """Yield rows of all kinds, and those of which much or little enters."""
    yield from floats(size, torch.float32)
    along = torch.arange(size[1], dtype=torch.float32).repeat(size[0], 1)
    yield from (along, -along, along * 0, along * 0 - torch.inf, along * 0 + torch.nan)
    yield torch.where(along % 7 == 3, torch.nan, along)
    yield torch.where(along % 5 == 3, torch.nan, -along)


def is_right(made: str) -> bool:
    """Return whether a text computes what the algorithm says, at some sizes."""
    module: Any = imported(made)
    for size in SIZES:
        for rows in rows_of(size):
            wanted, found = listed(rows, 4), module.value(rows)
            same = torch.allclose(found[0], wanted[0], 0, 0, equal_nan=True)
            if not same or not torch.equal(found[1], wanted[1]):
                return False
    return True


def is_proved(made: str) -> bool:
    return verify(base()[0], made, seconds=20).verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_no_wrong_branch_is_proved() -> None:
    made = [*mutants(CHANGES), *with_stale_tests()]
    proved = [(what, text) for what, text in made if is_proved(text)]
    assert not [what for what, text in proved if not is_right(text)]
    assert len(made) - len(proved) >= 100


def test_what_skips_too_much_is_not_proved() -> None:
    """Some of the mistakes above, each of which is nearest to what is right."""
    nearest = [CHANGES[at] for at in (0, 2, 10, 31)]
    assert not any(is_proved(text) for _, text in mutants((nearest[0],)))
    _, text = next(mutants((nearest[1],)))
    assert not is_proved(text)


@pytest.mark.sampled
@pytest.mark.parametrize("change", range(len(SAME)))
def test_other_words_are_proved(change: int) -> None:
    assert all(is_proved(text) for _, text in mutants((SAME[change],)))


@pytest.mark.long
def test_the_kernel_is_right() -> None:
    assert is_right(base()[1])


FIRST = """\
    first = tl.arange(0, 4).to(offset)
    is_there = x_mask[:, None] & (first[None, :] < k_size)
    loaded = tl.load(A_ptr + x[:, None] * A_stride_0 + first[None, :] * A_stride_1, mask=is_there)
    index_list = tl.where(first[None, :] < k_size, loaded.to(real), float("-inf"))
    index_at = tl.where(first[None, :] < k_size, first[None, :].to(tl.int64), NONE)
    index_at = index_at + tl.zeros((2, 4), tl.int64)
"""
IN_ORDER = """\
    nothing = tl.full((2, 4), float("-inf"), real)
    index_list, index_at = dt_list(
        nothing, tl.full((2, 4), NONE, tl.int64), index_list, index_at, 1, 4
    )
"""
REST = """\
    for k_start in tl.range(4, k_size, 16):
        k = (k_start + tl.arange(0, 16)).to(offset)
        k_mask = k < k_size
        A_tile = tl.load(
            A_ptr + x[:, None] * A_stride_0 + k[None, :] * A_stride_1,
            mask=x_mask[:, None] & k_mask[None, :],
            other=0.0,
        ).to(real)
        candidate = tl.where(k_mask[None, :], A_tile, float("-inf"))
        at = tl.where(k_mask[None, :], k[None, :].to(tl.int64), NONE)
"""
TAKE = "index_list, index_at = dt_list(index_list, index_at, candidate, at, 1, 4)\n"
TEST = f"if tl.max((~(candidate < {LEAST})).to(tl.int32)) >= 1:\n"


def from_the_first(*parts: str) -> str:
    """Return a kernel whose list begins with the first elements of a row, and not with nothing."""
    _, whole = base()
    start = whole.index("    index_list = tl.full(")
    end = whole.index("    places_there = ")
    made = "".join(parts).replace("NONE", str(2**63 - 1))
    return whole[:start] + made + whole[end:]


def test_a_list_that_is_not_in_order_is_not_skipped() -> None:
    """Where nothing enters, a list stays as it was, also if that was in no order."""
    skipping = f"        {TEST}            {TAKE}"
    assert is_proved(from_the_first(FIRST, REST, f"        {TAKE}"))
    assert not is_proved(from_the_first(FIRST, REST, skipping))
    assert is_proved(from_the_first(FIRST, IN_ORDER, REST, skipping))


@pytest.mark.long
def test_a_list_that_is_not_in_order_would_be_wrong() -> None:
    skipping = f"        {TEST}            {TAKE}"
    assert not is_right(from_the_first(FIRST, REST, skipping))
    assert is_right(from_the_first(FIRST, IN_ORDER, REST, skipping))
