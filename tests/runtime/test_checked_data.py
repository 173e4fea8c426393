"""Calls that check their data: what they find, and that others cost and change nothing."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.api import CHECK
from dtpoly.diagnostics import DtpolyError
from dtpoly.reference.checked_data import wrong_data
from tests.codegen.listings import DATA

EMBEDDING = """
Func f;
In E, T: {dtype};
Var l, k{labels};

f[l, k] = {read};
f.block(l:4);
f.tensorize(l:0, k:16);
f.compile();
"""


def embedding(read: str = "E[T[l], k]", dtype: str = "i64", labels: str = "") -> str:
    return EMBEDDING.format(read=read, dtype=dtype, labels=labels)


def checked(text: str) -> Any:
    return dtpoly.parse(text, check_data=True)


def told(function: Any, *given: Any) -> str:
    with pytest.raises(DtpolyError, match="DT255") as error:
        function(*given)
    return str(error.value)


ROWS = torch.arange(12.0).reshape(4, 3)


def test_an_index_outside_is_found() -> None:
    k = checked(embedding())
    torch.testing.assert_close(k(ROWS, torch.tensor([3, 0])), ROWS[[3, 0]])
    above = told(k, ROWS, torch.tensor([3, 0, 4, 9]))
    assert "T[l] is 4 at l = 2, outside of 'E'" in above
    assert "axis 0 of 'E' has indices 0 to 3" in above
    assert "T[2] is 4" in above
    assert "T[l] is -1 at l = 1" in told(k, ROWS, torch.tensor([0, -1]))
    assert "has no index" in told(k, ROWS[:0], torch.tensor([0]))
    assert k(ROWS, torch.tensor([], dtype=torch.int64)).shape == (0, 3)


def test_a_promise_that_is_broken_is_found() -> None:
    k = checked(embedding(dtype="i64 within len(v)", labels=", v"))
    torch.testing.assert_close(k(ROWS, torch.tensor([3, 0])), ROWS[[3, 0]])
    found = told(k, ROWS, torch.tensor([0, 1, 2, 3, 4, -2]))
    assert "T[4] is 4" in found
    assert "below len(v), which is 4 in this call" in found
    assert "T[1] is -2" in told(k, ROWS, torch.tensor([3, -2]))


def test_sums_and_tables_of_tables_are_looked_at() -> None:
    k = checked(embedding("E[2 * T[l] - 1, k]"))
    assert "2 * T[l] - 1 is 5 at l = 1" in told(k, ROWS, torch.tensor([1, 3]))
    text = "Func f; In E, T: i64, U: i32; Var l, k; f[l, k] = E[T[U[l]], k]; f.compile();"
    two = checked(text)
    rows, table = torch.arange(12.0).reshape(4, 3), torch.tensor([1, 7])
    assert two(rows, table, torch.tensor([0, 0]).int()).shape == (2, 3)
    assert "T[U[l]] is 7 at l = 1" in told(two, rows, table, torch.tensor([0, 1]).int())
    assert "U[l] is 2 at l = 0, outside of 'T'" in told(two, rows, table, torch.tensor([2]).int())


def test_an_index_that_is_computed_is_looked_at() -> None:
    text = (
        "Func best, f; In A, W, M: i64; Var l, n; RVar e; best[l] = rargmax(A[l, e], e);"
        "f[l, n] = W[M[best[l]], n]; f.compile();"
    )
    k = checked(text)
    scores, rows = torch.eye(3), torch.ones(2, 5)
    assert k(scores, rows, torch.tensor([0, 1, 1])).shape == (3, 5)
    assert "M[best[l]] is 2 at l = 1" in told(k, scores, rows, torch.tensor([0, 2, 1]))


def test_what_is_padded_may_be_outside() -> None:
    k = checked(embedding("pad(E, -1)[T[l], k]"))
    assert k(ROWS, torch.tensor([4, -1])).eq(-1).all()


def test_places_outside_and_alike_are_found() -> None:
    slots = (DATA / "placed" / "slots.dt").read_text()
    k, x = checked(slots), torch.ones(3, 2, 4)
    cache = torch.zeros(5, 2, 4)
    assert k(cache, torch.tensor([4, 0, 2]).int(), x).sum() == 24
    outside = told(k, cache, torch.tensor([4, 5, 2]).int(), x)
    assert "slot[t] is 5 at t = 1, outside of 'K'" in outside
    assert "goes to such an element" in outside
    alike = told(k, cache, torch.tensor([4, 0, 4]).int(), x)
    assert "stored[0, 0, 0] and stored[2, 0, 0] have the same place" in alike
    assert "slot[0] is 4" in alike
    # What is added may repeat.
    added = checked(slots.replace("distinct", "add"))
    assert added(torch.zeros(5, 2, 4), torch.tensor([4, 4, 4]).int(), x).sum() == 24


def test_a_call_of_wrong_shapes_is_refused_as_always() -> None:
    k, plain = checked(embedding()), dtpoly.parse(embedding())
    for given in ((ROWS[0], torch.tensor([9])), (ROWS, torch.tensor([0.5])), (ROWS,)):
        messages: list[str] = []
        for one in (k, plain):
            with pytest.raises((ValueError, TypeError)) as error:
                one(*given)
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_nothing_is_looked_at_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "f.dt"
    path.write_text(embedding())
    monkeypatch.delenv(CHECK, raising=False)
    wrong = (ROWS, torch.tensor([4]))
    assert dtpoly.load(path)(*wrong).eq(0).all()
    monkeypatch.setenv(CHECK, "0")
    assert dtpoly.load(path)(*wrong).eq(0).all()
    monkeypatch.setenv(CHECK, "1")
    asked = dtpoly.load(path)
    assert "outside of 'E'" in told(asked, *wrong)
    assert "outside of 'E'" in told(asked.function, *wrong)
    assert dtpoly.load(path, check_data=False)(*wrong).eq(0).all()
    # Steps and copies of it check their data, too. What is emitted is the same.
    step = pickle.loads(pickle.dumps(asked.f.num_warps(2)))
    assert "outside of 'E'" in told(step, *wrong)
    assert asked.source == dtpoly.load(path, check_data=False).source


def test_a_name_that_python_needs_is_known() -> None:
    text = "Func f; In lambda_, T: i64; Var l, k; f[l, k] = lambda_[T[l], k]; f.compile();"
    k = checked(text.replace("lambda_", "lambda"))
    assert "outside of 'lambda'" in told(k, ROWS, torch.tensor([4]))


def test_the_first_wrong_element_of_each_index_is_told() -> None:
    of = dtpoly.parse(
        "Func f; In A, T: i64, U: i64; Var l; f[l] = A[T[l], U[l]] + A[0, T[l]];"
    ).program
    given = {
        "A": torch.zeros(3, 5),
        "T": torch.tensor([2, 3, 4]),
        "U": torch.tensor([5, 4, 9]),
    }
    found = [one.title for one in wrong_data(of, given, {}, ("f",))]
    assert found == [
        "T[l] is 3 at l = 1, outside of 'A'",
        "U[l] is 5 at l = 0, outside of 'A'",
    ]
