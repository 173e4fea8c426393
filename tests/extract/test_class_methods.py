"""Kernels that are methods of classes: what is understood, and that nothing else is proved."""

from pathlib import Path

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.cli.taken_kernel import given_kernels
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify

HEAD = """\
import triton
import triton.language as tl

FACTOR = tl.constexpr(2)


@triton.jit
def thrice(x):
    return x * 3.0


"""
CLASS = """\
class Scale:
    @staticmethod
    @triton.jit
    def twice(x):
        return x * 2.0

    @staticmethod
    @triton.autotune([], key=["n"])
    @triton.jit
    def forward(Y, X, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(X + at, mask=at < n)
        tl.store(Y + at, Scale.twice(x), mask=at < n)


def launch(y, x):
    Scale.forward[(1,)](y, x, x.numel(), BLOCK=1024)
"""
LINES = (
    "# verify: Scale.forward[(cdiv(len(n), 1024),)](Y, X, len(n), BLOCK=1024)\n"
    "# assume: len(n) <= 2**30\n"
    "Func Y: f32; In X: f32; Var n; Y[n] = X[n] * 2.0; Y.compile();\n"
)
RIGHT = {
    "as it stands": CLASS,
    "without staticmethod": CLASS.replace("    @staticmethod\n", ""),
    "with a base": CLASS.replace("class Scale:", "class Scale(object):"),
    "with the base of a library": CLASS.replace("class Scale:", "class Scale(tl.Base):"),
    "with a subclass that has another helper": CLASS
    + "\n\nclass Sub(Scale):\n    @staticmethod\n    @triton.jit\n    def twice(x):\n"
    "        return x * 3.0\n",
    "with attributes": CLASS.replace("class Scale:", "class Scale:\n    name = 'scale'\n"),
    "with a method of Python": CLASS.replace(
        "\n\ndef launch", "\n    def made(self):\n        self.size = 3\n\n\ndef launch"
    ),
}
ANOTHER = "\n\nclass Other:\n    twice = thrice\n    forward = thrice\n"
TWICE = "    @staticmethod\n    @triton.jit\n    def twice(x):\n        return x * 2.0\n"
WRONG = {
    "the helper computes something else": CLASS.replace("x * 2.0", "x * 3.0"),
    "the helper is set after the class": CLASS + "\n\nScale.twice = thrice\n",
    "the kernel is set after the class": CLASS + "\n\nScale.forward = thrice\n",
    "a function sets the helper": CLASS + "\n\ndef patch():\n    Scale.twice = thrice\n",
    "a method sets the helper by cls": CLASS.replace(
        TWICE, f"{TWICE}\n    @classmethod\n    def patch(cls):\n        cls.twice = thrice\n"
    ),
    "another name of the class sets it": CLASS + "\n\nalias = Scale\nalias.twice = thrice\n",
    "setattr by name": CLASS + '\n\nsetattr(Scale, "twice", thrice)\n',
    "setattr by any name": CLASS + '\n\nfor one in ("twice",):\n    setattr(Scale, one, thrice)\n',
    "setattr of type": CLASS + '\n\ntype.__setattr__(Scale, "twice", thrice)\n',
    "delattr": CLASS + '\n\ndelattr(Scale, "twice")\n',
    "the helper is deleted": CLASS + "\n\ndel Scale.twice\n",
    "a part of the helper is set": CLASS + "\n\nScale.twice.fn = thrice.fn\n",
    "the class is bound twice": CLASS + ANOTHER.replace("Other", "Scale"),
    "the class is another one": CLASS + ANOTHER + "\n\nScale = Other\n",
    "a function binds the class": CLASS
    + ANOTHER
    + "\n\ndef f():\n    global Scale\n    Scale = Other\n",
    "the class is bound in an expression": CLASS + ANOTHER + "\n\nprint(Scale := Other)\n",
    "the class is a loop variable": CLASS + ANOTHER + "\n\nfor Scale in (Other,):\n    pass\n",
    "the class is imported, too": CLASS + "\n\nfrom other import Scale\n",
    "the table of the module": CLASS + '\n\nglobals()["Scale"] = thrice\n',
    "the table of the class": CLASS + '\n\nvars(Scale)["twice"] = thrice\n',
    "a text that is run": CLASS + '\n\nexec("Scale.twice = thrice")\n',
    "the class has a decorator": f"@changed\n{CLASS}",
    "the class has a metaclass": CLASS.replace("class Scale:", "class Scale(metaclass=Meta):"),
    "the class has an argument": CLASS.replace("class Scale:", "class Scale(twice=thrice):"),
    "the class may not be there": "if tl:\n" + "\n".join(f"    {one}" for one in CLASS.split("\n")),
    "the helper is bound twice": CLASS.replace(TWICE, f"{TWICE}\n    twice = thrice\n"),
    "the helper is bound before": CLASS.replace(TWICE, f"    twice = thrice\n\n{TWICE}"),
    "the helper may be another": CLASS.replace(
        TWICE, f"{TWICE}\n    if FACTOR:\n        twice = thrice\n"
    ),
    "the helper is a loop variable": CLASS.replace(
        TWICE, f"{TWICE}\n    for twice in (thrice,):\n        pass\n"
    ),
    "the helper is imported in the class": CLASS.replace(
        TWICE, f"{TWICE}\n    from other import twice\n"
    ),
    "the names of the class are set": CLASS.replace(
        TWICE, f'{TWICE}\n    locals()["twice"] = thrice\n'
    ),
    "the class runs a text": CLASS.replace(TWICE, f'{TWICE}\n    exec("twice = thrice")\n'),
    "the helper is deleted in the class": CLASS.replace(TWICE, f"{TWICE}\n    del twice\n"),
    "the helper is that of a base": CLASS.replace(TWICE, "    pass\n").replace(
        "class Scale:",
        "class Base:\n    twice = thrice\n\n\nclass Scale(Base):",
    ),
    "the kernel is that of a base": CLASS.replace("class Scale:", "class Base:")
    + "\n\nclass Scale(Base):\n    pass\n",
    "a subclass without the helper": CLASS.replace("Scale.twice(x)", "Sub.twice(x)")
    + "\n\nclass Sub(Scale):\n    pass\n",
    "a subclass with another helper": CLASS.replace("Scale.twice(x)", "Sub.twice(x)")
    + "\n\nclass Sub(Scale):\n    @staticmethod\n    @triton.jit\n    def twice(x):\n"
    "        return x * 3.0\n",
    "a class in a class": CLASS.replace("Scale.twice(x)", "Scale.Inner.twice(x)").replace(
        TWICE, "    class Inner:\n" + "\n".join(f"    {one}" for one in TWICE.split("\n")) + "\n"
    ),
    "the helper is a method of the class": CLASS.replace(
        "    @staticmethod\n    @triton.jit\n    def twice",
        "    @classmethod\n    @triton.jit\n    def twice",
    ),
    "the helper is a property": CLASS.replace(
        "    @staticmethod\n    @triton.jit\n    def twice",
        "    @property\n    @triton.jit\n    def twice",
    ),
    "staticmethod is another": "staticmethod = thrice\n\n\n" + CLASS,
    "staticmethod is not first": CLASS.replace(
        '    @staticmethod\n    @triton.autotune([], key=["n"])\n',
        '    @triton.autotune([], key=["n"])\n    @staticmethod\n',
    ),
    "a decorator below that of Triton": CLASS.replace(
        "    @triton.jit\n    def twice", "    @triton.jit\n    @other\n    def twice"
    ),
    "the helper is no function of Triton": CLASS.replace(
        "    @triton.jit\n    def twice", "    def twice"
    ),
    "the helper is a value": CLASS.replace(TWICE, "    twice = 2.0\n"),
    "a default is that of the class": CLASS.replace(
        TWICE,
        "    FACTOR = tl.constexpr(3)\n\n" + TWICE.replace("twice(x)", "twice(x, by=FACTOR)"),
    ).replace("x * 2.0", "x * by"),
    "an annotation is that of the class": CLASS.replace(TWICE, "    tl = thrice\n\n" + TWICE),
    "a name that the class hides": CLASS.replace(
        "def forward(Y, X, n, BLOCK: tl.constexpr)",
        "def forward(Y, X, n, BLOCK: tl.constexpr, __k=2)",
    ).replace("Scale.twice(x)", "Scale.twice(x) * __k"),
    "a helper of the class without its name": CLASS.replace("Scale.twice(x)", "twice(x)"),
    "the helper has the name of another": CLASS.replace("Scale.twice(x)", "twice(x)")
    + "\n\n@triton.jit\ndef twice(x):\n    return x * 3.0\n",
    "a local name hides the class": CLASS.replace(
        "        x = tl.load", "        Scale = thrice\n        x = tl.load"
    ),
    "a parameter hides the class": CLASS.replace("(Y, X, n, BLOCK", "(Y, Scale, n, BLOCK").replace(
        "tl.load(X +", "tl.load(Scale +"
    ),
    "the class has no such kernel": CLASS.replace("def forward", "def backward"),
}
STAR = "from first import *\nfrom second import *\n"
PLAIN = "import triton\nimport triton.language as tl\n\n\n"
KERNEL = """\
import triton
import triton.language as tl
{imports}


class Scale:
    @staticmethod
    @triton.jit
    def forward(Y, X, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(X + at, mask=at < n)
        tl.store(Y + at, {call}(x), mask=at < n)
"""
HELPERS = f"{PLAIN}class Helpers:\n{TWICE}"
OTHERS = HELPERS.replace("2.0", "3.0")
FILES = {"helpers.py": HELPERS, "empty.py": "", "others.py": OTHERS}
IMPORTS: dict[str, tuple[str, str, dict[str, str], bool]] = {
    "a class of another module": ("from helpers import Helpers", "Helpers.twice", {}, True),
    "by another name": ("from helpers import Helpers as H", "H.twice", {}, True),
    "a module with a class": ("import helpers", "helpers.Helpers.twice", {}, True),
    "a package with a module with a class": (
        "from pack import inner",
        "inner.Helpers.twice",
        {"pack/__init__.py": "", "pack/inner.py": HELPERS},
        True,
    ),
    "a package that imports all": (
        "import pack",
        "pack.Helpers.twice",
        {
            "pack/__init__.py": "from .a import *\nfrom .b import *\n",
            "pack/a.py": HELPERS,
            "pack/b.py": "",
        },
        True,
    ),
    "a package in a package": (
        "import pack",
        "pack.inner.Helpers.twice",
        {"pack/__init__.py": "from . import inner\n", "pack/inner/__init__.py": HELPERS},
        True,
    ),
    "a package that imports a name of no module": (
        "import pack",
        "pack.inner.Helpers.twice",
        {"pack/__init__.py": "from . import inner\n"},
        False,
    ),
    "two modules that have it": (
        "import pack",
        "pack.Helpers.twice",
        {
            "pack/__init__.py": "from .a import *\nfrom .b import *\n",
            "pack/a.py": HELPERS,
            "pack/b.py": OTHERS,
        },
        False,
    ),
    "a module that cannot be seen": (
        "import pack",
        "pack.Helpers.twice",
        {"pack/__init__.py": "from .a import *\nfrom unseen import *\n", "pack/a.py": HELPERS},
        False,
    ),
    "a module that says what it exports": (
        "import pack",
        "pack.Helpers.twice",
        {"pack/__init__.py": "from .a import *\n", "pack/a.py": f"{HELPERS}\n\n__all__ = []\n"},
        False,
    ),
    "a module that imports all of others": (
        "import pack",
        "pack.Helpers.twice",
        {
            "pack/__init__.py": "from .a import *\n",
            "pack/a.py": f"from .b import *\n{HELPERS}",
            "pack/b.py": OTHERS,
        },
        False,
    ),
    "its module changes it": (
        "from helpers import Helpers",
        "Helpers.twice",
        {"helpers.py": f"{HELPERS}\n\nHelpers.twice = None\n"},
        False,
    ),
    "this module changes it": (
        "from helpers import Helpers\nHelpers.twice = None",
        "Helpers.twice",
        {},
        False,
    ),
    "this module changes it by its module": (
        "import helpers\nhelpers.Helpers.twice = None",
        "helpers.Helpers.twice",
        {},
        False,
    ),
    "imported twice": (
        "from helpers import Helpers\nfrom others import Helpers",
        "Helpers.twice",
        {},
        False,
    ),
    "another project's": ("from nowhere import Helpers", "Helpers.twice", {}, False),
    "the other class": ("from others import Helpers", "Helpers.twice", {}, False),
}


