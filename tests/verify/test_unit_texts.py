"""Files in which other text runs than the text that stands there: none is read.

Python runs a file, Triton's compiler cuts the text of a kernel out of it, and Triton's interpreter
cuts it out in another way. Here are ways in which these three differ, or could.
"""

import time

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.planned import planned_text
from tests.verify.texts import changed, written

CUT = written(
    "Func softmax, total; In A; Var x; RVar y; total[x] = rsum(exp(A[x, y]), y);"
    "softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);"
    "softmax.block(x:4); softmax.tensorize(x:0, y:512); total.fuse_at(softmax, x);"
    "softmax.compile();"
)
TEXT = planned_text(CUT)
IMPORT = "import triton.language as tl\n"
JIT = "@triton.jit\ndef softmax_kernel(\n"
FIRST = "    if fours:\n"  # the first statement of the kernel
REST = "    if not even and y_size % 512 != 0:\n"
PID = "    pid = tl.program_id(0).to(offset)\n"
END = "\n\n\nsoftmax_plan = {"
MADE = "\n\n\nsoftmax = dt_function("
KERNEL = TEXT[TEXT.index(JIT) : TEXT.index(END)]
SHORT = KERNEL[: KERNEL.rindex(REST)]  # without the last rows' rest
HEAD = KERNEL[: KERNEL.index(FIRST)]


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}" if line.strip() else line for line in text.splitlines(True))


