"""The primitive `block`."""

import pytest

from dtpoly.diagnostics import apply_edits
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree_text import show_tree
from tests.schedule.told import MAP, SUM, TWO_PRODUCTS, only, read, told


@pytest.mark.parametrize("arguments", ["x:16", "x:1", "x:3, y:100", "y:4096, x:2147483647"])
def test_any_size_will_do(arguments: str) -> None:
    assert told(f"{MAP} f.block({arguments});") == []


@pytest.mark.parametrize("size", ["0", "-4", "2147483648"])
def test_but_not_every_number(size: str) -> None:
    assert told(f"{MAP} f.block(y:8, x:{size});") == [f"DT182 x:{size}"]


def test_reduced_labels() -> None:
    assert told(f"{SUM} total.block(k:32, x:4);") == []
    assert told(f"{SUM} total.block(k:kb/4096); total.tensorize(kb:1024);") == []


def test_the_partial_results_have_a_label_only_if_named() -> None:
    assert told(f"{SUM} total.block(k:4096); total.tensorize(kb:1024);") == ["DT185 kb"]


def test_partial_results_of_no_reduction() -> None:
    text = f"{MAP} f.block(x:xb/16);"
    found = only(text)
    assert (found.code, found.hint) == ("DT191", "write x:16")
    assert told(apply_edits(text, found.edits)) == []


def test_a_label_that_is_also_on_the_left_side_has_no_partial_results() -> None:
    text = """
        Func f; In A; Var x; RVar k;
        f[x, k] = A[x, k] / rsum(A[x, k], k);
        f.compile();
    """
    assert told(f"{text} f.block(k:64);") == []
    assert told(f"{text} f.block(k:kb/64);") == ["DT191 k:kb/64"]


def test_labels_of_fused_funcs_and_of_splits_are_inside_of_blocks() -> None:
    fused = f"{TWO_PRODUCTS} mm.fuse_at(_2mm, m);"
    assert told(f"{fused} _2mm.block(m:16, l:64);") == []
    assert told(f"{fused} _2mm.block(m:16, k:64);") == ["DT191 k"]
    assert told(f"{MAP} f.split(x:xi/4); f.block(xi:2);") == ["DT191 xi"]


@pytest.mark.parametrize("argument", ["x", "4", "x:y", "f.x:y/4"])
def test_wrong_forms(argument: str) -> None:
    found = only(f"{MAP} f.block(y:4, {argument});")
    assert found.code == "DT181"
    assert found.title == "argument 2 of 'block' must be label:size or label:new/size"
    assert found.span is not None
    assert found.span.text == argument
    assert found.hint == "write f.block(label:size or label:new/size, ...)"


def test_blocks_of_reduced_labels_are_a_set() -> None:
    text = "Func f; In A; Var x; RVar k, l; f[x] = rsum(A[x, k, l], k, l); f.compile();"
    first, second = (
        show_tree(judge(read(text + directives), DIRECTIVES).scheduled.kernels)
        for directives in ("f.block(k:2, l:4);", "f.block(l:4); f.block(k:2);")
    )
    assert first == second
