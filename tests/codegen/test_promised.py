"""Promises of range: what is read and written without a test, beside torch's own indexing."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.format import format_source
from dtpoly.generate import code_of
from dtpoly.plan.runtime_text import FIRST
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.server import Server
from tests.codegen.inputs import Inputs
from tests.codegen.listings import PROMISED
from tests.codegen.running import imported

FILES = {name.removeprefix("promised_"): path for name, path in PROMISED.items()}
F64 = torch.float64
DTYPES = (F64, torch.float32, torch.bfloat16, torch.float16)
CLASSES = 100
Sizes = tuple[int, int, int, int]
Tensors = Mapping[str, Any]
# Elements, rows of the tensor, numbers in a row and reduced ones: 0 and 1, primes, around tiles.
SIZES: tuple[Sizes, ...] = (
    (1, 1, 1, 1),
    (17, 5, 15, 3),
    (8, 3, 16, 17),
    (0, 3, 5, 2),
    (0, 0, 5, 2),
    (5, 2, 0, 3),
    (5, 2, 3, 0),
    (33, 7, 67, 31),
)


def program(name: str) -> Program:
    return load(Source(f"{name}.dt", FILES[name].read_text()))


def text(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def weighted(t: Tensors) -> torch.Tensor:
    rows = t["V"][t["pages"].long()].flatten(1, 2)
    return torch.einsum("bl,bld->bd", t["P"], rows)


def shifted(t: Tensors) -> torch.Tensor:
    rows: torch.Tensor = t["E"][t["T"].long()]
    ended: torch.Tensor = torch.nn.functional.pad(rows, (0, 1), value=1.0)[:, 1:]
    return rows - ended


MEANS: dict[str, Callable[[Tensors], torch.Tensor]] = {
    "classes": shifted,
    "combined": lambda t: t["O"].index_add(0, t["token"], t["gate"][:, None] * t["Y"]),
    "embedding": lambda t: t["E"][t["T"]],
    "experts": lambda t: torch.einsum("tik,tkn->tin", t["X"], t["W"][t["expert"].long()]),
    "levels": lambda t: t["E"][t["T"][t["U"].long()]],
    "paged": weighted,
    "slots": lambda t: t["K"].index_copy(0, t["slot"].long(), t["X"]),
}


def floats(seed: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Small whole numbers, in rows with gaps between them."""
    generator = torch.Generator().manual_seed(seed)
    wide = torch.randint(-2, 3, (*shape[:-1], shape[-1] + 3), generator=generator)
    return wide.to(dtype)[..., : shape[-1]]


def table(seed: int, shape: tuple[int, ...], rows: int, dtype: torch.dtype) -> torch.Tensor:
    """Every index of some rows may occur, the first and the last one do; between two is a gap."""
    generator = torch.Generator().manual_seed(seed)
    found = torch.randint(0, max(rows, 1), (*shape, 2), generator=generator)
    flat = found.reshape(-1)
    flat[:1], flat[2:3] = 0, max(rows, 1) - 1
    return found.to(dtype)[..., 0]


def made(name: str, sizes: Sizes, seed: int, dtype: torch.dtype) -> Inputs:
    """Return arguments for which the promises of a file are kept."""
    n, m, d, k = sizes
    rows, values = floats(seed, (m, d), dtype), floats(seed + 1, (n, d), dtype)
    match name:
        case "classes":
            return {
                "E": floats(seed, (CLASSES, d), dtype),
                "T": table(seed, (n,), 100, torch.uint8),
            }
        case "combined":
            given = {"gate": floats(seed + 2, (n,), dtype), "Y": values}
            return {"O": rows, "token": table(seed, (n,), m, torch.int64), **given}
        case "embedding":
            return {"T": table(seed, (n,), m, torch.int64), "E": rows}
        case "experts":
            given = {"X": floats(seed, (n, 3, k), dtype), "W": floats(seed + 1, (m, k, d), dtype)}
            return {**given, "expert": table(seed, (n,), m, torch.int32)}
        case "levels":
            middle = table(seed, (k if m else 0,), m, torch.int64)
            count = n if middle.numel() else 0
            return {"E": rows, "T": middle, "U": table(seed, (count,), k, torch.int16)}
        case "paged":
            pages = table(seed, (n, k % 4), m, torch.int32)
            weights, rows = floats(seed, (n, 16 * (k % 4)), dtype), floats(2, (m, 16, d), dtype)
            return {"P": weights, "V": rows, "pages": pages}
        case _:
            where = torch.randperm(n + 3, generator=torch.Generator().manual_seed(seed))[:n]
            return {"K": floats(seed, (n + 3, d), dtype), "slot": where.int(), "X": values}


