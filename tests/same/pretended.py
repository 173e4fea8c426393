"""Makes machines that an emitted file takes for real ones.

No kernel runs there; launches are written down. Tensors have shapes, strides, types, devices and
addresses, and no elements, so they may have any size. A file gets its own `torch` and `triton`, in
which a few names are replaced.
"""

import builtins
import inspect
import linecache
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import torch

triton: Any = import_module("triton")
import_module("triton.runtime.interpreter")  # files use it as an attribute
descriptors: Any = import_module("triton.tools.tensor_descriptor")

INTERPRETER = "interpreter"
# The numbers of devices by the machine's name; for each its generation and its multiprocessors.
GPUS = {"sm_90": 0, "sm_80": 1}
PROPERTIES = (
    SimpleNamespace(major=9, multi_processor_count=132),
    SimpleNamespace(major=8, multi_processor_count=108),
)
FILE = "<launched>"
# The memory of a tensor begins at a multiple of this address.
FIRST_ADDRESS = 1 << 44
MOST_LAUNCHES = 50
# torch cannot count more bytes than this.
MOST_BYTES = 1 << 62


def _properties(device: torch.device) -> SimpleNamespace:
    """Return the properties of a GPU, as torch gives them."""
    return PROPERTIES[device.index]


@dataclass
class Memory:
    """A piece of memory, which has a name if a call passed it."""

    address: int
    size: int
    name: str = ""

    def data_ptr(self) -> int:
        """Return the address at which the memory begins."""
        return self.address

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return self.size


class Pretended(torch.Tensor):
    """A tensor without elements, on a device that does not exist."""

    memory: Memory
    place: torch.device

    device: Any = property(lambda self: self.place)
    is_cuda: Any = property(lambda self: self.place.type == "cuda")
    is_cpu: Any = property(lambda self: self.place.type == "cpu")
    is_meta: Any = property(lambda self: False)

    def data_ptr(self) -> int:
        return self.memory.address + int(self.storage_offset()) * self.element_size()

    def untyped_storage(self) -> Any:
        return self.memory

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Return what torch makes of the tensor, in the same memory."""
        of: Any = getattr(super(), "__torch_function__")  # noqa: B009
        made = of(func, types, args, kwargs or {})
        if isinstance(made, Pretended) and not hasattr(made, "memory"):
            source = next(one for one in args if isinstance(one, Pretended))
            made.memory, made.place = source.memory, source.place
        return made


class Mended:
    """A module in which some names are replaced."""

    def __init__(self, real: Any, **names: Any) -> None:
        vars(self).update(names, real=real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@dataclass
class Kernel:
    """The replacement for a kernel of a file; it writes down how it is launched."""

    machine: "Machine"
    fn: Any
    do_not_specialize: Sequence[int | str] = ()
    pre_run_hooks: list[Any] = field(default_factory=list[Any])
    # What Triton compiled: nothing, so that the runtime asks for each launch.
    device_caches: dict[Any, Any] = field(default_factory=dict[Any, Any])

    @property
    def arg_names(self) -> list[str]:
        """Return the names of the kernel's parameters."""
        return [*inspect.signature(self.fn).parameters]

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *given, **named: self.machine.launch(self, grid, given, named)


@dataclass
class Operator:
    """The replacement for an operator of torch.

    A call of it gives what the function without values gives.
    """

    machine: "Machine"
    schema: str
    like: Callable[..., Any] | None = None

    def register_fake(self, function: Callable[..., Any]) -> None:
        """Take the function without values."""
        self.like = function

    def register_vmap(self, function: Callable[..., Any]) -> None:
        """Do nothing, because nothing is batched here."""

    def default(self, *given: Any, **named: Any) -> Any:
        """Answer a call that torch traces."""
        assert self.like is not None
        made = self.like(*given, **named)
        known = [f"{name}={self.machine.told(value)}" for name, value in named.items()]
        passed = [*map(self.machine.told, given), *known]
        self.machine.lines.append(f"operator{self.schema} given {', '.join(passed)}")
        return made


