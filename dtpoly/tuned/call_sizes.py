"""Finds the device, the dtype and the sizes of a call."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dtpoly.algorithm.label_sizes import size_rules, sizes_of
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.codegen.python_names import file_names
from dtpoly.frozen import dataclass

# What torch calls the types that an input without one may have.
DTYPES = {
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.float64": "f64",
}
USUAL = "f32"
CPU = "cpu, in Triton's interpreter"


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The facts of a call that a schedule is chosen by: the device, a dtype, the labels' sizes."""

    device: str
    dtype: str  # of inputs that declare none
    sizes: tuple[tuple[str, int], ...]

    @property
    def said(self) -> str:
        """`x = 4096, y = 1024 in f32 on NVIDIA H200`."""
        sizes = ", ".join(f"{label} = {size}" for label, size in self.sizes)
        return f"{sizes} in {self.dtype} on {self.device}"


def facts_of(program: Program, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> CallFacts:
    """Return what a call shows."""
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
    return CallFacts(_device(tensors, named), _dtype(tensors), tuple(sorted(sizes.items())))


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