# What is put in the place of what.
WRONG: dict[str, tuple[str, str]] = {
    "a backslash in column 0": (REST, f"\\\n{REST}"),
    "a backslash before the first statement": (FIRST, f"\\\n{FIRST}"),
    "a backslash behind an operator": ("pid * 4\n", "pid * \\\n        4\n"),
    "a backslash behind a statement": (PID, f"{PID[:-1]}\\\n\n"),
    "a backslash in the parameters": (
        "    x_size, y_size,\n    even",
        "    x_size, \\\ny_size,\n    even",
    ),
    "a backslash in a string": (FIRST, f'    "one \\\n two"\n{FIRST}'),
    "a backslash in a string of several lines": (FIRST, f'    """one \\\ntwo\n    """\n{FIRST}'),
    "a backslash behind a comment": (FIRST, f"    # one \\\n{FIRST}"),
    "a form feed in column 0": (REST, f"\x0c{REST}"),
    "a form feed within the indentation": (REST, f"  \x0c{REST}"),
    "a form feed in a comment": (FIRST, f"    # \x0c one\n{FIRST}"),
    "a return in a comment": (FIRST, f"    # one\r    x_size = 1\n{FIRST}"),
    "a return for a line end": (PID, f"{PID[:-1]}\r"),
    "a line tabulator": (FIRST, f"    # \x0b\n{FIRST}"),
    "a separator of files": (FIRST, f"    # \x1c    x_size = 1\n{FIRST}"),
    "a next line": (FIRST, f"    # \x85    x_size = 1\n{FIRST}"),
    "a separator of lines": (FIRST, f"    # \u2028    x_size = 1\n{FIRST}"),
    "a tab": (FIRST, "\tif fours:\n"),
    "a tab in an expression": ("pid * 4", "pid *\t4"),
    "a null": (FIRST, f"    # \x00\n{FIRST}"),
    "a mark of byte order": (IMPORT, f"\ufeff{IMPORT}"),
    "a space of no width": (IMPORT, f"# \u200b\n{IMPORT}"),
    "a comment that is written from right to left": (IMPORT, f"# \u202e\n{IMPORT}"),
    "half a letter": (IMPORT, f"# \ud800\n{IMPORT}"),
    "a wide letter in a name": ("x_start = pid * 4", "\uff58_start = pid * 4"),
    "a wide letter in a word of Triton's": ("tl.program_id(0)", "tl.\uff50rogram_id(0)"),
    "a ligature in a name": (PID, f"{PID}    \ufb01 = 1\n"),
    "a letter of another script": (PID, f"{PID}    \u0440id = 1\n"),
    "a letter in a string": (FIRST, f'    "ß"\n{FIRST}'),
    "an escape for a name": (FIRST, f'    "\\N{{BULLET}} ß"\n{FIRST}'),
    "a definition in a docstring": (
        FIRST,
        f'    """One.\n\n    def softmax_kernel(x):\n    """\n{FIRST}',
    ),
    "a kernel in a docstring": (FIRST, f'    """\n{indented(SHORT[12:], "    ")}    """\n{FIRST}'),
    "a definition in a docstring, in column 0": (
        FIRST,
        f'    """\ndef f(x):\n    pass\n"""\n{FIRST}',
    ),
    "a definition that ends a docstring": (FIRST, f'    """\n    def """\n{FIRST}'),
    "a string of blanks": (FIRST, f'    """\n        \n    """\n{FIRST}'),
    "a comment below the decorator": (JIT, JIT.replace("\n", "\n# one\n", 1)),
    "a blank line below the decorator": (JIT, JIT.replace("\n", "\n\n", 1)),
    "a decorator in brackets": (JIT, JIT.replace("@triton.jit", "@(triton.jit)")),
    "a decorator with spaces": (JIT, JIT.replace("@triton.jit", "@triton . jit")),
    "a decorator in two lines": (JIT, JIT.replace("@triton.jit", "@(triton\n.jit)")),
    "a decorator with a comment": (JIT, JIT.replace("@triton.jit", "@triton.jit  # def f(")),
    "a decorator that is called": (JIT, JIT.replace("@triton.jit", "@triton.jit()")),
    "a decorator with an option": (JIT, JIT.replace("@triton.jit", "@triton.jit(noinline=True)")),
    "another decorator": (JIT, f"@triton.heuristics({{}})\n{JIT}"),
    "a lambda for a decorator": (JIT, f"@(lambda f: f)\n{JIT}"),
    "two kernels of one name": (JIT, f"{SHORT}\n\n{JIT}"),
    "another kernel of that name below": (
        END,
        f"\n\n\n{SHORT}{END}",
    ),
    "a function of that name below": (
        MADE,
        f"\n\n\ndef softmax_kernel(*a):\n    pass{MADE}",
    ),
    "a kernel under a condition": (KERNEL, f"if True:\n{indented(KERNEL, '    ')}"),
    "a kernel in a class": (KERNEL, f"class softmax_kernel:\n{indented(KERNEL, '    ')}"),
    "a kernel that is tried": (
        KERNEL,
        f"try:\n{indented(KERNEL, '    ')}\nexcept ValueError:\n    pass",
    ),
    "a kernel in a function": (
        KERNEL,
        f"def other():\n{indented(KERNEL, '    ')}\n    return softmax_kernel",
    ),
    "a kernel that waits": (JIT, JIT.replace("def", "async def")),
    "a body behind a colon": (JIT, f"@triton.jit\ndef other(x): return x\n\n\n{JIT}"),
    "two statements in a line": (IMPORT, "import triton.language as tl; import torch\n"),
    "a function in the kernel": (FIRST, f"    def f(x):\n        return x\n{FIRST}"),
    "a lambda in the kernel": (FIRST, f"    f = lambda x: x\n{FIRST}"),
    "a class in the kernel": (FIRST, f"    class f:\n        pass\n{FIRST}"),
    "a string with letters in braces": (FIRST, f'    f"{{x_size}}"\n{FIRST}'),
    "bytes": (FIRST, f'    b"one"\n{FIRST}'),
    "a string with a kind": (FIRST, f'    u"one"\n{FIRST}'),
    "an encoding": ("import triton\n", "# coding: utf-7\nimport triton\n"),
    "an encoding of editors": (
        "import triton\n",
        "# vim: set fileencoding=latin-1 :\nimport triton\n",
    ),
    "an encoding in the second line": ("import triton\n", "\n# coding=cp1252\nimport triton\n"),
    "a launch by other lines": (
        "import triton\n",
        "# verify: softmax_kernel[(1,)](softmax)\nimport triton\n",
    ),
}
# The same must be read where nothing but comments and blanks is another.
RIGHT: dict[str, tuple[str, str]] = {
    "a comment in column 0": (REST, f"# one\n{REST}"),
    "a comment that is not set in as far": (REST, f"  # one\n{REST}"),
    "a comment below": (END, f"\n    # one{END}"),
    "a comment that looks like a definition": (REST, f"    # def f(x):\n{REST}"),
    "letters in a comment": (FIRST, f"    # größer als ∅\n{FIRST}"),
    "blank lines": (REST, f"\n\n      \n{REST}"),
    "spaces behind a line": (PID, f"{PID[:-1]}   \n"),
    "a docstring": (FIRST, f'    """What def it has.\n\n    More.\n    """\n{FIRST}'),
    "a string that stands alone": (PID, f'{PID}    "one"\n'),
    "brackets over lines": ("pid * 4\n", "(\npid\n    * 4\n)\n"),
    "a comment above the decorator": (JIT, f"# one\n{JIT}"),
    "a statement behind another": (END, f"; pass{END}"),
    "more spaces": ("pid * 4\n", "pid  *  4\n"),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_read(name: str) -> None:
    old, new = WRONG[name]
    report = verify(CUT, changed(TEXT, old, new, -1 if old == IMPORT else 1))
    assert report.verdict is LayerVerdict.UNKNOWN
    # The whole file is refused, before anything in it is proved.
    assert [one.name for one in report.functions] == [""], report


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_still_proved(name: str) -> None:
    report = verify(CUT, changed(TEXT, *RIGHT[name]))
    assert report.verdict is LayerVerdict.PROVED, report


NESTED = {
    "a long sum": f"fresh = {'+'.join(['1'] * 5000)}",
    "signs": f"fresh = {'-' * 900}1",
    "more signs": f"fresh = {'-' * 3000}1",
    "attributes": f"fresh = tl{'.math' * 900}",
    "calls": f"fresh = {'max(' * 90}1{')' * 90}",
}


@pytest.mark.parametrize("place", [END, MADE])
@pytest.mark.parametrize("name", NESTED)
def test_what_is_nested_deeply_ends(name: str, place: str) -> None:
    """It is refused, or read; no text ends in an error of Python's."""
    by = "    " if place == END else ""
    report = verify(CUT, changed(TEXT, place, f"\n{by}{NESTED[name]}{place}"))
    assert report.verdict is LayerVerdict.PROVED or report.layers[0].why


def test_many_kernels_are_read_soon() -> None:
    """The time to find the end of each does not grow with what stands below."""
    more = "".join(f"\n\n@triton.jit\ndef other_{at}(x):\n    return x\n" for at in range(400))
    began = time.monotonic()
    assert verify(CUT, f"{TEXT}{more}").verdict is LayerVerdict.PROVED
    assert time.monotonic() - began < 60
