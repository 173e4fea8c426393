"""Tests that nonsense from a user's primitive is refused, and that our own trees are not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from dtpoly.algorithm.expressions import Affine, DividedIndex
from dtpoly.algorithm.program import Directive
from dtpoly.checking import check
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.foreign import applied
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.state import State
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.schedule.tree import Leaf, Loop, Node, Sequence, rewrite
from dtpoly.schedule.typed_fields import wrong_field
from dtpoly.schedule.well_formed import flaw
from dtpoly.source import Source
from tests.generation import schedules
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.plugin_files import marked
from tests.schedule.told import TWO, read
from tests.schedule.user_primitives import USER


def scheduled(directives: str) -> State:
    """The tree of two fused Funcs."""
    program = read(TWO + "g.fuse_at(f, x);" + directives)
    state = check(Source("t.dt", TWO + "g.fuse_at(f, x);" + directives)).verdict
    assert program
    assert state is not None
    return state.scheduled


def body(state: State, change: Callable[[Any], Any]) -> State:
    """With every node of the tree changed."""
    return state.with_kernels("f", lambda k: replace(k, body=rewrite(k.body, change)))


def axis(state: State, **changes: Any) -> State:
    """With a loop over y that has another axis."""
    return state.with_loops(
        "f", "y", lambda loop: replace(loop, axis=replace(loop.axis, **changes))
    )


def nested(node: Node, depth: int) -> Node:
    """The node within so many sequences of one."""
    for _ in range(depth):
        node = Sequence((node,))
    return node


NONSENSE: dict[str, tuple[Callable[[Any], object], str]] = {
    "nothing": (lambda s: None, "it returns nothing, not a State"),
    "a kernel": (lambda s: s.kernels[0], "it returns a Kernel, not a State"),
    "another model": (
        lambda s: replace(s, model=s.model.with_statements(s.model.statements[1:])),
        "it changes the 'model' of the State",
    ),
    "no fusions": (lambda s: replace(s, fusions=()), "it changes the 'fusions'"),
    "a list": (lambda s: replace(s, kernels=list(s.kernels)), "the kernels are a list"),
    "no kernel": (lambda s: replace(s, kernels=(1,)), "among the kernels is a int"),
    "a kernel less": (lambda s: replace(s, kernels=()), "the kernel 'f' is left out"),
    "a kernel more": (
        lambda s: replace(s, kernels=(*s.kernels, replace(s.kernels[0], name="h"))),
        "the kernel 'h' of 'f' is new or there twice",
    ),
    "no node": (lambda s: body(s, lambda node: None), "is nothing instead of a Loop"),
    "an empty sequence": (lambda s: body(s, lambda node: Sequence(())), "no tuple of nodes"),
    "a list of nodes": (
        lambda s: body(s, lambda n: Sequence(cast(Any, [n])) if isinstance(n, Leaf) else n),
        "no tuple of nodes",
    ),
    "an unknown statement": (
        lambda s: body(s, lambda n: Leaf("z") if isinstance(n, Leaf) else n),
        "a statement 'z', which is not in the program",
    ),
    "a statement twice": (
        lambda s: body(s, lambda n: Sequence((n, n)) if isinstance(n, Leaf) else n),
        "the statement 'g@f' stands in the tree twice",
    ),
    "lanes that are none": (
        lambda s: body(
            s, lambda n: replace(n, lanes=cast(Any, ("x",))) if isinstance(n, Leaf) else n
        ),
        "'lanes' of Leaf is a tuple with something else in it",
    ),
    "a step of 0": (lambda s: axis(s, step=0), "a Loop without an axis"),
    "an unknown label": (
        lambda s: axis(s, index=Affine((("z", 1),))),
        "the axis 'f.y' walks 'z', which is no label of a statement",
    ),
    "an unknown origin": (
        lambda s: axis(s, origin=Affine((("z", 1),))),
        "the axis 'f.y' starts at 'z', which is no axis of the kernel",
    ),
    "an unknown time": (
        lambda s: axis(s, time=Affine((("f.z", 1),))),
        "the axis 'f.y' counts 'f.z', which is no axis of the kernel",
    ),
    "a circle": (
        lambda s: axis(s, origin=Affine((("f.y", 1),))),
        "the axis 'f.y' starts at itself",
    ),
    "a name that is none": (lambda s: axis(s, label="y = 1\n"), "a Loop without an axis"),
    "a loop of another Func": (
        lambda s: body(s, lambda n: replace(n, func="h") if isinstance(n, Loop) else n),
        "is one of 'h', which is not there",
    ),
    "a tree without an end": (
        lambda s: body(s, lambda n: nested(n, 5_000) if isinstance(n, Leaf) else n),
        "nodes nest more than 1000 deep",
    ),
    "half a name": (
        lambda s: axis(s, origin=Affine(cast(Any, (("f.x", 0.5),)))),
        "'terms' of Affine is a tuple with something else in it",
    ),
    "two axes of one name": (lambda s: axis(s, name="f.x"), "one statement are called 'f.x'"),
    "a grid that is none": (
        lambda s: replace(s, kernels=(replace(s.kernels[0], grid=cast(Any, None)),)),
        "'grid' of Kernel is nothing",
    ),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused(name: str) -> None:
    change, words = NONSENSE[name]

    class Odd(Primitive):
        name = "odd"

        def apply(self, state: State) -> State:
            return cast(State, change(state))

    before = scheduled("")
    with pytest.raises(DtpolyError) as error:
        applied(Odd("f"), before)
    (found,) = error.value.diagnostics
    assert found.code == "DT227"
    assert words in found.title
    assert marked(found) == "def apply(self, state: State) -> State:"
    assert before == scheduled("")


def test_an_operator_is_one_of_those_that_there_are() -> None:
    """A user's primitive that was applied to an index with a quotient ended with a TypeError."""
    quotient = DividedIndex("//", Affine((("x", 1),)), 2)
    assert wrong_field(quotient) is None
    wrong = wrong_field(replace(quotient, operator=cast(Any, "/")))
    assert wrong == "'operator' of DividedIndex is a str"


@pytest.mark.parametrize("name", ["upside_down", "forget", "flatten"])
def test_what_is_only_wrong_is_left_to_the_legality_check(name: str) -> None:
    (primitive,) = bind((Directive("f", name),), USER).primitives
    assert isinstance(applied(primitive, scheduled("")), State)


@pytest.mark.parametrize("seed", range(40))
def test_what_dtpoly_makes_is_well_formed(seed: int) -> None:
    program = schedules.program(seeded(seed), Limits())
    assert not has_errors(check_schedule(program, DIRECTIVES))
    state = resolve(program, bind(program.directives, DIRECTIVES).primitives)
    assert flaw(state, state) is None
