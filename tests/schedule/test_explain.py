"""Tests what `explain` says that each directive changes, keeps, and computes again."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.aspects import ASKED
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.explained_directives import Explained, Explanation, explain, meaning
from dtpoly.schedule.kept_dependences import kept, separated
from dtpoly.schedule.legality import judge
from dtpoly.schedule.parallelism import Why, summaries
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Loop, Options, Sequence
from dtpoly.source import Source
from tests.schedule.told import SUM, TWO, TWO_PRODUCTS, read
from tests.schedule.user_primitives import USER
from tests.test_thesis import DATA, LISTINGS


def explained(text: str, primitives: Primitives = DIRECTIVES) -> Explanation:
    program = read(text)
    return explain(program, judge(program, primitives), primitives)


def of(directive: str, text: str, primitives: Primitives = DIRECTIVES) -> Explained:
    """Return what is told of the directive that starts so."""
    found = explained(text, primitives).directives
    return next(one for one in found if one.directive.startswith(directive))


def changes(one: Explained) -> list[str]:
    return [change.words("was") for change in one.changes]


def keeps(one: Explained) -> list[str]:
    return [str(each) for each in one.kept]


FUSED = TWO_PRODUCTS + (
    "_2mm.block(m:16); _2mm.tensorize(m:16, n:64, k:32, l:0); mm.fuse_at(_2mm, m);"
)


def test_directives_are_told_in_source_order() -> None:
    found = explained(FUSED).directives
    assert [one.directive for one in found] == [
        "_2mm.compile_to_kernel();",
        "_2mm.block(m:16);",
        "_2mm.tensorize(m:16, n:64, k:32, l:0);",
        "mm.fuse_at(_2mm, m);",
    ]
    assert all(one.span is not None and one.span.text + ";" == one.directive for one in found)


def test_a_fusion() -> None:
    one = of("mm.fuse_at", FUSED)
    assert changes(one)[0] == (
        "where 'mm' is computed: inside of the loop over m of '_2mm', "
        "for exactly [16 of m] x [all of l] (was: in a kernel of its own)"
    )
    assert (
        "the loop over k of 'mm': all of k in steps of 32 lanes (was: all of k in steps of 1)"
        in (changes(one))
    )
    assert keeps(one) == [
        "the rdot over k of 'mm': start, steps, end in this order; steps in any order "
        "(distance: k 0 or more)",
        "'_2mm' reads mm[m, l]: earlier in the same program",
    ]
    assert one.recomputed == ()


def test_blocks_are_programs() -> None:
    one = of("_2mm.block", FUSED)
    assert changes(one) == [
        "programs of '_2mm': ceil(m / 16), one for each block of 16 of m (was: 1)",
        "the loop over m of '_2mm': 16 of m in 1 step of 16 lanes "
        "(was: all of m in steps of 16 lanes)",
    ]
    assert one.recomputed is None


def test_options_say_what_they_are_and_keep_all_order() -> None:
    one = of("f.num_warps", TWO + "f.num_warps(8);")
    assert one.meaning == "Give each program instance of a kernel a number of warps."
    assert (changes(one), keeps(one)) == (["num_warps of 'f': 8"], [])


@pytest.mark.parametrize(
    ("directive", "said"),
    [
        ("f.persistent(3);", "persistent of 'f': 3"),
        ("f.warp_specialize();", "warp_specialize of 'f': on"),
        ("f.pitch();", "pitch of 'f': on"),
        ("f.swap();", "swap of 'f': on"),
        ("f.early();", "early of 'f': on"),
        ("f.descriptor(g, A, f);", "descriptor of 'f': A, f, g"),
        ("f.align(A);", "align of 'f': A"),
        ("f.alternate(x);", "alternate of 'f': x"),
        ("f.stream(A);", "stream of 'f': A"),
        ("f.panels(x:3);", "panels of 'f': x:3"),
    ],
)
def test_options_have_the_names_of_their_directives(directive: str, said: str) -> None:
    text = (
        "Func f, g, h; In A; Var x; h[x] = A[x]; g[x] = A[x]; f[x] = exp(g[x]) + A[x];"
        f"f.compile(); {directive}"
    )
    one = of(directive.partition("(")[0], text)
    assert changes(one) == [said]


def test_a_shared_launch() -> None:
    text = (
        "Func f, g, h; In A; Var x; h[x] = A[x]; g[x] = A[x]; f[x] = g[x] + h[x]; f.compile();"
        "g.beside(h);"
    )
    assert changes(of("g.beside", text)) == ["beside of 'g': h"]


def test_every_option_is_said_by_a_directive() -> None:
    names = {field.name for field in fields(Options)} - {ASKED}
    assert names <= {primitive.name for primitive in DIRECTIVES}


def test_partial_results_change_no_launch() -> None:
    text = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(k:32); f.compile();"
    assert not any("beside" in change for change in changes(of("f.block", text)))


def test_the_order_of_programs_is_no_order_of_execution() -> None:
    one = of("f.map", TWO + "f.block(x:4, y:4); f.map(y:yi/8, x, yi); g.fuse_at(f, y);")
    assert changes(one) == [
        "the numbering of programs of 'f': by groups of 8 blocks of y, then the blocks of x, "
        "then the blocks of y in a group, which run fastest "
        "(was: by the blocks of y, then the blocks of x, which run fastest)"
    ]
    assert keeps(one) == []


def test_what_an_earlier_kernel_computes() -> None:
    assert keeps(of("f.block", TWO + "f.block(x:4);")) == [
        "'f' reads g[x, y]: by an earlier kernel"
    ]


def test_partial_results_have_a_kernel() -> None:
    one = of("total.block", SUM + "total.block(k:kb/32);")
    assert changes(one)[:2] == [
        "the kernel 'total.k.partial': writes total.k.partial[kb, x]",
        "programs of 'total.k.partial': ceil(k / 32), one for each block of 32 of k",
    ]
    assert "'total' reads total.k.partial[kb, x]: by an earlier kernel" in keeps(one)


def test_atomic_steps_are_in_any_order_in_different_programs() -> None:
    one = of("total.atomic", SUM + "total.block(k:32); total.atomic(k);")
    assert keeps(one)[0] == (
        "the rsum over k.part of 'total': start in an earlier kernel; "
        "steps in any order, also in different programs"
    )


def test_an_inlined_func_is_nowhere() -> None:
    one = of("g.inline", TWO + "g.inline();")
    assert changes(one) == [
        "where 'g' is computed: nowhere by itself (was: in a kernel of its own)"
    ]


def test_split_reorder_and_unroll() -> None:
    text = TWO + "f.split(y:yi/4); f.reorder(yi, y); f.unroll(yi:2);"
    assert (
        changes(of("f.split", text))[0]
        == "the loops of 'f': for x: for yi: for y (was: for x: for y)"
    )
    assert changes(of("f.reorder", text)) == [
        "the loops of 'f': for x: for yi: for y (was: for x: for y: for yi)"
    ]
    assert changes(of("f.unroll", text)) == [
        "the loop over yi of 'f': 4 of y in steps of 1, 2 at a time written out "
        "(was: 4 of y in steps of 1)"
    ]


def test_a_directive_that_says_nothing_changes_nothing() -> None:
    one = of("f.tensorize", TWO + "f.split(y:yi/1); f.tensorize(y:1);")
    assert one.changes != ()
    assert of("f.compile", TWO).changes == ()


@pytest.mark.sampled
@pytest.mark.parametrize("listing", LISTINGS)
def test_the_thesis(listing: str) -> None:
    """Every directive but `compile` and a map that is the default changes something."""
    program = thesis(listing)
    found = explain(program, judge(program, DIRECTIVES), DIRECTIVES)
    for one in found.directives:
        is_idle = ".compile" in one.directive or one.directive == "relu_out.map(y, x);"
        assert bool(one.changes) != is_idle, one.directive
        assert all(each.broken is None for each in one.kept)
        assert not one.recomputed
    assert [kernel.name for kernel in found.kernels] == [
        kernel.name for kernel in judge(program, DIRECTIVES).scheduled.kernels
    ]


def thesis(listing: str) -> Program:
    path = DATA / f"{listing}.dt"
    return load(Source(path.name, path.read_text()))


def test_a_kernel_at_a_glance() -> None:
    (kernel,) = explained(FUSED).kernels
    assert (kernel.name, kernel.funcs, kernel.statements) == ("_2mm", ("mm", "_2mm"), 8)
    assert str(kernel.programs) == "ceil(m / 16)"
    assert kernel.programs.at({"m": 100}) == 7
    assert str(kernel.lane_count) == "16 * 64 * pow2(l)"
    assert kernel.lane_count.at({"l": 5}) == 16 * 64 * 8
    assert [(loop.func, loop.label, str(loop.steps), loop.why) for loop in kernel.loops] == [
        ("mm", "k", "ceil(k / 32)", Why.REDUCTION),
        ("_2mm", "n", "ceil(n / 64)", Why.CHOICE),
    ]


def test_a_refused_schedule_is_explained_too() -> None:
    text = TWO + "g.fuse_at(f, x); f.upside_down();"
    assert keeps(of("f.upside_down", text, USER)) == ["'f' reads g[x, y]: not kept: runs too late"]
    one = of("mm.fuse_at", TWO_PRODUCTS + "mm.fuse_at(_2mm, n);")
    assert [str(again.count) for again in one.recomputed or ()] == ["n"]


def test_a_tree_that_loses_a_statement_keeps_nothing() -> None:
    one = of("total.forget", SUM + "total.forget();", USER)
    assert changes(one) == [
        "the statements of 'total': total.k.init, total.k.update, total.k.combine "
        "(was: total.k.init, total.k.update, total.k.combine, total)"
    ]
    assert one.kept == ()


def test_a_primitive_of_a_user_needs_no_words_of_its_own() -> None:
    one = of("f.interchange", TWO + "f.interchange(x);", USER)
    assert one.meaning == "Swap a loop with the one loop inside of it."
    assert changes(one) == ["the loops of 'f': for y: for x (was: for x: for y)"]
    assert keeps(one) == ["'f' reads g[x, y]: by an earlier kernel"]
    skewed = of("f.skew", TWO + "f.skew(x, y);", USER)
    assert changes(skewed) == [
        "the loop over y of 'f': all of y in steps of 1, in the order of f.x + f.y "
        "(was: all of y in steps of 1)"
    ]


def merged(text: str) -> State:
    """One kernel with one loop over x: g[x], then f[x]."""
    state = judge(read(text), DIRECTIVES).scheduled
    first, last = state.kernels
    assert isinstance(first.body, Loop)
    assert isinstance(last.body, Loop)
    both = Sequence((first.body.child, last.body.child))
    return replace(state, kernels=(replace(last, body=replace(last.body, child=both)),))


def test_a_loop_that_carries_a_dependence() -> None:
    state = merged(
        "Func f, g; In A; Var x; g[x] = A[x] + 1; f[x] = g[x] + pad(g, 0)[x - 3]; f.compile();"
    )
    found = separated(state)
    (one,) = kept(state, found)
    assert str(one) == (
        "'f' reads g[x] and g[x - 3]: carried by the loop over x (distance: x 0 to 3)"
    )
    (kernel,) = summaries(state, found)
    assert [loop.why for loop in kernel.loops] == [Why.CARRIES]


@dataclass(frozen=True, slots=True)
class Idle(Primitive):
    name: ClassVar[str] = "idle"


def test_a_primitive_without_a_docstring_has_no_meaning() -> None:
    assert meaning(Idle) == ""


@dataclass(frozen=True, slots=True)
class Blocked(Primitive):
    """Do nothing where there are blocks."""

    name: ClassVar[str] = "blocked"

    def apply(self, state: State) -> State:
        if not state.kernels_of(self.func)[0].grid:
            raise ValueError("no blocks")
        return state


def test_a_directive_that_another_one_needs() -> None:
    one = of("f.block", TWO + "f.block(x:4); f.blocked();", (*DIRECTIVES, Blocked))
    assert one.changes == ()
    assert "no blocks" in one.needed


def test_a_func_in_several_kernels() -> None:
    text = TWO + "Func h; h[x, y] = g[x, y] * 2; h.compile(); g.fuse_at(f, x); g.fuse_at(h, y);"
    one = of("g.fuse_at(h", text)
    assert changes(one)[0] == (
        "where 'g' is computed: inside of the loop over x of 'f', "
        "for exactly [1 of x] x [all of y]; "
        "inside of the loop over y of 'h', for exactly [1 of x] x [1 of y] "
        "(was: in a kernel of its own; inside of the loop over x of 'f', "
        "for exactly [1 of x] x [all of y])"
    )
    assert "the loop over x of 'g' in 'h': 1 of x in 1 step" in changes(one)
