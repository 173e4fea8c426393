"""Records the operators of torch that run inside of a block, and what they return."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch does not type it
    """Keeps each operator by name, with its result, in order."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # pyright: ignore[reportUnknownMemberType]
        self.calls: list[tuple[str, Any]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self.calls.append((str(func), result))
        return result
