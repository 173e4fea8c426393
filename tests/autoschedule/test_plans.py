"""Tests where Funcs could be computed."""

from dtpoly.algorithm.program import Argument, Directive
from dtpoly.autoschedule.choose import nests_of
from dtpoly.autoschedule.plans import ChosenPlace, directive_of
from dtpoly.directives.built_in import DIRECTIVES
from tests.autoschedule.asked import call_of, example, plans_of

NORM = "In A; Var x; RVar y; s[x] = rsum(A[x, y], y); f[x, y] = A[x, y] / reshape(s[x], x, 1);"


def kinds(name: str, **sizes: int) -> set[tuple[tuple[str, ChosenPlace], ...]]:
    call = call_of(example(name), **sizes)
    return {tuple((one.func, one.how) for one in plan.placed) for plan in plans_of(call)}


def test_what_belongs_to_a_row_is_computed_in_it() -> None:
    found = kinds("safe_softmax", x=4096, y=4096)
    rest = (("total", ChosenPlace.FUSED), ("safe_softmax", ChosenPlace.KERNEL))
    assert found == {
        (("top", ChosenPlace.FUSED), ("e", ChosenPlace.FUSED), *rest),
        (("top", ChosenPlace.FUSED), ("e", ChosenPlace.INLINE), *rest),
        (("top", ChosenPlace.ONLINE), ("e", ChosenPlace.INLINE), *rest),
    }


def test_few_rows_are_no_reason_for_few_programs() -> None:
    call = call_of(f"Func s, f; {NORM}", x=16, y=1_000_000)
    (fused, kernel) = (plan.find("s") for plan in plans_of(call))
    assert (fused.how, kernel.how) == (ChosenPlace.FUSED, ChosenPlace.KERNEL)
    assert kernel.why == "16 rows are too few for 132 multiprocessors"
    assert [
        plan.find("s").how for plan in plans_of(call_of(f"Func s, f; {NORM}", x=4096, y=64))
    ] == [ChosenPlace.FUSED]


def test_a_product_may_be_stored_or_computed_again() -> None:
    call = call_of(example("two_mm_outer"), m=1024, n=1024, k=64, l=64)
    places = [plan.find("mm") for plan in plans_of(call)]
    assert [(one.how, one.label) for one in places] == [
        (ChosenPlace.FUSED, "m"),
        (ChosenPlace.FUSED, "l"),
        (ChosenPlace.KERNEL, ""),
    ]
    assert places[-1].why.endswith("not computed again for each block of n")


def test_of_two_products_one_may_have_a_kernel_of_its_own() -> None:
    """A block of both has registers for half as many sums of each."""
    text = (
        "Func f, g, h; In A, B, C; Var m, n; RVar k; g[m, n] = rdot(A[m, k], B[n, k], k);"
        "h[m, n] = rdot(A[m, k], C[n, k], k); f[m, n] = maximum(g[m, n], 0) * h[m, n];"
    )
    every = plans_of(call_of(text, m=1593, n=2048, k=335))
    found = {tuple(plan.find(x).how for x in "gh") for plan in every}
    assert found == {
        (ChosenPlace.FUSED, ChosenPlace.FUSED),
        (ChosenPlace.FUSED, ChosenPlace.KERNEL),
        (ChosenPlace.KERNEL, ChosenPlace.FUSED),
    }


def test_what_is_reduced_for_a_sum_keeps_its_loops() -> None:
    call = call_of(example("cross_entropy"), x=8192, y=50257)
    plan = plans_of(call)[0]
    assert plan.find("loss").how is ChosenPlace.KERNEL
    assert plan.kernels == (("top", "total", "picked", "loss"), ("cross_entropy",))


def test_a_copy_is_read_where_it_is_or_stored_the_other_way_round() -> None:
    call = call_of(example("tf32_matmul"), m=8192, n=8192, k=8192)
    assert [plan.find("columns").how for plan in plans_of(call)] == [
        ChosenPlace.INLINE,
        ChosenPlace.KERNEL,
    ]


def test_what_is_asked_for_has_a_kernel() -> None:
    text = f"Func s, f; {NORM} s.compile(); f.compile();"
    (plan,) = plans_of(call_of(text, x=4096, y=64))
    assert plan.kernels == (("s",), ("f",))
    assert [directive_of(one, DIRECTIVES) for one in plan.placed] == [None, None]


