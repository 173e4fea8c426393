"""What the decorator of this house makes is what the standard one makes."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dtpoly import frozen

FROZEN = {"frozen": True, "slots": True}


class Base:
    """What has no fields."""

    count: ClassVar[int] = 3
    left: int
    right: tuple[int, ...] = ()
    place: int | None = field(default=None, compare=False, repr=False)
    kind: str = field(default="kind", init=False)
    last: int = field(default=7, kw_only=True)

    def total(self) -> int:
        return self.left + sum(self.right)


class Child:
    """Adds to what it inherits."""

    more: str = "more"


def classes(decorate: Any, **options: bool) -> tuple[Any, Any]:
    """The same two classes, one made from the other, by a decorator."""
    base = decorate(**FROZEN, **options)(type("Base", (), dict(Base.__dict__)))
    members = {**Child.__dict__, "__qualname__": "Child"}
    return base, decorate(**FROZEN, **options)(type("Child", (base,), members))


OURS = classes(frozen.dataclass)
THEIRS = classes(dataclass)
WITHOUT_EQ = classes(frozen.dataclass, eq=False), classes(dataclass, eq=False)


@frozen.dataclass(frozen=True, slots=True)
class Kept:
    """Pickle looks for it by name."""

    left: int
    right: str = "right"


@frozen.dataclass(frozen=True, slots=True)
class Checked:
    """Refuses what is below 0."""

    value: float

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("below 0")


@frozen.dataclass(frozen=True, slots=True)
class Empty:
    """Has no fields."""


numbers = some.integers(-2, 2)
arguments = some.fixed_dictionaries(
    {"left": numbers},
    optional={
        "right": some.lists(numbers, max_size=2).map(tuple),
        "place": numbers,
        "last": numbers,
        "more": some.text(max_size=1),
    },
)


@given(arguments, arguments)
def test_equality_hash_and_words(first: dict[str, Any], second: dict[str, Any]) -> None:
    ours, theirs = [[cls(**one) for one in (first, second)] for cls in (OURS[1], THEIRS[1])]
    assert (ours[0] == ours[1]) is (theirs[0] == theirs[1])
    assert (ours[0] != ours[1]) is (theirs[0] != theirs[1])
    assert hash(ours[0]) == hash(theirs[0])
    assert repr(ours[0]) == repr(theirs[0])
    assert ours[0].total() == theirs[0].total()
    assert replace(ours[0], left=5) == OURS[1](**{**first, "left": 5})


@pytest.mark.parametrize("at", [0, 1])
def test_fields_and_the_order_of_arguments(at: int) -> None:
    ours, theirs = OURS[at], THEIRS[at]
    assert [
        (f.name, f.type, f.default, f.init, f.compare, f.repr, f.kw_only) for f in fields(ours)
    ] == [(f.name, f.type, f.default, f.init, f.compare, f.repr, f.kw_only) for f in fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert (ours.count, ours.__doc__) == (theirs.count, theirs.__doc__)
    assert ours(1, (2,), 3, last=4) == ours(left=1, right=(2,), place=9, last=4)
    for wrong in ({}, {"left": 1, "kind": "other"}, {"left": 1, "unknown": 1}):
        with pytest.raises(TypeError):
            ours(**wrong)
        with pytest.raises(TypeError):
            theirs(**wrong)
    with pytest.raises(TypeError):
        ours(1, (2,), 3, "more", 4)


def test_classes_are_not_equal_to_each_other() -> None:
    base, child = OURS
    assert base(1) != child(1)
    assert base(1) != THEIRS[0](1)
    assert base(1) != (1, ())


@pytest.mark.parametrize("made", [classes[0] for classes in WITHOUT_EQ])
def test_without_equality_each_is_itself(made: Any) -> None:
    one = made(1)
    assert one == one
    assert one != made(1)
    assert len({one, made(1)}) == 2


def test_nothing_is_set_or_deleted() -> None:
    one: Any = OURS[1](1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'left'"):
        one.left = 2
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'new'"):
        one.new = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'left'"):
        del one.left
    assert not hasattr(one, "__dict__")


def test_copies_and_pickles() -> None:
    one = Kept(1)
    assert copy.copy(one) == one == copy.deepcopy(one)
    assert pickle.loads(pickle.dumps(one)) == one
    assert pickle.loads(pickle.dumps(Empty())) == Empty()
    assert dataclasses.asdict(one) == {"left": 1, "right": "right"}
    assert dataclasses.is_dataclass(one)


def test_it_is_checked_after_it_is_made() -> None:
    assert Checked(1).value == 1
    with pytest.raises(ValueError, match="below 0"):
        Checked(-1)
    not_a_number = float("nan")
    assert Checked(not_a_number) == Checked(not_a_number)  # as tuples, by identity first


def test_a_pattern_takes_it_apart() -> None:
    match Kept(1, "two"):
        case Kept(left, right=right):
            assert (left, right) == (1, "two")


def test_what_it_does_not_make_the_standard_one_makes() -> None:
    @frozen.dataclass
    class Open:
        values: list[int] = field(default_factory=list[int])

    @frozen.dataclass(frozen=True, slots=True)
    class Made:
        values: list[int] = field(default_factory=list[int])

    one = Open()
    one.values = [1]
    assert Open() != one
    assert Made().values == []
