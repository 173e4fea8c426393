"""The lines for the verifier in a module: those of one kernel say nothing about another."""

from pathlib import Path

import pytest

from dtpoly.cli.taken_kernel import given_kernels
from dtpoly.source import Source

MODULE = """\
import triton
import triton.language as tl

TEXT = '''
# assume: len(i) < 1
'''


class Tested:
    # assume: len(i) < 2
    pass


# assume: len(i) < 3
# verify: other[(1,)](x)
# assume: len(i) < 4
# verify: k[(cdiv(len(i),
#     64),)](x)
# assume: len(i) < 5

# assume: len(i) < 6


@triton.jit
def other(x_ptr):
    # assume: len(i) < 7
    pass


# verify: other[(2,)](x)
# assume: len(i) < 8
@triton.jit
def k(x_ptr):
    # assume: len(i) < 9
    pass
"""


@pytest.mark.parametrize("is_in_module", [True, False])
def test_promises_of_other_launches_are_left_out(tmp_path: Path, *, is_in_module: bool) -> None:
    path = tmp_path / "k.py"
    lines = MODULE.split("\n")
    bare = "\n".join("" if line.lstrip().startswith("#") else line for line in lines)
    path.write_text(MODULE if is_in_module else bare)
    said = "" if is_in_module else "\n".join(lines[lines.index("# assume: len(i) < 3") :])
    text = given_kernels(f"{path}::k", Source("a.dt", said)).source.text
    promises = [one for one in range(1, 10) if f"# assume: len(i) < {one}" in text]
    assert promises == ([5, 6, 9] if is_in_module else [5, 6, 7, 9])
    assert text.count("# verify: k[(cdiv(len(i),\n#     64),)](x)") == 1
    assert "other" not in text
