"""A report is data: it is kept as text, and read back as it was."""

import pytest

from dtpoly.verify.proof.report import LAYERS, Function, Layer, Report, Verdict, as_json, from_json
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
    assert report.verdict is Verdict.REFUTED
    assert from_json(as_json(report)) == report
    assert [layer.name for layer in report.functions[0].layers] == list(LAYERS)


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ("", Verdict.UNKNOWN),
        ("proved", Verdict.PROVED),
        ("proved tested", Verdict.PROVED),
        ("tested", Verdict.UNKNOWN),
        ("proved unknown tested", Verdict.UNKNOWN),
        ("proved unknown refuted", Verdict.REFUTED),
        ("proved tested refuted", Verdict.REFUTED),
    ],
)
def test_layers_together(verdicts: str, verdict: Verdict) -> None:
    layers = tuple(Layer("value", Verdict(word)) for word in verdicts.split())
    function = Function("f", layers, 0.0)
    assert function.verdict is verdict
    assert Report((function,)).verdict is verdict
