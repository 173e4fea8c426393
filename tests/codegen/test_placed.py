"""Funcs that go to places in an input: what they leave there, beside torch's own indexing."""

from collections.abc import Callable, Mapping
from pathlib import Path
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
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import DATA
from tests.codegen.running import imported

ROOT = Path(__file__).parent.parent.parent
FILES = {path.stem: path for path in sorted((DATA / "placed").glob("*.dt"))}
FILES["kv_cache_append"] = ROOT / "examples" / "kv_cache_append.dt"
F64 = torch.float64
Tensors = Mapping[str, Any]
Results = dict[str, torch.Tensor]


def program(name: str) -> Program:
    return load(Source(f"{name}.dt", FILES[name].read_text()))


def text(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def put(whole: torch.Tensor, places: tuple[torch.Tensor, ...], value: torch.Tensor) -> torch.Tensor:
    """Return a tensor with values at places; what is outside of it is left out."""
    whole = whole.clone()
    at = [one.expand(value.shape).long() for one in places]
    inside = torch.ones(value.shape, dtype=torch.bool)
    for one, extent in zip(at, whole.shape, strict=True):
        inside &= (one >= 0) & (one < extent)
    whole[tuple(one[inside] for one in at)] = value[inside].to(whole.dtype)
    return whole


def along(*extents: int) -> list[torch.Tensor]:
    axes = range(len(extents))
    return [
        torch.arange(n).reshape([-1 if a == at else 1 for a in axes])
        for at, n in enumerate(extents)
    ]


def appended(t: Tensors) -> Results:
    b, s, h, d = along(*t["X"].shape)
    at = t["pos"].reshape(-1, 1, 1, 1) + s
    return {"k_new": put(t["K"], (b, at, h, d), t["X"] * t["angle"].double().cos()[:, None, None])}


def paged(t: Tensors) -> Results:
    _, h, d = along(*t["X"].shape)
    pos = t["pos"]
    pages = t["pages"].shape[1]
    which = pos // 16
    known = (which >= 0) & (which < pages)
    page = torch.zeros_like(pos)
    if pages:
        page = t["pages"].long().gather(1, which.clamp(0, pages - 1)[:, None])[:, 0]
    page = torch.where(known, page, 0).reshape(-1, 1, 1)
    at = (page, (pos % 16).reshape(-1, 1, 1), h, d)
    _, two, three = along(*t["X"].shape[:2], t["W"].shape[1])
    there = (page, (pos % 16).reshape(-1, 1, 1), two, three)
    return {"k_new": put(t["K"], at, t["X"]), "v_new": put(t["V"], there, t["X"] @ t["W"])}


def kinds(t: Tensors) -> Results:
    x, y = along(*t["A"].shape)
    at = (t["T"].long()[:, None] + t["U"].long()[None], x, y)
    return {"put": put(t["C"], at, t["A"] * 2 + x)}


def grown(t: Tensors) -> Results:
    b, d = along(*t["G"].shape)
    at = t["pos"][:, None] - 1
    inside = (at >= 0) & (at < t["K"].shape[1])
    old = t["K"].new_zeros(t["G"].shape)
    if t["K"].shape[1]:
        rows = at.clamp(0, t["K"].shape[1] - 1)[:, :, None].expand(-1, -1, t["G"].shape[1])
        old = torch.where(inside, t["K"].gather(1, rows)[:, 0], 0.0)
    return {"grown": put(t["K"], (b, at, d), old + t["G"])}


def slots(t: Tensors) -> Results:
    _, h, d = along(*t["X"].shape)
    return {"stored": put(t["K"], (t["slot"].reshape(-1, 1, 1), h, d), t["X"])}


def shifted(t: Tensors) -> Results:
    x, y = along(*t["A"].shape)
    return {"moved": put(t["W"], (x, y + 4), 2 * t["A"])}


MEANS: dict[str, Callable[[Tensors], Results]] = {
    "kv_cache_append": appended,
    "kinds": kinds,
    "paged": paged,
    "shifted": shifted,
    "slots": slots,
    "started": grown,
}


def between(seed: int, low: int, high: int, shape: tuple[int, ...], dtype: torch.dtype) -> Any:
    """Random whole numbers with a gap between each two."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, (*shape, 2), generator=generator).to(dtype)[..., 0]


def cache(seed: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A tensor whose rows have gaps between them."""
    generator = torch.Generator().manual_seed(seed)
    wide = torch.randn([*shape[:-1], shape[-1] + 3], generator=generator, dtype=F64)
    return wide.to(dtype)[..., : shape[-1]]


def _append(b: int, t: int, n: int, h: int, d: int, seed: int, dtype: torch.dtype) -> Tensors:
    return {
        "K": cache(seed, (b, n, h, d), dtype),
        "pos": between(seed, -t - 1, n + 2, (b,), torch.int64),
        "X": cache(seed + 1, (b, t, h, d), dtype),
        "angle": cache(seed + 2, (t,), torch.float32),
    }


def _paged(b: int, t: int, n: int, h: int, d: int, seed: int, dtype: torch.dtype) -> Tensors:
    """Pages that are all different, in an order of their own, and some that are outside."""
    order = torch.randperm(b * t + 2, generator=torch.Generator().manual_seed(seed)) - 1
    return {
        "K": cache(seed, (n, 16, h, d), dtype),
        "V": cache(seed + 1, (n, 16, h, d), dtype),
        "pages": order[: b * t].reshape(b, t).to(torch.int32),
        "pos": between(seed, 0, 16 * t, (b,), torch.int64)
        if t
        else torch.zeros(b, dtype=torch.int64) - 999,
        "X": cache(seed + 2, (b, h, d), dtype),
        "W": cache(seed + 3, (d, d), dtype),
    }


def _kinds(b: int, t: int, n: int, h: int, d: int, seed: int, dtype: torch.dtype) -> Tensors:
    return {
        "C": between(seed, -99, 99, (n, b, d), torch.int32),
        "T": between(seed + 1, -3, min(n, 99) + 3, (b,), torch.int8),
        "U": between(seed + 2, -3, 3, (d,), torch.int32),
        "A": between(seed + 3, -(2**31), 2**31, (b, d), torch.int32),
    }


def _started(b: int, t: int, n: int, h: int, d: int, seed: int, dtype: torch.dtype) -> Tensors:
    return {
        "K": cache(seed, (b, n, d), dtype),
        "pos": between(seed, -1, n + 3, (b,), torch.int64),
        "G": cache(seed + 1, (b, d), dtype),
    }


def _slots(b: int, t: int, n: int, h: int, d: int, seed: int, dtype: torch.dtype) -> Tensors:
    order = torch.randperm(t + n + 3, generator=torch.Generator().manual_seed(seed)) - 2
    return {
        "K": cache(seed, (n, h, d), dtype),
        "slot": order[:t].to(torch.int32),
        "X": cache(seed + 1, (t, h, d), dtype),
    }


def _shifted(b: int, t: int, n: int, h: int, d: int, seed: int, dtype: torch.dtype) -> Tensors:
    wide = (d, d + 3, d + 4, d + 9)[seed % 4]
    return {"W": cache(seed, (b, wide), dtype), "A": cache(seed + 1, (b, d), dtype)}


MADE: dict[str, Callable[[int, int, int, int, int, int, torch.dtype], Tensors]] = {
    "kv_cache_append": _append,
    "kinds": _kinds,
    "paged": _paged,
    "shifted": _shifted,
    "slots": _slots,
    "started": _started,
}
# b, t, n, h, d: sizes 0 and 1, primes, and those around tiles.
SIZES = (
    (1, 1, 1, 1, 1),
    (2, 3, 17, 5, 67),
    (3, 5, 2, 2, 16),
    (0, 3, 5, 1, 2),
    (3, 0, 5, 1, 2),
    (3, 2, 0, 1, 2),
    (2, 4, 9, 0, 3),
    (2, 4, 9, 3, 0),
    (5, 2, 31, 4, 15),
    (4, 7, 13, 3, 65),
)
DTYPES = (F64, torch.float32, torch.bfloat16, torch.float16)


def doubled(given: Tensors) -> Tensors:
    return {
        one: value.double() if value.is_floating_point() else value for one, value in given.items()
    }


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("sizes", SIZES)
def test_the_reference_is_torchs_indexing(name: str, sizes: tuple[int, int, int, int, int]) -> None:
    given = MADE[name](*sizes, 7, F64)
    for func, wanted in MEANS[name](given).items():
        found = run(program(name), given, wanted=[func])[func]
        torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_kernel_is_torchs_indexing(name: str, dtype: torch.dtype) -> None:
    of = program(name)
    module: Any = imported(text(of))
    for seed, sizes in enumerate(SIZES):
        given = MADE[name](*sizes, seed, dtype)
        exact = MEANS[name](doubled(given))
        function = getattr(module, next(iter(exact)))
        found: torch.Tensor | tuple[torch.Tensor, ...] = function(**given)
        results = found if isinstance(found, tuple) else (found,)
        share = {F64: 1e-6, torch.float32: 2e-5}.get(dtype, 4e-2)
        for tensor, one in of.into.items():
            assert any(given[tensor] is got for got in results)
            got = given[tensor]
            wanted = exact[one].to(got.dtype)
            torch.testing.assert_close(got, wanted, rtol=share, atol=share)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), text(program(name)), seconds=60)
    assert found.verdict is LayerVerdict.PROVED, found


