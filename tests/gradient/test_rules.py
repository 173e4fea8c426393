"""Each rule of an elementwise function by itself, at ordinary values and where it has a kink."""

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.operations import OPERATION
from dtpoly.diagnostics import DtpolyError
from dtpoly.gradient import activity, backward, normal_form
from dtpoly.gradient.activity import is_active
from dtpoly.gradient.differentiate import differentiated
from dtpoly.gradient.element_rules import FLAT, RULES
from tests.conftest import Published
from tests.gradient.comparing import compare, compare_with_differences, derived, given, read

TEXT = "Func f; In A, B, C; Var x; f[x] = {}; f.compile();"
# Values at which functions have kinks stand among others.
VALUES = {
    "A": torch.tensor([0.5, -1.5, 0.0, 1.0, 1.0, 2.0, -0.25, 0.75, 3.0]),
    "B": torch.tensor([0.5, -1.0, 0.0, 2.0, 0.5, 2.0, 1.5, -0.75, -1.0]),
    "C": torch.tensor([1.0, -1.5, 0.0, 0.5, 1.0, 3.0, 2.5, 0.75, 1.0]),
}
POSITIVE = {name: values.abs() + 0.25 for name, values in VALUES.items()}
OF_POSITIVE = ("sqrt", "sqrt_rn", "rsqrt", "log", "log2", "div", "div_rn", "fdiv", "mod")


def written(name: str) -> str:
    """Return a call of a function, or an operator with its operands."""
    operation, operands = OPERATION[name], ["A[x]", "B[x]", "C[x]"]
    if name == "where":
        return "where(A[x] > B[x], C[x] * 2, A[x] * B[x])"
    if name == "pow":
        return "pow(A[x], 3)"
    if operation.symbol and operation.arity == 1:
        return f"{operation.symbol} A[x]"
    if operation.symbol:
        return f"A[x] {operation.symbol} B[x]"
    return f"{name}({', '.join(operands[: operation.arity])})"


@pytest.mark.sampled
@pytest.mark.parametrize("name", RULES)
def test_rule(name: str) -> None:
    text = written(name)
    by = [one for one in "ABC" if f"{one}[x]" in text]
    values = POSITIVE if name in OF_POSITIVE else VALUES
    program = read(TEXT.replace("A, B, C", ", ".join(by)).format(text))
    given = {one: values[one].double() for one in by}
    if name == "clamp":  # where the ends are equal, or stand in the wrong order, torch's are taken
        given |= {"C": given["C"].maximum(given["B"])}
    compare(program, derived(program, "f", ",".join(by)), given)


@pytest.mark.sampled
@pytest.mark.parametrize("name", RULES)
def test_rule_of_differences(name: str) -> None:
    text = written(name)
    by = [one for one in "ABC" if f"{one}[x]" in text]
    program = read(TEXT.replace("A, B, C", ", ".join(by)).format(text))
    generator = torch.Generator().manual_seed(3)
    given = {one: 0.5 + torch.rand(7, generator=generator).double() for one in by}
    if name == "clamp":
        given |= {"C": given["C"] + 1.5}
    compare_with_differences(program, derived(program, "f", ",".join(by)), given)


@pytest.mark.parametrize("exponent", ["0", "1", "2", "-1", "0.5", "B[x]"])
def test_powers(exponent: str) -> None:
    by = ["A", "B"] if "B" in exponent else ["A"]
    text = TEXT.replace("A, B, C", ", ".join(by)).format(f"pow(A[x], {exponent}) + A[x]")
    program = read(text)
    given = {one: POSITIVE[one].double() for one in by}
    if "B" in exponent:
        given["A"][0] = 0.0
    compare(program, derived(program, "f", ",".join(by)), given)


def test_the_page_lists_all_rules(published: Published) -> None:
    rows = "".join(f"- {said}\n" for said in dict.fromkeys(one.said for one in RULES.values()))
    published("gradients.md", "rules", f"\n{rows}\n")


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted({*OPERATION} - {*RULES}))
def test_no_gradient_flows_through_other_operations(name: str) -> None:
    """Comparisons, bits and what rounds to whole numbers give nothing; a list has its own rule."""
    if name in ("rtopk", "rargtopk", "random", "random_bits"):
        return
    text = written(name)
    declared = "In A: bool, B: bool;" if OPERATION[name].operands_are_bool else "In A, B;"
    if OPERATION[name].operands_are_whole:
        declared = "In A: i64, B: i64;"
    used = "A, B" if "B[x]" in text else "A"
    declared = declared if used == "A, B" else declared.partition(",")[0] + ";"
    program = read(f"Func f; {declared} Var x; f[x] = {text}; f.compile();")
    assert not is_active(program.funcs[0].body, {"A", "B"})


def test_each_operation_has_a_rule_or_is_known_to_be_flat() -> None:
    """Nobody may forget a rule; a list has one of its own."""
    assert not RULES.keys() & FLAT
    assert RULES.keys() | FLAT == OPERATION.keys() - {"rtopk"}


def test_an_operation_without_a_rule_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation without a rule is refused, so that its gradient does not count as 0."""
    program = read("Func f; In A, B; Var x; f[x] = sin(A[x]) * B[x]; f.compile();")
    without = {name: rule for name, rule in RULES.items() if name != "sin"}
    for module in (activity, backward, normal_form):
        monkeypatch.setattr(module, "RULES", without)
    with pytest.raises(DtpolyError) as caught:
        differentiated(program, ("f",), ("A",))
    (found,) = caught.value.diagnostics
    assert (found.code, found.title) == ("DT272", "the gradient of 'sin' has no rule")
    assert differentiated(program, ("f",), ("B",)).results == {"B": "d_B"}


def test_a_gradient_that_is_0_is_a_float() -> None:
    program = read("Func f;\nIn A, B;\nVar x;\nf[x] = A[x] + 0 * B[x];\n")
    one = derived(program, "f", "A, B")
    assert types_of(one.program)["d_B"].dtype is not DType.I64
    compare(program, one, given(program, {"x": 3}))


def test_a_maximum_whose_sums_are_what_another_func_begins_with() -> None:
    """`f` does not read `total`, but it begins with it; so the maximum does not cancel."""
    program = read(
        "Func top, e, total, f into total at [T[y]] add;\nIn A, B, D, T: i64;\nVar x, y;\nRVar k;\n"
        "top[x] = rmax(A[x, k], k);\ne[x, k] = exp(A[x, k] - reshape(top[x], x, 1));\n"
        "total[x] = rsum(e[x, k] * reshape(B[k], 1, k), k);\nf[y] = D[y];\n"
    )
    inputs = given(program, {"x": 3, "k": 4, "y": 2})
    compare(program, derived(program, "f", "A, B"), inputs | {"T": torch.tensor([0, 2])})
