"""One case: a kernel as a file says it, the tensors that it is given, and the calls to make."""

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
    """A tensor that a kernel is given: its type, its labels, how it lies in memory."""

    name: str
    dtype: str
    labels: tuple[str, ...]
    is_output: bool
    # How many elements are between two lines more than there must be; 0: it is contiguous.
    gap: int = 0
    # What an output has before the launch: `nothing` (a nan, or a number to be seen), `zero`, or
    # `values`.
    before: str = "nothing"


@dataclass(frozen=True)
class Call:
    """Sizes of labels, the seed of the values, and which values inputs have (see inputs)."""

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
    # Words that say what is in it, for counting.
    features: tuple[str, ...] = ()
    # The type of floats that whole numbers are brought to: all floats of a kernel with f64 are f64.
    wide: str = "f32"

    def shown(self) -> str:
        """The case as text that a person can read, and that makes it again."""
        data = asdict(self)
        rest = {key: value for key, value in data.items() if key not in ("text", "algorithm")}
        parts = ("# algorithm", self.algorithm, "# kernel", self.text, "# calls", json.dumps(rest))
        return "\n".join(parts)


def case_of(data: Mapping[str, Any]) -> Case:
    """A case from what `dataclasses.asdict` makes of it, as JSON keeps that."""
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
