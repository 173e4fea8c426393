"""Tests that our decorator makes the same classes as the standard one."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dtpoly import frozen

FROZEN = {"frozen": True, "slots": True}


class Base:
    """A class without fields."""

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


@pytest.mark.long
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


class Kinds:
    """Fields of every kind."""

    self: int
    count: "ClassVar[int]" = 3
    values: list[int] = field(default_factory=list[int])
    kind: str = field(default="kind", init=False)
    length: int = field(init=False, repr=False)
    last: dict[str, int] = field(default_factory=dict[str, int], kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.values))


def kinds(decorate: Any, options: dict[str, bool]) -> Any:
    """That class, made by a decorator."""
    own = {"__dict__", "__weakref__"}
    members = {name: member for name, member in vars(Kinds).items() if name not in own}
    return decorate(**options)(type("Kinds", (), members))


ALL = [
    {"frozen": is_frozen, "slots": has_slots, "eq": has_eq}
    for is_frozen in (False, True)
    for has_slots in (False, True)
    for has_eq in (False, True)
]


@pytest.mark.parametrize("options", ALL, ids=str)
def test_with_every_choice_of_options_it_is_the_standard_one(options: dict[str, bool]) -> None:
    ours: Any = kinds(frozen.dataclass, options)
    theirs: Any = kinds(dataclass, options)
    for one, other in ((ours(1), theirs(1)), (ours(1, [2], last={"a": 1}), theirs(1, [2]))):
        assert (one.self, one.values, one.length) == (1, other.values, other.length)
        assert repr(one).partition("last")[0] == repr(other).partition("last")[0]
        assert hasattr(one, "__dict__") is hasattr(other, "__dict__")
    assert ours(1).values is not ours(1).values
    assert (ours(1) == ours(1)) is (theirs(1) == theirs(1))
    assert (ours.__hash__ is None) is (theirs.__hash__ is None)
    assert {*vars(ours)} - {*vars(theirs)} <= {"__annotations__"}
    assert {one: ours.__dict__.get(one) for one in ("count", "__match_args__", "__doc__")} == {
        one: theirs.__dict__.get(one) for one in ("count", "__match_args__", "__doc__")
    }
    assert repr(ours.__dataclass_params__) == repr(theirs.__dataclass_params__)
    for made in (ours(1), theirs(1)):
        if options["frozen"]:
            with pytest.raises(FrozenInstanceError):
                made.kind = "other"
        else:
            made.kind = "other"
            assert made.kind == "other"


def test_a_frozen_class_without_slots_keeps_what_it_finds_out() -> None:
    @frozen.dataclass(frozen=True)
    class Long:
        values: tuple[int, ...] = ()

        @cached_property
        def total(self) -> int:
            return sum(self.values)

    one = Long((1, 2))
    assert (one.total, vars(one)) == (3, {"values": (1, 2), "total": 3})
    assert Long.values == ()


def test_a_default_before_a_field_without_one_is_refused() -> None:
    members = {"__annotations__": {"left": int, "right": int}, "left": 1}
    both: list[Any] = [frozen.dataclass, dataclass]
    for decorate in both:
        with pytest.raises(TypeError):
            decorate(type("Wrong", (), dict(members)))


def test_other_options_are_for_the_standard_one() -> None:
    @frozen.dataclass(order=True)
    class Ordered:
        value: int

    assert Ordered(1) < Ordered(2)