def test_places_are_directives() -> None:
    call = call_of(example("safe_softmax"), x=4096, y=4096)
    found = [directive_of(one, DIRECTIVES) for plan in plans_of(call) for one in plan.placed]
    assert Directive("e", "inline") in found
    arguments = (Argument("safe_softmax"), Argument("x"))
    assert Directive("total", "fuse_at", arguments) in found


def test_what_is_inlined_is_read_where_its_readers_are() -> None:
    text = (
        "Func a, b, c; In A; Var x, y; a[x, y] = exp(A[x, y]); b[x, y] = a[x, y] + 1;"
        " c[x, y] = b[x, y] * 2;"
    )
    (plan,) = plans_of(call_of(text, x=64, y=64))
    assert plan.kernels == (("c",),)
    program = plan.substituted(call_of(text, x=64, y=64).program)
    assert [func.name for func in program.funcs] == ["c"]


def test_other_results_are_stored_where_they_are_read() -> None:
    """One of them is an expression, which nobody may inline then; nobody reads the other one."""
    text = f"Func s, f, d; {NORM} d[x, y] = A[x, y] * s[x]; f.compile(s, d);"
    text = text.replace("s[x] = rsum", "s[x] = 1 + rsum").replace("* s[x]", "* reshape(s[x], x, 1)")
    first, *_ = plans_of(call_of(text, x=4096, y=64))
    assert first.find("d").how is ChosenPlace.FUSED
    assert first.find("d").host == "f"
    text = f"Func s, f; {NORM} f.compile(s);"
    found = [plan.find("s") for plan in plans_of(call_of(text, x=4096, y=64))]
    assert [one.how for one in found] == [ChosenPlace.FUSED, ChosenPlace.KERNEL]
    assert found[0].why == "asked for, and stored where it is read, for each block of x"


def test_reductions_over_one_label_share_a_loop() -> None:
    """The scores are computed step by step in it, since only joined loops read them."""
    call = call_of(example("flash_attention"), b=1, h=1, m=4096, n=64, k=64, l=4096)
    plan = max(plans_of(call), key=lambda one: one.joined)
    assert plan.kernels == (("scores", "top", "total", "flash_attention"),)
    asked = [directive_of(one, DIRECTIVES) for one in plan.placed]
    place = (Argument("flash_attention"), Argument("l"))
    assert asked == [
        Directive("scores", "fuse_at", place),
        Directive("top", "online", place),
        Directive("e", "inline"),
        Directive("total", "online", place),
        None,
    ]


def test_a_loop_is_joined_with_that_of_a_reader_which_reduces_too() -> None:
    call = call_of(example("safe_softmax"), x=4096, y=4096)
    plan = max(plans_of(call), key=lambda one: one.joined)
    joined = Directive("top", "online", (Argument("total"), Argument("y")))
    assert next(directive_of(one, DIRECTIVES) for one in plan.placed) == joined


def test_programs_with_more_to_reduce_begin_first() -> None:
    sizes = {"b": 1, "h": 1, "m": 4096, "n": 64, "k": 64, "l": 4096}
    for name, growing in (("causal_flash_attention", {"m"}), ("flash_attention", set[str]())):
        call = call_of(example(name), **sizes)
        (nest, *_) = nests_of(call, max(plans_of(call), key=lambda one: one.joined))
        assert nest.growing == growing


def test_a_reduction_that_a_product_reads_may_be_stored() -> None:
    """As weights that are brought to length 1: each block of rows would compute them again."""
    call = call_of(
        "Func W, f; In X, V; Var m, o; RVar i, j;"
        "W[o, i] = V[o, i] * rsqrt(rsum(pow(V[o, j], 2), j));"
        "f[m, o] = rdot(X[m, i], W[o, i], i);",
        *("f16",),
        **{"m": 4096, "o": 2048, "i": 2048, "j": 2048},
    )
    places = [plan.find("W") for plan in plans_of(call)]
    assert {one.how for one in places} == {ChosenPlace.FUSED, ChosenPlace.KERNEL}
    (stored,) = (one for one in places if one.how is ChosenPlace.KERNEL)
    assert stored.why == "16.8 MB stored once, and not computed again for each block of m"