@dataclass
class Machine:
    """A machine with GPUs or with Triton's interpreter, and what was launched on it so far."""

    has_gpus: bool
    current: int = 0
    is_tracing: bool = False
    lines: list[str] = field(default_factory=list[str])
    memories: int = 0
    shown: dict[int, str] = field(default_factory=dict[int, str])

    def load(self, text: str) -> dict[str, Any]:
        """Load a file on this machine, and return the names that it defines."""
        linecache.cache[FILE] = len(text), None, text.splitlines(keepends=True), FILE
        names = {"triton": self._triton(), "torch": self._torch()}

        def imported(name: str, *rest: Any) -> Any:
            found = builtins.__import__(name, *rest)
            return found if rest and len(rest) > 2 and rest[2] else names.get(found.__name__, found)

        own = {**vars(builtins), "__import__": imported}
        made: dict[str, Any] = {"__builtins__": own, "__name__": "launched", "__file__": FILE}
        exec(compile(text, FILE, "exec"), made)
        return made

    def tensor(
        self,
        shape: Sequence[int],
        strides: Sequence[int],
        dtype: torch.dtype,
        *,
        offset: int = 0,
        name: str = "",
    ) -> Pretended:
        """Return a tensor in memory of its own."""
        reach = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        size = offset + (reach + 1 if all(shape) else 0)
        if size * dtype.itemsize >= MOST_BYTES:
            raise MemoryError("no machine has so much memory")
        flat = torch.empty(size, dtype=dtype, device="meta")
        lies = flat.as_strided(tuple(shape), tuple(strides), offset)
        made: Pretended = torch.Tensor._make_subclass(Pretended, lies)
        self.memories += 1
        made.memory = Memory(self.memories * FIRST_ADDRESS, size * dtype.itemsize, name)
        made.place = torch.device("cuda", self.current) if self.has_gpus else torch.device("cpu")
        return made

    def empty(self, shape: Sequence[int], *, dtype: torch.dtype, device: Any = None) -> Pretended:
        """Return memory that a file asks for."""
        strides, step = list[int](), 1
        for size in reversed(shape):
            strides.append(step)
            step *= max(size, 1)
        return self.tensor(shape, strides[::-1], dtype)

    def launch(
        self, kernel: Kernel, grid: Any, given: Sequence[Any], named: Mapping[str, Any]
    ) -> None:
        """Write down a launch."""
        if len(self.lines) >= MOST_LAUNCHES:  # of many panels the first ones say enough
            raise MemoryError("no machine launches so much")
        names = kernel.arg_names
        passed = [*zip(names, given, strict=False), *sorted(named.items())]
        arguments = ", ".join(f"{name}={self.told(value)}" for name, value in passed)
        rest = [one if isinstance(one, str) else names[one] for one in kernel.do_not_specialize]
        self.lines.append(f"{kernel.fn.__name__}[{tuple(grid)}]({arguments})")
        if self.has_gpus:
            self.lines[-1] += f" not of {' '.join(rest)}"

    def told(self, value: Any) -> str:
        """Return the text for a value that is passed; equal values have equal texts."""
        match value:
            case Pretended():
                return self._tensor_told(value)
            case descriptors.TensorDescriptor():
                words = [str(list(o)) for o in (value.shape, value.strides, value.block_shape)]
                return f"blocks of {self._tensor_told(value.base)}: {' '.join(words)}"
            case tuple() | list():
                return f"({', '.join(map(self.told, cast('Sequence[Any]', value)))})"
            case _:
                return repr(value)

    def _tensor_told(self, tensor: Pretended) -> str:
        memory = tensor.memory
        name = memory.name
        if not name:
            name = self.shown.setdefault(memory.address, f"memory {len(self.shown)}")
        dtype = str(tensor.dtype).removeprefix("torch.")
        size = f"{name} + {tensor.storage_offset()}" if tensor.storage_offset() else name
        return f"<{size}: {dtype} {tuple(tensor.shape)} {tensor.stride()} of {memory.size}>"

    def _jit(self, function: Any = None, **options: Any) -> Any:
        if function is None:
            return partial(self._jit, **options)
        return Kernel(self, function, options.get("do_not_specialize", ()))

    def _triton(self) -> Mended:
        runtime = Mended(triton.knobs.runtime, interpret=not self.has_gpus)
        return Mended(
            triton,
            __name__="triton",
            jit=self._jit,
            knobs=Mended(triton.knobs, runtime=runtime),
            set_allocator=id,
        )

    def _torch(self) -> Mended:
        operators = SimpleNamespace()

        def custom_op(name: str, *_: Any, schema: str, **__: Any) -> Operator:
            made = Operator(self, schema)
            setattr(operators, name.partition("::")[2], made)
            return made

        cuda = Mended(
            torch.cuda,
            get_device_properties=_properties,
            current_device=lambda: self.current,
            device=nullcontext,
        )
        return Mended(
            torch,
            __name__="torch",
            empty=self.empty,
            cuda=cuda,
            _C=Mended(vars(torch)["_C"], _cuda_getDevice=lambda: self.current),
            compiler=Mended(torch.compiler, is_compiling=lambda: self.is_tracing),
            library=Mended(torch.library, custom_op=custom_op),
            ops=SimpleNamespace(dtpoly=operators),
        )
