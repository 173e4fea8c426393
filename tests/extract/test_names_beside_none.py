"""Kernels beside None, words of Triton's inner modules, and comments that nobody sees."""

from pathlib import Path

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here

__all__ = ["call", "here"]

MODULE = """\
try:
    import triton
    import triton.language as tl
    from triton.language import core

    HAS = True
except ImportError:
    HAS = False

if HAS:

    # tensors: x[n], out(y[n])
    # verify: k[(cdiv(len(n), 64),)](x, y, len(n))
    # assume: len(n) <= 2**20
    @triton.jit
    def k(x: tl.pointer_type(tl.float32), y, n: tl.int64):
        at = tl.program_id(0) * 64 + tl.arange(0, 64)
        # rows of\u200b a tensor
        for _ in core.static_range(0, 1):
            v = tl.load(x + at, mask=at < n) + core.zeros((64,), dtype=tl.float32)
            tl.store(y + at, v, mask=at < n)

else:
    k = None
"""


def test_a_function_beside_none_is_taken(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MODULE)
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert code == 0, err
    assert "'k' of 'm.py' is its function, not None as in line 24" in out


def test_one_of_two_functions_is_not_chosen(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MODULE.replace("    k = None", "    def k(x, y, n): ..."))
    assert call("verify", "--kernel", "m.py::k")[0] != 0


def test_a_tensor_of_another_type_than_is_annotated_is_not_read(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MODULE.replace("x[n], out", "x[n].f16, out"))
    assert call("verify", "--kernel", "m.py::k")[0] != 0
