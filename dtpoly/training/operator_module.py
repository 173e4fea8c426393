"""Makes modules of operators that train: some inputs are parameters, the others are passed.

This module imports torch.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import torch

from dtpoly.training.operator_messages import no_such, taken_name, too_many, whole_input


class Callee(Protocol):
    """Describes the operator that a module calls: it has a name, and takes inputs."""

    @property
    def name(self) -> str:
        """Return the operator's name in torch."""
        ...

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Return the results."""
        ...


class OperatorModule(torch.nn.Module):
    """A module that calls an operator with its own parameters, buffers and numbers.

    Each has the name of its input, also in `state_dict`. Floats are parameters, tensors of whole
    numbers are buffers, and numbers are as they were given. What a call passes are the other
    inputs, in the order of their declarations, and sizes by name.
    """

    def __init__(self, operator: Callee, inputs: tuple[str, ...], own: Mapping[str, Any]) -> None:
        """Take the operator, the names of its inputs, and the values of some of them."""
        super().__init__()
        self.operator, self.inputs = operator, inputs
        self.numbers: dict[str, Any] = {}
        for name, value in own.items():
            if name not in inputs:
                raise no_such("input", name, inputs)
            if not isinstance(value, torch.Tensor):
                self.numbers[name] = value
            elif hasattr(self, name):
                raise taken_name(name)
            elif isinstance(value, torch.nn.Parameter):
                self.register_parameter(name, value)
            elif value.is_floating_point():
                self.register_parameter(name, torch.nn.Parameter(value.detach().clone()))
            else:
                self.register_buffer(name, value.detach().clone())
        if all(name in own for name in inputs):
            raise whole_input(operator.name, inputs)
        self.passed = tuple(name for name in inputs if name not in own)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Return the results for the inputs that are not the module's own."""
        given = dict(zip(self.passed, inputs, strict=False))
        own = {
            name: self.numbers[name] if name in self.numbers else getattr(self, name)
            for name in self.inputs
            if name not in self.passed
        }
        if len(inputs) > len(self.passed):
            raise too_many(self.operator.name, self.passed, len(inputs))
        return self.operator(**given, **own, **named)

    def extra_repr(self) -> str:
        """Return the operator's name and what a call passes, for repr."""
        numbers = (f"{name}={value}" for name, value in self.numbers.items())
        return ", ".join((self.operator.name, *self.passed, *numbers))
