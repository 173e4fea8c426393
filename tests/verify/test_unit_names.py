"""Files that change what words mean, for a kernel, for a plan or while they are loaded."""

import sys

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.handwritten import algorithm
from tests.verify.handwritten import text as hand_written
from tests.verify.planned import planned_text
from tests.verify.texts import changed, written

SCALED = written("Func f; In A; SIn s; Var x; f[x] = A[x] * s; f.block(x:64); f.compile();")
TEXT = planned_text(SCALED)
END = "\n\n\nf_plan = {"
IMPORT = "import triton.language as tl\n"

# What stands below the imports.
MODULE: dict[str, str] = {
    # What Python reads when nobody says it.
    "other builtins": "__builtins__ = {'float': bool}",
    "builtins with a hint": "__builtins__: dict = {}",
    "builtins by unpacking": "__builtins__, other = {}, 1",
    "builtins by a star": "*__builtins__, other = 1, 2",
    "builtins by a loop": "for __builtins__ in ({},):\n    pass",
    "a part of the builtins": "__builtins__['float'] = bool",
    "an attribute of the builtins": "__builtins__.float = bool",
    "builtins without a word": "del __builtins__",
    "a name of the module": "__name__ = '__main__'",
    "a file of the module": "__file__ = 'other.py'",
    "a loader": "__loader__ = None",
    "a specification": "__spec__ = None",
    "hints": "__annotations__ = {}",
    "what a module gives": "def __getattr__(one):\n    return max",
    "what a module lists": "__all__ = ['other']",
    "a class that is built": "def __build_class__(*a):\n    pass",
    "imports": "def __import__(*a):\n    pass",
    "code of another": "dt_real.__code__ = dt_wrong.__code__",
    "defaults of another": "dt_real.__defaults__ = (1,)",
    "a global of a function": "dt_real.__globals__['max'] = min",
    # A builtin, bound in each way that Python has.
    "an assignment": "float = bool",
    "an assignment to two": "float = other = bool",
    "unpacking": "float, other = bool, 1",
    "a starred name": "*float, other = 1, 2",
    "an assignment in place": "max += 1",
    "an assignment with a hint": "float: type = bool",
    "a hint alone": "float: type",
    "an expression that binds": "(float := bool)",
    "a loop": "for float in (bool,):\n    pass",
    "a loop of a comprehension": "[float := one for one in (bool,)]",
    "a context": "with torch.no_grad() as float:\n    pass",
    "an exception": "try:\n    pass\nexcept ValueError as float:\n    pass",
    "a match": "match 1:\n    case float:\n        pass",
    "a match of a sequence": "match [1]:\n    case [*float]:\n        pass",
    "a match of a mapping": "match {}:\n    case {**float}:\n        pass",
    "a match with a pattern": "match 1:\n    case 1 as float:\n        pass",
    "a function": "def float(a):\n    return a",
    "a function that waits": "async def float(a):\n    return a",
    "a class": "class float:\n    pass",
    "a kernel": "@triton.jit\ndef float(a):\n    return a",
    "an import": "import float",
    "an import by another name": "import math as float",
    "an import of a part": "from builtins import bool as float",
    "an import of all": "from math import *",
    "no builtin any more": "del float",
    "a function of a plan": "float = dt_function(f_plan, f_kernel)",
    # Modules.
    "another module": "import math as tl",
    "a module of a module": "import torch.nn as torch",
    "a part of a module": "from triton import language as tl",
    "an import of two": "import torch, math",
    "an import that is not listed": "import os",
    "an import from here": "from . import tl",
    "a module that is set": "torch = tl",
    "an attribute of a module": "tl.load = tl.store",
    "an attribute of torch": "torch.float32 = torch.float64",
    "no attribute of a module": "del tl.load",
    "a part of a module's names": "tl.__dict__['load'] = tl.store",
    # Things that are done.
    "a call": "setattr(tl, 'load', tl.store)",
    "a text that is run": "exec('float = bool')",
    "a text in a constant": "done = eval('globals().update(float=bool)')",
    "a condition": "if 1:\n    float = bool",
    "a condition that never holds": "if False:\n    pass",
    "a condition with another side": "if 1:\n    pass\nelse:\n    float = bool",
    "a loop that goes on": "while True:\n    break",
    "a loop with another side": "for _ in ():\n    pass\nelse:\n    float = bool",
    "an assertion": "assert setattr(tl, 'load', tl.store) is None",
    "an exception that is raised": "raise ValueError",
    "nothing": "pass",
    "a decorator": "@setattr\ndef other():\n    pass",
    "a decorator of builtins": "@globals().update\ndef other():\n    pass",
    "a decorated class": "@vars\nclass other:\n    pass",
    "a default": "def other(a=setattr(tl, 'load', tl.store)):\n    pass",
    "a default by name": "def other(*, a=[float := bool]):\n    pass",
    "a hint of a parameter": "def other(a: exec('float = bool')):\n    pass",
    "a hint of a result": "def other() -> exec('float = bool'):\n    pass",
    "a hint in a string": "def other(a: 'exec(1)'):\n    pass",
    "a lambda": "other = lambda: 1",
    "a list that is made": "other = [one for one in (1, 2)]",
    "a text with a value": "other = f'{exec(1)}'",
    "bytes": "other = b'one'",
    "an ellipsis": "...",
    "an imaginary number": "other = 1j",
    "a number that stands alone": "1",
    # Names of the file.
    "the runtime": "dt_function = max",
    "the runtime twice": "def dt_function(*dtypes):\n    return tl.float16",
    "a part of the runtime": "from dtpoly.carried.launches import dt_launches",
    "the plan": "f_plan = print",
    "a part of the plan": "f_plan['sizes'] = {}",
    "a plan of nothing": "other_plan = {}",
    "the function": "f = print",
    "the function again": "f = dt_function(f_plan, f_kernel)",
    "another function of the plan": "other = dt_function(f_plan, f_kernel)",
    "a function of no kernel": "other = dt_function(f_plan, f)",
    "a function of what is made": "other = dt_function(dict(), f_kernel)",
    "what the interpreter adds": "interpreter_semantic = 1",
    "what the interpreter compares with": "def _InterpreterComparison(*a):\n    return a",
}
# What stands in a function of Python that nothing calls.
FUNCTION: dict[str, str] = {
    "a global": "global f\n    f = max",
    "a global of the builtins": "global float\n    float = bool",
    "a nonlocal": "nonlocal f",
    "an import": "import math",
    "an import of a module again": "import math as tl",
    "a builtin": "float = bool",
    "the runtime": "dt_function = max",
    "a module": "tl = torch",
    "a builtin in a comprehension": "return [max for max in (1, 2)]",
    "a builtin in a generator": "return list(max for max in (1, 2))",
    "a builtin in a mapping": "return {max: 1 for max in (1, 2)}",
    "a builtin in a lambda": "return lambda max: max",
    "a module in a lambda": "return lambda tl: tl",
    "a name that binds": "return (other := 1)",
    "an attribute that is set": "tl.load = tl.store",
    "an attribute of a function": "f.other = 1",
    "a part that is set": "A = {}\n    A['f'] = 1",
    "a part of a module": "torch.cuda['device'] = 1",
    "an attribute in a tuple": "tl.load, other = 1, 2",
    "an attribute of a loop": "for tl.load in (1, 2):\n        pass",
    "an attribute of a context": "with torch.no_grad() as tl.load:\n        pass",
    "an attribute that is added to": "tl.load += 1",
    "an attribute that goes away": "del tl.load",
    "a dunder": "return f.__globals__",
    "a dunder of a class": "return A.__class__",
    "a dunder by itself": "return __builtins__",
    "a name with a dunder": "__name__ = 1",
    "all names": "return globals()",
    "all names here": "return locals()",
    "names of a module": "return vars(tl)",
    "an attribute by name": "return getattr(tl, 'load')",
    "an attribute by name that is set": "setattr(tl, 'load', 1)",
    "an evaluation": "return eval('1')",
    "a file": "return open('f.py')",
    "a type": "return type('T', (), {})",
    "a module of a module": "return torch.os.system('true')",
    "what a module has under its words": "return torch._C",
    "a module by itself": "return torch",
    "a module in a tuple": "return (tl, torch)",
    "what is not known": "return other",
    "what a text says": "return '{0.f}'.format(f)",
    "a text of a kernel": "f_kernel._unsafe_update_src('')",
    "a function of a kernel": "return f_kernel.fn",
    "a function": "def other():\n        pass",
    "a class": "class other:\n        pass",
    "something that is tried": "try:\n        pass\n    except ValueError:\n        pass",
    "a match": "match 1:\n        case 1:\n            pass",
    "a loop that goes on": "while True:\n        pass",
    "a generator": "yield 1",
    "a generator of another": "yield from (1, 2)",
    "no name any more": "A = 1\n    del A",
    "bytes": "return b'one'",
    "an imaginary number": "return 1j",
}
# What stands at the end of the kernel.
KERNEL: dict[str, str] = {
    "a builtin": "float = 1",
    "a builtin in a loop": "for range in range(3):\n        pass",
    "a module": "tl = 1",
    "a kernel": "f_kernel = 1",
    "the runtime": "dt_function = 1",
    "what the interpreter adds": "interpreter_semantic = 1",
    "a dunder": "__builtins__ = 1",
    "a global": "global f_kernel",
    "an import": "import math",
    "a module in Triton": "tl.core.constexpr(1)",
    "a dunder of Triton's": "tl.__name__",
    "an attribute that is not listed": "x.handle",
    "an attribute that is set": "x.handle = 1",
    "a part that is set": "x[0] = 1",
    "options by a mapping": "tl.load(A_ptr, **{})",
    "a mapping": "{}",
    "a set": "{1}",
    "a comprehension": "[one for one in (1, 2)]",
    "a starred value": "(*x,)",
    "a function of Python": "f(A_ptr, s)",
    "a plan": "f_plan",
    "a builtin that is not read": "print(x)",
    "what has no name here": "other + 1",
    "something that is tried": "try:\n        pass\n    finally:\n        pass",
    "a context": "with x:\n        pass",
    "an assertion": "assert x",
    "an exception": "raise x",
    "a loop that goes on": "while x:\n        pass",
    "a loop with another side": "for i in range(3):\n        pass\n    else:\n        pass",
    "the end of a loop": "for i in range(3):\n        break",
    "a hint": "y: tl.float32 = 1",
    "a hint alone": "y: tl.constexpr",
    "a hint of a part": "x.y: tl.constexpr = 1",
    "two names": "y = z = 1",
    "a name that binds": "(y := 1)",
    "a name that goes": "y = 1\n    del y",
    "an ellipsis": "x[...]",
    "an imaginary number": "1j",
    "bytes": "b'one'",
    "a branch that is not taken": "if False:\n        import os",
}
PARAMETERS: dict[str, tuple[str, str]] = {
    "of the kernel as many": ("    x_size,\n", "    x_size, *more,\n"),
    "of the kernel by name": ("    x_size,\n", "    x_size, *,\n"),
    "of the kernel one like Triton": ("    x_size,\n", "    x_size, tl,\n"),
    "of the kernel one like a builtin": ("    x_size,\n", "    x_size, range,\n"),
    "of the kernel a default": ("offset: tl.constexpr,", "offset: tl.constexpr = f(1),"),
    "of the kernel a hint": ("    x_size,\n", "    x_size: f(1),\n"),
    "of the kernel a hint in a string": (
        "    x_size,\n",
        "    x_size: 'constexpr',\n",
    ),
    "of the kernel a result": ("):  # fmt: skip", ") -> exec('1'):  # fmt: skip"),
}
SIGNATURES: dict[str, str] = {
    "as many as there are": "A, *more, out=None",
    "by any name": "A, *, out=None, **more",
    "without names": "A, /, *, out=None",
    "another default": "A, *, out=dt_function",
    "a default of what is known": "A, *, out=f",
    "one like a builtin": "A, max=1",
    "one like the runtime": "A, dt_function=1",
    "one like a dunder": "A, __class__=1",
}
SYNTAX_OF_312 = {"type float = bool", "type other = int", "def other[float](a):\n    pass"}


