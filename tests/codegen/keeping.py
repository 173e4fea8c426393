"""A device that keeps what it is asked to run: for Triton, where there is no GPU.

What is compiled is kept, too. Modules of checks print a line of JSON for each of theirs, in a
process in which Triton does not interpret.
"""

import importlib
import itertools
import json
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from unittest import mock

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.runtime.load import load_module
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

triton: Any = importlib.import_module("triton")
compiler: Any = importlib.import_module("triton.compiler")
backend: Any = importlib.import_module("triton.backends.compiler")
nvidia: Any = importlib.import_module("triton.backends.nvidia.driver")
numbers = itertools.count(1)


class Kept(compiler.CompiledKernel):  # type: ignore[misc]
    """A compiled kernel that keeps the arguments of the compiler, and how it is run."""

    def __init__(self, src: Any, options: Any) -> None:
        self.src = src
        self.module = self.function = next(numbers)
        self._module_pid = None
        self.packed_metadata = (options["num_warps"], 1, 0)
        self.name = "kept"
        is_described = any(one.startswith("tensordesc") for one in src.signature.values())
        self._run = taking_apart(src) if is_described and driver.takes_apart else self.keep

    def __del__(self) -> None:
        pass

    def keep(self, *given: Any) -> None:
        ran.kept = given
        ran.all.append(given)


def taking_apart(src: Any) -> Any:
    """Return Triton's own launcher, such that the function that it calls is kept, too."""

    def keep(*given: Any) -> None:
        ran.kept = given

    one: Any = object.__new__(nvidia.CudaLauncher)
    boxes = {"block_size": [32, 32], "fp4_padded": False}
    each = {"swizzle": 3, "elem_size": 2, "elem_type": 6, **boxes}
    count = sum(one.startswith("tensordesc") for one in src.signature.values())
    parts: dict[str, object] = {
        **dict.fromkeys(("global_scratch_size", "global_scratch_align"), 0),
        **dict.fromkeys(("profile_scratch_size", "profile_scratch_align"), 0),
        **dict.fromkeys(("launch_cooperative_grid", "launch_pdl", "gsan_enabled"), False),
        **{"num_ctas": 1, "arg_annotations": b"", "kernel_signature": b""},
        "launch": nvidia.wrap_handle_tensordesc(keep, src.signature, [each] * count),
    }
    one.__dict__.update(parts)
    return one


@dataclass
class Ran(threading.local):
    """The launches of a thread, and the last of them."""

    kept: tuple[Any, ...] = ()
    all: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])


@dataclass
class Driver:
    """A driver of a machine with several GPUs."""

    current: int = 0
    takes_apart: bool = False
    launcher_cls: Any = None
    utils: Any = field(default_factory=mock.MagicMock)

    def get_current_target(self) -> Any:
        return backend.GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return self.current

    def get_current_stream(self, device: int | None) -> int:
        return 1000 + (device or 0)  # what is on the CPU has no number

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty


ran = Ran()
driver = Driver()


def module_of(source: str) -> ModuleType:
    """Load a generated file again, so that it knows nothing of earlier launches."""
    return anew(code_of(judge(load(Source("test.dt", source)), DIRECTIVES).scheduled).text)


def anew(text: str) -> ModuleType:
    """Return the module of a text, for a GPU of the ninth generation."""
    module = load_module(text, "launched")
    del sys.modules[module.__name__]
    module.dt_gpu = lambda device: (9, 132)  # type: ignore[attr-defined]
    return module


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Do the same work in so many threads at once, each with its number."""
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def checks_of(names: Mapping[str, Any]) -> dict[str, Callable[[], None]]:
    """Return the checks of a module, by name."""
    return {name: check for name, check in names.items() if name.startswith("check_")}


def do(checks: Mapping[str, Callable[[], None]]) -> int:
    """Do checks where Triton has no GPU, and only keeps what it is asked for."""
    triton.runtime.driver.set_active(driver)

    def fill(*args: object) -> object:
        return args

    driver.utils.fill_tma_descriptor = driver.utils.fill_tma_descriptor_tiled = fill

    def compile_(src: Any, target: Any = None, options: Any = None, **_: Any) -> Kept:
        return Kept(src, options)

    with mock.patch.object(compiler, "compile", compile_):
        for name, check in checks.items():
            try:
                check()
                print(json.dumps([name, ""]), flush=True)
            except Exception:
                print(json.dumps([name, traceback.format_exc()]), flush=True)
    return 0
