"""Puts the launches of one kernel together that have one frame: the same tensors and branches.

Launches of a group differ in sizes alone. A number of a group is a row: what it is in each launch.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from keyword import iskeyword

from dtpoly.framing.pointer_uses import PointerUses
from dtpoly.frozen import dataclass
from dtpoly.watching.launch_record import Given, WatchedLaunch, WatchedTensor, WatchedWord

Row = tuple[int, ...]
POINTER = re.compile(r"^(?:p_|ptr_)|(?:_?ptrs?|_pointer|_p)$", re.IGNORECASE)
# Words that mean something in a line or in a file.
WORDS = (
    *("len", "any", "cdiv", "min", "max", "finite", "reach", "out", "inout", "tl", "In", "SIn"),
    *("Var", "RVar", "Func", "and", "or", "not", "inf", "nan", "next_power_of_2", "within"),
    *("distinct", "ascending", "partly", "where", "into", "cast", "reshape"),
)
LOADED, STORED, BOTH = "in", "out", "inout"
STRIDE = "stride"  # what the names of most strides have in them
LEAST_STRIDED = 3  # axes of a tensor whose strides are seen without such names
# The dtypes of torch, as the language writes them.
DTYPES = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "bool": "bool",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
}


@dataclass(frozen=True, slots=True)
class GroupTensor:
    """A tensor of all launches of a group, with the parameters that are given it."""

    name: str
    parameters: tuple[str, ...]
    dtype: str
    use: str
    # For each axis, its sizes and its strides in the launches.
    sizes: tuple[Row, ...]
    strides: tuple[Row, ...]
    # Whether its elements are parts of addresses or limits, or of addresses of stores; and whether
    # it is loaded in several places of the text, as an offset and the next one are.
    is_index: bool = False
    is_place: bool = False
    is_loaded_often: bool = False

    @property
    def is_dense(self) -> bool:
        """Return whether its elements lie side by side in the order of its axes."""
        inner = tuple(1 for _ in self.sizes[0]) if self.sizes else ()
        for sizes, strides in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if strides != inner:
                return False
            inner = times(inner, sizes)
        return True

    @property
    def is_near(self) -> bool:
        """Return whether 32 bits count to the last element in each launch."""
        counts = range(len(self.sizes[0]) if self.sizes else 0)
        return all(
            sum((sizes[at] - 1) * strides[at] for sizes, strides in self._axes) < 2**31 - 1
            for at in counts
        )

    @property
    def _axes(self) -> Iterator[tuple[Row, Row]]:
        return zip(self.sizes, self.strides, strict=True)


@dataclass(frozen=True, slots=True)
class LaunchGroup:
    """Launches of a kernel that differ in sizes alone."""

    name: str
    count: int
    grid: tuple[Row, ...]
    tensors: tuple[GroupTensor, ...]
    # Whole numbers by parameter, and what other parameters are given.
    numbers: Mapping[str, Row]
    fixed: Mapping[str, Given]
    parameters: tuple[str, ...]
    constants: tuple[str, ...]
    # Pairs of tensors that share memory without being one tensor.
    shared: tuple[tuple[str, str], ...] = ()
    # The numbers of an algorithm that parameters are; without an algorithm there are none.
    scalars: Mapping[str, str] | None = None
    # The parameters that are given several floats.
    varying: frozenset[str] = frozenset()
    # Those that are now given a float and now a whole number.
    mixed: frozenset[str] = frozenset()
    # The parameters that the kernel never reads.
    unread: frozenset[str] = frozenset()
    # The parameters that are numbers of lanes of a tile, which are powers of 2.
    tiled: frozenset[str] = frozenset()
    # Numbers that are the strides of a tensor, one after the other, in all launches; with its name.
    strided: Mapping[str, str] = field(default_factory=dict[str, str])
    # What names of the module were while these launches ran.
    names: Mapping[str, str] = field(default_factory=dict[str, str])

    def tensor_of(self, parameter: str) -> GroupTensor | None:
        """Return the tensor that a parameter is given."""
        return next((one for one in self.tensors if parameter in one.parameters), None)

    def is_stride(self, parameter: str) -> bool:
        """Return whether a number seems to be a stride, by its name or by those beside it."""
        return STRIDE in parameter.lower() or parameter in self.strided


def times(one: Row, other: Row) -> Row:
    """Return the products of two rows."""
    return tuple(left * right for left, right in zip(one, other, strict=True))


def grouped(
    launches: Iterable[WatchedLaunch], uses: Callable[[Mapping[str, object]], PointerUses]
) -> tuple[LaunchGroup, ...]:
    """Return the groups of launches of one kernel; `uses` says what is loaded and stored.

    A number that is a constant for Triton may be one for tuning or one that follows from sizes;
    which of them it is can only be seen of launches together, so it separates none here.
    """
    together: dict[object, list[WatchedLaunch]] = {}
    for one in launches:
        found = together.setdefault(_kind(one), [])
        if not any(_same(one, other) for other in found):
            found.append(one)
    return tuple(_group(found, uses) for found in together.values())


def split_by(
    launches: Sequence[WatchedLaunch], parameters: Sequence[str]
) -> tuple[tuple[WatchedLaunch, ...], ...]:
    """Return the launches apart by what some parameters are given."""
    parts: dict[object, list[WatchedLaunch]] = {}
    for one in launches:
        parts.setdefault(tuple(repr(one.given[name]) for name in parameters), []).append(one)
    return tuple(map(tuple, parts.values()))


def name_of(parameter: str) -> str:
    """Return the name of the tensor that a pointer points to."""
    return POINTER.sub("", parameter) or parameter


def _same(one: WatchedLaunch, other: WatchedLaunch) -> bool:
    """Return whether two launches say the same.

    In which memory their tensors lie says nothing, but which of them share it does.
    """
    if one.grid != other.grid or one.given.keys() != other.given.keys():
        return False
    if _shared(one, _tensors_of(one)) != _shared(other, _tensors_of(other)):
        return False
    return all(_plain(value) == _plain(other.given[name]) for name, value in one.given.items())


def _plain(value: Given) -> object:
    if isinstance(value, WatchedTensor):
        return value.shape, value.strides, value.dtype
    return type(value), value


def _kind(launch: WatchedLaunch) -> object:
    """Return what launches of one group have in common."""
    kinds: list[object] = [len(launch.grid), tuple(sorted(launch.names.items()))]
    for name, value in launch.given.items():
        match value:
            case WatchedTensor():
                kinds.append((value.dtype, len(value.shape), _first_alike(launch, name)))
            case bool() | None | WatchedWord():
                kinds.append(value)
            case int() | float():
                kinds.append("number")
    return tuple(kinds)


def _first_alike(launch: WatchedLaunch, name: str) -> str:
    """Return the first parameter that is given the same tensor."""
    value = launch.given[name]
    assert isinstance(value, WatchedTensor)
    alike = (
        other
        for other, one in launch.given.items()
        if isinstance(one, WatchedTensor) and (other == name or _is_one(one, value))
    )
    return next(alike, name)


def _is_one(one: WatchedTensor, other: WatchedTensor) -> bool:
    """Return whether two tensors are one; tensors without memory are not."""
    return one == other and one.storage >= 0


def _group(
    launches: Sequence[WatchedLaunch], uses: Callable[[Mapping[str, object]], PointerUses]
) -> LaunchGroup:
    first = launches[0]
    parameters = tuple(first.given)
    numbers: dict[str, Row] = {}
    fixed: dict[str, Given] = {}
    varying: set[str] = set()
    mixed: set[str] = set()
    for name in parameters:
        values = [one.given[name] for one in launches]
        if isinstance(values[0], WatchedTensor):
            continue
        whole = [one for one in values if isinstance(one, int) and not isinstance(one, bool)]
        if len(whole) == len(values):
            numbers[name] = tuple(whole)
        else:
            # A number that is now whole and now a float is a float.
            fixed[name] = next((one for one in values if isinstance(one, float)), values[0])
            if len(set(map(repr, values))) > 1:
                varying.add(name)
            if len(set(map(type, values))) > 1:
                mixed.add(name)
    known = {name: row[0] for name, row in numbers.items() if len(set(row)) == 1}
    tensors = _tensors_of(first)
    # A tensor is not None, whatever else it is.
    found = uses({**known, **_constants(fixed), **dict.fromkeys(tensors, TENSOR)})
    made = _tensors(launches, tensors, found)
    return LaunchGroup(
        name=first.name,
        count=len(launches),
        grid=tuple(zip(*(one.grid for one in launches), strict=True)),
        tensors=made,
        numbers=numbers,
        fixed=fixed,
        parameters=parameters,
        constants=first.constants,
        names=first.names,
        unread=frozenset(parameters) - found.read if found.read else frozenset[str](),
        tiled=frozenset(found.tiled),
        varying=frozenset(varying),
        mixed=frozenset(mixed),
        strided=_strided(parameters, numbers, made),
        shared=tuple(dict.fromkeys(pair for one in launches for pair in _shared(one, tensors))),
    )


def _strided(
    parameters: Sequence[str], numbers: Mapping[str, Row], tensors: Iterable[GroupTensor]
) -> dict[str, str]:
    """Return which parameters are all strides of a tensor, in its order and side by side.

    The last one may be left out where it is 1. Of few axes, that may be a coincidence. Of tensors
    with the same strides, the one that is passed first has the first of such rows of parameters.
    """
    found: dict[str, str] = {}
    for one in tensors:
        if len(one.strides) < LEAST_STRIDED:
            continue
        is_last_one = set(one.strides[-1]) == {1}
        for rows in (one.strides, *([one.strides[:-1]] if is_last_one else [])):
            places = (
                parameters[at : at + len(rows)] for at in range(len(parameters) - len(rows) + 1)
            )
            fitting = [some for some in places if tuple(map(numbers.get, some)) == rows]
            free = [some for some in fitting if found.keys().isdisjoint(some)]
            for some in free[:1]:
                found |= dict.fromkeys(some, one.name)
            if fitting:
                break
    return found


TENSOR = object()


def _constants(fixed: Mapping[str, Given]) -> dict[str, object]:
    return {
        name: value for name, value in fixed.items() if value is None or isinstance(value, bool)
    }


def _tensors(
    launches: Sequence[WatchedLaunch], parameters: Sequence[str], uses: PointerUses
) -> tuple[GroupTensor, ...]:
    first = launches[0]
    alike: dict[str, list[str]] = {}
    for name in parameters:
        alike.setdefault(_first_alike(first, name), []).append(name)
    names = _tensor_names(alike, uses)
    found: list[GroupTensor] = []
    for lead, same in alike.items():
        given = [one.given[lead] for one in launches]
        tensors = [one for one in given if isinstance(one, WatchedTensor)]
        is_loaded = not uses.loaded.isdisjoint(same)
        is_stored = not uses.stored.isdisjoint(same)
        use = LOADED if not is_stored else BOTH if is_loaded else STORED
        sizes = zip(*(one.shape for one in tensors), strict=True)
        strides = zip(*(one.strides for one in tensors), strict=True)
        dtype = DTYPES.get(tensors[0].dtype, tensors[0].dtype)
        found.append(
            GroupTensor(
                names[lead],
                tuple(same),
                dtype,
                use,
                tuple(sizes),
                tuple(strides),
                is_index=not uses.indexing.isdisjoint(same),
                is_place=not uses.placing.isdisjoint(same),
                is_loaded_often=not uses.often.isdisjoint(same),
            )
        )
    return tuple(found)


def _tensor_names(alike: Mapping[str, Sequence[str]], uses: PointerUses) -> dict[str, str]:
    """Return the names of tensors: that of the parameter that is stored, if there are several."""
    names: dict[str, str] = {}
    for lead, same in alike.items():
        stored = [one for one in same if one in uses.stored]
        name = name_of((stored or list(same))[0])
        while name in names.values() or name in WORDS or iskeyword(name) or not name.isidentifier():
            name = f"{name}_"
        names[lead] = name
    return names


def _tensors_of(launch: WatchedLaunch) -> list[str]:
    """Return the parameters that are given tensors."""
    return [name for name, value in launch.given.items() if isinstance(value, WatchedTensor)]


def _shared(launch: WatchedLaunch, parameters: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of tensors that lie in one memory, and are not one tensor."""
    found: list[tuple[str, str]] = []
    for at, name in enumerate(parameters):
        for other in parameters[at + 1 :]:
            one, two = launch.given[name], launch.given[other]
            if isinstance(one, WatchedTensor) and isinstance(two, WatchedTensor):
                is_apart = one.storage != two.storage or one.storage < 0
                if not is_apart and not _is_one(one, two):
                    found.append((name, other))
    return tuple(found)
