"""Names of the source survive; those that something else needs change, and nothing clashes."""

import ast
import builtins
import inspect
import keyword
import re
from types import ModuleType
from typing import Any

import pytest
import torch

from dtpoly.carried.values import dt_dtypes
from dtpoly.checking import load
from dtpoly.codegen.python_names import DTYPES, KERNEL, PLAN, file_names, fresh, is_reserved, plain
from dtpoly.codegen.scopes import Scope, Scopes
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.plan.runtime_text import IMPORTS, runtime_text
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported

# `f` becomes each of them in turn, and so do the inputs and the labels.
NAMES = (
    *("class", "lambda", "None", "print", "max", "min", "range", "float", "type", "match", "_"),
    *("__", "__name__", "__debug__", "__builtins__", "__file__", "_x", "x_", "self", "cls"),
    *(
        "tl",
        "torch",
        "triton",
        "sys",
        "threading",
        "hashlib",
        "linecache",
        "out",
        "device",
        "dtype",
        "programs",
        "largest",
        "real",
    ),
    *("offset", "pid", "program", "num_warps", "num_stages", "grid", "warmup", "stream", "debug"),
    *("dt_check", "dt_max", "dt_floats", "dt_own", "test", "generator", "seed", "result"),
    *("f_kernel", "f_like", "f_operator", "f_reference", "f_out", "f_acc", "f_ptr", "g_ptr"),
    *("A_ptr", "A_stride_0", "A_shape_0", "A_tile", "A_value", "B_tile", "A_dtype", "A_B_dtype"),
    *(
        "x_size",
        "x_lanes",
        "even",
        "block",
        "A_blocks",
        "A_boxed",
        "x_mask",
        "x_start",
        "x_blocks",
        "x_id",
        "x_group",
    ),
    *("f32", "bf16", "i32", "bool", "re", "functools", "Any", "contextlib", "itertools"),
    *("float32", "int", "shape", "dt_function", "cdiv", "lanes", "fit", "promoted", "stored"),
    *("x_in_group", "k_size", "k_start", "k_lanes", "k_mask", "k_blocks", "part"),
)
# Every kind of parameter and of local variable: two kernels, a grid in groups, a product of
# matrices, a padded read, sizes that must be passed, a scalar.
TEXT = """
Func {f}, {g}; In {A}, {B}; SIn {s}; Var {x}, {y}; RVar {k};
{g}[{x}, {y}] = rdot({A}[{x}, {k}], {B}[{k}, {y}], {k}) * {s} + pad({A}, 1)[{x} - 1, {y}];
{f}[{x}, {y}] = exp({g}[{x}, {y}] / 8) / reshape(rsum(exp({g}[{x}, {k}] / 8), {k}), {x}, 1);
{g}.block({x}:2, {y}:16); {g}.tensorize({x}:0, {y}:0, {k}:0); {g}.map({y}:{q}/2, {x}, {q});
{f}.block({x}:4); {f}.tensorize({x}:0, {k}:0, {y}:4); {f}.num_warps(8);
{f}.compile();
"""
OWN = {"f": "f", "g": "g", "A": "A", "B": "B", "s": "s", "x": "x", "y": "y", "k": "k", "q": "q"}


def made(**names: str) -> ModuleType:
    program = load(Source("test.dt", TEXT.format(**(OWN | names))))
    return imported(code_of(judge(program, DIRECTIVES).scheduled).text)


def check(function: Any) -> None:
    generator = torch.Generator().manual_seed(1)
    A, B = (torch.randn(size, 7, generator=generator) for size in (5, 7))
    s = 0.5
    padded = torch.full((5, 7), 1.0)
    padded[1:] = A[:-1]
    g = A @ B * s + padded
    result = function(A, B, s)
    torch.testing.assert_close(result, (g / 8).softmax(1), rtol=1e-4, atol=1e-5)


def test_ordinary_names_survive() -> None:
    module = made()
    check(module.f)
    assert list(inspect.signature(module.f).parameters) == ["A", "B", "s", "out"]


def check_names(**names: str) -> None:
    check(getattr(made(**names), fresh(names.get("f", "f"), (), PLAN)))