def refused(text: str) -> bool:
    """True if the whole file is refused, before anything in it is proved."""
    compile(text, "hostile", "exec")
    report = verify(SCALED, text)
    assert report.verdict is LayerVerdict.UNKNOWN, report
    return [one.name for one in report.functions] == [""] and bool(report.layers[0].why)


def test_as_it_is_emitted_it_is_proved() -> None:
    assert verify(SCALED, TEXT).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["dt_foo", "test", "given", "exit", "one", "name"])
@pytest.mark.parametrize(
    "text",
    [
        "Func {}; In A; Var x; RVar k; {}[x] = rsum(A[x, k], k); {}.compile();",
        "Func f; In {}; Var x; RVar k; f[x] = rsum({}[x, k], k); f.compile();",
        "Func f; In A; Var {}; RVar k; f[{}] = rsum(A[{}, k], k); f.compile();",
    ],
)
def test_other_names_of_programs_are_as_good(text: str, name: str) -> None:
    program = written(text.replace("{}", name))
    sizes = dict.fromkeys((label.name for label in program.labels), 3)
    made = code_of(judge(program, DIRECTIVES).scheduled, "", sizes).text
    assert verify(program, made).verdict is LayerVerdict.PROVED, made


@pytest.mark.sampled
@pytest.mark.parametrize("name", MODULE)
def test_nothing_else_stands_in_the_module(name: str) -> None:
    assert refused(changed(TEXT, IMPORT, f"{IMPORT}\n\n{MODULE[name]}\n"))


