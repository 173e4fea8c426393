"""islpy, loaded when it is first used: it takes 50 ms, and most checks end before they need it."""

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING


def _lazily(name: str) -> ModuleType:
    """A module that loads at the first look at what is in it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"dtpoly needs {name}: pip install {name}", name=name)
    if name in sys.modules:
        return sys.modules[name]
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    import islpy as isl
else:
    isl = _lazily("islpy")

__all__ = ["isl"]
