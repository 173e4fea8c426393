"""Small hand-written files: a kernel of one statement a line, and the program that it computes."""

from dtpoly.algorithm.program import Program
from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

HEAD = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 128),)](X, f, len(i))
# assume: len(i) <= 2**30


"""
START = """\
@triton.jit
def k(X, out, n):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    m = i < n
"""
LOAD = "x = tl.load(X + i, mask=m, other=0)"


def program(value: str, dtype: str = "f32") -> Program:
    """f[i], of X of that type."""
    return written(f"Func f; In X: {dtype}; Var i; f[i] = {value}; f.compile();")


def kernel(*lines: str, functions: tuple[str, ...] = ()) -> str:
    """Return the text of a file: functions of dtpoly that it has, and the lines of its kernel."""
    own = "".join(f"@triton.jit\n{TEXTS[one]}\n\n" for one in functions)
    return HEAD + own + START + "".join(f"    {line}\n" for line in lines)


def judged(value: str, *lines: str, dtype: str = "f32", functions: tuple[str, ...] = ()) -> Report:
    """Return what is proved of a kernel that begins with a load of x."""
    return verify(program(value, dtype), kernel(LOAD, *lines, functions=functions))


def is_proved(report: Report) -> bool:
    return report.verdict is LayerVerdict.PROVED


def why(report: Report) -> str:
    """Return why nothing is proved."""
    assert report.verdict is LayerVerdict.UNKNOWN, report.verdict
    return report.layers[0].why
