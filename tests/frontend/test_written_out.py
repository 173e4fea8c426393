"""What a message says to write instead of a function of another language: it is true."""

import re
from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

from dtpoly.checking import check, load
from dtpoly.diagnostics import Severity
from dtpoly.frontend.elsewhere import EITHER, FUNCTIONS, OPERATORS, WRITTEN_OUT
from dtpoly.reference.run import run
from dtpoly.source import Source

# Elementwise ones: the hint is an expression of e, and torch says what it is.
OF_ONE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": torch.relu,
    "relu6": functional.relu6,
    "leaky_relu": functional.leaky_relu,
    "elu": functional.elu,
    "silu": functional.silu,
    "swish": functional.silu,
    "gelu": functional.gelu,
    "softplus": functional.softplus,
    "mish": functional.mish,
    "logsigmoid": functional.logsigmoid,
    "hardtanh": functional.hardtanh,
    "hardsigmoid": functional.hardsigmoid,
    "hardswish": functional.hardswish,
    "square": torch.square,
    "reciprocal": torch.reciprocal,
    "sign": torch.sign,
    "sgn": torch.sign,
    "expm1": torch.expm1,
    "tan": torch.tan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "erfc": torch.erfc,
    "isnan": torch.isnan,
    "isinf": torch.isinf,
}
OF_POSITIVE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "log1p": torch.log1p,
    "log10": torch.log10,
}
OF_TWO: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "fmod": torch.fmod,
    "remainder": torch.remainder,
}
REDUCED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "mean": lambda a: a.mean(1),
    "avg": lambda a: a.mean(1),
    "norm": lambda a: a.square().sum(1).sqrt(),
    "var": lambda a: a.var(1, correction=0),
    "std": lambda a: a.std(1, correction=0),
}
SCANNED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "cumsum": lambda a: a.cumsum(1),
    "cumulative_sum": lambda a: a.cumsum(1),
    "cumprod": lambda a: a.cumprod(1),
    "cummax": lambda a: a.cummax(1).values,
    "cummin": lambda a: a.cummin(1).values,
    "logcumsumexp": lambda a: a.logcumsumexp(1),
}
# Files that have what the hint says; the first text is the part of it that must be in the hint.
SEEN = "E[T[l], k]", "Func f; In E, T: i64; Var l, k; f[l, k] = E[T[l], k];"
ADDED = (
    "Func f into O at [T[l], k] add;",
    "Func f into O at [T[l], k] add; In O, T: i64, X; Var l, k; f[l, k] = X[l, k];",
)
STORED = ADDED[0].replace("add", "distinct"), ADDED[1].replace("add", "distinct")
COUNTED = (
    "Func f into H at [T[l]] add;",
    "Func f into H at [T[l]] add; In H: i32, T: i64; Var l; f[l] = 1;",
)
LISTED = (
    "rargtopk(e, k, j)",
    "Func f; In A; Var x, j: 8; RVar k; f[x, j] = rargtopk(A[x, k], k, j);",
)
DRAWN = "Func f; In A, L; SIn seed: i64, p, n: i64; Var x, y; RVar k; "
AFFINE = "scan_affine(a[s], b[s], s, t, 0)"
FLIPPED = "A[x, 4095 - y]", "Func f; In A; Var x, y: 4096; f[x, y] = A[x, 4095 - y];"
NEAREST = "A[b, c, h // 2, w // 2]"
GUMBEL = "rargmax(L[x, k] - log(-log(random(seed, x, k))), k)"
UNPACKED = "In W: u4 packed k;", "Func f; In W: u4 packed k; Var n, k; f[n, k] = W[n, k];"
FILES = {
    **dict.fromkeys(("gather", "embedding", "take", "index_select", "take_along_dim"), SEEN),
    **dict.fromkeys(("scatter_add", "index_add", "atomic_add", "segment_sum"), ADDED),
    **dict.fromkeys(("scatter", "index_put", "index_copy"), STORED),
    **dict.fromkeys(("histogram", "histc", "bincount"), COUNTED),
    **dict.fromkeys(("sort", "argsort", "kthvalue", "topk"), LISTED),
    **dict.fromkeys(
        ("scan", "associative_scan"),
        (AFFINE, f"Func f; In a, b; Var t; RVar s; f[t] = {AFFINE};"),
    ),
    **dict.fromkeys(
        ("interpolate", "upsample"),
        (NEAREST, f"Func f; In A; Var b, c, h, w; f[b, c, h, w] = {NEAREST};"),
    ),
    "flip": FLIPPED,
    "roll": ("A[x, at[y]]", "Func f; In A, at: i64; Var x, y; f[x, y] = A[x, at[y]];"),
    "unpack": UNPACKED,
    "repeat_interleave": ("A[x // 2]", "Func f; In A; Var x; f[x] = A[x // 2];"),
    "bernoulli": ("random(seed, x, y) < p", f"{DRAWN}f[x, y] = random(seed, x, y) < p;"),
    "rand": ("random(seed, x, y)", f"{DRAWN}f[x, y] = random(seed, x, y);"),
    "randint": ("random_bits(seed, x, y) % n", f"{DRAWN}f[x, y] = random_bits(seed, x, y) % n;"),
    "multinomial": (GUMBEL, f"{DRAWN}f[x] = {GUMBEL};"),
    "dropout": (
        "where(random(seed, x, y) < p, 0, e / (1 - p))",
        f"{DRAWN}f[x, y] = where(random(seed, x, y) < p, 0, A[x, y] / (1 - p));",
    ),
    "tril": ("where(y <= x, e, 0)", f"{DRAWN}f[x, y] = where(y <= x, A[x, y], 0);"),
    "triu": ("where(y >= x, e, 0)", f"{DRAWN}f[x, y] = where(y >= x, A[x, y], 0);"),
    "masked_fill": ("where(mask, v, e)", f"{DRAWN}f[x, y] = where(A[x, y] > 0, p, A[x, y]);"),
    "lerp": ("a + c * (b - a)", f"{DRAWN}f[x, y] = A[x, y] + p * (L[x, y] - A[x, y]);"),
    "transpose": ("A[y, x]", f"{DRAWN}f[x, y] = A[y, x];"),
    "permute": ("A[y, x]", f"{DRAWN}f[x, y] = A[y, x];"),
    "arange": ("the label itself", f"{DRAWN}f[x] = x;"),
    "range": ("the label itself", f"{DRAWN}f[x] = x;"),
    "one_hot": (
        "where(I == v, 1, 0)",
        "Func f; In I: i64; Var l, v: 9; f[l, v] = where(reshape(I[l], l, 1) == v, 1, 0);",
    ),
}
# Those that say it in words, over several Funcs.
IN_WORDS = {"softmax", "log_softmax", "logsumexp", "randn", "cat"}


