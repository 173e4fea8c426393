"""A proof is kept by everything that it depends on, and only if more time would not change it."""

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dtpoly.codegen.header import MARK, with_verdict
from dtpoly.verification import proved, verdict_lines, verified
from dtpoly.verify.proof.report import LAYERS, FunctionReport, Layer, LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed, text_of, written

SUM = written("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();")
OTHER = written("Func f; In A; Var x; RVar k; f[x] = rmax(A[x, k], k); f.compile();")
TEXT = f"{MARK} 0 from f.dt.\n# Verdict: none.\n{text_of(SUM)}"
WRONG = changed(TEXT, "range(0, k_size)", "range(1, k_size)")

Counted = Callable[[], int]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "proofs"


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Return how often something was proved."""
    done: list[str] = []

    def counted(*arguments: object) -> Report:
        done.append("once")
        return verify(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("dtpoly.verify.proof.verify.verify", counted)
    return lambda: len(done)


def report(**verdicts: LayerVerdict) -> Report:
    """One function for each name, all of whose layers are so."""
    return Report(
        tuple(
            FunctionReport(name, tuple(Layer(one, verdict) for one in LAYERS), 0.0)
            for name, verdict in verdicts.items()
        )
    )


@pytest.mark.long
def test_it_is_proved_once(count: Counted) -> None:
    first = verified(SUM, WRONG)
    assert first.verdict is LayerVerdict.REFUTED
    assert verified(SUM, WRONG) == first
    assert count() == 1
    assert verified(SUM, TEXT).verdict is LayerVerdict.PROVED
    assert verified(OTHER, TEXT).verdict is not LayerVerdict.PROVED
    assert count() == 3


def test_what_is_said_in_the_header_does_not_count(count: Counted) -> None:
    first = verified(SUM, WRONG)
    longer = with_verdict(WRONG, ["Verdict of f: none.", "Verdict of g: none."])
    second = verified(SUM, longer)
    assert count() == 1
    for one, other in zip(first.layers, second.layers, strict=True):
        if one.line:
            assert WRONG.splitlines()[one.line - 1] == longer.splitlines()[other.line - 1]
    assert {one.line for one in first.layers} != {one.line for one in second.layers}


def test_what_takes_too_long_is_not_kept(count: Counted, folder: Path) -> None:
    for _ in range(2):
        assert verified(SUM, TEXT, seconds=1e-9).is_late
    assert not folder.exists()
    assert verified(SUM, TEXT).verdict is LayerVerdict.PROVED
    # Then it does not matter how much time there is.
    assert verified(SUM, TEXT, seconds=1e-9).verdict is LayerVerdict.PROVED
    assert count() == 3


@pytest.mark.sampled
@pytest.mark.parametrize("damage", [b"", b"\xff", b"[]", b"0" * 64 + b'\n[{"name": "f"}]'])
def test_a_damaged_proof_is_made_anew(count: Counted, folder: Path, damage: bytes) -> None:
    first = verified(SUM, TEXT)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    path.write_bytes(damage)
    assert verified(SUM, TEXT).verdict is first.verdict
    assert count() == 2
    assert path.read_bytes().partition(b"\n")[0] != damage.partition(b"\n")[0]
    assert len(path.read_bytes()) > len(good) // 2


def test_a_proof_of_another_text_is_no_proof(count: Counted, folder: Path) -> None:
    """A whole entry with one verdict changed: it does not say what its first line promises."""
    verified(SUM, WRONG)
    (path,) = folder.iterdir()
    text = path.read_text()
    assert '"refuted"' in text
    path.write_text(text.replace('"refuted"', '"proved"'))
    assert verified(SUM, WRONG).verdict is LayerVerdict.REFUTED
    assert count() == 2


def test_without_a_place(count: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "file"))
    for _ in range(2):
        assert verified(SUM, TEXT).verdict is LayerVerdict.PROVED
    assert count() == 2


def test_the_verifier_itself_counts(count: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    verified(SUM, TEXT)
    monkeypatch.setattr("dtpoly.runtime.cache.compiler", lambda: "another one")
    verified(SUM, TEXT)
    monkeypatch.setattr("dtpoly.verification.sys.version", "another Python")
    verified(SUM, TEXT)
    assert count() == 3


def one_proof(_: int) -> str:
    return str(verified(SUM, TEXT).verdict)


@pytest.mark.long
def test_several_processes_at_once(folder: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert set(pool.map(one_proof, range(6), 1)) == {"proved"}
    assert len(list(folder.iterdir())) == 1


def test_what_is_wanted_is_not_left_out() -> None:
    found = verified(SUM, TEXT, ("f", "g"))
    assert [one.name for one in found.functions] == ["f", "g"]
    assert found.functions[0].verdict is LayerVerdict.PROVED
    assert found.verdict is LayerVerdict.UNKNOWN
    assert found.layers[-1].why == "there is no function 'g'"


def test_what_is_written_differs_in_the_header_alone() -> None:
    found = proved(SUM, TEXT)
    assert found.text != TEXT
    assert with_verdict(found.text) == with_verdict(TEXT)
    assert found.text.splitlines()[2:] == TEXT.splitlines()[2:]


def test_the_verdict_in_words() -> None:
    layers = "stores, loads, bounds, lanes, order, value, overflow"
    same = report(f=LayerVerdict.PROVED, g=LayerVerdict.PROVED)
    assert verdict_lines(same) == [f"Verdict: PROVED {layers}."]
    apart = report(f=LayerVerdict.PROVED, g=LayerVerdict.UNKNOWN)
    assert verdict_lines(apart) == [
        f"Verdict of f: PROVED {layers}.",
        f"Verdict of g: UNKNOWN {layers}.",
    ]
    (function,) = report(f=LayerVerdict.PROVED).functions
    assert verdict_lines(Report((replace(function, assumed=("a < 4", "finite")),))) == [
        f"Verdict: PROVED {layers}; assumed: a < 4; assumed: finite."
    ]
    mixed = (Layer("stores", LayerVerdict.PROVED), Layer("order", LayerVerdict.REFUTED))
    assert verdict_lines(Report((FunctionReport("f", mixed, 0.0),))) == [
        "Verdict: PROVED stores; REFUTED order."
    ]
