"""Loads islpy at its first use, because loading takes 50 ms and most checks never need it."""

import contextlib
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dtpoly.poly.pickled import tell_pickle

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc loads other modules, which takes several milliseconds

METADATA = "importlib.metadata"


class _Versions(ModuleType):
    """Stands in for `importlib.metadata` while a package loads that asks for its own version.

    The version is in the name of the folder beside the package, such as `islpy-2025.2.5.dist-info`.
    The real module takes as long to load as everything else that the package loads.
    """

    def version(self, name: str) -> str:
        """Return the version of a package."""
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            for entry in os.listdir(os.path.dirname(os.path.dirname(spec.origin))):
                if entry.startswith(f"{name}-") and entry.endswith(".dist-info"):
                    return entry.removeprefix(f"{name}-").removesuffix(".dist-info")
        return str(self.__getattr__("version")(name))

    def __getattr__(self, name: str) -> Any:
        """Return any other member from the real module."""
        if sys.modules.get(METADATA) is self:
            del sys.modules[METADATA]
        return getattr(importlib.import_module(METADATA), name)


@contextlib.contextmanager
def _undisturbed() -> Generator[None]:
    """Delay an interruption until the end, since one inside islpy's own code ends the process."""
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    is_ours = before is signal.default_int_handler
    is_ours = is_ours and threading.current_thread() is threading.main_thread()
    if is_ours:
        signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


class Quickly(Loader):
    """Loads a package that asks for its own version while it loads.

    Once the package is loaded, it is passed to the function `told`.
    """

    def __init__(
        self, loader: Loader, told: Callable[[ModuleType], None] = lambda module: None
    ) -> None:
        self.loader = loader
        self.told = told

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as the original loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module as the original loader does, while versions are looked up here."""
        versions = _Versions(METADATA)
        known = sys.modules.setdefault(METADATA, versions)
        try:
            with _undisturbed():
                self.loader.exec_module(module)
            self.told(module)
        finally:
            if known is versions and sys.modules.get(METADATA) is versions:
                del sys.modules[METADATA]


class _Missing(ModuleType):
    """Stands in for a package that is not installed, until something needs it.

    Emitted kernels run without it, and so does the half of the tests that runs on a GPU.
    """

    def __getattr__(self, name: str) -> Any:
        """Say which package is missing."""
        if name.startswith("__"):
            raise AttributeError(name)
        package = self.__name__
        raise ModuleNotFoundError(f"dtpoly needs {package}: pip install {package}", name=package)


def _lazily(name: str) -> ModuleType:
    """Return a module that loads when its first member is looked up."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return _Missing(name)
    if name in sys.modules:
        tell_pickle(sys.modules[name])
        return sys.modules[name]
    spec.loader = importlib.util.LazyLoader(Quickly(spec.loader, tell_pickle))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    import islpy as isl
else:
    isl = _lazily("islpy")

__all__ = ["isl"]
