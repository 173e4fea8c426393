"""Calls the Func with the tuned schedule that is nearest to each call."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from importlib import import_module
from typing import Any, Generic, TypeVar

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import size_rules, sizes_of
from dtpoly.algorithm.program import Directive, Tensor
from dtpoly.codegen.python_names import file_names
from dtpoly.frozen import dataclass
from dtpoly.tuned.tuned_entry import Picked, picked
from dtpoly.tuned.tuned_file import Tuned

# What torch calls the types that an input without one may have.
DTYPES = {
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.float64": "f64",
}
USUAL = "f32"
CPU = "cpu, in Triton's interpreter"

S = TypeVar("S")
Key = tuple[str, str, tuple[tuple[str, int], ...]]


@dataclass(slots=True, repr=False)
class TunedSchedules(Generic[S]):
    """An algorithm whose schedule is chosen at each call, by device, dtype and sizes.

    `picked` says which one was taken last; `pick` says which one would be, and `schedule_for` is
    that schedule, to look at or to call without choosing again.
    """

    name: str  # of the file of tuned schedules
    tuned: Tuned
    of: Callable[[tuple[Directive, ...]], S]
    otherwise: S  # where no schedule is for a device
    picked: Picked | None = None
    made: dict[int, S] = field(default_factory=dict[int, S])
    known: dict[Key, Picked | None] = field(default_factory=dict[Key, "Picked | None"])

    def pick(self, device: str, dtype: str = USUAL, **sizes: int) -> Picked | None:
        """Return the entry for a call on a device; None if there is none for it."""
        return picked(self.tuned.entries, device, dtype, filled(self.tuned.program, sizes))

    def schedule_for(self, device: str, dtype: str = USUAL, **sizes: int) -> S:
        """Return the schedule that such a call takes."""
        return self._made(self.pick(device, dtype, **sizes))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Compute the Func of these inputs by the schedule that is nearest.

        If that schedule is a guess, a warning says so, once for each device, dtype and sizes.
        """
        device, dtype, sizes = key = self._key(inputs, named)
        if key not in self.known:
            found = self.known[key] = self.pick(device, dtype, **dict(sizes))
            for doubt in self._doubts(found, device):
                warnings.warn(doubt, stacklevel=2)
        self.picked = self.known[key]
        schedule: Any = self._made(self.picked)
        return schedule(*inputs, **named)

    def explain(self) -> str:
        """List all entries, and which of them was taken last."""
        lines = [repr(self)]
        for one in self.tuned.entries:
            is_last = self.picked is not None and self.picked.entry is one
            lines.append(f"{'*' if is_last else ' '} {one.where}")
            lines.extend(f"    {note}" for note in one.notes)
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        count = len(self.tuned.entries)
        last = "" if self.picked is None else f"; last taken: {self.picked.entry.where}"
        return f"<TunedSchedules {self.name}: {count} schedule{'' if count == 1 else 's'}{last}>"

    def _made(self, found: Picked | None) -> S:
        """Return the schedule of an entry; it is made once."""
        if found is None:
            return self.otherwise
        at = next(at for at, one in enumerate(self.tuned.entries) if one is found.entry)
        if at not in self.made:
            self.made[at] = self.of(found.entry.directives)
        return self.made[at]

    def _doubts(self, found: Picked | None, device: str) -> Iterator[str]:
        if found is None:
            yield f"{self.name} has no schedule for '{device}': that of the algorithm is taken"
        elif found.doubts:
            yield f"{self.name} has none for such a call: {'; '.join(found.doubts)}"

    def _key(self, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> Key:
        """Return the device, the dtype and the sizes of a call."""
        program = self.tuned.program
        names = file_names(program, (), ())
        words = [names.inputs[one.name] for one in program.inputs]
        given = {**dict(zip(words, inputs, strict=False)), **named}
        tensors = {one: given[names.inputs[one.name]] for one in program.tensors}
        shapes = {one.name: tuple(tensor.shape) for one, tensor in tensors.items()}
        passed = {
            rule.label: given[names.labels[rule.label]]
            for rule in size_rules(program)
            if rule.may_be_passed and given.get(names.labels[rule.label]) is not None
        }
        sizes = sizes_of(program, shapes, passed)
        return _device(tensors, named), _dtype(tensors), tuple(sorted(sizes.items()))


def _device(tensors: Mapping[Tensor, Any], named: Mapping[str, Any]) -> str:
    """Return the device's name, as a worker that measures says it."""
    torch: Any = import_module("torch")
    first = next(iter(tensors.values()), None)
    device = torch.device(named.get("device", "cuda")) if first is None else first.device
    if device.type == "cpu":
        return CPU
    return str(torch.cuda.get_device_name(device))


def _dtype(tensors: Mapping[Tensor, Any]) -> str:
    """Return the dtype of the first input that declares none."""
    found = (str(tensor.dtype) for one, tensor in tensors.items() if one.dtype is None)
    return DTYPES.get(next(found, ""), USUAL)
