"""Tests which Func is computed in which kernel, for Programs built by hand."""

from collections.abc import Iterable, Mapping

import pytest

from dtpoly.algorithm.expressions import Affine, Apply, Expr, Read, Reduce
from dtpoly.algorithm.program import Argument, Directive, Func, Label, Program, Split, Tensor
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.kernels import View
from dtpoly.schedule.static_checks import view_of

X, K = (Affine(((name, 1),)) for name in "xk")


def of(tensor: str) -> Read:
    return Read(tensor, (X,))


def together(*tensors: str) -> Expr:
    first, *others = map(of, tensors)
    total: Expr = first
    for other in others:
        total = Apply("add", (total, other))
    return total


def program(funcs: Mapping[str, tuple[str, ...]], directives: Iterable[str]) -> Program:
    """Funcs over x that add up what they read; directives as `g.fuse_at f x`."""
    return Program(
        (Label("x"), Label("k", True)),
        (Tensor("A"),),
        tuple(Func(name, ("x",), together(*read)) for name, read in funcs.items()),
        tuple(map(directive, directives)),
    )


def directive(text: str) -> Directive:
    word, *arguments = text.split()
    func, name = word.split(".")
    return Directive(func, name, tuple(map(Argument, arguments)))


def view(funcs: Mapping[str, tuple[str, ...]], *directives: str) -> View:
    built = program(funcs, directives)
    bound = bind(built.directives, DIRECTIVES)
    assert not bound.found
    return view_of(built, bound)


CHAIN = {"h": ("A",), "g": ("h",), "f": ("g",)}
DIAMOND = {"h": ("A",), "g1": ("h",), "g2": ("h",), "f": ("g1", "g2")}


def test_without_fusion_each_has_its_own() -> None:
    seen = view(CHAIN, "f.compile")
    assert {name: list(kernel.members) for name, kernel in seen.kernels.items()} == {
        "f": ["f"],
        "g": ["g"],
        "h": ["h"],
    }


def test_a_chain_of_fusions_has_one_host() -> None:
    seen = view(CHAIN, "h.fuse_at g x", "g.fuse_at f x", "f.compile")
    assert list(seen.kernels) == ["f"]
    assert seen.kernels["f"].members == ("f", "g", "h")
    assert seen.placement.hosts["h"] == ("f",)


def test_only_the_end_of_a_chain_fused() -> None:
    seen = view(CHAIN, "h.fuse_at g x", "f.compile")
    assert seen.placement.hosts == {"f": ("f",), "g": ("g",), "h": ("g",)}


def test_a_compiled_func_keeps_its_kernel() -> None:
    seen = view(CHAIN, "g.fuse_at f x", "g.compile", "f.compile")
    assert seen.placement.hosts["g"] == ("g", "f")
    assert seen.placement.hosts["h"] == ("h",)


def test_another_reader_keeps_a_kernel_alive() -> None:
    seen = view(DIAMOND, "h.fuse_at g1 x", "f.compile")
    assert seen.placement.hosts["h"] == ("h", "g1")


def test_a_kernel_for_each_reader() -> None:
    seen = view(DIAMOND, "h.fuse_at g1 x", "h.fuse_at g2 x", "f.compile")
    assert seen.placement.hosts["h"] == ("g1", "g2")


def test_a_reader_in_the_same_kernel_reads_it_there() -> None:
    seen = view(DIAMOND, "h.fuse_at f x", "g1.fuse_at f x", "g2.fuse_at f x", "f.compile")
    assert seen.placement.hosts["h"] == ("f",)
    seen = view(DIAMOND, "h.fuse_at f x", "g1.fuse_at f x", "f.compile")
    assert seen.placement.hosts["h"] == ("h", "f")


def test_a_reader_that_is_not_needed_does_not_count() -> None:
    seen = view({**DIAMOND, "u": ("h",)}, "h.fuse_at g1 x", "h.fuse_at g2 x", "f.compile")
    assert seen.placement.hosts["h"] == ("g1", "g2")
    assert "u" not in seen.needed
    assert "u" in seen.kernels


def test_nor_does_a_kernel_that_is_not_needed() -> None:
    funcs = {**CHAIN, "u": ("g",)}
    seen = view(funcs, "g.fuse_at f x", "g.fuse_at u x", "h.fuse_at f x", "f.compile")
    assert seen.placement.hosts["h"] == ("f",)


def test_with_nothing_compiled_all_are_needed() -> None:
    seen = view({**CHAIN, "u": ("h",)})
    assert seen.needed == {"f", "g", "h", "u"}
    seen = view(CHAIN, "g.fuse_at f x")
    assert set(seen.kernels) == {"f", "h"}


def test_inlined_funcs_pass_their_reads_on() -> None:
    seen = view(DIAMOND, "g1.inline", "g2.inline", "h.fuse_at f x", "f.compile")
    assert seen.placement.readers["h"] == ("f",)
    assert list(seen.kernels) == ["f"]
    assert seen.kernels["f"].members == ("f", "h")
    assert set(seen.kernels["f"].inlined) == {"g1", "g2"}
    assert seen.kernels["f"].inputs == {"A"}


def test_a_reduction_is_not_inlined() -> None:
    total = Func("total", ("x",), Reduce("rsum", Read("A", (X, K)), ("k",)))
    f = Func("f", ("x",), of("total"))
    labels = (Label("x"), Label("k", True))
    directives = (Directive("total", "inline"), Directive("f", "compile"))
    seen = view_of(
        built := Program(labels, (Tensor("A"),), (total, f), directives),
        bind(built.directives, DIRECTIVES),
    )
    assert set(seen.kernels) == {"total", "f"}
    assert seen.kernels["total"].labels == {"x": "total", "k": "total"}
    assert seen.own_labels("total") == ("x", "k")
    assert seen.partial_labels("total") == ("k",)


def test_labels_of_a_kernel_are_those_of_its_funcs_and_splits() -> None:
    built = program(CHAIN, ["h.fuse_at g x", "g.fuse_at f x", "f.compile"])
    split = Directive("f", "split", (Argument("x", Split("xi", 4)),))
    seen = view_of(built, bind((*built.directives, split), DIRECTIVES))
    assert seen.kernels["f"].labels == {"x": "f", "xi": "f"}
    assert seen.loops("h") == ("x", "xi")


@pytest.mark.parametrize(
    ("directives", "label", "extent"),
    [
        ((), "x", None),
        ((("block", Argument("x", 64)),), "x", 64),
        ((("split", Argument("x", Split("xi", 4))),), "xi", 4),
        ((("split", Argument("x", Split("xi", 4))),), "x", None),
        ((("block", Argument("x", 10)), ("split", Argument("x", Split("xi", 4)))), "x", 3),
    ],
)
def test_extents(
    directives: tuple[tuple[str, Argument], ...], label: str, extent: int | None
) -> None:
    built = program(CHAIN, ["f.compile"])
    more = [Directive("f", name, (argument,)) for name, argument in directives]
    assert view_of(built, bind(more, DIRECTIVES)).extent("f", label) == extent
