"""Quotients and remainders in indices: programs from practice, beside torch's own operators."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.format import format_source
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.server import Server
from tests.codegen.listings import DATA, code, program
from tests.codegen.random_programs import tried
from tests.codegen.running import imported
from tests.oracle.cases import dividing_case

NAMES = sorted(path.stem for path in (DATA / "quotients").glob("*.dt"))
F64 = torch.float64
functional = torch.nn.functional
Tensors = Mapping[str, torch.Tensor]
Shapes = Mapping[str, tuple[int, ...]]


class Call(NamedTuple):
    """The shapes of the inputs of a call, and sizes that are passed."""

    shapes: Shapes
    sizes: Mapping[str, int] = {}


def rotated(t: Tensors) -> torch.Tensor:
    """Rotary embedding of neighbours: pairs as complex numbers."""
    pairs = torch.view_as_complex(t["A"].reshape(*t["C"].shape, 2).contiguous())
    return torch.view_as_real(pairs * torch.complex(t["C"], t["S"])).reshape(t["A"].shape)


def transposed1d(t: Tensors, call: Call) -> torch.Tensor:
    size, count = t["A"].shape[2], t["W"].shape[2]
    more = call.sizes["x"] - (2 * (size - 1) - 2 + count)
    return functional.conv_transpose1d(t["A"], t["W"], stride=2, padding=1, output_padding=more)


def transposed2d(t: Tensors, call: Call) -> torch.Tensor:
    (h, w), (r, s) = t["A"].shape[2:], t["W"].shape[2:]
    more = (
        call.sizes["h"] - (2 * (h - 1) - 2 + 2 * (r - 1) + 1),
        call.sizes["w"] - (3 * (w - 1) - 4 + s),
    )
    return functional.conv_transpose2d(
        t["A"], t["W"], stride=(2, 3), padding=(1, 2), output_padding=more, dilation=(2, 1)
    )


MEANS: dict[str, Callable[[Tensors, Call], torch.Tensor]] = {
    "channel_shuffle": lambda t, _: torch.channel_shuffle(t["A"].unsqueeze(-1), 2).squeeze(-1),
    "conv_transpose1d": transposed1d,
    "conv_transpose2d": transposed2d,
    "depthwise_conv1d": lambda t, _: functional.conv1d(
        t["A"], t["W"].unsqueeze(1), stride=2, padding=1, groups=t["A"].shape[1]
    ),
    "gqa_attention": lambda t, _: functional.scaled_dot_product_attention(
        t["Q"], t["K"], t["V"], enable_gqa=True
    ),
    "gqa_scores": lambda t, _: t["Q"] @ t["K"].repeat_interleave(4, 1).transpose(-1, -2),
    "grouped_conv2d": lambda t, _: functional.conv2d(t["A"], t["W"], groups=t["A"].shape[1] // 3),
    "pixel_shuffle": lambda t, _: functional.pixel_shuffle(t["A"], 2),
    "pixel_unshuffle": lambda t, _: functional.pixel_unshuffle(t["A"], 3),
    "rope_interleaved": lambda t, _: rotated(t),
    "upsample2d": lambda t, _: functional.interpolate(t["A"], scale_factor=2, mode="nearest"),
    "upsample_by_3": lambda t, _: t["A"].repeat_interleave(3, 1),
}


def _attention(b: int, heads: int, m: int, n: int, d: int, e: int) -> Call:
    return Call({"Q": (b, 3 * heads, m, d), "K": (b, heads, n, d), "V": (b, heads, n, e)})


def _transposed(b: int, c: int, f: int, size: int, r: int, more: int = 0) -> Call:
    """Return a call with torch's own size of the result, and perhaps some output padding."""
    return Call({"A": (b, c, size), "W": (c, f, r)}, {"x": 2 * (size - 1) - 2 + r + more})


def _transposed2d(b: int, c: int, f: int, h: int, w: int, r: int, s: int, more: int = 0) -> Call:
    high = 2 * (h - 1) - 2 + 2 * (r - 1) + 1 + more
    wide = 3 * (w - 1) - 4 + s + more
    return Call({"A": (b, c, h, w), "W": (c, f, r, s)}, {"h": high, "w": wide})


