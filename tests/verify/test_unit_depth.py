"""Texts that are nested more deeply than Python or Triton reads: they have a meaning, and fail."""

import pytest

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.unit.depth import check_depth
from dtpoly.verify.triton.unit.unit import read_unit

HEAD = "import triton\nimport triton.language as tl\n\n\n"


def check(text: str) -> None:
    check_depth(read_unit(f"{HEAD}{text}"))


def kernel(value: str) -> str:
    return f"@triton.jit\ndef k(X, n):\n    x = tl.load(X)\n    tl.store(X, {value})\n"


def branches(count: int) -> str:
    lines = [f"{'    ' * (at + 1)}if n > {at}:\n" for at in range(count)]
    return f"@triton.jit\ndef k(X, n):\n{''.join(lines)}{'    ' * (count + 1)}tl.store(X, n)\n"


def functions(count: int) -> str:
    """Functions, each of which calls the next one."""
    texts = [f"@triton.jit\ndef f{n}(x):\n    return f{n + 1}(x)\n\n\n" for n in range(count)]
    return f"{''.join(texts)}@triton.jit\ndef f{count}(x):\n    return x\n"


# Triton 3.9 fails at 330 sums, 200 brackets, 138 comparisons, 163 methods, 40 functions or so.
DEEP = {
    "sums": kernel(" + ".join(["x"] * 340)),
    "products": kernel(" * ".join(["x"] * 340)),
    "signs": kernel("-" * 330 + "x"),
    "methods": kernel("x" + ".to(tl.float32)" * 165),
    "comparisons": kernel("(n < " * 140 + "1" + ")" * 140),
    "branches": branches(90),
    "functions": functions(60),
    "other branches": "@triton.jit\ndef k(X, n):\n    if n == 0:\n        tl.store(X, 0)\n"
    + "".join(f"    elif n == {at}:\n        tl.store(X, {at})\n" for at in range(1, 100)),
    "choices": kernel("1 if n > 0 else " * 300 + "2"),
    "a function of itself": "@triton.jit\ndef k(x):\n    return k(x)\n",
    "functions of each other": "@triton.jit\ndef f(x):\n    return g(x)\n\n\n"
    "@triton.jit\ndef g(x):\n    return f(x)\n",
    "a sum of Python": f"def f(n):\n    return {' + '.join(['n'] * 3000)}\n",
    "a denial of Python": f"def f(n):\n    return {'not ' * 3000}n\n",
    "a choice of Python": f"def f(n):\n    return {'1 if n else ' * 900}2\n",
}
RIGHT = {
    "sums": kernel(" + ".join(["x"] * 200)),
    "methods": kernel("x" + ".to(tl.float32)" * 20),
    "branches": branches(15),
    "functions": functions(15),
    "long": "@triton.jit\ndef k(X, n):\n" + "    tl.store(X, n)\n" * 3000,
    "wide": kernel(f"max({', '.join(['n'] * 900)})"),
    "of Python": f"def f(n):\n    return {' + '.join(['n'] * 300)}\n",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_is_nested_too_deeply_is_not_read(text: str) -> None:
    with pytest.raises(Unread, match=r"nested|not Python"):
        check(text)


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_is_not_is_read(text: str) -> None:
    check(text)
