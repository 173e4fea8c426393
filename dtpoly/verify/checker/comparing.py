"""Compare a part of a certificate with what it should be, and describe the differences in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import cast

ONE = {
    "sets": "set",
    "obligations": "obligation",
    "inhabited": "set with a point",
    "assumptions": "assumption",
    "licences": "licence",
}
MOST_SHOWN = 160


def differences(said: Mapping[str, object], found: Mapping[str, object]) -> Iterator[str]:
    """Yield for each key how two objects of JSON differ; of a list only the first difference."""
    for key in dict.fromkeys((*found, *said)):
        if key not in said:
            yield f"'{key}' is missing"
        elif key not in found:
            yield f"'{key}' should not be there"
        elif _text(said[key]) != _text(found[key]):
            yield _difference(key, said[key], found[key])


def _difference(key: str, said: object, found: object) -> str:
    if key in ONE:
        for at, (one, other) in enumerate(zip_longest(_parts(said), _parts(found))):
            if _text(one) != _text(other):
                return f"{ONE[key]} {at} is {_shown(one)}, and should be {_shown(other)}"
    return f"'{key}' is {_shown(said)}, and should be {_shown(found)}"


def _parts(of: object) -> list[object]:
    return cast(list[object], of) if isinstance(of, list) else []


def _text(value: object) -> str:
    """Return the value as JSON text: there `true` is not 1, and the order of keys is ignored."""
    return json.dumps(value, sort_keys=True)


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    text = json.dumps(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
