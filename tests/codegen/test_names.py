"""Names of the source survive; those that something else needs change, and nothing clashes."""

import ast
import builtins
import inspect
import keyword
from types import ModuleType
from typing import Any

import pytest
import torch

from dtpoly.codegen.names import KERNEL, WRAPPER, file_names, fresh, is_reserved, plain
from dtpoly.codegen.prelude import SHARED
from dtpoly.codegen.scopes import Scope, Scopes
from dtpoly.compile import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
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
    check(getattr(made(**names), fresh(names.get("f", "f"), (), WRAPPER)))


def turned(by: int) -> dict[str, str]:
    """A name for every place; after all turns each name has been in each place."""
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


def test_what_a_wrapper_is_called_with_is_predictable() -> None:
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
    assert fresh("offset", (), WRAPPER) == "offset"
    assert fresh("dt_max", ()) == "dt_max_"
    assert fresh("__name__", ()) == "__name___"
    assert fresh("f.k.2@g", ()) == "f_k_2_g"


def test_every_name_comes_out_as_an_identifier_that_is_free() -> None:
    for reserved in (KERNEL, WRAPPER):
        for name in (*NAMES, *keyword.kwlist, *dir(builtins), *SHARED):
            found = fresh(name, (), reserved)
            assert found.isidentifier()
            assert not keyword.iskeyword(found)
            assert found == name or is_reserved(name, reserved)
            assert not hasattr(builtins, found) or name[0].isupper() or name in OWN_BUILTINS
            assert found not in SHARED


# Defined by sites and shells, or by newer versions of Python, and used by nobody here.
OWN_BUILTINS = {"copyright", "credits", "exit", "quit", "license", "help", "_"}


def test_plain() -> None:
    assert plain("mm") == "mm"
    assert plain("f.k.2@g!index") == "f_k_2_g_index"


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
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert [alias.name for one in imports for alias in one.names] == [
        "hashlib",
        "linecache",
        "threading",
        "torch",
        "triton",
        "triton.language",
    ]


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
