"""What the rest of a module does to names without setting them is refused, or an assumption."""

import ast
from pathlib import Path

import pytest

from dtpoly.diagnostics import DtpolyError
from dtpoly.extract.hidden_changes import hidden_changes, modules_by_name
from dtpoly.extract.python_modules import read_module
from dtpoly.extract.taking_out import TakenOut
from dtpoly.source import Source
from tests.extract.test_taking_out import HELPER, KERNEL, TOP, taken

TWO = "TWO = tl.constexpr(2)\n"
OTHER = "def other(a):\n    return a * 3\n"
# Lines after `TWO`, a helper, and a function, each of which changes what the kernel computes.
TABLES = (
    "vars(twice).update(fn=other)",
    "vars(TWO)['value'] = 3",
    "globals().update(TWO=3)",
    "globals().__setitem__('TWO', 3)",
    "globals()[f'TW{chr(79)}'] = 3",
    "found = globals()\nfound['TWO'] = 3",
    "globals()['twice'].fn = other",
    "globals().get('TWO').value = 3\nvars(TWO).update(value=3)",
    "exec('TWO = 3')",
    "eval('globals().update(TWO=3)')",
    "run = exec\nrun('TWO = 3')",
    "import builtins\nbuiltins.exec('TWO = 3')",
    "import builtins as b\nb.globals().update(TWO=3)",
    "from builtins import exec as run\nrun('TWO = 3')",
    "__builtins__['max'] = min",
    "__builtins__.max = min",
    "other.__globals__['TWO'] = 3",
    "sys.modules[__name__].__dict__['TWO'] = 3",
    "class Inner:\n    globals().update(TWO=3)",
    "[globals().update(TWO=at) for at in (3,)]",
    "def change():\n    exec('global TWO; TWO = 3')",
    "from operator import setitem\nsetitem(globals(), 'TWO', 3)",
    "tl.__dict__['sqrt'] = tl.exp",
    "vars(tl)['sqrt'] = tl.exp",
)
# The same for Triton itself: the kernel says none of the words that are set.
DEEP = (
    "tl.tensor.__mul__ = tl.tensor.__add__",
    "setattr(tl.tensor, '__mul__', tl.tensor.__add__)",
    "setattr(tl, ''.join(['l', 'oad']), tl.store)",
    "tl.core.tensor.sum = None",
    "from triton.language import tensor\ntensor.__mul__ = tensor.__add__",
    "tl.__setattr__('load', tl.store)",
    "object.__setattr__(tl, 'load', tl.store)",
    "sys.modules['triton.language'].load = tl.store",
    "importlib.import_module('triton.language').load = tl.store",
    "tl.load = tl.store\nLOAD = tl.load",
)
# Lines that hand something on, and the name or the text that the assumption says.
HANDED_ON = {
    "again = twice\nagain.fn = other": "'twice'",
    "for one in (twice,):\n    one.fn = other": "'twice'",
    "def patch(k):\n    k.fn = other\npatch(twice)": "'twice'",
    "type(twice).__init__(twice, other)": "'twice'",
    "found = dict(k=twice)\nfound['k'].fn = other": "'twice'",
    "(twice or other).fn = other": "'twice'",
    "def patch(k=twice):\n    k.fn = other": "'twice'",
    "class Inner:\n    k = twice\nInner.k.fn = other": "'twice'",
    "twice.add_pre_run_hook(print)": "'twice'",
    "doubled.add_pre_run_hook(print)": "'doubled'",
    "print(twice.fn)": "'twice'",
    "again = TWO\nagain.value = 3": "'TWO'",
    "object.__setattr__(*(TWO, 'value', 3))": "'TWO'",
    "L = tl\nL.load = tl.store": "'tl'",
    "T = tl.tensor\nT.__mul__ = T.__add__": "'tl'",
    "mock.patch.object(tl, 'load', tl.store).start()": "'tl'",
    "mock.patch('triton.language.load', tl.store).start()": "'triton.language.load'",
    "mock.patch(f'{__name__}.TWO', 3).start()": "mock.patch(",
    "own = sys.modules[__name__]\nown.TWO = 3": "sys.modules[__name__]",
    "setattr(sys.modules[__name__], 'TW' + 'O', 3)": "sys.modules[__name__]",
    "own = __import__('module')\nown.TWO = 3": "__import__('module')",
    "inspect.getsourcelines = other": "'inspect'",
    "linecache.cache[__file__] = ()": "'linecache'",
    "os.environ['TRITON_INTERPRET'] = '1'": "'os'",
}
# Lines as modules have them, which change nothing and are no assumption.
HARMLESS = (
    "def launch(x, y):\n    doubled[(1,)](x, y, 3, BLOCK=64)",
    "def launch(x):\n    return twice(x), doubled.run(x), doubled.warmup(x, grid=(1,))",
    "if doubled is None or TWO == 3:\n    print('none', TWO.value)",
    "TYPES = {'a': tl.float32, 'b': tl.int8}",
    "def launch(x: tl.tensor, n=triton.cdiv(3, 2)) -> tl.tensor:\n    pass",
    "name = f'{doubled}'",
    "log = logging.getLogger(__name__)",
    "if 'other' in globals() or 'triton' in sys.modules:\n    pass",
    "size = globals()['size']",
    "size = globals().get('size')",
    "def show(x):\n    return {**vars(x)}",
    "class Other:\n    def eval(self):\n        self.exec = 3",
)
MODULES = "import importlib\nimport inspect\nimport linecache\nimport logging\nimport sys\n"
TOP_OF_ALL = f"{TOP}{MODULES}from unittest import mock\n{TWO}{HELPER}{OTHER}"


