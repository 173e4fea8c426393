"""Every listing of the thesis, and every example, is proved in every layer."""

from pathlib import Path

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import FILES, ROOT, program_of, text_of

ALL = (*FILES, ROOT / "examples/softmax.dt")


@pytest.mark.sampled
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_it_is_proved(path: Path) -> None:
    program = program_of(path)
    report = verify(program, text_of(program))
    assert [layer for layer in report.layers if layer.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED
