"""The primitive `fuse_at`."""

import pytest

from dtpoly.algorithm.program import Argument, Directive
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.fuse_at import FuseAt
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.bound_primitives import bind
from tests.schedule.told import ATTENTION, TWO, TWO_PRODUCTS, only, told


@pytest.mark.parametrize("label", ["x", "y", "x, recompute"])
def test_at_a_label_of_the_consumer(label: str) -> None:
    assert told(f"{TWO} g.fuse_at(f, {label});") == []


def test_at_a_label_that_the_consumer_reduces() -> None:
    assert told(f"{TWO_PRODUCTS} mm.fuse_at(_2mm, l);") == []


def test_at_a_loop_of_a_split() -> None:
    assert told(f"{TWO} f.split(x:xi/4); g.fuse_at(f, xi);") == []


def test_at_no_loop_of_the_consumer() -> None:
    assert told(f"{TWO} g.fuse_at(f, z);") == ["DT185 z"]
    assert told(f"{TWO_PRODUCTS} mm.fuse_at(_2mm, k);") == ["DT185 k"]
    assert told(f"{TWO_PRODUCTS} mm.split(m:mi/2); mm.fuse_at(_2mm, mi);") == ["DT185 mi"]


def test_recompute_is_the_only_word() -> None:
    found = only(f"{TWO} g.fuse_at(f, x, recompte);")
    assert (found.code, found.hint) == ("DT181", "did you mean recompute?")
    assert found.title == "argument 3 of 'fuse_at' must be the word recompute"


def test_too_few_and_too_many_arguments() -> None:
    found = only(f"{TWO} g.fuse_at(f);")
    assert (found.code, found.title) == ("DT181", "'fuse_at' takes at least 2 arguments, not 1")
    assert found.hint == "write g.fuse_at(func, label)  or  g.fuse_at(func, label, recompute)"
    assert told(f"{TWO} g.fuse_at(f, x, recompute, y, x);") == ["DT181 y, x"]


def test_the_chain_of_listing_4_4() -> None:
    fusions = (
        "mm.fuse_at(e, l); dvsr.fuse_at(sm, m); sm.fuse_at(attention, m); e.fuse_at(attention, m);"
    )
    tiles = "attention.block(m:16); attention.tensorize(m:16, n:64, k:16, l:0);"
    assert told(f"{ATTENTION} {fusions} {tiles}") == []


def test_through_a_func_of_the_same_kernel_only() -> None:
    assert told(f"{ATTENTION} sm.fuse_at(attention, m); e.fuse_at(attention, m);") == []
    found = only(f"{ATTENTION} e.fuse_at(attention, m);")
    assert found.code == "DT195"
    assert [note.text for note in found.notes] == ["it is read by way of 'dvsr' and 'sm'"]


def test_through_an_inlined_func() -> None:
    assert told(f"{ATTENTION} sm.inline(); e.fuse_at(attention, m);") == []


def test_a_consumer_that_does_not_read_it() -> None:
    two = TWO + "Func h; h[x, y] = f[x, y] + A[x, y]; h.compile();"
    assert told(f"{two} g.fuse_at(h, x);") == ["DT195 h"]
    other = TWO + "Func h; h[x, y] = A[x, y]; h.compile();"
    assert only(f"{other} g.fuse_at(h, x);").hint == "'g' is read by f"


def test_the_wrong_way_round_and_into_itself() -> None:
    found = only(f"{TWO} f.fuse_at(g, x);")
    assert (found.code, found.hint) == ("DT195", "the other way round: g.fuse_at(f, x)")
    assert only(f"{TWO} g.fuse_at(g, x);").title == "'g' cannot be fused into itself"


def test_a_cycle() -> None:
    assert told(f"{TWO} g.fuse_at(f, x); f.fuse_at(g, x);") == ["DT195 g"]


def test_into_an_inlined_func() -> None:
    three = "Func h; h[x, y] = exp(f[x, y]); h.compile();"
    text = TWO.replace("f.compile();", three)
    found = only(f"{text} f.inline(); g.fuse_at(f, x);")
    assert (found.code, found.title) == ("DT195", "'f' is inlined and has no loops")
    assert found.hint == "fuse into h instead"


def test_no_such_func() -> None:
    found = only(f"{TWO} g.fuse_at(ff, x);")
    assert (found.code, found.hint) == ("DT184", "did you mean f?")


def test_once_for_each_consumer() -> None:
    two = TWO + "Func h; h[x, y] = g[x, y] + A[x, y]; h.compile();"
    assert told(f"{two} g.fuse_at(f, x); g.fuse_at(h, y);") == []
    assert told(f"{two} g.fuse_at(f, x); g.fuse_at(f, y);") == ["DT187 g.fuse_at(f, y)"]
    assert told(f"{two} g.fuse_at(f, x); g.fuse_at(f, x, recompute);") == [
        "DT187 g.fuse_at(f, x, recompute)"
    ]


def test_as_data() -> None:
    directive = Directive("g", "fuse_at", (Argument("f"), Argument("x"), Argument("recompute")))
    (fusion,) = bind([directive], DIRECTIVES).primitives
    assert fusion == FuseAt("g", Name("f"), Name("x"), recompute=True)
    assert str(fusion) == "g.fuse_at(f, x, recompute);"
