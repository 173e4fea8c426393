"""A class of fields in, a frozen dataclass with slots out, made in a fraction of the usual time.

The standard decorator compiles six functions for each class: of the time in which a file is
compiled that was a fifth. Here only `__init__` is; the others are closures over the names of the
fields. What comes out is a dataclass: `fields`, `replace`, `match`, `copy` and `pickle` work on it,
and to a type checker it is the standard decorator. Whatever is not asked for as
`frozen=True, slots=True` the standard one makes.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(of: type | None = None, /, **options: bool) -> Any:
        """The standard decorator; frozen classes with slots are made here."""

        def made(cls: type) -> type:
            frozen = {"frozen": True, "slots": True}
            is_plain = options in (frozen, {**frozen, "eq": False})
            if not is_plain or _has_factories(cls):
                return dataclasses.dataclass(cls, **options)
            return _frozen(cls, options.get("eq", True))

        return made if of is None else made(of)


@dataclasses.dataclass(frozen=True, slots=True)
class _Model:
    """What the standard decorator marks classes and fields with is copied from here."""

    name: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _ModelOfIdentity:
    name: int


Field = dataclasses.Field[Any]


def _frozen(cls: type, eq: bool) -> type:
    own = _own_fields(cls)
    inherited: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= getattr(base, "__dataclass_fields__", {})
    fields = [*{**inherited, **own}.values()]
    made: dict[str, Any] = {
        "__dataclass_fields__": {one.name: one for one in fields},
        "__dataclass_params__": vars(_Model if eq else _ModelOfIdentity)["__dataclass_params__"],
        "__match_args__": tuple(one.name for one in fields if one.init and not one.kw_only),
        "__init__": _init(fields, hasattr(cls, "__post_init__")),
        "__repr__": _repr([one.name for one in fields if one.repr]),
        **_state([one.name for one in fields]),
        **(_equality([one.name for one in fields if one.compare]) if eq else {}),
    }
    members = {
        name: member
        for name, member in vars(cls).items()
        if name not in own and name not in {"__dict__", "__weakref__"}
    }
    if eq and members.get("__hash__", cls) is None:
        del members["__hash__"]  # Python's, of a class that says what is equal
    slots = {
        "__slots__": tuple(name for name in own if name not in inherited),
        "__setattr__": _refused_to_set,
        "__delattr__": _refused_to_delete,
    }
    new = type(cls)(cls.__name__, cls.__bases__, {**made, **members, **slots})
    new.__qualname__ = cls.__qualname__
    return new


def _has_factories(cls: type) -> bool:
    given: list[Field] = [one for one in vars(cls).values() if isinstance(one, dataclasses.Field)]
    return any(
        one.default_factory is not MISSING or not (one.init or one.default is not MISSING)
        for one in given
    )


def _own_fields(cls: type) -> dict[str, Field]:
    found: dict[str, Field] = {}
    kind = vars(_Model)["__dataclass_fields__"]["name"]._field_type
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if "ClassVar" in str(annotation):
            continue
        given: Any = vars(cls).get(name, MISSING)
        one: Any = given
        if type(given) is not dataclasses.Field:
            one = field(default=given)
        one.name, one.type, one._field_type = name, annotation, kind
        one.kw_only = one.kw_only is True
        found[name] = one
    return found


def _init(fields: Sequence[Field], is_checked: bool) -> Callable[..., None]:
    """Fields are taken as the standard decorator takes them: in order, those by keyword last."""
    known: dict[str, Any] = {"set_field": object.__setattr__}
    taken: dict[bool, list[str]] = {False: ["self"], True: ["*"]}
    lines: list[str] = []
    for one in fields:
        value = one.name
        if one.default is not MISSING:
            known[f"default_{value}"] = one.default
        if one.init:
            has_default = one.default is not MISSING
            taken[bool(one.kw_only)].append(f"{value}=default_{value}" if has_default else value)
        else:
            value = f"default_{value}"
        lines.append(f" set_field(self, {one.name!r}, {value})")
    arguments = [*taken[False], *(taken[True] if len(taken[True]) > 1 else [])]
    checked = " self.__post_init__()" if is_checked else " return None"
    exec("\n".join([f"def __init__({', '.join(arguments)}):", *lines, checked]), known)
    made: Callable[..., None] = known["__init__"]
    return made


def _repr(names: Sequence[str]) -> Callable[[object], str]:
    def shown(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return shown


def _values_of(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    match names:
        case []:
            return lambda _: ()
        case [name]:
            return lambda one: (getattr(one, name),)
        case _:
            return attrgetter(*names)


def _equality(names: Sequence[str]) -> Mapping[str, Callable[..., Any]]:
    values = _values_of(names)

    def equal(self: object, other: object) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed}


def _state(names: Sequence[str]) -> Mapping[str, Callable[..., Any]]:
    """How `copy` and `pickle` take it apart and put it together."""
    values_of = _values_of(names)

    def state(self: object) -> tuple[object, ...]:
        return values_of(self)

    def restore(self: object, values: tuple[object, ...]) -> None:
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": state, "__setstate__": restore}


def _refused_to_set(_: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refused_to_delete(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
