"""Kernels that make descriptors where some warps load for others: proved if these are the same."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import code, program
from tests.verify.texts import changed

NAMES = ("halves_by_two_groups", "turned_by_two_groups")
MADE = "        {0}_blocks = tl.make_tensor_descriptor({0}_ptr, [{1}], [{0}_stride_0, 1], [{2}])\n"
A = MADE.format("A", "m_size, k_size", "128, 32")
B = MADE.format("B", "k_size, n_size", "32, 64")
STORED = """\
        halves_blocks = tl.make_tensor_descriptor(
            halves_ptr, [m_size, n_size], [halves_stride_0, 1], [128, 64]
        )
"""
MAKING = f"    if specialized:\n{A}{B}{STORED}"
ASKED = '"specialized": (2, ("A_blocks", "B_blocks", "halves_blocks"))'
FIRST = "    n_blocks = tl.cdiv(tl.cast(n_size, offset), 64)\n"


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_it_is_proved(name: str) -> None:
    report = verify(program(name), code(name).text, seconds=60)
    assert report.verdict is LayerVerdict.PROVED
    assert not any(one.assumed for one in report.functions)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (A, A.replace("[128, 32]", "[64, 32]")),
        (A, A.replace("[m_size, k_size]", "[k_size, m_size]")),
        (A, A.replace("[m_size, k_size]", "[m_size, n_size]")),
        (A, A.replace("A_stride_0", "A_stride_1")),
        (A, A.replace("A_stride_0", "B_stride_0")),
        (A, A.replace("A_stride_0, 1", "A_stride_0, 2")),
        (A, A.replace("A_ptr", "B_ptr")),
        (A, A.replace("A_ptr", "A_ptr + 8")),
        (A, A.replace("A_blocks", "B_blocks")),
        (A, A.replace("A_blocks", "m_size")),
        (A, f"{A}        pid = 0\n"),
        (MAKING + FIRST, FIRST + MAKING),
        ("    if specialized:\n", "    if not specialized:\n"),
        (MAKING, ""),
        (STORED, STORED.replace("[128, 64]", "[64, 64]")),
        (STORED, STORED.replace("halves_stride_0", "A_stride_0")),
        (STORED, ""),
        (ASKED, ASKED.replace('"B_blocks", ', "")),
        (ASKED, ASKED.replace("B_blocks", "A_blocks")),
        (ASKED, ASKED.replace(', "halves_blocks"', "")),
        (ASKED, ASKED.replace("(2,", "(1,")),
        (ASKED, ASKED.replace("(2,", "(8,")),
        (ASKED, '"flags": {"specialized": "m == m"}'),
        (f"            {ASKED},\n", ""),
    ],
)
def test_other_descriptors_are_not_proved(old: str, new: str) -> None:
    given, text = program(NAMES[0]), code(NAMES[0]).text
    report = verify(given, changed(text, old, new), seconds=60)
    assert report.verdict is LayerVerdict.UNKNOWN