# Numbers of a declared dtype, and results of others, so that a plan has words for dtypes.
DECLARED = """
Func {f}: f32, {g}: bf16; In {A}: f16, {B}: f16; SIn {s}: i32; Var {x}, {y}; RVar {k};
{g}[{x}, {y}] = rdot({A}[{x}, {k}], {B}[{k}, {y}], {k}) + {s};
{f}[{x}, {y}] = {g}[{x}, {y}] + 1;
{f}.compile();
"""
SPECIAL = (
    *("f32", "bf16", "i32", "bool", "float32", "int", "shape", "out", "device", "dt_function"),
    *("torch", "tl", "triton", "re", "functools", "itertools", "contextlib", "Any", "cdiv"),
    *("lanes", "fit", "promoted", "stored", "real", "type", "stride", "plan", "f_plan"),
)


@pytest.mark.sampled
@pytest.mark.parametrize("by", range(0, len(SPECIAL), 2))
def test_words_of_plans_are_names_like_others(by: int) -> None:
    """The file is proved, and runs; each word is in the place of every other name in turn."""
    words = (*SPECIAL[by:], *SPECIAL[:by])
    names = dict(zip(("f", "g", "A", "B", "s", "x", "y", "k"), words, strict=False))
    program = load(Source("test.dt", DECLARED.format(**names)))
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED
    function = getattr(imported(text), fresh(names["f"], (), PLAN))
    A, B = (torch.ones(shape, dtype=torch.float16) for shape in ((3, 4), (4, 5)))
    assert torch.equal(function(A, B, 2), torch.full((3, 5), 7.0))


@pytest.mark.sampled
@pytest.mark.parametrize("place", ["f", "g", "A", "s", "x"])
@pytest.mark.parametrize("word", ["f32", "bf16", "out", "re", "Any"])
def test_a_word_of_plans_is_a_name_in_each_place(word: str, place: str) -> None:
    names = {one: one for one in ("f", "g", "A", "B", "s", "x", "y", "k")} | {place: word}
    program = load(Source("test.dt", DECLARED.format(**names)))
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("Func f; SIn device: i8; Var x; f[x] = 2 * x + device; f.compile();", {"x": 3}),
        ("Func f; Var device; SIn n: i8; f[device] = 2 * device + n; f.compile();", {"device_": 3}),
        ("Func f; In device; Var x; SIn n: i8; f[x] = 2 * x + n; f.compile();", {"x": 3}),
    ],
)
def test_a_function_without_tensors_takes_a_device(text: str, given: dict[str, int]) -> None:
    """So nothing else that it takes is called `device`."""
    program = load(Source("test.dt", text))
    made = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, made, seconds=60).verdict is LayerVerdict.PROVED
    function = imported(made).f
    numbers = [None] * (len(inspect.signature(function).parameters) - 4) + [-1]
    assert function(*numbers, **given, device="cpu").tolist() == [-1, 1, 3]


def test_the_words_of_dtypes_are_those_of_the_runtime() -> None:
    assert {*dt_dtypes} == DTYPES
    imported_names = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.parse(IMPORTS).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported_names <= PLAN & KERNEL


def turned(by: int) -> dict[str, str]:
    """Return a name for every place; after all turns each name has been in each place."""
    return dict(zip(OWN, (*NAMES[by:], *NAMES[:by]), strict=False))


# Names that the compiler's own would have hidden, where it makes them late.
LATE = (
    {"s": "x_blocks"},
    {"k": "A_ptr", "s": "A_stride_0"},
    {"x": "A_shape_0", "s": "A_dtype"},
    {"s": "f_kernel", "A": "f_like", "B": "f_operator"},
    {"x": "_", "y": "__", "k": "x_", "s": "x__"},
)


@pytest.mark.sampled
@pytest.mark.parametrize("names", [*LATE, *(turned(by) for by in range(0, len(NAMES), 7))], ids=str)
def test_no_name_clashes(names: dict[str, str]) -> None:
    check_names(**names)


@pytest.mark.long
@pytest.mark.parametrize("by", range(len(NAMES)))
def test_no_name_clashes_in_any_place(by: int) -> None:
    check_names(**turned(by))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", OWN)
def test_no_single_name_clashes(place: str, name: str) -> None:
    check_names(**{place: name})


