"""Makes a dataclass of a class with fields, in a fraction of the usual time.

The standard decorator compiles up to six functions for each class: of the time in which a file is
compiled that was a fifth. Here none is: an `__init__` is that of a class with as many fields, with
other names in it; the other functions are closures over the names. What comes out is a dataclass:
`fields`, `replace`, `match`, `copy` and `pickle` work on it, and to a type checker it is the
standard decorator. Options besides `frozen`, `slots` and `eq` are for the standard one.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(of: type | None = None, /, **options: bool) -> Any:
        """Stand in for the standard decorator: with the usual options, classes are made here."""

        def made(cls: type) -> type:
            if options.keys() <= {"frozen", "slots", "eq"}:
                return _made(cls, **options)
            return dataclasses.dataclass(cls, **options)

        return made if of is None else made(of)


Field = dataclasses.Field[Any]
SELF = "__self__"  # which no field is called


@cache
def _model(frozen: bool, slots: bool, eq: bool) -> Any:
    """Return an empty dataclass, from which the marks of the standard decorator are copied."""
    standard: Any = dataclasses.dataclass
    return standard(type("Model", (), {}), frozen=frozen, slots=slots, eq=eq)


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _ModelOfField:
    """And what it marks fields with."""

    name: int


def _made(cls: type, frozen: bool = False, slots: bool = False, eq: bool = True) -> type:
    own = _own_fields(cls)
    inherited: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= getattr(base, "__dataclass_fields__", {})
    fields = [*{**inherited, **own}.values()]
    made: dict[str, Any] = {
        "__dataclass_fields__": {one.name: one for one in fields},
        "__dataclass_params__": _model(frozen, slots, eq).__dataclass_params__,
        "__match_args__": tuple(one.name for one in fields if one.init and not one.kw_only),
        "__init__": _init(fields, hasattr(cls, "__post_init__")),
        "__repr__": _repr([one.name for one in fields if one.repr]),
    }
    if eq:
        made |= _equality([one.name for one in fields if one.compare])
        made["__hash__"] = made["__hash__"] if frozen else None
    members = {
        name: member
        for name, member in vars(cls).items()
        if name not in own and name not in {"__dict__", "__weakref__"}
    }
    if eq and members.get("__hash__", cls) is None:
        del members["__hash__"]  # Python's, of a class that says what is equal
    made |= members
    if frozen:
        made |= {"__setattr__": _refused_to_set, "__delattr__": _refused_to_delete}
    if slots:
        if frozen:
            made = {**_state([one.name for one in fields]), **made}
        made["__slots__"] = tuple(name for name in own if name not in inherited)
        return _like(cls, made)
    defaults = {one.name: one.default for one in own.values() if one.default is not MISSING}
    for name in own.keys() & vars(cls).keys() - defaults.keys():
        delattr(cls, name)
    for name, member in {**defaults, **made}.items():
        if vars(cls).get(name, MISSING) is not member:
            setattr(cls, name, member)
    return cls


def _like(cls: type, members: dict[str, Any]) -> type:
    """Make another class like this one, since a class cannot be given slots."""
    new = type(cls)(cls.__name__, cls.__bases__, members)
    new.__qualname__ = cls.__qualname__
    return new


def _own_fields(cls: type) -> dict[str, Field]:
    found: dict[str, Field] = {}
    kind = vars(_ModelOfField)["__dataclass_fields__"]["name"]._field_type
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if _is_of_class(annotation):
            continue
        given: Any = vars(cls).get(name, MISSING)
        one: Any = given
        if type(given) is not dataclasses.Field:
            one = field(default=given)
        one.name, one.type, one._field_type = name, annotation, kind
        one.kw_only = one.kw_only is True
        found[name] = one
    return found


def _is_of_class(annotation: object) -> bool:
    if isinstance(annotation, str):
        return "ClassVar" in annotation
    return annotation is ClassVar or getattr(annotation, "__origin__", None) is ClassVar


def _init(fields: Sequence[Field], is_checked: bool) -> Callable[..., None]:
    """Fields are taken as the standard decorator takes them: in order, those by keyword last."""
    set_here = [one for one in fields if one.init or one.default is not MISSING]
    code = _template(tuple(_way(one) for one in set_here), is_checked)
    names = {f"name{at}": one.name for at, one in enumerate(set_here)}
    code = code.replace(
        co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        co_consts=tuple(names.get(const, const) for const in code.co_consts),
    )
    known: dict[str, Any] = {"set_field": object.__setattr__, "missing": MISSING}
    for at, one in enumerate(set_here):
        known[f"fixed{at}"] = one.default
        known[f"make{at}"] = one.default_factory
    taken = [one for one in set_here if one.init]
    # What a factory makes is missing until it is made.
    optional = [one for one in taken if one.default is not MISSING or _is_made(one)]
    in_order = [one for one in taken if not one.kw_only]
    defaults = tuple(one.default for one in optional if not one.kw_only)
    if any(one in optional for one in in_order[: len(in_order) - len(defaults)]):
        raise TypeError("a field without a default follows one that has one")
    made = FunctionType(code, known, "__init__", defaults)
    made.__kwdefaults__ = {one.name: one.default for one in optional if one.kw_only}
    return made


def _is_made(one: Field) -> bool:
    return one.default_factory is not MISSING


def _way(one: Field) -> str:
    """Return how a field gets its value."""
    if not one.init:
        return "fixed"
    return ("last" if one.kw_only else "taken") + (" or made" if _is_made(one) else "")


@cache
def _template(ways: tuple[str, ...], is_checked: bool) -> CodeType:
    """Return the code of an `__init__`, with numbers in its fields' names."""
    taken: dict[bool, list[str]] = {False: [SELF], True: ["*"]}
    lines: list[str] = []
    for at, way in enumerate(ways):
        value = f"name{at}"
        if way == "fixed":
            value = f"fixed{at}"
        else:
            taken[way.startswith("last")].append(value)
        if way.endswith("made"):
            value = f"make{at}() if {value} is missing else {value}"
        lines.append(f" set_field({SELF}, 'name{at}', {value})")
    arguments = [*taken[False], *(taken[True] if len(taken[True]) > 1 else [])]
    checked = f" {SELF}.__post_init__()" if is_checked else " return None"
    known: dict[str, Any] = {}
    exec("\n".join([f"def __init__({', '.join(arguments)}):", *lines, checked]), known)
    code: CodeType = known["__init__"].__code__
    return code


def _repr(names: Sequence[str]) -> Callable[[object], str]:
    values = _values_of(names)

    def shown(self: object) -> str:
        pairs = zip(names, values(self), strict=True)
        said = ", ".join([f"{name}={value!r}" for name, value in pairs])
        return f"{type(self).__qualname__}({said})"

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
    """Return how `copy` and `pickle` take it apart and put it together."""
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
