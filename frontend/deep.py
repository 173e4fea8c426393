"""Makes room on Python's stack for the deepest expression and the deepest tree that are allowed."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

# A level of brackets takes pyparsing about 30 frames (brackets.MAX_NESTING), an operator takes the
# resolver about 6 (tree.MAX_DEPTH), and a Func that is fused into the one before takes 3.
FRAMES = 6_000


@contextmanager
def deep_recursion() -> Generator[None, None, None]:
    """Let the calls inside nest deeply, and restore the limit of recursion afterwards."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
