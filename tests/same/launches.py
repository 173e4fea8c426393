"""Calls the functions of an emitted file, and describes what each call launches or why it fails.

Calls are plain data, which is kept as JSON, so that no part of the compiler is needed to read them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import torch

from tests.same.pretended import GPUS, INTERPRETER, Machine

Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TensorGiven:
    """A tensor that is passed in a call."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    def on(self, machine: Machine) -> torch.Tensor:
        """Return the tensor on a machine."""
        dtype = getattr(torch, self.dtype)
        return machine.tensor(
            self.shape, self.strides, dtype, offset=self.offset, name=f"'{self.name}'"
        )


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function on a machine: inputs in order, sizes by name, and perhaps `out`."""

    function: str
    machine: str
    inputs: tuple[TensorGiven | int | float | bool | str, ...]
    sizes: tuple[tuple[str, int], ...] = ()
    out: TensorGiven | None = None
    is_traced: bool = False

    def __str__(self) -> str:
        shown = [_shown(one) for one in self.inputs]
        shown += [f"{name}={size}" for name, size in self.sizes]
        shown += [] if self.out is None else [f"out={_shown(self.out)}"]
        traced = ", traced" if self.is_traced else ""
        return f"{self.function}({', '.join(shown)}) on {self.machine}{traced}"


def _shown(one: TensorGiven | int | float | bool | str) -> str:
    if not isinstance(one, TensorGiven):
        return repr(one)
    offset = f" + {one.offset}" if one.offset else ""
    return f"{one.name}: {one.dtype} {one.shape} {one.strides}{offset}"


def launches_of(text: str, calls: Sequence[Call]) -> tuple[tuple[str, ...], ...]:
    """Return for each call, in this order, the lines that describe its result."""
    loaded = Loaded(text)
    return tuple(map(loaded.lines, calls))


@dataclass(frozen=True, slots=True)
class Loaded:
    """An emitted file, which is loaded once for each kind of machine, when this is first needed."""

    text: str
    machines: dict[bool, tuple[Machine, Mapping[str, Any]]] = field(
        default_factory=dict[bool, tuple[Machine, Mapping[str, Any]]]
    )

    def lines(self, call: Call) -> tuple[str, ...]:
        """Return the lines that describe the result of a call."""
        has_gpus = call.machine != INTERPRETER
        if has_gpus not in self.machines:
            machine = Machine(has_gpus)
            self.machines[has_gpus] = machine, machine.load(self.text)
        return called(call, *self.machines[has_gpus])


def called(call: Call, machine: Machine, names: Mapping[str, Any]) -> tuple[str, ...]:
    """Call one of these functions, and return the lines that describe the result."""
    machine.current, machine.is_tracing = GPUS.get(call.machine, 0), call.is_traced
    machine.lines, machine.shown = [], {}
    inputs = [one.on(machine) if isinstance(one, TensorGiven) else one for one in call.inputs]
    named: dict[str, Any] = dict(call.sizes)
    if call.out is not None:
        named["out"] = call.out.on(machine)
    try:
        result = names[call.function](*inputs, **named)
        machine.lines.append(f"returns {machine.told(result)}")
    except Exception as error:
        machine.lines.append(f"{type(error).__name__}: {error}")
    return tuple(machine.lines)


def is_refused(lines: Sequence[str]) -> bool:
    """True if the call raised an exception."""
    return not lines[-1].startswith("returns ")


def call_data(call: Call) -> dict[str, Any]:
    """Return a call as JSON, without the parts that are as usual."""
    return {key: value for key, value in asdict(call).items() if value}


def call_of(data: Given) -> Call:
    """Read a call from JSON."""
    return Call(
        data["function"],
        data["machine"],
        tuple(map(_input, data.get("inputs", ()))),
        tuple((name, size) for name, size in data.get("sizes", ())),
        _tensor(data["out"]) if "out" in data else None,
        data.get("is_traced", False),
    )


def _input(data: Any) -> TensorGiven | int | float | bool | str:
    return _tensor(cast("Given", data)) if isinstance(data, Mapping) else data


def _tensor(data: Given) -> TensorGiven:
    shape, strides = tuple(data["shape"]), tuple(data["strides"])
    return TensorGiven(data["name"], data["dtype"], shape, strides, data["offset"])
