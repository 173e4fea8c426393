"""Tests that a schedule without code is reported at the directive to blame."""

from contextlib import AbstractContextManager
from typing import Any

import pytest

from dtpoly.checking import load
from dtpoly.codegen import module
from dtpoly.codegen.building import Unsupported
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, launches
from dtpoly.poly.effort import limited
from dtpoly.poly.generation import loop_ast
from dtpoly.poly.spaces import PolyError
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

TEXT = "Func f; In A; Var x; f[x] = A[x]; f.block(x:4); f.tensorize(x:0); f.num_warps(4);"


def test_what_isl_cannot_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    state = judge(load(Source("f.dt", TEXT)), DIRECTIVES).scheduled

    def fails(model: Any, tiles: Any, flat: Any) -> Any:
        if any(one.lanes for one in tiles):
            raise PolyError("templ.c:21")
        return loop_ast(model, tiles, flat)

    monkeypatch.setattr(module, "loop_ast", fails)
    with pytest.raises(DtpolyError) as caught:
        code_of(state)
    (told,) = caught.value.diagnostics
    assert told.code == "DT300"
    assert told.span is not None
    assert told.span.text == "f.tensorize(x:0)"
    assert [note.text for note in told.notes] == [module.BEYOND]


def test_what_takes_isl_too_long() -> None:
    state = judge(load(Source("f.dt", TEXT)), DIRECTIVES).scheduled
    with pytest.raises(Unsupported, match="it takes too long to find its loops"):
        module.generate(state.program, state.model, launches(state), ("f",), operations=100)
    # What is asked afterwards is answered.
    assert code_of(state).text


def test_what_takes_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    state = judge(load(Source("f.dt", TEXT)), DIRECTIVES).scheduled

    def less(operations: int) -> AbstractContextManager[None]:
        return limited(operations // 100_000)

    monkeypatch.setattr(module, "limited", less)
    with pytest.raises(DtpolyError) as caught:
        code_of(state)
    (told,) = caught.value.diagnostics
    assert told.code == "DT300"
    assert [note.text for note in told.notes] == [module.TOO_LONG]
