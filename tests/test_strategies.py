"""Tests what the strategies promise: every kind of node and directive, sizes that fit, speed."""

import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Apply, Dot, Expr, Read, Reduce, free_labels, walk
from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.algorithm.operations import FROM_LIST, OPERATIONS, REDUCTIONS
from dtpoly.algorithm.program import Program, Split
from dtpoly.algorithm.shapes import SCALAR, Shape, combine, shape_of
from dtpoly.algorithm.show import show
from dtpoly.checking import understand
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.parse import parse
from dtpoly.source import Source
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.generation.extents import label_sizes
from tests.generation.schedules import program
from tests.generation.scope import Axis, Dimension, Named, Scope
from tests.strategies import algorithms, expressions, programs, schedules, sizes

SCOPE = Scope(
    (Dimension("x", False, "x"), Dimension("y", False, "y"), Dimension("k", True, "k")),
    (
        Named("A", (Axis("x"), Axis("k")), None),
        Named("B", (Axis("y"),), DType.F16),
        Named("C", (Axis("x"), Axis("y")), DType.BOOL),
    ),
    (("alpha", None),),
)


@cache
def made() -> tuple[Program, ...]:
    """Return many programs; who only collects tests needs none."""
    return tuple(program(seeded(seed), Limits()) for seed in range(1_000))


def nodes() -> Iterator[Expr]:
    """Yield all nodes of these programs."""
    return (node for p in made() for func in p.funcs for node in walk(func.body))


def test_every_kind_of_node() -> None:
    assert {type(node) for node in nodes()} == set(get_args(Expr))


def test_every_operation() -> None:
    names = Counter(node.operation for node in nodes() if isinstance(node, Apply | Reduce))
    # Lists are in programs of their own (tests/oracle/with_lists.py).
    every = {o.name for o in OPERATIONS} | {r.name for r in REDUCTIONS}
    assert names.keys() == every - {*FROM_LIST}
    assert min(names.values()) >= 10


def test_every_dtype_is_declared() -> None:
    assert {i.dtype for p in made() for i in p.inputs} == {None, *DType}
    assert {func.dtype for p in made() for func in p.funcs} == {None, *DType}


def test_kinds_of_reads() -> None:
    reads = [node for node in nodes() if isinstance(node, Read)]
    indices = [index for read in reads for index in read.indices]
    assert any(not read.indices for read in reads)
    assert any(read.padding is not None for read in reads)
    assert any(len(index.terms) == 2 for index in indices)
    assert any(coefficient < 0 for index in indices for _, coefficient in index.terms)
    assert any(index.shifted and index.constant > 0 for index in indices)
    assert any(len(set(read.indices)) < len(read.indices) for read in reads)


def test_kinds_of_reductions() -> None:
    dots = [node for node in nodes() if isinstance(node, Dot)]
    shared = [
        set(free_labels(dot.left)) & set(free_labels(dot.right)) - set(dot.labels) for dot in dots
    ]
    assert sum(map(bool, shared)) > 20
    assert any(len(dot.labels) > 1 for dot in dots)
    nested = [node for p in made() for func in p.funcs for node in list(walk(func.body))[1:]]
    assert any(isinstance(node, Reduce) and len(node.labels) > 1 for node in nested)
    assert any(not func.labels for p in made() for func in p.funcs)


def test_every_directive() -> None:
    names = Counter(directive.name for p in made() for directive in p.directives)
    words = {word for primitive in DIRECTIVES for word in (primitive.name, *primitive.aliases)}
    # These are drawn nowhere yet: they have tests of their own, which run and prove them.
    apart = {"align", "alternate", "beside", "early", "panels", "pitch", "store", "stream", "swap"}
    apart |= {"descending", "online", "same_bits"}
    assert names.keys() == words - apart
    arguments = [(d.name, a) for p in made() for d in p.directives for a in d.arguments]
    assert any(name == "block" and isinstance(a.value, Split) for name, a in arguments)
    assert any(name == "tensorize" and "." in str(a.target) for name, a in arguments)
    assert any(name == "fuse_at" and a.target == "recompute" for name, a in arguments)


def test_limits_hold() -> None:
    limits = Limits(labels=2, tensors=1, scalars=0, funcs=2, rank=1, depth=1)
    for seed in range(200):
        small = program(seeded(seed), limits)
        assert len(small.labels) <= 2
        assert len(small.inputs) <= 1
        assert len(small.funcs) <= 2
        assert all(len(func.labels) <= 1 for func in small.funcs)


def test_a_seed_gives_one_program() -> None:
    assert program(seeded(7), Limits()) == made()[7] != made()[8]


def test_fast() -> None:
    start = time.process_time()
    for seed in range(200):
        program(seeded(seed), Limits())
    assert time.process_time() - start < 200 * 0.005


@given(expressions(SCOPE, ("x", "y")))
def test_an_expression_lines_up_with_its_layout(expr: Expr) -> None:
    shaped = shape_of(expr)
    assert not has_errors(shaped.found)
    assert shaped.shape is not None
    assert combine(Shape(("x", "y")), shaped.shape) == Shape(("x", "y"))


@given(expressions(SCOPE, (), is_bool=True))
def test_an_expression_over_no_labels_is_a_scalar(expr: Expr) -> None:
    assert not free_labels(expr)
    assert combine(SCALAR, shape_of(expr).shape or SCALAR) is not None


@given(st.data())
def test_a_schedule_for_a_given_algorithm(data: st.DataObject) -> None:
    bare = data.draw(algorithms(Limits(funcs=3)))
    assert not bare.directives
    directives = data.draw(schedules(bare))
    scheduled = Program(bare.labels, bare.inputs, bare.funcs, directives)
    file = parse(Source("shown.dt", show(scheduled))).file
    assert understand(file).program == scheduled


@given(st.data())
def test_sizes_fit(data: st.DataObject) -> None:
    generated = data.draw(programs(Limits(funcs=3)))
    chosen = data.draw(sizes(generated, least=0, most=4))
    passed = {rule.label: chosen[rule.label] for rule in size_rules(generated) if rule.is_passed}
    assert sizes_of(generated, input_shapes(generated, chosen), passed) == chosen


@pytest.mark.long
def test_sizes_that_are_not_zero_come_back_as_chosen() -> None:
    for seed, generated in enumerate(made()):
        chosen = label_sizes(seeded(seed), generated, 3, 6)
        if min(chosen.values(), default=1) == 0:
            continue
        passed = {r.label: chosen[r.label] for r in size_rules(generated) if r.is_passed}
        assert sizes_of(generated, input_shapes(generated, chosen), passed) == chosen, seed
