"""Room on Python's stack for the deepest expression that the limits allow, and for deep trees."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

# A level of brackets takes pyparsing about 30 frames (brackets.MAX_NESTING), an operator takes
# the resolver about 6 (tree.MAX_DEPTH), a Func that is fused into the one before takes 3.
FRAMES = 6_000


@contextmanager
def deep_recursion() -> Generator[None, None, None]:
    """Let the calls inside nest deeply; the limit outside comes back after them."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
