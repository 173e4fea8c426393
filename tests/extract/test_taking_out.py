"""Kernels are taken out of modules as they stand, and what is not clear is refused."""

from pathlib import Path

import pytest

from dtpoly.diagnostics import DtpolyError
from dtpoly.extract.python_modules import read_module
from dtpoly.extract.taking_out import TakenOut, take_out
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

DOUBLED = "Func y: f32; In x: f32; Var i; y[i] = x[i] * 2; y.compile();"
LINES = "\n# verify: doubled[(cdiv(len(i), 64),)](x, y, len(i), BLOCK=64)\n# assume: len(i) < 2**30"
KERNEL = """\
@triton.jit
def doubled(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, VALUE, mask=at < n)
"""
TOP = "import os\nimport triton\nimport triton.language as tl\n"


def taken(top: str, value: str, kernel: str = KERNEL, name: str = "module.py") -> TakenOut:
    """Take the kernel out of a module that begins with some text and stores some value."""
    text = f"{top}\n\n{kernel.replace('VALUE', value)}\n\nclass Other:\n    pass\n"
    return take_out(read_module(Source(name, text)), "doubled")


def verdict(found: TakenOut) -> LayerVerdict:
    return verify(written(DOUBLED), found.text + LINES).verdict


USES = {
    "a constant": (f"{TOP}TWO: tl.constexpr = 2.0\n", "x * TWO"),
    "a wrapped constant": (f"{TOP}TWO = tl.constexpr(4 // 2)\n", "x * TWO"),
    "a helper": (f"{TOP}@triton.jit\ndef twice(a):\n    return a * 2\n", "twice(x)"),
    "a helper in a branch": (
        f"{TOP}if os.name:\n    @triton.jit\n    def twice(a):\n        return a * 2\n",
        "twice(x)",
    ),
    "other names of modules": (
        "import os\nimport triton as t\nfrom triton import jit, language as ttl\n",
        "ttl.cast(x, ttl.float32) * 2",
    ),
    "annotations": (
        f"{TOP}@triton.jit\ndef twice(a: tl.tensor) -> tl.tensor:\n    return a * 2\n",
        "twice(x)",
    ),
}


@pytest.mark.parametrize("use", USES)
def test_what_a_kernel_uses_is_taken_along(use: str) -> None:
    top, value = USES[use]
    kernel = KERNEL
    if use.startswith("other"):
        kernel = KERNEL.replace("tl.", "ttl.").replace("@triton.jit", "@jit")
    found = taken(top, value, kernel)
    assert verdict(found) is LayerVerdict.PROVED
    assert "Other" not in found.text


def test_another_value_is_refuted() -> None:
    found = taken(f"{TOP}TWO: tl.constexpr = 3.0\n", "x * TWO")
    assert verdict(found) is LayerVerdict.REFUTED


def test_words_of_triton_that_are_imported_in_every_branch() -> None:
    top = (
        f"{TOP}try:\n    from triton.language.extra.libdevice import sqrt\n"
        "except ImportError:\n    from triton.language.extra.cuda.libdevice import sqrt\n"
    )
    found = taken(top, "sqrt(x)")
    assert "tl.math.sqrt(x)" in found.text
    assert "'sqrt' of 'module.py' is 'tl.math.sqrt'" in found.assumed


def test_lines_stay_where_they_are() -> None:
    found = taken(f"{TOP}TWO: tl.constexpr = 2.0\n", "x * TWO")
    assert found.text.split("\n").index("def doubled(x_ptr, y_ptr, n, BLOCK: tl.constexpr):") == 7


def test_decorators_that_are_left_out_are_assumptions() -> None:
    decorated = KERNEL.replace(
        "@triton.jit", "@libentry()\n@triton.autotune([], key=[])\n@triton.jit"
    )
    found = taken(TOP, "x * 2", decorated)
    assert verdict(found) is LayerVerdict.PROVED
    assert any("'@triton.autotune' of 'doubled' passes" in one for one in found.assumed)
    assert any("'@libentry' of 'doubled' launches" in one for one in found.assumed)


def test_an_int_is_one_of_32_bits() -> None:
    found = taken(TOP, "x * 2", KERNEL.replace("ptr, n,", "ptr, n: int,"))
    assert "n: tl.int32," in found.text


