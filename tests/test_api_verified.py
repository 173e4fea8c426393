"""Tests that what `dtpoly.load` returns is proved before it runs, unless that is not wanted."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import Code, code_of

SUM = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();"
PROVED = "# Verdict: PROVED stores, loads, bounds, lanes, order, value, overflow."
NOTHING = "# Verdict: none, for nothing was verified."

Emit = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def emit(monkeypatch: pytest.MonkeyPatch) -> Emit:
    """Let the generator make another text than it does."""

    def emit(old: str, new: str) -> None:
        def changed(*arguments: Any, **named: Any) -> Code:
            code = code_of(*arguments, **named)
            assert old in code.text
            return replace(code, text=code.text.replace(old, new))

        monkeypatch.setattr("dtpoly.api.code_of", changed)

    return emit


def test_what_runs_is_proved() -> None:
    k = dtpoly.parse(SUM)
    assert k.source.splitlines()[1] == PROVED
    A = torch.randn(5, 7)
    torch.testing.assert_close(k(A), A.sum(1))


@pytest.mark.long
def test_what_is_wrong_does_not_run(emit: Emit) -> None:
    emit("range(0, k_size)", "range(1, k_size)")
    k = dtpoly.parse(SUM, name="f.dt")
    for ask in (lambda: k.source, lambda: k.function, lambda: k(torch.ones(2, 3))):
        with pytest.raises(DtpolyError, match=r"DT310.*the code of 'f' would be wrong"):
            ask()
    # Steps and turns keep what was wanted.
    with pytest.raises(DtpolyError, match="something of the algorithm's reduction is left out"):
        _ = k.f.num_warps(8).source
    assert "error[DT310]" in k.report


def test_unless_that_is_not_wanted(emit: Emit, tmp_path: Path) -> None:
    emit("range(0, k_size)", "range(1, k_size)")
    A = torch.ones(2, 3)
    (tmp_path / "f.dt").write_text(SUM)
    for k in (dtpoly.parse(SUM, verify=False), dtpoly.load(tmp_path / "f.dt", verify=False)):
        assert k.source.splitlines()[1] == NOTHING
        assert k(A).tolist() == [2, 2]
        assert k.f.num_warps(8)(A).tolist() == [2, 2]
        assert "PROVED" not in k.report


def test_what_is_not_proved_is_warned_of_once(emit: Emit) -> None:
    emit('    "types":', '    "more": 1,\n    "types":')
    k = dtpoly.parse(SUM)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert k(torch.ones(2, 3)).tolist() == [3, 3]
        k(torch.ones(2, 3))
    assert len(caught) == 1
    assert "DT311" in str(caught[0].message)
    assert "a plan with 'more'" in str(caught[0].message)
    assert "UNKNOWN" in k.report
    assert "warning[DT311]: 'f' is not proved" in k.report


def test_the_report_has_the_layers() -> None:
    report = dtpoly.parse(SUM).report
    head, _, row = report.splitlines()[-3:]
    layers = ["stores", "loads", "bounds", "lanes", "order", "value", "overflow"]
    assert head.split() == ["function", *layers, "seconds"]
    assert row.split()[:-1] == ["f", *["PROVED"] * 7]


def test_a_proof_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    source = dtpoly.parse(SUM).source

    def never(*_: object) -> object:
        raise AssertionError

    monkeypatch.setattr("dtpoly.verify.proof.verify.verify", never)
    assert dtpoly.parse(SUM).source == source


def test_what_the_cache_says_is_unknown_is_warned_of_again(
    emit: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    emit('    "types":', '    "more": 1,\n    "types":')
    with pytest.warns(UserWarning, match="DT311"):
        dtpoly.parse(SUM)(torch.ones(2, 3))

    def never(*_: object) -> object:
        raise AssertionError

    monkeypatch.setattr("dtpoly.verify.proof.verify.verify", never)
    # Another object asks the cache, as another process does.
    with pytest.warns(UserWarning, match="DT311"):
        dtpoly.parse(SUM)(torch.ones(2, 3))
