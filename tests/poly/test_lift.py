"""Programs become statements: which there are, over which labels, what they touch."""

import islpy as isl
import pytest

from dtpoly.algorithm.substitute import inlined
from dtpoly.poly.lift import lift
from dtpoly.poly.model import Model, Role
from tests.schedule.told import SUM, TWO, TWO_PRODUCTS, read


def model(text: str) -> Model:
    return lift(read(text))


def names(text: str) -> list[str]:
    return [str(s) for s in model(text).statements]


def test_a_value_without_a_reduction() -> None:
    assert names(TWO) == ["g[x, y]", "f[x, y]"]


def test_a_reduction_is_four_statements_in_the_defining_order() -> None:
    assert names(SUM) == [
        "total.k.init[x]",
        "total.k.update[x, k]",
        "total.k.combine[x]",
        "total[x]",
    ]


def test_inner_reductions_stand_between_init_and_update() -> None:
    text = """
    Func f; In A, B; Var x; RVar k, l;
    f[x] = rsum(A[x, k] * rmax(B[x, k, l], l), k); f.compile();
    """
    assert names(text) == [
        "f.k.init[x]",
        "f.l.init[x, k]",
        "f.l.update[x, k, l]",
        "f.l.combine[x, k]",
        "f.k.update[x, k]",
        "f.k.combine[x]",
        "f[x]",
    ]
    statements = {s.name: s for s in model(text).statements}
    assert statements["f.l.update"].bound == ("k", "l")
    assert statements["f.l.init"].free == ("x",)


def test_a_label_may_be_bound_inside_and_free_outside() -> None:
    text = """
    Func f; In A; Var x; RVar y;
    f[x, y] = A[x, y] / reshape(rsum(A[x, y], y), x, 1); f.compile();
    """
    (update,) = [s for s in model(text).statements if s.role is Role.UPDATE]
    assert (update.labels, update.bound) == (("x", "y"), ("y",))


def test_several_reductions_over_one_label_have_names_of_their_own() -> None:
    text = """
    Func f; In A; Var x; RVar k;
    f[x] = rsum(A[x, k], k) * rargmax(A[x, k], k) + rprod(A[x, k], k); f.compile();
    """
    arrays = model(text).arrays
    assert {a.name: a.reduction for a in arrays.values()} == {
        "f.k": "rsum",
        "f.k.2": "rargmax",
        "f.k.3": "rprod",
        "f": None,
    }


def test_a_func_without_labels() -> None:
    text = "Func f, g; In A; RVar x; g[] = rsum(A[x], x); f[x] = A[x] / g[]; f.compile();"
    assert names(text)[-2:] == ["g[]", "f[x]"]
    assert model(text).statements[-1].reads[0].array == "g"


def test_only_funcs_are_arrays() -> None:
    (value,) = model("Func f; In A; Var x; f[x] = A[x] + x; f.compile();").statements
    assert value.reads == ()


@pytest.mark.parametrize(
    ("text", "params"),
    [
        (TWO_PRODUCTS, ("N_m", "N_n", "N_k", "N_l")),
        # Plain reads of one axis: labels of one size.
        (
            "Func f; In X; Var x, y; RVar k;f[x, y] = X[x, y] * rsum(X[x, k], k); f.compile();",
            ("N_x", "N_y"),
        ),
        ("Func f, g; In A; Var x, u; g[u] = A[u]; f[x] = g[x]; f.compile();", ("N_x",)),
    ],
)
def test_labels_of_one_size_share_a_parameter(text: str, params: tuple[str, ...]) -> None:
    assert model(text).params == params


def has(one: Model, **sizes: int) -> bool:
    context = one.context
    for name, size in sizes.items():
        position = context.find_dim_by_name(isl.dim_type.param, f"N_{name}")
        context = context.fix_val(isl.dim_type.param, position, size)
    return not context.is_empty()


def test_a_shifted_read_relates_sizes() -> None:
    # u is as large as it is read.
    text = """
    Func f, g; In A; Var x, u;
    g[u] = exp(A[u]); f[x] = g[x] + g[x + 2]; f.compile();
    """
    one = model(text)
    assert has(one, x=3, u=5)
    assert has(one, x=0, u=2)
    assert has(one, x=0, u=0)
    assert not has(one, x=3, u=4)
    assert not has(one, x=3, u=6)
    assert not has(one, x=-1)


def test_reads_of_one_input_relate_sizes() -> None:
    one = model("Func f; In A; Var x, y; f[x, y] = reshape(A[x], x, 1) + A[y + 1]; f.compile();")
    assert has(one, x=4, y=3)
    assert has(one, x=0, y=0)
    assert not has(one, x=4, y=4)


def test_a_label_of_two_reductions_stands_where_the_outer_one_has_it() -> None:
    text = """
    Func f; In A, B; RVar k, l, m;
    f[] = rsum(A[k, l] * rmax(B[l, k, m], m), k, l); f.compile();
    """
    assert "f.m.update[k, l, m]" in names(text)


def test_an_inlined_padded_read_is_inside_of_the_func_that_was_read() -> None:
    program = read(
        "Func f, g, h; In A; Var x, u, v; h[v] = A[v]; g[u] = h[u + 2];"
        "f[x] = pad(g, 0)[x - 1]; f.compile();"
    )
    value = lift(inlined(program, "g"), sized=program).statements[-1]
    assert value.name == "f"
    inside = "[N_x, N_u, N_v] -> { f[x] -> h[x + 1] : 1 <= x <= N_u }"
    assert value.reads[0].relation.is_equal(isl.Map(inside))
