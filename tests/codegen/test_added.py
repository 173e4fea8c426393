"""Funcs that are added at places of an input: what they leave there, beside torch's operators."""

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

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
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.autoschedule.asked import call_of
from tests.codegen.listings import DATA
from tests.codegen.running import imported

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ("moe_combine", "embedding_backward")
FILES = {
    **{path.stem: path for path in sorted((DATA / "added").glob("*.dt"))},
    **{name: ROOT / "examples" / f"{name}.dt" for name in EXAMPLES},
}
F64 = torch.float64
Tensors = Mapping[str, Any]
Results = dict[str, torch.Tensor]
Sizes = tuple[int, int, int, int]
COMPILE: Callable[..., Any] = vars(torch)["compile"]
# The word whose gradient is not wanted.
UNUSED = 2


def program(name: str) -> Program:
    return load(Source(f"{name}.dt", FILES[name].read_text()))


def text(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def added(whole: torch.Tensor, table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return what index_add_ makes of a tensor, for the indices that are inside."""
    inside = (table >= 0) & (table < whole.shape[0])
    return whole.clone().index_add_(0, table[inside].long(), rows[inside].to(whole.dtype))


def counted(t: Tensors) -> Results:
    size = t["H"].shape[0]
    inside = t["T"][(t["T"] >= 0) & (t["T"] < size)]
    return {"counted": t["H"] + torch.bincount(inside, minlength=size).to(torch.int32)}


def scattered(t: Tensors) -> Results:
    """Indices outside go to a column of their own, which is cut off."""
    whole, table = t["O"], t["T"]
    wide = functional.pad(whole, (0, 1))
    inside = (table >= 0) & (table < whole.shape[1])
    wide = wide.scatter_add_(1, torch.where(inside, table, whole.shape[1]), t["X"])
    return {"scattered": wide[:, : whole.shape[1]]}


def embedded(t: Tensors) -> Results:
    """The gradient that torch's embedding has; words that are outside are read from a new row."""
    rows, table = t["W"].shape[0], t["T"].reshape(-1)
    inside = (table >= 0) & (table < rows)
    weight = torch.zeros(rows + 1, t["W"].shape[1], dtype=t["W"].dtype, requires_grad=True)
    words = torch.where(inside & (table != t["unused"]), table, rows)
    found = functional.embedding(words, weight)
    (grad,) = torch.autograd.grad(found, weight, t["G"].reshape(found.shape))
    return {"grad": t["W"] + grad[:rows]}


def segmented(t: Tensors) -> Results:
    x = torch.arange(t["X"].shape[0])
    return {
        "sums": added(t["S"], x // 4, t["X"]),
        "named": added(t["N"], t["part"].long() - 1, t["X"] * 2),
    }


def scaled(t: Tensors) -> Results:
    norm = (t["X"] * t["X"]).sum(1)
    return {"scaled": t["X"] * norm[:, None], "added": added(t["N"], t["T"], norm)}


def combined(t: Tensors) -> Results:
    return {"combined": added(t["O"], t["token"], t["gate"][:, None] * (t["H"] @ t["W"]))}


def moe(t: Tensors) -> Results:
    return {"combined": added(t["O"], t["token"], t["gate"][:, None] * t["H"])}


MEANS: dict[str, Callable[[Tensors], Results]] = {
    "combine": combined,
    "embedding": embedded,
    "embedding_backward": lambda t: {"grad": added(t["W"], t["T"], t["G"])},
    "fused": scaled,
    "histogram": counted,
    "moe_combine": moe,
    "rows": lambda t: {"summed": added(t["O"], t["T"], t["X"])},
    "scatter": scattered,
    "segments": segmented,
}


def table(seed: int, shape: tuple[int, ...], rows: int, dtype: torch.dtype) -> torch.Tensor:
    """Indices with a gap between each two. Many repeat, and some are outside."""
    generator = torch.Generator().manual_seed(seed)
    found = torch.randint(-2, max(1, rows // 2) + 2, (*shape, 2), generator=generator)
    found = torch.where(found == max(1, rows // 2) + 1, rows, found)
    return found.to(dtype)[..., 0]


def floats(seed: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Small numbers, in rows with gaps between them: whole ones, whose sums no type rounds."""
    generator = torch.Generator().manual_seed(seed)
    wide = torch.randint(-2, 3, (*shape[:-1], shape[-1] + 3), generator=generator)
    return wide.to(dtype)[..., : shape[-1]]


def whole(seed: int, shape: tuple[int, ...]) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-(2**31), 2**31, shape, generator=generator).to(torch.int32)


def made(name: str, sizes: Sizes, seed: int, dtype: torch.dtype) -> Tensors:
    """Return arguments: n elements or rows of d numbers, which go to a tensor of m rows."""
    n, m, d, k = sizes
    rows, values = floats(seed, (m, d), dtype), floats(seed + 1, (n, d), dtype)
    match name:
        case "histogram":
            return {"H": whole(seed, (m,)), "T": table(seed, (n,), m, torch.int32)}
        case "rows":
            return {"O": rows, "T": table(seed, (n,), m, torch.int64), "X": values}
        case "scatter":
            where = table(seed, (n, d), m, torch.int64)
            return {"O": floats(seed, (n, m), dtype), "T": where, "X": values}
        case "embedding":
            words = table(seed, (n, k), m, torch.int64)
            return {"W": rows, "T": words, "G": floats(seed, (n, k, d), dtype), "unused": UNUSED}
        case "embedding_backward":
            return {"W": rows, "T": table(seed, (n,), m, torch.int64), "G": values}
        case "segments":
            of = whole(seed, (m, d)), whole(seed + 1, (k, d))
            part = table(seed, (n,), k, torch.int32)
            return {"S": of[0], "N": of[1], "part": part, "X": whole(seed + 2, (n, d))}
        case "fused":
            where = table(seed, (n,), m, torch.int32)
            return {"X": values, "N": floats(seed, (m,), dtype), "T": where}
        case "moe_combine":
            where, gate = table(seed, (n,), m, torch.int64), floats(seed + 2, (n,), dtype)
            return {"O": rows, "token": where, "gate": gate, "H": values}
        case _:
            where, gate = table(seed, (n,), m, torch.int32), floats(seed + 2, (n,), dtype)
            left, right = floats(seed + 3, (n, k), dtype), floats(seed + 4, (k, d), dtype)
            return {"O": rows, "token": where, "gate": gate, "H": left, "W": right}


# Rows, rows of the tensor, numbers in a row and reduced ones: 0 and 1, primes, around the tiles.
SIZES: tuple[Sizes, ...] = (
    (1, 1, 1, 1),
    (17, 5, 15, 3),
    (8, 3, 16, 4),
    (0, 3, 5, 2),
    (3, 0, 5, 2),
    (5, 2, 0, 3),
    (5, 2, 3, 0),
    (67, 7, 17, 5),
    (15, 2, 33, 17),
)
DTYPES = (F64, torch.float32, torch.bfloat16, torch.float16)


def doubled(given: Tensors) -> Tensors:
    return {
        one: value.double()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
        else value
        for one, value in given.items()
    }


@pytest.mark.parametrize("name", FILES)
def test_the_reference_is_torchs_operator(name: str) -> None:
    for seed, sizes in enumerate(SIZES):
        given = made(name, sizes, seed, F64)
        for func, wanted in MEANS[name](given).items():
            found = run(program(name), given, wanted=[func])[func]
            torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_kernel_is_torchs_operator(name: str, dtype: torch.dtype) -> None:
    of = program(name)
    module: Any = imported(text(of))
    for seed, sizes in enumerate(SIZES):
        given = made(name, sizes, seed, dtype)
        exact = MEANS[name](doubled(given))
        function = getattr(module, next(iter(exact)))
        found: torch.Tensor | tuple[torch.Tensor, ...] = function(**given)
        results = found if isinstance(found, tuple) else (found,)
        share = {F64: 1e-6, torch.float32: 2e-5}.get(dtype, 4e-2)
        for tensor in of.into:
            assert any(given[tensor] is got for got in results)
        for got, wanted in zip(results, exact.values(), strict=True):
            torch.testing.assert_close(got, wanted.to(got.dtype), rtol=share, atol=share)


@pytest.mark.parametrize("name", FILES)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), text(program(name)), seconds=60)
    assert found.verdict is LayerVerdict.PROVED, found


@pytest.mark.parametrize("name", FILES)
def test_each_is_shown_and_formatted(name: str) -> None:
    source = Source(f"{name}.dt", FILES[name].read_text())
    assert format_source(source) == source.text
    assert load(Source("shown.dt", show(program(name)))) == program(name)


def assumed(name: str, source: str) -> tuple[str, ...]:
    of = load(Source(f"{name}.dt", source))
    (found,) = verify(of, text(of), seconds=60).functions
    return found.assumed


def test_a_verdict_names_what_is_assumed_of_places() -> None:
    rows, slots = FILES["rows"].read_text(), (DATA / "placed" / "slots.dt").read_text()
    (order,) = assumed("rows", rows)
    assert order.startswith("the order in which elements of 'summed' are added in 'O'")
    assert assumed("slots", slots) == ("no two elements of 'stored' have the same place in 'K'",)
    # Whole numbers have the same sum in any order, and a place that decides its labels is alone.
    assert assumed("histogram", FILES["histogram"].read_text()) == ()
    shifted = (DATA / "placed" / "shifted.dt").read_text()
    assert (
        assumed("shifted", shifted) == assumed("shifted", shifted.replace("4];", "4] add;")) == ()
    )


def test_nan_is_left_only_where_it_is_added() -> None:
    function: Any = vars(imported(text(program("rows"))))["summed"]
    rows = torch.ones(4, 3)
    rows[2] = torch.nan
    found = function(torch.zeros(3, 3), torch.tensor([0, 0, 1, 3]), rows)
    assert found[0].tolist() == [2, 2, 2]
    assert found[1].isnan().all()
    assert not found[2].any()


def test_torch_compile_knows_what_is_changed() -> None:
    function: Any = vars(imported(text(program("rows"))))["summed"]

    def called(whole: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return function(whole, *rest) + 0, whole.sum()

    compiled: Any = COMPILE(called, fullgraph=True, backend="aot_eager")
    rest = torch.tensor([1, 1, 7, -1, 0]), torch.arange(25.0).reshape(5, 5)
    first, second = torch.zeros(4, 5), torch.zeros(4, 5)
    for _ in range(2):
        for one, other in zip(called(first, *rest), compiled(second, *rest), strict=True):
            torch.testing.assert_close(one, other)
    torch.testing.assert_close(first, second)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_schedule_is_found_and_proved(name: str) -> None:
    source = Source(f"{name}.dt", FILES[name].read_text())
    call = call_of(source, **{"s" if name == "moe_combine" else "t": 4096, "d": 1024})
    (best,) = islice(schedules(call), 1)
    algorithm = algorithm_of(source, DIRECTIVES)
    of = load(Source(source.name, whole_text(source, algorithm, "A schedule.", best)))
    assert verify(of, text(of), seconds=60).verdict is LayerVerdict.PROVED


def test_a_descriptor_does_not_add() -> None:
    shifted = (DATA / "placed" / "shifted.dt").read_text().replace("4];", "4] add;")
    asked = shifted.replace("moved.compile", "moved.descriptor(moved);\nmoved.compile")
    state = judge(load(Source("f.dt", asked)), DIRECTIVES).scheduled
    (found,) = vain(state, code_of(state).stages, DIRECTIVES)
    assert found.notes[0].text == "what is added in memory is stored by no descriptor"


def test_no_test_is_written_for_places() -> None:
    scheduled = judge(program("rows"), DIRECTIVES).scheduled
    with pytest.raises(DtpolyError) as raised:
        code_of(scheduled, test={"l": 3, "d": 5})
    (found,) = raised.value.diagnostics
    assert found.notes[0].text == "'summed' goes to places in 'O': no test"


def test_what_shares_memory_is_refused() -> None:
    function: Any = vars(imported(text(program("rows"))))["summed"]
    rows, at = torch.rand(5, 8), torch.tensor([1, 1])
    for tensors, words in (
        ((rows[:1].expand(5, 8), at, torch.rand(2, 8)), "'O' overlaps itself"),
        ((rows, at, rows[:2]), "'O' overlaps 'X'"),
        ((rows, at, torch.rand(2, 7)), "size"),
    ):
        with pytest.raises(ValueError, match=words):
            function(*tensors)


def test_a_type_that_memory_cannot_add_is_refused_in_a_call() -> None:
    function: Any = vars(imported(text(program("rows"))))["summed"]
    narrow = torch.zeros(2, 8).to(torch.float8_e4m3fn)
    with pytest.raises(TypeError, match="atomic"):
        function(narrow, torch.tensor([1, 1]), torch.zeros(2, 8).to(torch.float8_e4m3fn))


TAIL = "out.block(x:4, y:16); out.tensorize(x:4, y:16);"
REFUSED = {
    # Each block of y would add once more.
    "DT204": (
        "Func out, more into N at [T[x]] add; In X, N, T: i32, V; Var x, y;"
        f"out[x, y] = X[x, y] * 2.0; more[x] = V[x]; {TAIL} more.fuse_at(out, x);"
        "out.compile(more);"
    ),
    # Another program may have added to the old value that is read.
    "DT200": (
        "Func f into N at [T[x]] add; In N, T: i32; Var x; f[x] = N[T[x]] * 2.0;"
        "f.block(x:4); f.tensorize(x:4); f.compile();"
    ),
    # All elements along y have one place; memory cannot add the type; there is no place.
    "DT214.*along 'y'": (
        "Func f into N at [T[x]] add; In N, T: i32, V; Var x, y; f[x, y] = V[x, y];"
    ),
    "DT214.*i16": "Func f into N at [T[x]] add; In N: i16, T: i32; Var x; f[x] = T[x] * 0;",
    "DT214.*u8": "Func f into N at [T[x]] add; In N: u8, T: i32; Var x; f[x] = 1;",
    "DT214.*bool": "Func f into N at [T[x]] add; In N: bool, T: i32; Var x; f[x] = T[x] > 1;",
    "DT214.*no place": "Func f into N add; In N, V; Var x; f[x] = V[x];",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_added_is_refused(words: str) -> None:
    with pytest.raises(DtpolyError, match=f"(?s){words}"):
        load(Source("f.dt", REFUSED[words]))
