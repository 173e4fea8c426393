"""Scans: programs from practice, beside torch's own operators in float64."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import torch

from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.operations import RECURRENCE
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.scans import scans_of
from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.format import format_source
from dtpoly.generate import code_of, outputs
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.server import Server
from tests.codegen.inputs import Layout, Recipe, laid_out, with_nans
from tests.codegen.listings import SCANS, code, program
from tests.codegen.running import compared, imported
from tests.oracle.cases import Case, scanning_case

F64 = torch.float64
Tensors = Mapping[str, torch.Tensor]


def exclusive(tensor: torch.Tensor) -> torch.Tensor:
    """Return the sums before each element of the last axis."""
    return tensor.cumsum(-1) - tensor


def recurrent(
    factor: torch.Tensor, added: torch.Tensor, state: torch.Tensor, *, is_reverse: bool = False
) -> torch.Tensor:
    """Return the results of h = a * h + b along the last axis, one step after another."""
    shape = (factor + added).shape
    factor, added = factor.expand(shape), added.expand(shape)
    found = torch.zeros_like(added)
    places = range(added.shape[-1])
    for place in reversed(places) if is_reverse else places:
        state = factor[..., place] * state + added[..., place]
        found[..., place] = state
    return found


def behind(tensor: torch.Tensor) -> torch.Tensor:
    """Return the smallest element behind each one of the last axis."""
    end = torch.full_like(tensor[..., :1], torch.inf)
    after = torch.cat((tensor[..., 1:], end), -1)[..., : tensor.shape[-1]]
    return after.flip(-1).cummin(-1).values.flip(-1) if tensor.shape[-1] else tensor


def selective(t: Tensors) -> torch.Tensor:
    delta, scale = t["delta"][:, :, None, :], t["decay"][None, :, :, None]
    added = (t["delta"] * t["u"])[:, :, None, :] * t["B"][:, None, :, :]
    return recurrent(torch.exp(delta * scale), added, torch.zeros((), dtype=F64))


def attention(t: Tensors) -> torch.Tensor:
    outer = torch.einsum("hsd,hse->hdes", t["K"], t["V"])
    return recurrent(t["decay"][:, None, None, None], outer, torch.zeros((), dtype=F64))


MEANS: dict[str, Callable[[Tensors], torch.Tensor]] = {
    "advantages": lambda t: recurrent(
        t["decay"] * (1 - t["done"]), t["delta"], torch.zeros((), dtype=F64), is_reverse=True
    ),
    "cummax": lambda t: t["A"].cummax(1).values if t["A"].shape[1] else t["A"],
    "cumprod": lambda t: t["A"].cumprod(1),
    "cumsum": lambda t: t["A"].cumsum(1),
    "cumsum_down": lambda t: t["A"].cumsum(0),
    "drawdown": lambda t: (t["A"].cummax(1).values if t["A"].shape[1] else t["A"]) - t["A"],
    "exclusive_cumsum": lambda t: exclusive(t["lengths"]),
    "linear_attention": attention,
    "lows_behind": lambda t: behind(t["A"]),
    "masked_cumsum": lambda t: torch.where(t["M"] > 0, t["A"], 0).cumsum(1),
    "moving_average": lambda t: recurrent(
        t["keep"].expand(t["A"].shape), (1 - t["keep"]) * t["A"], t["A"][:, 0]
    ),
    "positions": lambda t: torch.where(t["M"] > 0, exclusive((t["M"] > 0).to(F64)), -1),
    "recurrence": lambda t: recurrent(t["a"], t["b"], t["first"]),
    "reverse_cumsum": lambda t: t["A"].flip(1).cumsum(1).flip(1),
    "selective_scan": selective,
    "shares": lambda t: t["A"].cumsum(1) / t["A"].sum(1, keepdim=True),
    "softplus_sums": lambda t: (t["A"] + t["b"]).exp().log1p().cumsum(1) * 2,
}
NAMES = sorted(SCANS)
# Inputs whose elements are factors: products of many of them stay near 1.
FACTORS = {"cumprod": ("A",), "recurrence": ("a",), "linear_attention": ("decay",)}
# 0 and 1, around a tile, and primes that no tile divides.
LENGTHS = (0, 1, 15, 16, 17, 37)


def sizes_of(name: str, length: int) -> dict[str, int]:
    """Return sizes of all labels: those that are scanned have this one, others are small."""
    small = iter((3, 2, 5, 3))
    scanned = {"s", "t"}
    return {
        label.name: length if label.name in scanned else next(small)
        for label in program(name).labels
    }


def inputs(name: str, length: int, dtype: torch.dtype, layout: Layout) -> dict[str, Any]:
    """Return random inputs of a program."""
    generator = torch.Generator().manual_seed(sum(map(ord, name)) + length)
    of = program(name)
    made: dict[str, Any] = {}
    for tensor in of.tensors:
        shape = input_shapes(of, sizes_of(name, length))[tensor.name]
        value = torch.randn(list(shape), generator=generator, dtype=F64)
        if tensor.dtype is not None:
            made[tensor.name] = laid_out((value * 9).abs().to(torch.int32), layout)
            continue
        value = 1 + value / 50 if tensor.name in FACTORS.get(name, ()) else value
        value = value.abs() + 0.5 if name == "shares" else value
        value = -value.abs() if tensor.name == "decay" and name == "selective_scan" else value
        made[tensor.name] = laid_out(value.to(dtype), layout)
    return {**made, **{scalar.name: 0.75 for scalar in of.scalars}}


def exact(name: str, given: Mapping[str, Any]) -> torch.Tensor:
    """Return what torch computes in float64."""
    return MEANS[name]({one: torch.as_tensor(value).to(F64) for one, value in given.items()})


def compiled(name: str) -> str:
    """Return the Func that a program compiles."""
    (found,) = [one.func for one in program(name).directives if one.name == "compile"]
    return found


def lengths(name: str) -> Iterator[int]:
    """Yield the lengths that rows of a program may have."""
    return (one for one in LENGTHS if one or name != "moving_average")


CALLS = [(name, length) for name in NAMES for length in lengths(name)]


def test_each_program_has_a_meaning() -> None:
    assert sorted(MEANS) == NAMES


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "length"), CALLS)
def test_the_reference_is_torchs_operator(name: str, length: int) -> None:
    given = inputs(name, length, F64, Layout.PLAIN)
    found = run(program(name), given, wanted=[compiled(name)])[compiled(name)]
    torch.testing.assert_close(found.to(F64), exact(name, given), rtol=1e-11, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "length"), CALLS)
def test_the_kernel_is_torchs_operator(name: str, length: int) -> None:
    function = getattr(imported(code(name).text), compiled(name))
    # Each length has one type and one layout; each type and layout meets several lengths.
    dtypes = (torch.float32, torch.bfloat16, torch.float16, torch.float32, F64)
    layouts = (Layout.PLAIN, Layout.SLICED, Layout.TRANSPOSED)
    turn = LENGTHS.index(length) + NAMES.index(name)
    dtype = dtypes[turn % len(dtypes)]
    given = inputs(name, length, dtype, layouts[turn % len(layouts)])
    found = function(*given.values())
    share = {F64: 1e-11, torch.float32: 2e-4}.get(dtype, 4e-2)
    wanted = exact(name, given)
    if dtype is torch.float16:
        wanted = wanted.to(dtype).to(F64)  # products may be infinite in this type
    torch.testing.assert_close(found.to(F64), wanted, rtol=share, atol=share)


@pytest.mark.parametrize("name", ["cummax", "cumsum", "recurrence"])
def test_a_nan_stays_from_where_it_is_on(name: str) -> None:
    function = getattr(imported(code(name).text), compiled(name))
    given = inputs(name, 37, torch.float32, Layout.PLAIN)
    first = next(iter(given))
    given[first] = with_nans(given[first])
    own = run(program(name), given, wanted=[compiled(name)])[compiled(name)]
    found = function(*given.values())
    assert found.isnan().any()
    assert torch.equal(found.isnan(), own.isnan())
    assert torch.equal(found.isnan(), exact(name, given).isnan())


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), code(name).text, seconds=60)
    assert found.verdict is LayerVerdict.PROVED, found


@pytest.mark.parametrize("name", NAMES)
def test_each_is_formatted_and_shown(name: str) -> None:
    source = Source(f"{name}.dt", SCANS[name].read_text())
    assert format_source(source) == source.text
    assert load(Source("shown.dt", show(program(name)))) == program(name)


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code_, out, err = served("call", "tests.codegen.compiling:main", *NAMES)
    assert code_ == 0, out + err


LONG = """
Func h;
In a, b;
Var t;
RVar s;