HELPER = "@triton.jit\ndef twice(a):\n    return a * 2\n"
REFUSED = {
    **{
        f"another binding in {where}": (f"{TOP}TWO = 2\n{line}\n", "x * TWO", "bound in lines 4, ")
        for where, line in (
            ("a default", "def f(x=(TWO := 3)): pass"),
            ("a decorator", "@print(TWO := 3)\ndef f(x): pass"),
            ("an annotation", "def f(x: (TWO := 3)): pass"),
            ("the bases of a class", "class A(print(TWO := 3)): pass"),
            ("the default of a lambda", "f = lambda x=(TWO := 3): x"),
            ("the names of the module", "globals()['TWO'] = 3"),
            ("a word of the module", "sys.modules[__name__].TWO = 3"),
            ("a word that is set", "setattr(sys.modules[__name__], 'TWO', 3)"),
            ("a block for groups of errors", "try:\n    TWO = 3\nexcept* ValueError:\n    pass"),
        )
    },
    **{
        f"a change by {line}": (
            f"{TOP}from triton.language import sqrt\nTWO = tl.constexpr(2)\n{HELPER}{line}\n",
            value,
            "changes",
        )
        for line, value in (
            ("TWO.value = 3", "x * TWO"),
            ("setattr(TWO, 'value', 3)", "x * TWO"),
            ("tl.sqrt = tl.exp", "tl.sqrt(x)"),
            ("triton.language.sqrt = tl.exp", "sqrt(x)"),
            ("twice.fn = TWO", "twice(x)"),
            ("twice._unsafe_update_src('')", "twice(x)"),
            ("twice.__dict__.update(fn=TWO)", "twice(x)"),
            ("object.__setattr__(twice, 'fn', TWO)", "twice(x)"),
        )
    },
    "a change of anything": (f"{TOP}setattr(tl, os.name, tl.exp)\n", "tl.sqrt(x)", "@triton.jit"),
    "a word of a constant": (f"{TOP}TWO = 2\n", "x * TWO.imag", "no module"),
    "a word of a function": (f"{TOP}{HELPER}", "twice.fn(x)", "no module"),
    "what may be a builtin": (
        f"{TOP}if os.name == '':\n    from triton.language import minimum as max\n",
        "max(x, x + x)",
        "may be Python's 'max'",
    ),
    "a decorator that is applied first": (
        f"{TOP}@triton.jit\n@os.other\ndef twice(a):\n    return a * 2\n",
        "twice(x)",
        "another text",
    ),
    "a builtin beside all of a module": (
        f"{TOP}from triton.language import *\n",
        "max(x, 0)",
        "import",
    ),
    "a changed builtin": (f"{TOP}import builtins\nbuiltins.max = 2\n", "max(x, 0)", "not bind"),
    "another encoding": (f"# coding: utf-7\n{TOP}TWO = 2\n", "x * TWO", "encoding 'utf-7'"),
    "a line end of its own": (f"{TOP}# two\rTWO = 2\n", "x * TWO", "old line end"),
    "folders that are not there": (
        f"{TOP}from {'.' * 99} import twice\n",
        "twice(x)",
        "imports it from",
    ),
    "a name twice": (f"{TOP}TWO = 2\nTWO = 3\n", "x * TWO", "bound in lines 4, 5"),
    "a name that a function changes": (
        f"{TOP}TWO = 2\ndef change():\n    global TWO\n    TWO = 3\n",
        "x * TWO",
        "bound in lines 4, 6",
    ),
    "a loop's name": (f"{TOP}for TWO in (2, 3):\n    pass\n", "x * TWO", "no constant"),
    "a walrus": (f"{TOP}print(TWO := 2)\n", "x * TWO", "no constant"),
    "no constant": (f"{TOP}TWO = os.getpid()\n", "x * TWO", "no constant"),
    "another project": (f"{TOP}from elsewhere import twice\n", "twice(x)", "from 'elsewhere'"),
    "a function of Python": (f"{TOP}def twice(a):\n    return a * 2\n", "twice(x)", "@triton.jit"),
    "nothing": (TOP, "twice(x)", "does not bind 'twice'"),
    "a compiler of another project": (
        f"{TOP}from numba import jit\n@jit\ndef twice(a):\n    return a * 2\n",
        "twice(x)",
        "@triton.jit",
    ),
    "a word without a law": (
        f"{TOP}from triton.language.extra import libdevice\n",
        "libdevice.ilogb(x)",
        "no law",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_clear_is_refused(case: str) -> None:
    top, value, why = REFUSED[case]
    with pytest.raises(DtpolyError) as error:
        taken(top, value)
    (found,) = error.value.diagnostics
    assert found.code == "DT313"
    assert why in found.label


def test_other_decorators_of_a_helper_are_an_assumption_about_it() -> None:
    found = taken(f"{TOP}@os.other\n{HELPER}", "twice(x)")
    assert "'@os.other' leaves 'twice' as it is" in found.assumed


def test_names_that_python_reads_otherwise_are_refused() -> None:
    with pytest.raises(DtpolyError, match="written in another way"):
        taken(TOP, "x * 2", KERNEL.replace("ptr, n,", "ptr, \uff4e: int,"))


def test_an_annotation_that_triton_only_sees_as_a_string_is_refused() -> None:
    """Triton knows `tl.int64` then, but no other name of it; and each with 'constexpr' in it."""
    kernel = KERNEL.replace("tl.", "t.").replace("ptr, n,", "ptr, n: t.int64,")
    top = "import triton\nimport triton.language as t\n"
    assert "n: tl.int64" in taken(top, "x * 2", kernel).text
    with pytest.raises(DtpolyError, match="string for Triton"):
        taken(f"from __future__ import annotations\n{top}", "x * 2", kernel)


def test_a_builtin_type_that_is_bound_anew_is_none() -> None:
    top = f"{TOP}from triton.language import int64 as int\n"
    assert "n: tl.int64," in taken(top, "x * 2", KERNEL.replace("ptr, n,", "ptr, n: int,")).text


def test_functions_of_one_name_in_modules_of_one_name(tmp_path: Path) -> None:
    for at, folder in enumerate("abcd"):
        (tmp_path / folder).mkdir()
        text = f"import triton\n@triton.jit\ndef part(a):\n    return a * {at / 2}\n"
        (tmp_path / folder / "parts.py").write_text(text)
    top = "".join(f"from {one} import parts as {one}\n" for one in "abcd")
    value = " + ".join(f"{one}.part(x)" for one in "acd") + " - b.part(x + x)"
    found = taken(f"{TOP}{top}", value, name=str(tmp_path / "k.py"))
    assert len({*found.functions}) == 5
    assert "def parts_parts_part(a):" in found.text


def test_all_that_an_unseen_module_may_bind_is_an_assumption(tmp_path: Path) -> None:
    found = taken(f"{TOP}TWO = 2\nfrom elsewhere import *\n", "x * TWO")
    assert any("'from elsewhere import *' of 'module.py'" in one for one in found.assumed)
    (tmp_path / "elsewhere.py").write_text("TWO = 3\n")
    with pytest.raises(DtpolyError) as error:
        taken(f"{TOP}TWO = 2\nfrom elsewhere import *\n", "x * TWO", name=str(tmp_path / "k.py"))
    assert "may import another 'TWO'" in error.value.diagnostics[0].label


def test_a_package_hides_a_module_of_its_name_and_is_an_assumption(tmp_path: Path) -> None:
    (tmp_path / "numbers_of").mkdir()
    (tmp_path / "numbers_of" / "__init__.py").write_text("TWO = 3\n")
    (tmp_path / "numbers_of.py").write_text("TWO = 2\n")
    found = taken(f"{TOP}from numbers_of import TWO\n", "x * TWO", name=str(tmp_path / "k.py"))
    assert verdict(found) is LayerVerdict.REFUTED
    path = tmp_path / "numbers_of" / "__init__.py"
    assert f"'TWO' of 'k.py' is '3' of '{path}'" in found.assumed


def test_lines_about_other_launches_are_not_in_the_text() -> None:
    helper = HELPER.replace("    return", "    # assume: len(i) < 3\n    return")
    kernel = KERNEL.replace("at < n)\n    tl.", "at < n)  # verify: twice[(1,)](x)\n    tl.")
    found = taken(f"{TOP}{helper}", "twice(x)", kernel)
    assert verdict(found) is LayerVerdict.PROVED
    assert "assume" not in found.text
    assert "verify" not in found.text


def test_what_goes_over_several_lines_is_refused_where_it_is_written_otherwise() -> None:
    top = "import triton\nimport triton.language as t\nimport triton.language as tl\n"
    with pytest.raises(DtpolyError, match="several lines"):
        taken(top, "(t\n        .exp)(x)")


def test_a_kernel_that_is_bound_again_is_refused() -> None:
    with pytest.raises(DtpolyError, match="no kernel 'doubled'"):
        taken(f"{TOP}doubled = None\n", "x * 2")


# What a module may make of its kernel, and call by the name of the kernel; and what it may not.
AGAIN = (
    "doubled = {n: tuned(doubled, n) for n in (16, 32)}\n",
    "kept = doubled = tuned(doubled)\n",
)
NOT_AGAIN = (
    "doubled = tuned(other)\n",
    "if os.name:\n    doubled = tuned(doubled)\n",
    "doubled = tuned(doubled)\ndef doubled():\n    pass\n",
    "doubled = tuned(doubled)\ndoubled.fn = print\n",
    "from .other import *\ndoubled = tuned(doubled)\n",
    "for doubled in (doubled,):\n    pass\n",
)


@pytest.mark.parametrize("after", AGAIN)
def test_a_kernel_that_its_module_launches_by_another_thing_is_its_function(after: str) -> None:
    found = taken(TOP, "x * 2", KERNEL + after)
    assert verdict(found) is LayerVerdict.PROVED
    assert any("'doubled' of 'module.py' is bound again in line" in one for one in found.assumed)


@pytest.mark.parametrize("after", NOT_AGAIN)
def test_a_kernel_that_may_be_another_one_is_refused(after: str) -> None:
    with pytest.raises(DtpolyError):
        taken(TOP, "x * 2", KERNEL + after)


def test_a_helper_that_is_bound_again_is_refused() -> None:
    helper = "@triton.jit\ndef twice(a):\n    return a * 2\ntwice = tuned(twice)\n"
    with pytest.raises(DtpolyError):
        taken(f"{TOP}{helper}", "twice(x)")


def test_helpers_of_other_modules_of_the_project(tmp_path: Path) -> None:
    """Also through a package that only passes a name on, and under a name that is there already."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("from .sums import twice\n")
    (tmp_path / "tools" / "sums.py").write_text(
        "import triton\n\n\n@triton.jit\ndef twice(a):\n    return helped(a)\n\n\n"
        "@triton.jit\ndef helped(a):\n    return a * 2\n"
    )
    top = f"{TOP}from tools import twice\nfrom tools import sums as s\ndef helped():\n    pass\n"
    for value in ("twice(x)", "s.helped(x)"):
        found = taken(top, value, name=str(tmp_path / "kernels.py"))
        assert verdict(found) is LayerVerdict.PROVED
        assert "sums_helped" in found.text


TANH = """\
if os.name:
    try:
        from triton.language.extra.libdevice import tanh
    except ImportError:
        from triton.language.extra.cuda.libdevice import tanh
else:
    tanh = tl.math.tanh
"""


def test_a_word_of_the_library_in_every_branch() -> None:
    found = taken(TOP + TANH, "tanh(x)")
    assert "tl.extra.libdevice.tanh(x)" in found.text
    assert "'tanh' of 'module.py' is 'tl.extra.libdevice.tanh'" in found.assumed
    program = written("Func y: f32; In x: f32; Var i; y[i] = tanh(x[i]); y.compile();")
    assert verify(program, found.text + LINES).verdict is LayerVerdict.PROVED
    other = found.text.replace("tanh(x)", "tanh(x + x)")
    assert verify(program, other + LINES).verdict is LayerVerdict.REFUTED


@pytest.mark.parametrize("other", ["tl.math.exp", "tl.sqrt", "os.name", "tanh", "tl.other.tanh"])
def test_a_branch_with_another_word_is_refused(other: str) -> None:
    with pytest.raises(DtpolyError, match="is not understood"):
        taken(TOP + TANH.replace("tl.math.tanh", other), "tanh(x)")


def test_a_docstring_may_have_any_letters() -> None:
    kernel = KERNEL.replace(
        "    at =", '    """Verdoppelt, größer.\n\n    Zeile."""  # so\n    at ='
    )
    found = taken(TOP, "x * 2", kernel)
    assert verdict(found) is LayerVerdict.PROVED
    assert (
        found.text.split("\n").index("    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)")
        == 10
    )


PLAIN = KERNEL.replace("@triton.jit\n", "\n")
JITTED = "doubled = triton.jit(doubled)\n"


def test_statements_make_a_function_a_kernel() -> None:
    kernel = f"{PLAIN}{JITTED}doubled = triton.heuristics({{}})(doubled)\n"
    found = taken(TOP, "x * 2", kernel)
    assert verdict(found) is LayerVerdict.PROVED
    assert any("'@triton.heuristics' of 'doubled' passes" in one for one in found.assumed)


@pytest.mark.parametrize(
    "after",
    [
        "doubled = triton.jit(other)\n",
        f"{JITTED}doubled = other\n",
        f"{JITTED}{JITTED}",
        f"doubled = triton.heuristics({{}})(doubled)\n{JITTED}",
        f"if os.name:\n    {JITTED}",
        f"{JITTED}doubled.fn = print\n",
        f"def change():\n    global doubled\n{JITTED}",
    ],
)
def test_other_statements_are_refused(after: str) -> None:
    with pytest.raises(DtpolyError):
        taken(TOP, "x * 2", PLAIN + after)


def named(value: str, said: dict[str, str], top: str = "") -> TakenOut:
    """Take out a kernel of which the user says what some names are."""
    text = f"{TOP}{top}\n\n{KERNEL.replace('VALUE', value)}"
    return take_out(read_module(Source("module.py", text)), "doubled", said)


def test_the_user_says_what_a_name_is() -> None:
    top = "from elsewhere import of\nroot = of('sqrt')\nTWO = of('two')\n"
    found = named("root(x) * TWO", {"root": "tl.math.sqrt", "TWO": "2.0"}, top)
    assert "tl.math.sqrt(x) * (2.0)" in found.text
    assert "'root' of 'module.py' is 'tl.math.sqrt', as the file says" in found.assumed


@pytest.mark.parametrize(
    ("value", "said", "why"),
    [
        ("root(x)", {"root": "print"}, "not understood"),
        ("root(x)", {"root": "tl.sqrt(x) or tl.exp"}, "not understood"),
        ("x * 2", {"root": "tl.sqrt"}, "nothing that has to be said"),
        ("tl.exp(x)", {"tl.exp": "tl.sqrt"}, "nothing that has to be said"),
    ],
)
def test_what_is_said_of_a_name_must_be_needed(value: str, said: dict[str, str], why: str) -> None:
    with pytest.raises(DtpolyError, match=why):
        named(value, said, "from elsewhere import root\n")


STAND_INS = {
    "none": "    triton = None\n    tl = None\n",
    "others": "    triton = Missing()\n    tl = Missing('tl')\n",
}


@pytest.mark.parametrize("case", STAND_INS)
def test_triton_may_be_missing(case: str) -> None:
    """Nothing can be used of None; of something else it is an assumption that it is not there."""
    imports = "try:\n    import triton\n    import triton.language as tl\nexcept ImportError:\n"
    found = taken(f"import os\n{imports}{STAND_INS[case]}", "x * 2")
    assert verdict(found) is LayerVerdict.PROVED
    said = [one for one in found.assumed if "says, and not what line" in one]
    assert len(said) == (0 if case == "none" else 2)


@pytest.mark.parametrize(
    "stand_in",
    ["    import other.triton as triton\n", "    from other import triton\n", "    triton = os\n"],
)
def test_another_module_in_place_of_triton_is_refused(stand_in: str) -> None:
    imports = "try:\n    import triton\nexcept ImportError:\n"
    with pytest.raises(DtpolyError):
        taken(f"import os\nimport triton.language as tl\n{imports}{stand_in}", "x * 2")


def test_a_module_that_is_set_to_none_without_a_test_is_refused() -> None:
    with pytest.raises(DtpolyError):
        taken(f"{TOP}triton = None\n", "x * 2")


def handed_on(folder: Path, gives: str) -> TakenOut:
    """Take a kernel out of a module that has Triton from another module of its project."""
    (folder / "utils").mkdir()
    (folder / "utils/__init__.py").write_text(gives)
    (folder / "kernels").mkdir()
    text = f"from utils import tl, triton\n\n\n{KERNEL.replace('VALUE', 'tl.exp(x)')}"
    path = folder / "kernels/module.py"
    path.write_text(text)
    return take_out(read_module(Source(str(path), text)), "doubled")


def test_a_project_hands_triton_on(tmp_path: Path) -> None:
    found = handed_on(tmp_path, TOP)
    assert "tl.exp(x)" in found.text
    utils = tmp_path / "utils/__init__.py"
    for name in ("triton", "tl"):
        assert f"'{name}' of 'module.py' is '{name}' of '{utils}'" in found.assumed
    # It is one assumption, and not one for each word.
    assert sum("'tl' of" in one for one in found.assumed) == 1
    assert not any("'tl.exp'" in one for one in found.assumed)


@pytest.mark.parametrize(
    "more",
    [
        "tl.exp = tl.exp2\n",
        "setattr(tl, 'exp', tl.exp2)\n",
        "import triton.language as other\nother.exp = other.exp2\n",
        "from triton import language\nvars(language)['exp'] = tl.exp2\n",
        "triton.jit = wrapped\n",
        "from other import *\n",
        "tl = other\n",
    ],
)
def test_a_project_that_hands_on_something_else_is_refused(tmp_path: Path, more: str) -> None:
    with pytest.raises(DtpolyError):
        handed_on(tmp_path, TOP + more)


def test_a_pointer_that_is_only_read() -> None:
    kernel = KERNEL.replace("x_ptr, y_ptr", "x_ptr: tl.const, y_ptr", 1)
    assert verdict(taken(TOP, "x * 2", kernel)) is LayerVerdict.PROVED
