"""The functions that a file needs are found from what its kernels do, and are those in the text."""

import re
from pathlib import Path

import pytest

from dtpoly.checking import check
from dtpoly.codegen.called import called, helpers
from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.codegen.triton_text import kernel_lines
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.ir.kernel import TileKernel
from dtpoly.source import Source
from tests.ir.test_check import FILES
from tests.same.outcome import Kind
from tests.same.record import FROZEN, read_record

EVERY = 60


def kernels(source: Source) -> tuple[TileKernel, ...]:
    """Return the kernels of a file."""
    checked = check(source)
    assert checked.verdict is not None
    return code_of(checked.verdict.scheduled).stages.kernels


def in_text(kernel: TileKernel) -> frozenset[str]:
    """Return the functions whose names stand in the text of a kernel."""
    words = {word for line in kernel_lines(kernel) for word in re.findall(r"\w+", line.text)}
    return frozenset(words & TEXTS.keys())


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_called_stands_in_the_text(path: Path) -> None:
    for kernel in kernels(read_file(str(path))):
        assert called(kernel) == in_text(kernel)


@pytest.mark.long
def test_so_it_is_for_texts_of_the_record() -> None:
    emitted = [one for one in read_record(FROZEN) if one.outcome.kind is Kind.EMITTED]
    found = set[str]()
    for entry in emitted[::EVERY]:
        for kernel in kernels(Source("record.dt", entry.text)):
            assert called(kernel) == in_text(kernel)
            found |= called(kernel)
    assert {"dt_max", "dt_mul", "dt_tanh"} <= found


@pytest.mark.long
def test_functions_stand_once_and_in_order() -> None:
    made = [kernel for path in FILES for kernel in kernels(read_file(str(path)))]
    texts = helpers(made)
    names = [re.findall(r"def (\w+)", text)[0] for text in texts]
    assert names == [name for name in TEXTS if name in names]
    assert names
    assert helpers([]) == []
