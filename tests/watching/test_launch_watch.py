# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""`dtpoly.watch` sees launches as they are, and leaves Triton as it was."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source
from dtpoly.watching.launch_record import WatchedTensor, WatchedWord, read_record, written

KERNELS = Path(__file__).parent.parent / "data" / "watched_kernels.py.txt"


def kernels() -> Any:
    """Return the module with the kernels that are launched here."""
    found = ModuleType("watched_kernels")
    code = compile(KERNELS.read_text(), str(KERNELS), "exec")
    # Triton reads the text of a kernel where Python says that it is.
    exec(code, found.__dict__)
    return found


LAUNCHED = kernels()
scaled, summed, tuned = LAUNCHED.scaled, LAUNCHED.summed, LAUNCHED.tuned
WRAPPED: tuple[Any, ...] = (
    import_module("triton.runtime.jit").JITFunction,
    import_module("triton.runtime.interpreter").InterpretedFunction,
    import_module("triton.runtime.autotuner").Autotuner,
)


def runs() -> list[Any]:
    return [one.run for one in WRAPPED]


def test_a_launch_is_seen_and_goes_on() -> None:
    before = runs()
    x, y = torch.randn(37), torch.empty(37)
    with dtpoly.watch() as seen:
        assert runs() != before
        scaled[lambda meta: (-(-37 // meta["BLOCK"]),)](x, y, 37, 0.5, BLOCK=16, num_warps=2)
    assert runs() == before
    assert torch.equal(y, x * 0.5)
    (one,) = seen.launches
    assert (one.name, one.grid, one.constants) == ("scaled", (3,), ("BLOCK",))
    assert one.file == str(KERNELS)
    assert {name: one.given[name] for name in ("n", "factor", "BLOCK")} == {
        "n": 37,
        "factor": 0.5,
        "BLOCK": 16,
    }
    assert one.options == {"num_warps": 2}
    given = [one.given[name] for name in ("x_ptr", "y_ptr")]
    tensors = [value for value in given if isinstance(value, WatchedTensor)]
    assert [(value.shape, value.strides, value.dtype) for value in tensors] == [
        ((37,), (1,), "float32")
    ] * 2
    assert tensors[0].storage != tensors[1].storage


def test_what_heuristics_give_is_seen() -> None:
    x, y = torch.randn(5, 19), torch.empty(5)
    with dtpoly.watch() as seen:
        summed[(5,)](x, y, x.stride(0), 19)
    assert seen.launches[0].given["BLOCK"] == 32
    assert torch.allclose(y, x.sum(1), atol=1e-5)  # a sum near 0 has a large relative error


def test_views_of_one_memory_are_told_apart() -> None:
    x = torch.randn(2, 16)
    with dtpoly.watch(run=False) as seen:
        scaled[(1,)](x[0], x[1], 16, 1.0, BLOCK=16)
        scaled[(1,)](x[0], x[0], 16, 1.0, BLOCK=16)
    (first, second), (same, again) = (
        (one.given["x_ptr"], one.given["y_ptr"]) for one in seen.launches
    )
    assert isinstance(first, WatchedTensor)
    assert isinstance(second, WatchedTensor)
    assert (first.storage, second.address - first.address) == (second.storage, 64)
    assert same == again


def test_without_running_nothing_is_computed_and_a_tuned_kernel_has_a_value() -> None:
    x = torch.zeros(100)
    with dtpoly.watch(run=False) as seen:
        tuned[lambda meta: (-(-100 // meta["BLOCK"]),)](x, 100)
    assert not x.any()
    assert [(one.given["BLOCK"], one.grid) for one in seen] == [(64, (2,))]


def test_of_a_tuned_kernel_the_chosen_launch_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([3.0, 1.0])

    def bench(call: Any, quantiles: Any) -> list[float]:
        call()
        return [next(times)] * len(quantiles)

    monkeypatch.setitem(vars(tuned), "do_bench", bench)
    x = torch.zeros(100)
    with dtpoly.watch() as seen:
        tuned[lambda meta: (-(-100 // meta["BLOCK"]),)](x, 100)
    assert x.max() == 3  # it ran twice to be measured, and once to be used
    assert [(one.given["BLOCK"], one.grid) for one in seen] == [(128, (1,))]


def test_watches_stand_inside_of_each_other_and_an_error_closes_them(tmp_path: Path) -> None:
    before = runs()
    x = torch.zeros(16)
    outer, inner = dtpoly.watch(tmp_path / "record.json"), dtpoly.watch()

    def both() -> None:
        with outer:
            with inner:
                scaled[(1,)](x, x, 16, 1.0, BLOCK=16)
            scaled[(1,)](x, x, 16, 2.0, BLOCK=16)
            _ = 1 // 0

    with pytest.raises(ZeroDivisionError):
        both()
    assert (len(outer), len(inner)) == (2, 1)
    assert runs() == before
    path = tmp_path / "record.json"
    assert read_record(Source(str(path), path.read_text())) == outer.launches


def test_a_call_that_triton_refuses_is_no_launch() -> None:
    with dtpoly.watch() as seen:
        with pytest.raises(TypeError):
            scaled[(1,)](torch.zeros(16))
        with pytest.raises(ZeroDivisionError):
            scaled[lambda _: (1 // 0,)](torch.zeros(16), torch.zeros(16), 16, 1.0, BLOCK=16)
    assert seen.launches == ()


def test_a_record_is_read_as_it_was_written() -> None:
    with dtpoly.watch(run=False) as seen:
        scaled[(2, 3)](torch.zeros(2, 3).t(), None, True, float("inf"), BLOCK="relu")
    assert read_record(Source("r", written(seen.launches))) == seen.launches
    given = seen.launches[0].given
    assert (given["y_ptr"], given["n"], given["factor"]) == (None, True, float("inf"))
    assert given["BLOCK"] == WatchedWord("text", "relu")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 2}', '{"version": 1, "launches": [{}]}', "[" * 100_000]
)
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(DtpolyError) as error:
        read_record(Source("record.json", text))
    assert error.value.diagnostics[0].code == "DT316"


def test_importing_dtpoly_loads_neither_torch_nor_triton() -> None:
    code = "import sys, dtpoly; dtpoly.watch(); assert not {'torch', 'triton'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)
