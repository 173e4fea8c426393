"""Sums at places that begin with a Func: what they come to, beside torch's operators."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.autoschedule.schedule_text import whole_text
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.unscheduled_source import algorithm_of
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.format import format_source
from dtpoly.generate import code_of
from dtpoly.reference.checked_data import wrong_data
from dtpoly.reference.run import run
from dtpoly.ring.trying import Equal, tried
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.autoschedule.asked import call_of
from tests.cli.server import Server
from tests.codegen.listings import STARTED
from tests.codegen.running import imported

FILES = {name.removeprefix("started_"): path for name, path in STARTED.items()}
F64 = torch.float64
DTYPES = (F64, torch.float32, torch.bfloat16, torch.float16)
CLASSES = 100
SIZED = ("v", "n")  # labels whose size a call passes
Sizes = tuple[int, int, int]
Results = dict[str, torch.Tensor]
# Elements, rows of the result, and numbers in a row: 0 and 1, primes, and around the tiles.
SIZES: tuple[Sizes, ...] = (
    (1, 1, 1),
    (17, 5, 15),
    (8, 3, 16),
    (0, 3, 5),
    (5, 0, 3),
    (5, 2, 0),
    (67, 129, 17),
    (65, 7, 33),
)


def program(name: str) -> Program:
    return load(Source(f"{name}.dt", FILES[name].read_text()))


def text(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def floats(seed: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Small whole numbers, whose sums no type rounds, in rows with gaps between them."""
    generator = torch.Generator().manual_seed(seed)
    wide = torch.randint(-2, 3, (*shape[:-1], shape[-1] + 3), generator=generator)
    return wide.to(dtype)[..., : shape[-1]]


def table(seed: int, count: int, rows: int, dtype: torch.dtype, beyond: int = 2) -> torch.Tensor:
    """Indices with a gap between each two. Many repeat, and some are outside."""
    generator = torch.Generator().manual_seed(seed)
    found = torch.randint(-beyond, max(rows, 1) + beyond, (count, 2), generator=generator)
    return found.to(dtype)[..., 0]


def made(name: str, sizes: Sizes, seed: int, dtype: torch.dtype) -> dict[str, Any]:
    """Return the arguments of a call."""
    n, m, d = sizes
    values = floats(seed, (n, d), dtype)
    match name:
        case "histogram":
            return {"T": table(seed, n, m, torch.int32), "v": m}
        case "combine":
            token = table(seed, n if m else 0, m, torch.int32, beyond=0)
            count = token.shape[0]
            given = {"gate": floats(seed + 1, (count,), dtype), "H": values[:count]}
            return {"token": token, **given, "W": floats(seed + 2, (d, d + 1), dtype), "n": m}
        case "bias":
            rows = floats(seed + 1, (m, d), dtype)
            return {"B": rows, "T": table(seed, n, m, torch.int64), "X": values}
        case _:
            return {"T": table(seed, n, CLASSES, torch.uint8, beyond=0), "X": values}


