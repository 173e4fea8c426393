"""Random numbers are Philox 4x32-10 of a seed and a counter: the same bits on each route.

What they must be is said by the known answers of Random123 and by Philox in Python's own numbers,
which nothing else here uses.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.reference.run import run
from dtpoly.ring.ring_algorithm import in_ring
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_bits import numbers
from tests.codegen.test_reference_text import computed
from tests.verify.texts import ROOT, text_of, written

WORD = 2**32
# Counter, key and result of `philox4x32 10` in Random123's file of known answers.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """Return the four words of Philox 4x32-10."""
    a, b, c, d = counter
    one, two = key
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b = right // WORD ^ b ^ one, right % WORD
        c, d = left // WORD ^ d ^ two, left % WORD
        one, two = (one + 0x9E3779B9) % WORD, (two + 0xBB67AE85) % WORD
    return a, b, c, d


def words(number: int) -> tuple[int, int]:
    """Return the lower and the upper 32 bits of a number of 64."""
    return number % WORD, number // WORD % WORD


def signed(low: int, high: int) -> int:
    """Return the i64 that has these words."""
    return (high * WORD + low + 2**63) % 2**64 - 2**63


def bits(seed: int, x: int, y: int) -> int:
    first, second, _, _ = philox((*words(x), *words(y)), words(seed))
    return signed(first, second)


def fraction(seed: int, x: int, y: int) -> float:
    return philox((*words(x), *words(y)), words(seed))[0] // 256 / 2**24


DRAWN = written(
    "Func f; In S: i64, X: i64, Y: i64; Var x; f[x] = random_bits(S[x], X[x], Y[x]);"
    "f.block(x:64); f.tensorize(x:0); f.compile();"
)
FLOATS = written(
    "Func f; In S: i64, X: i64, Y: i64; Var x; f[x] = random(S[x], X[x], Y[x]);"
    "f.block(x:64); f.tensorize(x:0); f.compile();"
)


def routes(one: Program, given: dict[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield what each route computes."""
    yield "reference", run(one, given)["f"]
    yield "kernel", imported(text_of(one)).f(*given.values())
    yield "test", computed(one, "f", given, {})


def test_known_answers() -> None:
    assert all(philox(counter, key) == result for counter, key, result in KNOWN)
    rows = [(signed(*key), signed(*counter[:2]), signed(*counter[2:])) for counter, key, _ in KNOWN]
    given = {
        name: torch.tensor(column)
        for name, column in zip("SXY", zip(*rows, strict=True), strict=True)
    }
    wanted = torch.tensor([signed(*result[:2]) for _, _, result in KNOWN])
    for route, found in routes(DRAWN, given):
        assert torch.equal(found, wanted), route


def some(count: int) -> dict[str, torch.Tensor]:
    """Return seeds and counters: some of all sizes, and small ones."""
    generator = np.random.default_rng(5)
    wide = generator.integers(-(2**63), 2**63, (3, count))
    small = generator.integers(-3, 4, (3, count))
    both = np.concatenate([wide, small, np.array([[2**63 - 1, -(2**63)]] * 3)], axis=1)
    return {name: torch.as_tensor(row.copy()) for name, row in zip("SXY", both, strict=True)}


def test_bits_of_all_sizes() -> None:
    given = some(150)
    rows = list(zip(*map(numbers, given.values()), strict=True))
    wanted = torch.tensor([bits(*row) for row in rows])
    for route, found in routes(DRAWN, given):
        assert torch.equal(found, wanted), route
    arrays: Any = {name: value.numpy() for name, value in given.items()}
    assert np.array_equal(in_ring(DRAWN, arrays, {"x": len(rows)})["f"], wanted.numpy())


def test_floats_are_exact() -> None:
    given = some(150)
    rows = list(zip(*map(numbers, given.values()), strict=True))
    wanted = torch.tensor([fraction(*row) for row in rows], dtype=torch.float64)
    assert (wanted >= 0).all()
    assert (wanted < 1).all()
    for route, found in routes(FLOATS, given):
        assert torch.equal(found.double(), wanted), route


HEAD = "Func f; In A: f32; SIn seed: i64; Var x, y;"
SCHEDULES = [
    "",
    "f.block(x:4); f.tensorize(x:0, y:16);",
    "f.block(x:2, y:32); f.tensorize(x:0, y:8);",
    "f.block(x:4, y:8); f.map(y, x); f.tensorize(x:2, y:0); f.num_warps(2);",
    "f.split(y:yi/3); f.reorder(yi, x, y);",
]


@pytest.mark.sampled
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", [0, 1, 12345, -1, 2**40 + 7, -(2**63)])
def test_no_schedule_changes_a_bit(schedule: str, seed: int) -> None:
    one = written(f"{HEAD} f[x, y] = A[x, y] + random(seed, x, y); {schedule} f.compile();")
    a = torch.zeros(5, 37)
    wanted = torch.tensor([[fraction(seed, x, y) for y in range(37)] for x in range(5)])
    assert torch.equal(imported(text_of(one)).f(a, seed), wanted)
    assert torch.equal(run(one, {"A": a, "seed": seed})["f"].float(), wanted)
    assert verify(one, text_of(one)).verdict is LayerVerdict.PROVED


