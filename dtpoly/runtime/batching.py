"""A generated module in; for its operators, what `torch.vmap` does with them, told to torch.

Without a rule, torch calls an operator once for each element of the batch, and asks the user to
file an issue on GitHub. A kernel has no axis for a batch that its algorithm does not name, so the
rule here does the same, and asks for nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

_told: set[str] = set()  # operators that have their rules


def tell_batching(module: ModuleType) -> None:
    """Give each operator of dtpoly that torch knows a rule for batches, once."""
    torch = vars(module)["torch"]
    operators: Any = torch.ops.dtpoly
    runs: dict[str, object] = getattr(operators, "__dict__", {}).get("runs", {})
    for name in sorted(runs.keys() - _told):
        _told.add(name)
        rule = _one_by_one(torch, getattr(operators, name).default)
        torch.library.register_vmap(f"dtpoly::{name}", rule)
        torch.library.register_vmap(f"dtpoly::{name}_out", _refuse_out)


def _one_by_one(torch: Any, operator: Callable[..., Any]) -> Callable[..., Any]:
    def rule(info: Any, dims: Sequence[int | None], *given: Any, **named: Any) -> tuple[Any, int]:
        def result(of: Callable[[Any, int], Any]) -> Any:
            pairs = zip(given, dims, strict=True)
            return operator(*(one if dim is None else of(one, dim) for one, dim in pairs), **named)

        if info.batch_size == 0:
            # Only the shape and the dtype of one result are wanted.
            one = result(lambda batch, dim: batch.new_zeros(_without(batch.shape, dim)))
            return one.new_empty((0, *one.shape)), 0
        found = (result(partial(_element, at)) for at in range(info.batch_size))
        return torch.stack([*found]), 0

    return rule


def _element(at: int, batch: Any, dim: int) -> Any:
    return batch.select(dim, at)


def _without(shape: Sequence[int], dim: int) -> tuple[int, ...]:
    return tuple(size for axis, size in enumerate(shape) if axis != dim)


def _refuse_out(*_: Any, **__: Any) -> Any:
    message = "torch.vmap makes the result itself: call without out=, or call without torch.vmap"
    raise RuntimeError(message)