def test_features_of_later_python_are_not_read() -> None:
    assert refused(f"from __future__ import annotations\n{TEXT}")


@pytest.mark.sampled
@pytest.mark.parametrize("name", MODULE)
def test_nothing_else_stands_below(name: str) -> None:
    assert refused(f"{TEXT}\n\n{MODULE[name]}\n")


@pytest.mark.parametrize("name", FUNCTION)
def test_nothing_else_stands_in_a_function(name: str) -> None:
    if name == "a nonlocal":
        pytest.skip("Python refuses it")
    other = f"def other_function(A):\n    {FUNCTION[name]}\n"
    assert refused(f"{TEXT}\n\n{other}")


@pytest.mark.parametrize("name", KERNEL)
def test_nothing_else_stands_in_a_kernel(name: str) -> None:
    assert refused(changed(TEXT, END, f"\n    {KERNEL[name]}{END}"))


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_plain(name: str) -> None:
    assert refused(changed(TEXT, *PARAMETERS[name]))


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_of_functions_of_python_are_plain(name: str) -> None:
    other = f"def other({SIGNATURES[name]}):\n    return A\n"
    assert refused(f"{TEXT}\n\n{other}")


@pytest.mark.parametrize("text", sorted(SYNTAX_OF_312))
def test_names_of_types(text: str) -> None:
    """Python 3.12 has these; 3.11 does not read them."""
    report = verify(SCALED, f"{TEXT}\n\n{text}\n")
    assert [one.name for one in report.functions] == [""]
    assert sys.version_info >= (3, 12) or "not Python" in report.layers[0].why