def test_a_counter_has_two_numbers() -> None:
    """More of them make new seeds, two at a time; a single one is beside a 0."""
    head = "Func f; In A; SIn seed: i64; Var w, x, y, z; f[w, x, y, z] = A[w, x, y, z] +"
    four, told = (
        written(f"{head} {value}; f.block(w:2); f.tensorize(z:4); f.compile();")
        for value in (
            "random(seed, w, x, y, z)",
            "random(random_bits(seed, w, x), y, z)",
        )
    )
    assert four == told
    a, seed = torch.zeros(2, 3, 2, 5, dtype=torch.float64), 99
    wanted = torch.zeros_like(a)
    for w, x, y, z in np.ndindex(*a.shape):
        wanted[w, x, y, z] = fraction(bits(seed, w, x), y, z)
    assert torch.equal(run(four, {"A": a, "seed": seed})["f"], wanted)
    assert torch.equal(imported(text_of(four)).f(a, seed), wanted)
    one = written("Func f; SIn seed: i64; Var x: 7; f[x] = random_bits(seed, x); f.compile();")
    assert "random_bits(seed, x, 0)" in show(one)
    assert numbers(run(one, {"seed": 3})["f"]) == [bits(3, x, 0) for x in range(7)]


def test_they_are_uniform() -> None:
    one = written(f"{HEAD} f[x, y] = A[x, y] + random(seed, x, y); f.compile();")
    drawn = run(one, {"A": torch.zeros(300, 400), "seed": 7})["f"]
    assert len({float(one) for one in drawn.flatten()}) > 0.99 * drawn.numel()
    counts = torch.histc(drawn, 64, 0, 1)
    expected = drawn.numel() / 64
    assert ((counts - expected) ** 2 / expected).sum() < 110  # of 63 degrees, once in 4,000 times
    rows, columns = drawn[1:] - 0.5, drawn[:, 1:] - 0.5
    assert abs(float((rows * (drawn[:-1] - 0.5)).mean())) < 1e-3
    assert abs(float((columns * (drawn[:, :-1] - 0.5)).mean())) < 1e-3


PROVED = {
    "dropout": (
        "Func f; In A; SIn seed: i64, p; Var x, y;"
        "f[x, y] = where(random(seed, x, y) < p, 0, A[x, y] / (1 - p));"
    ),
    "a mask in a Func of its own": (
        "Func f, keep; In A; SIn seed: i64, p; Var x, y; keep[x, y] = random(seed, x, y) >= p;"
        "f[x, y] = where(keep[x, y], A[x, y] / (1 - p), 0); keep.inline();"
    ),
    "Gumbel": (
        "Func f, noise; In L; SIn seed: i64; Var x; RVar y;"
        "noise[x, y] = L[x, y] - log(-log(random(seed, x, y)));"
        "f[x] = rargmax(noise[x, y], y); noise.inline();"
    ),
    "a sum": (
        "Func f; In A; SIn seed: i64; Var x; RVar y; f[x] = rsum(A[x, y] * random(seed, x, y), y);"
    ),
    "bits": (
        "Func f; In A: i32; SIn seed: i64; Var x, y;"
        "f[x, y] = cast(random_bits(seed, x * len(y) + y) % 6, i32) + A[x, y];"
    ),
    "a seed of data": (
        "Func f; In A, S: i32; Var x, y; f[x, y] = A[x, y] + random(S[x] + 1, x, y);"
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("tiles", ["f.block(x:4);", "f.block(x:4); f.tensorize(x:0, y:16);"])
@pytest.mark.parametrize("name", PROVED)
def test_proved(name: str, tiles: str) -> None:
    if name == "a seed of data":
        text = PROVED[name].replace("A[x, y] + random(S[x]", "A[x, y] + random(reshape(S[x], x, 1)")
    else:
        text = PROVED[name]
    one = written(f"{text} {tiles} f.compile();")
    report = verify(one, text_of(one))
    assert report.verdict is LayerVerdict.PROVED, report.functions[0].layers[0].why


@pytest.mark.long
def test_gumbel_noise_samples_a_distribution() -> None:
    """The places of the largest are drawn with the chances that the logits say."""
    one = written(f"{PROVED['Gumbel']} f.block(x:4); f.tensorize(x:0, y:4); f.compile();")
    chances = torch.tensor([0.5, 0.25, 0.2, 0.05])
    logits = chances.log().repeat(4000, 1)
    drawn = run(one, {"L": logits, "seed": 11})["f"]
    counts = torch.bincount(drawn, minlength=4) / 4000
    assert (counts - chances).abs().max() < 0.03
    few = logits[:40]
    assert torch.equal(imported(text_of(one)).f(few, 11), drawn[:40])
    uniform = torch.tensor([[fraction(11, x, y) for y in range(4)] for x in range(40)])
    assert torch.equal(drawn[:40], (few - torch.log(-torch.log(uniform))).argmax(1))


def test_stochastic_rounding_keeps_the_mean() -> None:
    """Each number becomes one of its two neighbours, and in the mean it stays what it is."""
    file = ROOT / "examples" / "stochastic_rounding.dt"
    one = load(Source(file.name, file.read_text()))
    exact = torch.linspace(-3.0, 5.0, 41).repeat(3000, 1)
    rounded = run(one, {"A": exact, "seed": 4})["rounded"].float()
    near = exact.bfloat16().float()
    assert ((rounded == near) | ((rounded - near).abs() <= 2.0**-5)).all()
    assert ((rounded - exact).abs() < 2.0**-5).all()
    assert (rounded.mean(0) - exact[0]).abs().max() < 6e-4
    assert (near[0] - exact[0]).abs().max() > 4e-3
    assert torch.equal(imported(text_of(one)).rounded(exact[:9], 4).float(), rounded[:9])
