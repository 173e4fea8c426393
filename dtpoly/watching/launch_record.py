"""The launches that were watched, as data: what each parameter of a kernel was given, and the grid.

A record is a JSON file. It holds no element of a tensor, only where the tensor lies and how.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span

VERSION = 1
WAY = "record the launches again: with dtpoly.watch('record.json'): ..."


@dataclass(frozen=True, slots=True)
class WatchedTensor:
    """A tensor that a launch was given: its axes, and where its first element lies.

    Two tensors whose `storage` is the same number share one piece of memory. `address` counts bytes
    from the start of that piece.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    storage: int
    address: int


@dataclass(frozen=True, slots=True)
class WatchedWord:
    """A value that has a name instead of a number: a dtype of Triton, a text, or another thing."""

    kind: str
    text: str


Given = WatchedTensor | WatchedWord | bool | int | float | None


@dataclass(frozen=True, slots=True)
class WatchedLaunch:
    """One launch: the kernel's file and name, the grid, and what each parameter was given."""

    file: str
    name: str
    grid: tuple[int, ...]
    given: Mapping[str, Given]
    constants: tuple[str, ...]
    options: Mapping[str, int]
    # Names that the kernel takes from its module, and the words of Triton or numbers that they are.
    names: Mapping[str, str] = field(default_factory=dict[str, str])


def written(launches: Sequence[WatchedLaunch]) -> str:
    """Return the text of the file that keeps launches."""
    document = {"version": VERSION, "launches": [_launch_data(one) for one in launches]}
    return json.dumps(document, indent=1) + "\n"


def read_record(source: Source) -> tuple[WatchedLaunch, ...]:
    """Return the launches of a file. Raises DtpolyError if the file is no such record."""
    try:
        document = json.loads(source.text)
        if document["version"] != VERSION:
            raise _refused(source, f"its version is {document['version']}, and not {VERSION}")
        return tuple(_launch(one) for one in document["launches"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        said = f"no '{error.args[0]}'" if isinstance(error, KeyError) else str(error)
        raise _refused(source, said) from error


def _refused(source: Source, why: str) -> DtpolyError:
    span = Span(source, 0, min(len(source.text), 1))
    title = "this is no record of launches"
    return DtpolyError((Diagnostic("DT316", Severity.ERROR, title, span, why, hint=WAY),))


def _launch_data(one: WatchedLaunch) -> dict[str, Any]:
    return {
        "file": one.file,
        "name": one.name,
        "grid": list(one.grid),
        "given": {name: _given_data(value) for name, value in one.given.items()},
        "constants": list(one.constants),
        "options": dict(one.options),
        "names": dict(one.names),
    }


def _given_data(value: Given) -> Any:
    match value:
        case WatchedTensor():
            return {
                "tensor": value.dtype,
                "shape": list(value.shape),
                "strides": list(value.strides),
                "storage": value.storage,
                "address": value.address,
            }
        case WatchedWord():
            return {value.kind: value.text}
        case bool() | int() | None:
            return value
        case float():
            # JSON has no word for infinity, and Python's reader of numbers takes all of these.
            return {"float": repr(value)}


def _launch(data: Mapping[str, Any]) -> WatchedLaunch:
    return WatchedLaunch(
        file=_text(data["file"]),
        name=_text(data["name"]),
        grid=_numbers(data["grid"]),
        given={_text(name): _given(value) for name, value in data["given"].items()},
        constants=tuple(map(_text, data["constants"])),
        options={_text(name): _number(value) for name, value in data["options"].items()},
        names={_text(name): _text(value) for name, value in data["names"].items()},
    )


def _given(data: Any) -> Given:
    match data:
        case bool() | int() | None:
            return data
        case {"tensor": str() as dtype}:
            shape, strides = _numbers(data["shape"]), _numbers(data["strides"])
            if len(shape) != len(strides):
                raise ValueError("a tensor has as many strides as axes")
            return WatchedTensor(
                shape, strides, dtype, _number(data["storage"]), _number(data["address"])
            )
        case {"float": str() as text}:
            return float(text)
        case {**one} if len(one) == 1:
            kind, word = next(iter(one.items()))
            return WatchedWord(_text(kind), _text(word))
        case _:
            raise ValueError(f"'{data}' is nothing that a kernel is given")


def _number(data: Any) -> int:
    if not isinstance(data, int) or isinstance(data, bool):
        raise ValueError(f"'{data}' is no whole number")
    return data


def _numbers(data: Any) -> tuple[int, ...]:
    return tuple(map(_number, data))


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise ValueError(f"'{data}' is no text")
    return data