TESTED = code_of(judge(SCALED, DIRECTIVES).scheduled, "", {"x": 5}).text
MAIN: dict[str, tuple[str, str]] = {
    "another condition": ('__name__ == "__main__"', '__name__ != "__main__"'),
    "another statement": ("    test(**{", "    float = bool\n    test(**{"),
    "another value": ("int(size) for", "exec(size) for"),
    "another call": ("    test(**{", "    exec(**{"),
    "another side": ("sys.argv[1:])})\n", "sys.argv[1:])})\nelse:\n    float = bool\n"),
    "something below": ("sys.argv[1:])})\n", "sys.argv[1:])})\nother = 1\n"),
    "no sys": ("import sys\n", ""),
    "another helper of the test": ("def dt_compare(", "def dt_compare(_, "),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", MAIN)
def test_what_a_file_does_if_it_is_run(name: str) -> None:
    assert verify(SCALED, TESTED).verdict is LayerVerdict.PROVED
    assert refused(changed(TESTED, *MAIN[name]))


def test_functions_of_a_hand_written_file_are_told() -> None:
    """Its lines say how its kernels are launched; other code that launches them is not read."""
    launcher = (
        "def launched(x, y):\n"
        "    n = x.numel()\n"
        "    total = torch.empty_like(x)\n"
        "    grid = lambda meta: (triton.cdiv(n, meta['BLOCK_SIZE']),)\n"
        "    add_kernel[grid](x, y, total, n, BLOCK_SIZE=1024)\n"
        "    return total\n"
    )
    text = f"import torch\n{hand_written('add')}\n\n{launcher}"
    report = verify(algorithm("add"), text)
    assert report.verdict is LayerVerdict.PROVED, report
    assert any("not read" in one and "launched" in one for one in report.functions[0].assumed)
    wrong = changed(text, "return total", "tl.load = tl.store")
    assert verify(algorithm("add"), wrong).verdict is LayerVerdict.UNKNOWN
