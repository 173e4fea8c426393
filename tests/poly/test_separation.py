"""Tests how far apart the ends of a dependence are, against counting at small sizes."""

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.separation import Distance
from dtpoly.schedule.kept_dependences import separated
from dtpoly.schedule.legality import judge
from tests.schedule.told import SUM, TWO, TWO_PRODUCTS, read


def along(text: str, kind: DependenceKind, target: str) -> dict[str, str]:
    """The distances of the one dependence of a kind on a statement."""
    state = judge(read(text), DIRECTIVES).scheduled
    found = [
        one
        for one in separated(state)
        if one.dependence.kind is kind and one.dependence.target == target
    ]
    return {distance.label: str(distance) for distance in found[-1].distances}


def test_steps_of_a_reduction() -> None:
    steps = DependenceKind.REDUCTION
    assert along(SUM, steps, "total.k.update") == {"x": "0", "k": "1 or more"}
    tiled = SUM + "total.tensorize(k:8);"
    assert along(tiled, steps, "total.k.update") == {"x": "0", "k": "0 or more"}
    parts = SUM + "total.block(k:32, x:16); total.tensorize(x:0, k:8);"
    assert along(parts, steps, "total.k.part.update") == {"k": "0 to 3"}


def test_distances_count_steps_not_indices() -> None:
    text = SUM + "total.block(k:32); total.split(k:ki/8);"
    found = along(text, DependenceKind.REDUCTION, "total.k.part.update")
    assert found == {"x": "0", "k": "0 to 3", "ki": "-7 to 7"}


def test_a_copy_is_in_the_same_iteration_as_its_reader() -> None:
    text = TWO + "g.fuse_at(f, y); f.tensorize(y:4);"
    assert along(text, DependenceKind.FLOW, "f") == {"x": "0", "y": "0"}


def test_kernels_are_apart() -> None:
    state = judge(read(TWO), DIRECTIVES).scheduled
    (one,) = separated(state)
    assert (one.is_one_kernel, one.distances, one.carriers) == (False, (), ())


def test_programs_that_share_a_result() -> None:
    state = judge(read(SUM + "total.block(k:32); total.atomic(k);"), DIRECTIVES).scheduled
    apart = [one for one in separated(state) if not one.is_one_program]
    assert [str(one.dependence.kind) for one in apart] == ["reduction"]


def test_loops_that_carry() -> None:
    state = judge(read(TWO_PRODUCTS), DIRECTIVES).scheduled
    carried = {(one.dependence.kind, axis) for one in separated(state) for axis in one.carriers}
    assert carried == {
        (DependenceKind.REDUCTION, "mm.k"),
        (DependenceKind.REDUCTION, "_2mm.l"),
    }


def test_in_words() -> None:
    words = {
        (0, 0): "0",
        (1, 3): "1 to 3",
        (2, None): "2 or more",
        (None, -1): "-1 or less",
        (None, None): "any",
    }
    for (least, most), text in words.items():
        one = Distance("f.x", "x", least, most)
        assert str(one) == text
        assert one.is_zero == (text == "0")