def summed(start: torch.Tensor, at: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return what index_add makes of a tensor, for the indices that are inside."""
    at = at.long()
    inside = (at >= 0) & (at < start.shape[0])
    return start.clone().index_add_(0, at[inside], rows[inside].to(start.dtype))


def combined(t: Mapping[str, Any]) -> Results:
    rows = t["gate"][:, None] * (t["H"] @ t["W"])
    return {"combined": summed(rows.new_zeros(t["n"], rows.shape[1]), t["token"], rows)}


def classes(t: Mapping[str, Any]) -> Results:
    counted = torch.bincount(t["T"].long(), minlength=CLASSES).to(torch.int32)
    zeros = torch.zeros(CLASSES, t["X"].shape[1], dtype=F64)
    return {"weighted": summed(zeros, t["T"], t["X"]), "counted": counted}


def counted(t: Mapping[str, Any]) -> Results:
    inside = t["T"][(t["T"] >= 0) & (t["T"] < t["v"])]
    return {"counted": torch.bincount(inside, minlength=t["v"]).to(torch.int32)}


MEANS: dict[str, Callable[[Mapping[str, Any]], Results]] = {
    "bias": lambda t: {"sums": summed(t["B"] * 2, t["T"], t["X"])},
    "classes": classes,
    "combine": combined,
    "histogram": counted,
}


def doubled(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        n: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
        for n, v in given.items()
    }


@pytest.mark.parametrize("name", FILES)
def test_the_reference_is_torchs_operator(name: str) -> None:
    for seed, sizes in enumerate(SIZES):
        given = made(name, sizes, seed, F64)
        passed: dict[str, int] = {one: given.pop(one) for one in SIZED if one in given}
        for func, wanted in MEANS[name]({**given, **passed}).items():
            found = run(program(name), given, sizes=passed, wanted=[func])[func]
            torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_kernel_is_torchs_operator(name: str, dtype: torch.dtype) -> None:
    """Also in memory of the caller's, which is full of NaN or of other numbers before."""
    module: Any = imported(text(program(name)))
    for seed, sizes in enumerate(SIZES):
        given = made(name, sizes, seed, dtype)
        wanted = MEANS[name](doubled(given))
        function = getattr(module, next(iter(wanted)))
        found: torch.Tensor | tuple[torch.Tensor, ...] = function(**given)
        results = found if isinstance(found, tuple) else (found,)
        out = tuple(
            torch.full_like(one, torch.nan if one.is_floating_point() else 77) for one in results
        )
        function(**given, out=out if len(out) > 1 else results_alone(out))
        for got in (results, out):
            for one, right in zip(got, wanted.values(), strict=True):
                share = {F64: 1e-6, torch.float32: 2e-5}.get(dtype, 4e-2)
                torch.testing.assert_close(one, right.to(one.dtype), rtol=share, atol=share)


def results_alone(results: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Return the only one of some results."""
    (result,) = results
    return result


def test_sums_have_the_type_of_what_is_added() -> None:
    module: Any = imported(text(program("combine")))
    for dtype in DTYPES:
        assert module.combined(**made("combine", SIZES[1], 1, dtype)).dtype is dtype
    bias: Any = imported(text(program("bias")))
    assert bias.sums(**made("bias", SIZES[1], 1, torch.bfloat16)).dtype is torch.float32


@pytest.mark.parametrize("name", FILES)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), text(program(name)), seconds=60)
    assert found.verdict is LayerVerdict.PROVED, found


@pytest.mark.parametrize("name", FILES)
def test_each_is_shown_and_formatted(name: str) -> None:
    source = Source(f"{name}.dt", FILES[name].read_text())
    assert format_source(source) == source.text
    assert load(Source("shown.dt", show(program(name)))) == program(name)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["bias", "combine"])
def test_each_agrees_in_the_ring(name: str) -> None:
    of = program(name)
    func = next(iter(MEANS[name](doubled(made(name, SIZES[1], 1, F64)))))
    assert isinstance(tried(of, text(of), func, 30.0), Equal)


def test_a_size_that_nothing_shows_must_be_passed() -> None:
    function: Any = imported(text(program("histogram"))).counted
    words = torch.tensor([1, 1, 4], dtype=torch.int32)
    assert function(words, v=2).tolist() == [0, 2]
    assert function(words, v=0).shape == (0,)
    with pytest.raises((TypeError, ValueError), match="v"):
        function(words)
    with pytest.raises(DtpolyError, match="DT170"):
        run(program("histogram"), {"T": words})


REFUSED = {
    "zero.fuse_at(counted, l);": "DT256",
    "zero.inline();": "DT256",
    "counted.beside(zero);": "DT200",
    "counted.pitch();": "DT197",
}


@pytest.mark.parametrize("directive", REFUSED)
def test_nothing_is_added_before_all_is_stored(directive: str) -> None:
    source = FILES["histogram"].read_text() + directive + "\n"
    with pytest.raises(DtpolyError, match=REFUSED[directive]):
        load(Source("f.dt", source))


CYCLES = (
    "zero[v] = counted[v]; counted[l] = 1;",
    "zero[v] = 0; counted[l] = zero[l];",
    "zero[v] = g[v]; counted[l] = 1; g[v] = counted[v];",
    "zero[v] = 0; counted[l] = g[l]; g[v] = zero[v];",
)


@pytest.mark.parametrize("defined", CYCLES)
def test_what_sums_begin_with_is_read_by_nobody(defined: str) -> None:
    more = ", g" if "g[v]" in defined else ""
    head = f"Func zero, counted into zero at [T[l]] add{more}; In T: i32; Var l, v;"
    with pytest.raises(DtpolyError, match="DT214"):
        load(Source("f.dt", head + defined))


def test_memory_must_be_able_to_add_the_type_of_sums() -> None:
    head = "Func zero, counted into zero at [T[l]] add; In T: i32, X: i8; Var l, v;"
    with pytest.raises(DtpolyError, match="'zero', which is i8"):
        load(Source("f.dt", head + "zero[v] = 0; counted[l] = X[l];"))


@pytest.mark.long
def test_a_schedule_is_found() -> None:
    lines = FILES["combine"].read_text().splitlines()
    bare = "\n".join(one for one in lines if not one.startswith(("zero.", "combined.")))
    source = Source("combine.dt", bare)
    call = call_of(source, s=4096, d=1024, n=512, k=256)
    (best,) = islice(schedules(call), 1)
    algorithm = algorithm_of(source, DIRECTIVES)
    of = load(Source(source.name, whole_text(source, algorithm, "A schedule.", best)))
    assert judge(of, DIRECTIVES).is_legal
    assert verify(of, text(of), seconds=60).verdict is LayerVerdict.PROVED


def test_a_place_outside_is_found_by_a_call_that_checks_its_data() -> None:
    given = {"T": torch.tensor([0, 5, 1], dtype=torch.int32)}
    (found,) = wrong_data(program("histogram"), given, {"v": 5}, ("counted",))
    assert found.title == "T[l] is 5 at l = 1, outside of 'zero'"
    assert not wrong_data(program("histogram"), given, {"v": 6}, ("counted",))


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code_, out, err = served("call", "tests.codegen.compiling:main", *STARTED)
    assert code_ == 0, out + err
