"""Lets Triton's interpreter tell a Memory of every launch, program, barrier and access."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from dtpoly.budget import check
from dtpoly.ring.interpreter import interpreter
from dtpoly.ring.ring_memory import AccessMode, RingMemory

Function = Callable[..., Any]


@contextmanager
def watched(memory: RingMemory) -> Generator[None]:
    """Run kernels inside, and raise if they touch what the memory does not let them touch."""
    builder: Any = interpreter.interpreter_builder
    launched: Function = interpreter.GridExecutor.__call__

    def launch(self: Any, *arguments: Any, **keywords: Any) -> Any:
        memory.begin_launch(dict(zip(self.arg_names, arguments, strict=False)))
        return launched(self, *arguments, **keywords)

    hooks = _hooks(builder, memory)
    kept: dict[str, Any] = builder.__dict__
    before = {name: kept[name] for name in hooks if name in kept}
    interpreter.GridExecutor.__call__ = launch
    kept.update(hooks)
    try:
        yield
    finally:
        interpreter.GridExecutor.__call__ = launched
        for name in hooks:
            del kept[name]
        kept.update(before)


def _hooks(builder: Any, memory: RingMemory) -> Mapping[str, Function]:
    """Return functions for the builder, which tell the memory and then do what the builder did."""
    place, barrier = builder.set_grid_idx, builder.create_barrier
    load, store = builder.create_masked_load, builder.create_masked_store
    exchange = builder.create_atomic_cas
    # What a file does about atomic sums, it does to the class, and only while it launches.
    own = builder.__dict__.get("create_atomic_rmw")
    kind = cast(Any, type(builder))

    def set_grid_idx(*index: int) -> None:
        check()
        memory.begin_program(index)
        place(*index)

    def create_barrier() -> Any:
        memory.pass_barrier()
        return barrier()

    def masked_load(ptrs: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        check()
        memory.touch(AccessMode.LOADED, ptrs.data, mask.data)
        return load(ptrs, mask, *rest, **named)

    def masked_store(ptrs: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        check()
        memory.touch(AccessMode.STORED, ptrs.data, mask.data, value.data)
        return store(ptrs, value, mask, *rest, **named)

    def atomic_rmw(op: Any, ptr: Any, value: Any, mask: Any, *rest: Any) -> Any:
        memory.touch(AccessMode.ADDED, ptr.data, mask.data)
        atomic = own or partial(kind.create_atomic_rmw, builder)
        return atomic(op, ptr, value, mask, *rest)

    def atomic_cas(ptr: Any, *rest: Any) -> Any:
        memory.touch(AccessMode.ADDED, ptr.data, ptr.data == ptr.data)
        return exchange(ptr, *rest)

    return {
        "set_grid_idx": set_grid_idx,
        "create_barrier": create_barrier,
        "create_masked_load": masked_load,
        "create_masked_store": masked_store,
        "create_atomic_rmw": atomic_rmw,
        "create_atomic_cas": atomic_cas,
    }