h[t] = scan_affine(a[s], b[s], s, t, 0);

h.tensorize(t:2048);
h.compile();
"""


@pytest.mark.long
def test_a_recurrence_of_100000_steps() -> None:
    of = load(Source("long.dt", LONG))
    made = code_of(judge(of, DIRECTIVES).scheduled)
    generator = torch.Generator().manual_seed(1)
    a = torch.rand(100_003, generator=generator) * 0.2 + 0.9
    b = torch.randn(100_003, generator=generator)
    found = imported(made.text).h(a, b)
    wanted = run(of, {"a": a, "b": b})["h"]
    torch.testing.assert_close(found.to(F64), wanted, rtol=2e-4, atol=2e-4)


def legal_case(seed: int) -> Case | None:
    """Return a random program with scans, if its schedule is legal."""
    case = scanning_case(seed, has_parts=True)
    return case if judge(case.program, DIRECTIVES).is_legal else None


def text_of(case: Case) -> str | None:
    """Return the code of a legal schedule; None if what a scan carries on leaves registers."""
    try:
        return code_of(judge(case.program, DIRECTIVES).scheduled).text
    except DtpolyError as error:
        if [one.code for one in error.diagnostics] == ["DT300"]:
            return None
        raise


def has_recurrences(of: Program) -> bool:
    """Return whether bounds for the results are not known: they are of sums and products alone."""
    return any(scan.operation == RECURRENCE for func in of.funcs for scan in scans_of(func.body))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_random_programs(part: int) -> None:
    """The results are right at two sizes of each label; most are proved, and none refuted."""
    found, refused = Counter[LayerVerdict](), 0
    for seed in range(2000 + 60 * part, 2000 + 60 * part + 60):
        case = legal_case(seed)
        text = None if case is None else text_of(case)
        refused += case is not None and text is None
        if case is None or text is None:
            continue
        found.update([verify(case.program, text, seconds=10).verdict])
        for more in () if has_recurrences(case.program) else (0, 1):
            sizes = {label: size + more for label, size in case.sizes.items()}
            given = Recipe(seed=seed).inputs(case.program, sizes)
            wanted = outputs(case.program)
            compared(imported(text), case.program, wanted, given, sizes, layout=Layout.SLICED)
    assert found[LayerVerdict.REFUTED] == 0
    assert found[LayerVerdict.PROVED] > 2 * found[LayerVerdict.UNKNOWN]
    assert refused <= 5


FEW_LONG_ROWS = """
Func sums, part, start;
In A;
Var x, b, t: 64;
RVar s: 64, p;

part[x, b] = rsum(pad(A, 0)[x, 64 * b + s], s);
start[x, b] = scan_sum(part[x, p], p, b, before);
sums[x, b, t] = reshape(start[x, b], x, b, 1) + scan_sum(pad(A, 0)[x, 64 * b + s], s, t);

part.block(x:1, b:4);
part.tensorize(b:0, s:0);
start.block(x:1);
start.tensorize(b:16);
sums.block(x:1, b:4);
sums.tensorize(b:0, t:0);
sums.compile();
"""


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_few_long_rows_in_blocks(size: int) -> None:
    """Sums of blocks, where each begins, and sums inside of it: three kernels of many programs."""
    of = load(Source("rows.dt", FEW_LONG_ROWS))
    made = code_of(judge(of, DIRECTIVES).scheduled)
    rows = torch.randn(2, size, generator=torch.Generator().manual_seed(size))
    blocks = -(-size // 64)
    found = imported(made.text).sums(rows, b=blocks).reshape(2, 64 * blocks)[:, :size]
    torch.testing.assert_close(found.to(F64), rows.to(F64).cumsum(1), rtol=2e-4, atol=2e-4)
    if size == 1:
        assert verify(of, made.text, seconds=60).verdict is LayerVerdict.PROVED