CALLS: dict[str, tuple[Call, ...]] = {
    "channel_shuffle": tuple(Call({"A": (b, 10, x)}) for b, x in ((1, 1), (2, 17), (1, 33))),
    "conv_transpose1d": (
        _transposed(1, 1, 1, 2, 2),
        _transposed(2, 17, 5, 9, 3),
        _transposed(1, 3, 19, 20, 4, 1),
    ),
    "conv_transpose2d": (
        _transposed2d(1, 1, 1, 2, 2, 2, 2),
        _transposed2d(2, 2, 3, 2, 4, 3, 2),
        _transposed2d(1, 1, 3, 2, 7, 2, 5, 1),
    ),
    "depthwise_conv1d": tuple(
        Call({"A": (b, c, x), "W": (2 * c, r)}, {"x": (x + 2 - r) // 2 + 1})
        for b, c, x, r in ((1, 1, 3, 3), (2, 5, 40, 3), (1, 3, 21, 2))
    ),
    "gqa_attention": (
        _attention(1, 1, 1, 1, 1, 1),
        _attention(2, 1, 17, 19, 5, 20),
        _attention(1, 2, 5, 33, 17, 3),
    ),
    "gqa_scores": tuple(
        Call({"Q": (b, 4 * k, m, d), "K": (b, k, n, d)})
        for b, k, m, n, d in (
            (1, 1, 1, 1, 1),
            (2, 1, 17, 19, 5),
            (1, 3, 5, 33, 17),
            (1, 2, 3, 3, 0),
        )
    ),
    "grouped_conv2d": tuple(
        Call({"A": (b, 3 * g, h, w), "W": (2 * g, 3, r, s)})
        for b, g, h, w, r, s in ((1, 1, 1, 1, 1, 1), (2, 2, 5, 21, 3, 2), (1, 3, 4, 17, 2, 1))
    ),
    "pixel_shuffle": tuple(
        Call({"A": (b, 4 * c, h, w)}) for b, c, h, w in ((1, 1, 1, 1), (2, 3, 3, 9), (1, 2, 5, 17))
    ),
    "pixel_unshuffle": tuple(
        Call({"A": (b, c, 3 * h, 3 * w)})
        for b, c, h, w in ((1, 1, 1, 1), (2, 2, 3, 9), (1, 1, 2, 17))
    ),
    "rope_interleaved": tuple(
        Call({"A": (m, 2 * d), "C": (m, d), "S": (m, d)})
        for m, d in ((1, 1), (5, 8), (3, 17), (0, 2), (2, 0))
    ),
    "upsample2d": tuple(
        Call({"A": (b, c, h, w)}) for b, c, h, w in ((1, 1, 1, 1), (2, 3, 5, 9), (1, 2, 3, 17))
    ),
    "upsample_by_3": tuple(Call({"A": (b, x)}) for b, x in ((1, 1), (3, 17), (2, 11), (1, 0))),
}


def inputs(name: str, call: Call, dtype: torch.dtype = F64) -> dict[str, torch.Tensor]:
    """Random inputs whose memory is longer than they are."""
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    made: dict[str, torch.Tensor] = {}
    for tensor in program(name).tensors:
        shape = call.shapes[tensor.name]
        wide = torch.randn([*shape[:-1], shape[-1] + 3], generator=generator, dtype=F64)
        made[tensor.name] = wide.to(dtype)[..., : shape[-1]]
    return made


def calls() -> Iterator[tuple[str, Call]]:
    """Every call of every program."""
    assert sorted(CALLS) == sorted(MEANS) == NAMES
    return ((name, call) for name in NAMES for call in CALLS[name])


@pytest.mark.parametrize(("name", "call"), [*calls()])
def test_the_reference_is_torchs_operator(name: str, call: Call) -> None:
    given = inputs(name, call)
    (compiled,) = [one.func for one in program(name).directives if one.name == "compile"]
    found = run(program(name), given, sizes=call.sizes, wanted=[compiled])[compiled]
    torch.testing.assert_close(found, MEANS[name](given, call), rtol=1e-11, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "call"), [*calls()])
@pytest.mark.parametrize("dtype", [F64, torch.float32, torch.bfloat16, torch.float16])
def test_the_kernel_is_torchs_operator(name: str, call: Call, dtype: torch.dtype) -> None:
    given = inputs(name, call, dtype)
    module: Any = imported(code(name).text)
    (compiled,) = [one.func for one in program(name).directives if one.name == "compile"]
    found = getattr(module, compiled)(*given.values(), **call.sizes)
    exact = MEANS[name]({one: tensor.to(F64) for one, tensor in given.items()}, call)
    share = {F64: 1e-11, torch.float32: 2e-4}.get(dtype, 4e-2)
    assert found.dtype is dtype
    torch.testing.assert_close(found.to(F64), exact, rtol=share, atol=share)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), code(name).text, seconds=60)
    assert found.verdict is LayerVerdict.PROVED, found


@pytest.mark.parametrize("name", NAMES)
def test_each_is_formatted(name: str) -> None:
    source = Source(f"{name}.dt", Path(DATA / "quotients" / f"{name}.dt").read_text())
    assert format_source(source) == source.text


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_random_programs(part: int) -> None:
    """The results are right at two sizes of each label; most are proved, and none refuted."""
    found = tried(range(5000 + 20 * part, 5000 + 20 * part + 20), dividing_case)
    assert found.verdicts[LayerVerdict.REFUTED] == 0
    assert found.verdicts[LayerVerdict.PROVED] > 2 * found.verdicts[LayerVerdict.UNKNOWN]
    assert found.refused <= 1


# Sizes of labels that calls of an algorithm without a schedule have.
SIZES = {
    "channel_shuffle": "b=8,x=1000",
    "conv_transpose1d": "b=4,f=64,x=512,c=64,r=4",
    "conv_transpose2d": "b=2,f=16,h=64,w=64,c=16,r=3,s=3",
    "depthwise_conv1d": "b=4,f=128,x=512,r=4",
    "gqa_attention": "b=2,h=12,m=128,e=64,l=128,d=64",
    "gqa_scores": "b=2,h=16,m=128,l=128,d=64",
    "grouped_conv2d": "b=2,f=32,h=30,w=30,r=3,s=3",
    "pixel_shuffle": "b=2,c=8,h=64,w=64",
    "pixel_unshuffle": "b=2,c=72,h=32,w=32",
    "rope_interleaved": "m=512,d=128",
    "upsample2d": "b=2,c=8,h=64,w=64",
    "upsample_by_3": "b=64,x=3000",
}


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_each_gets_a_schedule_that_is_proved(served: Server, name: str, tmp_path: Path) -> None:
    path, best = DATA / "quotients" / f"{name}.dt", tmp_path / "best.dt"
    code_, out, err = served(
        "schedule", str(path), "--size", SIZES[name], "--budget", "0", "-o", str(best)
    )
    assert code_ == 0, out + err
    of = load(Source("best.dt", best.read_text()))
    assert judge(of, DIRECTIVES).is_legal
    found = verify(of, code_of(judge(of, DIRECTIVES).scheduled).text, seconds=120)
    assert found.verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code_, out, err = served("call", "tests.codegen.compiling:main", *NAMES)
    assert code_ == 0, out + err
