"""A report is data: it is kept as text, and read back as it was."""

import pytest

from dtpoly.verify.proof.report import (
    LAYERS,
    FunctionReport,
    Layer,
    LayerVerdict,
    Report,
    as_json,
    from_json,
)
from dtpoly.verify.proof.verify import verify
from tests.verify.test_mutants import MUTANTS
from tests.verify.texts import changed, program_of, text_of


@pytest.mark.parametrize(
    "name",
    ["a mask of a store is dropped", "a barrier is missing", "program coordinates are exchanged"],
)
def test_it_is_read_back(name: str) -> None:
    path, old, new, _ = MUTANTS[name]
    program = program_of(path)
    report = verify(program, changed(text_of(program), old, new))
    assert report.verdict is LayerVerdict.REFUTED
    assert from_json(as_json(report)) == report
    assert [layer.name for layer in report.functions[0].layers] == list(LAYERS)


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ("", LayerVerdict.UNKNOWN),
        ("proved", LayerVerdict.PROVED),
        ("proved tested", LayerVerdict.PROVED),
        ("tested", LayerVerdict.UNKNOWN),
        ("proved unknown tested", LayerVerdict.UNKNOWN),
        ("proved unknown refuted", LayerVerdict.REFUTED),
        ("proved tested refuted", LayerVerdict.REFUTED),
    ],
)
def test_layers_together(verdicts: str, verdict: LayerVerdict) -> None:
    layers = tuple(Layer("value", LayerVerdict(word)) for word in verdicts.split())
    function = FunctionReport("f", layers, 0.0)
    assert function.verdict is verdict
    assert Report((function,)).verdict is verdict