def test_a_promise_is_named() -> None:
    """A verdict says which promise of the file it takes for granted."""
    (found,) = verify(program("slots"), text(program("slots")), seconds=60).functions
    assert found.assumed == ("no two elements of 'stored' have the same place in 'K'",)


@pytest.mark.parametrize("name", FILES)
def test_each_is_shown_and_formatted(name: str) -> None:
    source = Source(f"{name}.dt", FILES[name].read_text())
    assert format_source(source) == source.text
    assert load(Source("shown.dt", show(program(name)))) == program(name)


def test_what_shares_memory_is_refused() -> None:
    function: Any = vars(imported(text(program("slots"))))["stored"]
    cache_, slot = torch.rand(5, 2, 8), torch.tensor([1, 3], dtype=torch.int32)
    for tensors, words in (
        ((cache_[:1].expand(5, 2, 8), slot, torch.rand(2, 2, 8)), "'K' overlaps itself"),
        ((cache_, slot, cache_[:2]), "'K' overlaps 'X'"),
        ((cache_, slot, torch.rand(2, 2, 7)), "size"),
    ):
        with pytest.raises(ValueError, match=words):
            function(*tensors)


def test_a_broken_promise_leaves_one_of_the_values() -> None:
    function: Any = vars(imported(text(program("slots"))))["stored"]
    whole, values = torch.zeros(4, 1, 3), torch.rand(6, 1, 3)
    function(whole, torch.tensor([2, 2, 2, 0, 0, 9], dtype=torch.int32), values)
    assert all(one in values[:3, 0, at] for at, one in enumerate(whole[2, 0]))
    assert all(one in values[3:5, 0, at] for at, one in enumerate(whole[0, 0]))
    assert not whole[[1, 3]].any()


REFUSED = {
    # Another program reads a row that may be replaced.
    "DT200": (
        "Func k into K at [s[t], d] distinct, r; In K, s: i64, X; Var t, d;"
        "r[t, d] = K[t, d] + X[t, d]; k[t, d] = r[t, d] + K[t, d]; r.fuse_at(k, t);"
        "k.block(t:1); k.tensorize(d:16); k.compile();"
    ),
}


@pytest.mark.parametrize("code", REFUSED)
def test_reads_of_what_is_replaced(code: str) -> None:
    with pytest.raises(DtpolyError, match=code):
        load(Source("f.dt", REFUSED[code]))