def copied(given: Inputs) -> Inputs:
    return {n: v.clone() if isinstance(v, torch.Tensor) else v for n, v in given.items()}


def doubled(given: Inputs) -> Tensors:
    return {
        n: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
        for n, v in given.items()
    }


@pytest.mark.parametrize("name", FILES)
def test_the_reference_is_torchs_indexing(name: str) -> None:
    for seed, sizes in enumerate(SIZES):
        given = made(name, sizes, seed, F64)
        found = run(program(name), given, wanted=["result"])["result"]
        torch.testing.assert_close(found, MEANS[name](given), rtol=1e-11, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_kernel_is_torchs_indexing(name: str, dtype: torch.dtype) -> None:
    module: Any = imported(text(program(name)))
    for seed, sizes in enumerate(SIZES):
        given = made(name, sizes, seed, dtype)
        wanted = MEANS[name](doubled(given))
        found = module.result(**copied(given))
        share = {F64: 1e-11, torch.float32: 2e-5}.get(dtype, 4e-2)
        torch.testing.assert_close(found, wanted.to(dtype), rtol=share, atol=share)


@pytest.mark.parametrize("name", FILES)
def test_each_is_proved_and_tests_nothing(name: str) -> None:
    of = program(name)
    emitted = text(of)
    (found,) = verify(of, emitted, seconds=60).functions
    assert found.verdict is LayerVerdict.PROVED, found
    assert "_inside" not in emitted.partition(FIRST)[0]
    promised = [one.name for one in of.tensors if one.within is not None]
    assert [one for one in found.assumed if one.startswith("each element of")] == [
        f"each element of '{t}' is at least 0 and below "
        f"{'100' if name == 'classes' else 'len(' + str(of_label(of, t)) + ')'}"
        for t in promised
    ]


def of_label(of: Program, tensor: str) -> object:
    return next(one.within for one in of.tensors if one.name == tensor)


@pytest.mark.parametrize("name", FILES)
def test_each_is_shown_and_formatted(name: str) -> None:
    source = Source(f"{name}.dt", FILES[name].read_text())
    assert format_source(source) == source.text
    shown = load(Source("shown.dt", show(program(name))))
    assert shown == program(name)
    assert [one.within for one in shown.tensors] == [one.within for one in program(name).tensors]


@pytest.mark.parametrize("name", FILES)
def test_a_promise_that_is_broken_is_told_by_the_reference(name: str) -> None:
    of = program(name)
    for tensor in of.tensors:
        if tensor.within is None:
            continue
        given = copied(made(name, SIZES[1], 1, F64))
        wrong = given[tensor.name]
        assert isinstance(wrong, torch.Tensor)
        at = tuple(size // 2 for size in wrong.shape)
        wrong[at] = 127
        here = f"{tensor.name}[{', '.join(map(str, at))}] is 127"
        with pytest.raises(DtpolyError, match="DT255") as told:
            run(of, given)
        assert told.value.diagnostics[0].title.startswith(here)
        if wrong.dtype is not torch.uint8:
            wrong[at] = -1
            with pytest.raises(DtpolyError, match="is -1, and each element"):
                run(of, given)


def test_an_axis_of_another_length_is_refused() -> None:
    """The axis that is read has the size that the promise names, and at least the number."""
    experts: Any = imported(text(program("experts"))).result
    x, w = torch.ones(2, 3, 4), torch.ones(5, 4, 6)
    assert experts(x, w, torch.tensor([4, 0]).int()).shape == (2, 3, 6)
    both = FILES["embedding"].read_text().replace("E[T[l], k]", "E[T[l], k] + G[v, k]")
    of = load(
        Source(
            "both.dt",
            both.replace("In T", "In G, T").replace("[l, k]", "[l, v, k]").split("result.block")[0]
            + "result.compile();",
        )
    )
    function: Any = imported(text(of)).result
    rows, words = torch.ones(5, 4), torch.tensor([4, 0])
    assert function(G=rows, T=words, E=rows).shape == (2, 5, 4)
    with pytest.raises(ValueError, match="'v'"):
        function(G=rows, T=words, E=rows[:4])
    classes: Any = imported(text(program("classes"))).result
    with pytest.raises(ValueError, match="axis 0"):
        classes(torch.ones(CLASSES - 1, 3), torch.tensor([0], dtype=torch.uint8))


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code_, out, err = served("call", "tests.codegen.compiling:main", *PROMISED)
    assert code_ == 0, out + err
