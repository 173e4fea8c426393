"""Plans that code generation makes: they read back, and say what the source says."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dtpoly.codegen.module import plans_of
from dtpoly.plan.formula import parse, parse_truth
from dtpoly.plan.plan import Plan
from dtpoly.plan.plan_data import WIDTH, data_of, literal
from tests.code_examples import generated

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.dt"))
# Keys of a launch whose values are formulas.
FORMULAS = ("programs", "before", "fours", "counts", "near")


@cache
def plans(source: str) -> tuple[Plan, ...]:
    state, code = generated(source)
    return plans_of(state.sized, state.model, code.stages)


def only(source: str) -> dict[str, Any]:
    (plan,) = plans(source)
    return data_of(plan)


@pytest.mark.sampled
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_literal_of_an_example_is_its_plan(path: Path) -> None:
    for plan in plans(path.read_text()):
        lines = literal("the_plan", plan)
        (statement,) = ast.parse("\n".join(lines)).body
        assert isinstance(statement, ast.Assign)
        assert ast.literal_eval(statement.value) == data_of(plan)
        assert max(map(len, lines)) <= WIDTH


@pytest.mark.sampled
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_names_of_an_example_are_those_of_its_plan(path: Path) -> None:
    for plan in plans(path.read_text()):
        data = data_of(plan)
        tensors = {*data["inputs"], *data["results"], *data.get("between", {})}
        sizes = {*data["sizes"]}
        assert not tensors & sizes
        for launch in data["launches"]:
            own = {*launch.get("scratch", {})}
            assert {*launch["tensors"]} <= tensors | own
            assert {*launch.get("types", ())} <= {*data.get("types", {})}
            texts = [text for key in FORMULAS for text in launch.get(key, ())]
            texts += [*launch.get("numbers", {}).values(), *launch.get("lanes", {}).values()]
            for text in texts:
                assert names_in(text) <= sizes | tensors
                parse(text)
            for text in launch.get("flags", {}).values():
                parse_truth(text)


def names_in(text: str) -> set[str]:
    tree = ast.parse(text)
    functions = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if node not in functions}


def test_the_page_has_the_plan_of_softmax() -> None:
    (plan,) = plans((ROOT / "examples/softmax.dt").read_text())
    page = (ROOT / "docs/plan.md").read_text()
    assert "\n".join(literal("softmax_plan", plan)) in page


def test_sizes_that_no_tensor_shows_must_be_passed() -> None:
    data = only("Func f; In A; Var x, y; f[x, y] = A[x] * y; f.compile();")
    assert data["sizes"] == {"x": "A.shape[0]", "y": None}
    assert data["passed"] == {"y": ()}


def test_a_size_that_is_shown_twice_is_demanded_twice() -> None:
    data = only("Func f; In A, B; Var x; f[x] = A[x] + B[2 * x + 1]; f.compile();")
    assert data["sizes"] == {"x": "A.shape[0]"}
    seen = "by B.shape[0], which is {B.shape[0]} and read at 2 * x + 1"
    assert data["demands"] == [{"size": "x", "is": "max(B.shape[0] // 2, 0)", "seen": seen}]


def test_words_of_python_have_other_names_in_a_plan() -> None:
    data = only("Func f; In max; Var x; f[x] = max[x]; f.compile();")
    assert data["inputs"] == {"max_": ("float", 1)}
    assert data["names"] == {"max_": "max"}
    assert data["sizes"] == {"x": "max_.shape[0]"}


def test_numbers_have_limits_and_an_unread_tensor_is_not_looked_at() -> None:
    data = only("Func f; In A, B; SIn n: i8, s; Var x; f[x] = A[x] * n + s; f.compile();")
    assert data["inputs"]["B"] == "unread"
    assert data["inputs"]["n"] == ("int", -128, 127)
    assert data["inputs"]["s"] == "float"


def test_a_reduction_without_identity_demands_something() -> None:
    data = only("Func f; In A; Var x; RVar k; f[x] = rargmax(A[x, k], k); f.compile();")
    assert data["demands"] == [{"reduction": "rargmax", "over": "k"}]


def test_partial_sums_are_memory_between_two_launches() -> None:
    data = only("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(k:64); f.compile();")
    ((name, memory),) = data["between"].items()
    assert memory == {"shape": ("cdiv(k, 64)", "x"), "dtype": "type(real)"}
    assert [name in launch["tensors"] for launch in data["launches"]] == [True, True]
