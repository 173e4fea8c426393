"""Watches the launches of Triton kernels while a block of the user's own code runs.

`with dtpoly.watch("record.json"):` round a call keeps what each kernel is launched with. For that,
three functions of Triton are wrapped: the one that launches a compiled kernel, the one that lets
the interpreter run it, and the one that tunes it. They are wrapped while a watch is open, and put
back when the last one is closed. Launches go on as they would without it, and so do their errors.

A kernel behind `triton.autotune` is launched many times to measure it: of the launches of one call,
the last one is kept, which is the one with the values that were chosen. What `heuristics` and
defaults give is seen, because the wrapped functions are those that get all arguments.
"""

import inspect
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dtpoly.watching.launch_record import Given, WatchedLaunch, WatchedTensor, WatchedWord, written
from dtpoly.writing import write_atomically

JIT, INTERPRETER, TUNER = (
    "triton.runtime.jit",
    "triton.runtime.interpreter",
    "triton.runtime.autotuner",
)
# The functions of Triton that are wrapped: the module, the class, and whether it tunes.
PLACES = (
    (JIT, "JITFunction", False),
    (INTERPRETER, "InterpretedFunction", False),
    (TUNER, "Autotuner", True),
)
OPTIONS = ("num_warps", "num_stages")
CONSTANT = ("constexpr", "tl.constexpr", "triton.language.constexpr")