def _program() -> Program:
    return load(Source("k.dt", "".join(LINES.splitlines(keepends=True)[2:])))


def _is_proved(path: Path) -> bool:
    """Return whether the kernel of a module is proved; a refused one is not."""
    try:
        given = given_kernels(f"{path}::Scale.forward", Source("k.dt", LINES))
    except DtpolyError:
        return False
    return verify(_program(), given.source.text).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("one", RIGHT)
def test_a_method_with_a_helper_of_its_class_is_proved(one: str, tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(HEAD + RIGHT[one])
    assert _is_proved(tmp_path / "k.py")


@pytest.mark.sampled
@pytest.mark.parametrize("wrong", WRONG)
def test_no_other_meaning_of_a_method_is_proved(wrong: str, tmp_path: Path) -> None:
    assert WRONG[wrong] != CLASS
    (tmp_path / "k.py").write_text(HEAD + WRONG[wrong])
    assert not _is_proved(tmp_path / "k.py")


@pytest.mark.parametrize("one", IMPORTS)
def test_a_helper_of_a_class_of_another_module(one: str, tmp_path: Path) -> None:
    imports, called, files, is_right = IMPORTS[one]
    for name, text in {**FILES, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    (tmp_path / "k.py").write_text(KERNEL.format(imports=imports, call=called))
    assert _is_proved(tmp_path / "k.py") is is_right


def test_what_is_assumed_of_a_base_is_said(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(HEAD + RIGHT["with the base of a library"])
    given = given_kernels(f"{tmp_path / 'k.py'}::Scale.forward", Source("k.dt", LINES))
    said = "'tl.Base', of which 'Scale' is a class, leaves 'Scale.forward' as it is"
    assert said in given.assumed
    assert "# verify: Scale_forward[" in given.source.text