def with_lines(lines: str, value: str = "twice(x) * TWO") -> TakenOut:
    return taken(f"{TOP_OF_ALL}{lines}\n", value)


@pytest.mark.parametrize("lines", TABLES)
def test_what_may_set_any_name_is_refused(lines: str) -> None:
    with pytest.raises(DtpolyError) as error:
        with_lines(lines)
    (found,) = error.value.diagnostics
    assert found.code == "DT313"


@pytest.mark.parametrize("lines", DEEP)
def test_a_change_of_triton_is_refused(lines: str) -> None:
    value = "LOAD(x_ptr + at, mask=at < n)" if "LOAD" in lines else "x * 2"
    with pytest.raises(DtpolyError) as error:
        with_lines(lines, value)
    (found,) = error.value.diagnostics
    assert found.code == "DT313"


@pytest.mark.parametrize("lines", HANDED_ON)
def test_what_is_handed_on_is_an_assumption(lines: str) -> None:
    before = with_lines("").assumed
    more = [one for one in with_lines(lines).assumed if one not in before]
    assert any(HANDED_ON[lines] in one for one in more), more
    assert all("line" in one for one in more)


@pytest.mark.parametrize("lines", HARMLESS)
def test_other_lines_change_nothing(lines: str) -> None:
    assert with_lines(lines).assumed == with_lines("").assumed


def test_a_decorator_by_a_statement_hands_nothing_on() -> None:
    kernel = KERNEL.replace("@triton.jit\n", "\n")
    after = "doubled = triton.jit(doubled)\n"
    found = taken(TOP, "x * 2", kernel + after)
    assert not any("hands" in one for one in found.assumed)


FOREIGN = {
    "tools.TWO = 3\n": "twice(x)",
    "from tools import twice as again\nagain.fn = print\n": "twice(x)",
    "tools.twice.fn = print\n": "twice(x)",
    "setattr(tools, input(), 3)\n": "twice(x)",
    "tools.sums.TWO = 3\n": "twice(x)",
}


@pytest.mark.parametrize("lines", FOREIGN)
def test_a_module_that_changes_another_one_is_refused(lines: str, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        f"import triton\nimport triton.language as tl\n{TWO}\n{HELPER.replace('a * 2', 'a * TWO')}"
    )
    top = f"{TOP}import tools\nfrom tools import twice\n"
    name = str(tmp_path / "module.py")
    assert "a * 2" in taken(top, "twice(x)", name=name).text
    with pytest.raises(DtpolyError) as error:
        taken(f"{top}{lines}", FOREIGN[lines], name=name)
    (found,) = error.value.diagnostics
    assert found.code == "DT313"
    assert "changes" in found.title or "input()" in lines


def test_a_module_from_which_names_come_is_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "numbers_of.py").write_text("TWO = 2\nexec('TWO = 3')\n")
    with pytest.raises(DtpolyError, match="may give the names of a module other meanings"):
        taken(f"{TOP}from numbers_of import TWO\n", "x * TWO", name=str(tmp_path / "k.py"))


def test_a_place_is_named_by_its_line() -> None:
    text = "import os\n\n\ndef change(x):\n    return eval(x)\n"
    module = read_module(Source("module.py", text))
    (found,) = hidden_changes(ast.parse(text), module.names)
    assert (found.line, found.text) == (5, "return eval(x)")
    assert modules_by_name(ast.parse("f('triton.x')\ng('tritonx')\n'triton.x'\n"))[0].line == 1