class LaunchWatch:
    """The launches of all kernels while it is open; afterwards they are in `launches`.

    With a path, closing it writes them to that file. With `run=False` the kernels are not run: what
    they would compute is left as it is, and no GPU and no interpreter is needed.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, run: bool = True) -> None:
        self.path = None if path is None else Path(path)
        self.run = run
        self._seen: list[WatchedLaunch] = []
        self._storages: dict[int, int] = {}

    @property
    def launches(self) -> tuple[WatchedLaunch, ...]:
        """Return what was launched, in this order."""
        return tuple(one for one in self._seen if one.grid)

    @property
    def noted(self) -> int:
        """Return how many launches began, also those that Triton refused before they had a grid."""
        return len(self._seen)

    def __len__(self) -> int:
        return len(self.launches)

    def __iter__(self) -> Iterator[WatchedLaunch]:
        return iter(self.launches)

    def __enter__(self) -> Self:
        _HOOKS.open(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _HOOKS.close(self)
        if self.path is not None:
            self.write(self.path)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the launches to a file, which `dtpoly verify --init` reads. Raises OSError."""
        write_atomically(Path(path), written(self.launches).encode())

    def note(self, kernel: Any, bound: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Keep a launch whose grid is not known yet."""
        function = kernel.fn
        constants = tuple(
            name
            for name, one in inspect.signature(function).parameters.items()
            if _is_constant(one.annotation)
        )
        self._seen.append(
            WatchedLaunch(
                file=inspect.getsourcefile(function) or "",
                name=_name_of(function),
                grid=(),
                given={name: self._given(value) for name, value in bound.items()},
                constants=constants,
                options={one: options[one] for one in OPTIONS if isinstance(options.get(one), int)},
                names=dict(_names(function)),
            )
        )

    def note_grid(self, at: int, grid: tuple[int, ...]) -> None:
        """Keep the grid of a launch."""
        self._seen[at] = replace(self._seen[at], grid=grid)

    def keep_last(self, start: int) -> None:
        """Of the launches since there were `start`, keep the last one of those that got a grid."""
        self._seen[start:] = [one for one in self._seen[start:] if one.grid][-1:]

    def _given(self, value: Any) -> Given:
        match value:
            case bool() | int() | None:
                return value
            case float():
                return value
            case str():
                return WatchedWord("text", value)
            case _ if hasattr(value, "data_ptr") and hasattr(value, "stride"):
                return self._tensor(value)
            case _ if type(value).__name__ == "dtype":
                return WatchedWord("type", str(getattr(value, "name", value)))
            case _ if type(value).__name__ == "constexpr":
                return self._given(value.value)
            case _:
                return WatchedWord("other", type(value).__name__)

    def _tensor(self, value: Any) -> WatchedTensor:
        storage = value.untyped_storage().data_ptr()
        # An address says nothing to a reader, and is another one each time: storages are numbered.
        number = self._storages.setdefault(storage, len(self._storages))
        if not storage:
            number = -1  # a tensor without elements has no memory
        return WatchedTensor(
            tuple(map(int, value.shape)),
            tuple(map(int, value.stride())),
            str(value.dtype).removeprefix("torch."),
            number,
            int(value.storage_offset()) * int(value.element_size()),
        )


def watch(path: str | os.PathLike[str] | None = None, *, run: bool = True) -> LaunchWatch:
    """Return a watch over the launches of Triton kernels, for a `with` statement.

    With a path, the launches are written to that file when the watch is closed. With `run=False`
    the kernels are not run, and no GPU is needed; their results are then left as they are.
    """
    return LaunchWatch(path, run=run)


class _Hooks:
    """The watches that are open, and the functions of Triton that are wrapped meanwhile."""

    def __init__(self) -> None:
        self.watches: list[LaunchWatch] = []
        self.wrapped: list[tuple[Any, Any, Any]] = []
        self.lock = threading.RLock()

    def open(self, watch: LaunchWatch) -> None:
        """Let a watch see launches."""
        with self.lock:
            if not self.watches:
                for module, name, is_tuner in PLACES:
                    owner: Any = getattr(import_module(module), name)
                    before = owner.run
                    after = _tuned(before) if is_tuner else _launched(before)
                    owner.run = after
                    self.wrapped.append((owner, before, after))
            self.watches.append(watch)

    def close(self, watch: LaunchWatch) -> None:
        """Let a watch see no more launches, and put Triton's functions back after the last one."""
        with self.lock:
            self.watches[:] = [one for one in self.watches if one is not watch]
            if self.watches:
                return
            for owner, before, after in self.wrapped:
                # Whoever has wrapped a function since then still calls ours, which does nothing.
                if owner.run is after:
                    owner.run = before
            self.wrapped.clear()


_HOOKS = _Hooks()


def _launched(before: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that launches a kernel and lets each open watch see it."""

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        watches = () if warmup else tuple(_HOOKS.watches)
        if not watches:
            return before(self, *args, grid=grid, warmup=warmup, **kwargs)
        signature = inspect.signature(self.fn)
        own = {name: value for name, value in kwargs.items() if name in signature.parameters}
        try:
            found = signature.bind(*args, **own)
        except TypeError:
            # Triton says what is wrong with the call.
            return before(self, *args, grid=grid, warmup=warmup, **kwargs)
        found.apply_defaults()
        places = [(watch, watch.noted) for watch in watches]
        for watch in watches:
            watch.note(self, found.arguments, kwargs)

        def noted_grid(meta: Any) -> Any:
            made: Any = grid(meta) if callable(grid) else grid
            numbers = [made] if isinstance(made, int) else [*made]
            for watch, at in places:
                watch.note_grid(at, tuple(int(one) for one in numbers))
            return made

        if all(watch.run for watch in watches):
            return before(self, *args, grid=noted_grid, warmup=warmup, **kwargs)
        noted_grid(dict(found.arguments))
        return None

    return run


def _tuned(before: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that tunes a kernel, of whose launches only the last one counts."""

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        places = [(watch, watch.noted) for watch in _HOOKS.watches]
        try:
            if all(watch.run for watch, _ in places):
                return before(self, *args, **kwargs)
            # Nothing can be measured where nothing runs: the first of the values is taken.
            self.nargs = dict(zip(self.arg_names, args, strict=False))
            config = self.prune_configs(kwargs)[0]
            return self.fn.run(*args, **kwargs, **config.all_kwargs())
        finally:
            for watch, start in places:
                watch.keep_last(start)

    return run


def _names(function: Any) -> Iterator[tuple[str, str]]:
    """Yield the words of Triton and the numbers that a function takes from its module.

    While the module runs, it is known what a name is, also where its text does not show that.
    """
    language: Any = import_module("triton.language")
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if type(value).__name__ == "constexpr":
            value = value.value
        if isinstance(value, bool | int | float):
            yield name, repr(value)
            continue
        word = getattr(value, "__name__", "")
        module = getattr(value, "__module__", None) or ""
        if callable(value) and word and module.startswith("triton.language"):
            if getattr(language, word, None) is value:
                yield name, f"tl.{word}"
            elif module.endswith("libdevice"):
                yield name, f"tl.extra.libdevice.{word}"


def _name_of(function: Any) -> str:
    """Return the name of a function in its module: that of a method has its class before it."""
    dotted = str(function.__qualname__)
    return dotted if all(map(str.isidentifier, dotted.split("."))) else str(function.__name__)


def _is_constant(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation in CONSTANT
    return getattr(annotation, "__name__", "") == "constexpr"