def found(text: str, **inputs: torch.Tensor) -> torch.Tensor:
    """Return the values that the reference computes for a file."""
    return run(load(Source("f.dt", text)), inputs)["f"]


def code(word: str) -> str:
    """The expression at the beginning of a hint."""
    return WRITTEN_OUT[word].partition(", with")[0]


def near(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other.to(one.dtype), equal_nan=True, rtol=1e-9, atol=1e-9)


def values() -> torch.Tensor:
    return torch.linspace(-7.3, 6.9, 60, dtype=torch.float64).reshape(5, 12)


@pytest.mark.parametrize("word", [*OF_ONE, *OF_POSITIVE])
def test_functions_of_one_value(word: str) -> None:
    expression = re.sub(r"\be\b", "A[x, y]", code(word))
    a = values() if word in OF_ONE else values().abs()
    torch_function = OF_ONE.get(word) or OF_POSITIVE[word]
    text = f"Func f; In A; Var x, y; f[x, y] = {expression};"
    near(found(text, A=a) * 1.0, torch_function(a) * 1.0)


@pytest.mark.parametrize("word", OF_TWO)
def test_functions_of_two_values(word: str) -> None:
    expression = re.sub(r"\b([ab])\b", lambda m: f"{m[1].upper()}[x, y]", code(word))
    a, b = values(), torch.linspace(1.1, 3.0, 60, dtype=torch.float64).reshape(5, 12)
    text = f"Func f; In A, B; Var x, y; f[x, y] = {expression};"
    near(found(text, A=a, B=b), OF_TWO[word](a, b))


@pytest.mark.parametrize("word", REDUCED)
def test_reductions(word: str) -> None:
    expression = re.sub(r"\be\b", "A[x, k]", code(word))
    text = f"Func f; In A; Var x; RVar k; f[x] = {expression};"
    near(found(text, A=values()), REDUCED[word](values()))


@pytest.mark.parametrize("word", SCANNED)
def test_scans(word: str) -> None:
    text = f"Func f, m; In A; Var x, t; RVar s, k; m[x] = rmax(A[x, k], k); f[x, t] = {code(word)};"
    near(found(text, A=values()), SCANNED[word](values()))


@pytest.mark.parametrize("word", FILES)
def test_files(word: str) -> None:
    part, text = FILES[word]
    assert part in WRITTEN_OUT[word]
    wrong = [d for d in check(Source("f.dt", text)).diagnostics if d.severity is Severity.ERROR]
    assert not wrong


def test_every_word_is_looked_at() -> None:
    """A word that is added to the table is added to one of the tests."""
    seen = {*OF_ONE, *OF_POSITIVE, *OF_TWO, *REDUCED, *SCANNED, *FILES, *IN_WORDS}
    assert seen == {*WRITTEN_OUT}
    assert not {*WRITTEN_OUT} & {*FUNCTIONS, *EITHER, *OPERATORS}


@pytest.mark.parametrize("word", ["cumsum", "gather", "argsort", "flip", "bernoulli", "min", "max"])
def test_no_word_is_answered_by_one_that_looks_like_it(word: str) -> None:
    text = f"Func f; In A, B; Var x; f[x] = {word}(A[x], B[x]); f.compile();"
    (told,) = [d for d in check(Source("f.dt", text)).diagnostics if d.code == "DT128"]
    known = EITHER[word][0] if word in EITHER else WRITTEN_OUT[word]
    assert known in (told.hint or "")