def test_what_a_function_is_called_with_is_predictable() -> None:
    text = (
        "Func class; In A, out, device; SIn lambda, alpha; Var x, max; "
        "class[x, max] = A[x] * out[x] + device[x] * lambda * alpha; class.compile();"
    ).replace("A[x] * out[x] + device[x] * lambda * alpha", "reshape(A[x] * out[x], x, 1)")
    program = load(Source("test.dt", text))
    module = imported(code_of(judge(program, DIRECTIVES).scheduled).text)
    names = list(inspect.signature(module.class_).parameters)
    assert names == ["A", "out_", "device", "lambda_", "alpha", "out", "max_"]


def test_a_name_that_need_not_change_comes_first() -> None:
    text = "Func f; In class, class_; Var x; f[x] = class[x] - class_[x];"
    names = file_names(load(Source("test.dt", text)), ["f"], ["f"])
    assert names.inputs == {"class_": "class_", "class": "class__2"}


def test_kernels_give_way() -> None:
    text = "Func f; In f_kernel; Var x; f[x] = f_kernel[x];"
    names = file_names(load(Source("test.dt", text)), ["f"], ["f.k@g", "f", "f_k_g"])
    assert names.kernels == ("f_k_g", "f_2", "f_k_g_2")
    assert names.inputs == {"f_kernel": "f_kernel"}


def test_fresh() -> None:
    assert fresh("x", ()) == "x"
    assert fresh("x", ("x",)) == "x_2"
    assert fresh("x", ("x", "x_2")) == "x_3"
    assert fresh("if", ()) == "if_"
    assert fresh("if", ("if_",)) == "if__2"
    assert fresh("offset", ()) == "offset_"
    assert fresh("offset", (), PLAN) == "offset"
    assert fresh("dt_max", ()) == "dt_max_"
    assert fresh("__name__", ()) == "__name___"
    assert fresh("f.k.2@g", ()) == "f_k_2_g"


RUNTIME = frozenset(re.findall(r"\bdt_\w+", runtime_text()))


def test_every_name_comes_out_as_an_identifier_that_is_free() -> None:
    for reserved in (KERNEL, PLAN):
        for name in (*NAMES, *keyword.kwlist, *dir(builtins), *RUNTIME):
            found = fresh(name, (), reserved)
            assert found.isidentifier()
            assert not keyword.iskeyword(found)
            assert found == name or is_reserved(name, reserved)
            assert not hasattr(builtins, found) or name[0].isupper() or name in OWN_BUILTINS
            assert found not in RUNTIME


# Defined by sites and shells, or by newer versions of Python, and used by nobody here.
OWN_BUILTINS = {"copyright", "credits", "exit", "quit", "license", "help", "_"}


def test_plain() -> None:
    assert plain("mm") == "mm"
    assert plain("f.k.2@g!index") == "f_k_2_g_index"


@pytest.mark.long
def test_no_text_of_a_file_becomes_code() -> None:
    # Comments are not kept, names are ASCII words; what is left of a text is a comment of a kernel.
    text = """
    # import os; os.remove("x")
    Func f; In A; Var x; f[x] = A[x]; # \u2028 import os
    f.block(x:2); f.compile();
    """
    program = load(Source("test.dt", text))
    tree = ast.parse(
        code_of(judge(program, DIRECTIVES).scheduled, "x\nimport os\r\x0bimport os").text
    )
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert "".join(f"{ast.unparse(one)}\n" for one in found) == IMPORTS.replace("\n\n", "\n")


def test_names_of_a_branch_keep_their_kind() -> None:
    """Triton knows some conditions, and then a branch's variables live on, each with its type."""
    scopes = Scopes([Scope(set(), set())])
    for is_branch, again in ((False, "tile"), (True, "tile_2")):
        scopes.open.append(Scope(set(), set()))
        assert scopes.name("tile", "4 floats") == "tile"
        scopes.close(is_branch=is_branch)
        scopes.open.append(Scope(set(), set()))
        assert scopes.name("tile", "4 floats") == "tile"
        scopes.close()
        scopes.open.append(Scope(set(), set()))
        assert scopes.name("tile", "2 floats") == again
        scopes.close()
