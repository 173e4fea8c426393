"""Tests that launches are written down without a GPU, and are what they were when frozen."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.same.asking import outcome_of
from tests.same.command import is_quick
from tests.same.comparing import Aspect, changes
from tests.same.launch_record import (
    FROZEN_LAUNCHES,
    Launched,
    differences,
    launched_by,
    read_launches,
    texts_of,
    with_launches,
    write_launches,
)
from tests.same.launches import Call, TensorGiven, is_refused, launches_of
from tests.same.outcome import Entry
from tests.same.record import FROZEN, read_record

SEED, SHARDS = 0, 2
SUM = "Func f; In A; Var x; RVar k;\nf[x] = rsum(A[x, k], k);\nf.block(x:4);\nf.compile();\n"
A = TensorGiven("A", "float32", (10, 7), (7, 1))


@cache
def launched() -> dict[str, Launched]:
    if not FROZEN_LAUNCHES.exists():
        pytest.skip("nothing is frozen: python3 tasks.py same --freeze-launches")
    return read_launches()


@cache
def texts() -> dict[str, Entry]:
    return {one.name: one for one in texts_of(read_record(FROZEN))}


@cache
def entry() -> Entry:
    return Entry("one", SUM, False, outcome_of(SUM, asks_proof=False))


def text_of(one: Entry) -> str:
    return "".join(piece.text for piece in one.outcome.pieces)


@pytest.mark.long
@pytest.mark.parametrize("shard", range(SHARDS))
def test_frozen_texts_launch_what_they_did(shard: int) -> None:
    chosen = [one for one in texts().values() if is_quick(one.name, SEED)][shard::SHARDS]
    assert len(chosen) > len(texts()) // 10 // SHARDS // 2
    found = [o for one in chosen for o in differences(launched()[one.name], text_of(one))]
    assert [(str(o.call), o.before, o.after) for o in found] == []


@pytest.mark.long
def test_each_text_is_called_in_all_ways() -> None:
    assert launched().keys() == texts().keys()
    calls = [pair for one in launched().values() for pair in one]
    machines = Counter(call.machine for call, _ in calls)
    refused = Counter(lines[-1].split(":")[0] for _, lines in calls if is_refused(lines))
    assert all(machines[one] >= len(texts()) for one in ("interpreter", "sm_90", "sm_80"))
    assert sum(call.out is not None for call, _ in calls) >= len(texts()) * 3 // 4
    assert sum(call.is_traced for call, _ in calls) >= len(texts())
    assert refused.keys() == {"MemoryError", "TypeError", "ValueError"}
    assert sum(is_refused(lines) for _, lines in calls) >= len(texts())
    without = [name for name, one in launched().items() if all(is_refused(o) for _, o in one)]
    assert without == []


def test_a_launch_is_written_down() -> None:
    call = Call("f", "interpreter", (A,))
    ((launch, result),) = launches_of(text_of(entry()), [call])
    assert launch.startswith("f_kernel[(3,)](A_ptr=<'A': float32 (10, 7) (7, 1) of 280>, ")
    assert ", A_stride_0=7, A_stride_1=1, f_ptr=<memory 0: float32 (10,) (1,) of 40>" in launch
    assert ", x_size=10, k_size=7, " in launch
    assert result == "returns <memory 0: float32 (10,) (1,) of 40>"


def test_a_refusal_is_written_down() -> None:
    wrong = Call("f", "sm_90", (replace(A, dtype="int32"),))
    ((line,),) = launches_of(text_of(entry()), [wrong])
    assert line.startswith("TypeError: 'A' is torch.int32, and without a declared dtype")


def test_torch_sees_an_operator() -> None:
    traced = Call("f", "sm_90", (A,), is_traced=True)
    first, last = launches_of(text_of(entry()), [traced])[0]
    assert first.startswith("operator(Tensor A) -> Tensor given <'A': float32 (10, 7)")
    assert last == "returns <memory 0: float32 (10,) (1,) of 40>"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cdiv(x, 4)", "cdiv(x + 1, 4)"),
        ('"shape": ("x",)', '"shape": ("x + 1",)'),
        ("dt_is_traced([whole[at] for at in read])", "False"),
        ("must be a float", "should be a float"),
    ],
)
def test_a_changed_text_is_told(before: str, after: str) -> None:
    kept = launched_by(entry())
    text = text_of(entry())
    assert differences(kept, text) == ()
    other = re.sub(re.escape(before), after, text)
    assert other != text
    assert differences(kept, other)


def test_only_a_changed_text_is_called_again() -> None:
    name, one = next((n, o) for n, o in texts().items() if "torch.empty(" in text_of(o))
    assert launched()[name]
    assert with_launches(one, one.outcome).launches == ()
    pieces = tuple(replace(o, text=o.text.replace("+ 1", "+ 2")) for o in one.outcome.pieces)
    now = with_launches(one, replace(one.outcome, pieces=pieces))
    assert now.launches
    assert Aspect.LAUNCHES in [change.aspect for change in changes(one, now)]


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    kept = {"one": launched_by(entry())}
    write_launches(kept, tmp_path / "launches.json.xz")
    assert read_launches(tmp_path / "launches.json.xz") == kept
