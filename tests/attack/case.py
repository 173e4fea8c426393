"""Defines a case: a kernel with its file's lines, the tensors that it gets, and calls to make."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

TORCH = {
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
}


@dataclass(frozen=True)
class Given:
    """A tensor that a kernel gets: its type, its labels, and how it lies in memory."""

    name: str
    dtype: str
    labels: tuple[str, ...]
    is_output: bool
    # The number of elements between two lines beyond those that must be there; 0: it is contiguous.
    gap: int = 0
    # The values of an output before the launch: `nothing` (a nan, or a number that is easy to see),
    # `zero`, or `values`.
    before: str = "nothing"


@dataclass(frozen=True)
class Call:
    """Sizes of labels, the seed of the values, and the kind of the inputs' values (see inputs)."""

    sizes: Mapping[str, int]
    seed: int
    values: str


@dataclass(frozen=True)
class Case:
    """A file with `# verify:` lines, the algorithm that declares its tensors, and calls."""

    text: str
    algorithm: str
    tensors: tuple[Given, ...]
    scalars: Mapping[str, float]
    calls: tuple[Call, ...]
    # Words that say what the case contains, for counting.
    features: tuple[str, ...] = ()
    # The type of floats that whole numbers are brought to: in a kernel with f64, all floats are
    # f64.
    wide: str = "f32"

    def shown(self) -> str:
        """Return the case as text that a person can read, and that makes the case again."""
        data = asdict(self)
        rest = {key: value for key, value in data.items() if key not in ("text", "algorithm")}
        parts = ("# algorithm", self.algorithm, "# kernel", self.text, "# calls", json.dumps(rest))
        return "\n".join(parts)


def case_of(data: Mapping[str, Any]) -> Case:
    """Read a case from the result of `dataclasses.asdict`, as JSON keeps it."""
    tensors = tuple(_given(one) for one in data["tensors"])
    calls = tuple(Call(**one) for one in data["calls"])
    return Case(
        data["text"],
        data["algorithm"],
        tensors,
        data["scalars"],
        calls,
        tuple(data.get("features", ())),
        data.get("wide", "f32"),
    )


def _given(data: Mapping[str, Any]) -> Given:
    known = dict(data)
    return Given(labels=tuple(known.pop("labels")), **known)
