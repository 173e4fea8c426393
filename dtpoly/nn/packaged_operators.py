"""Makes the operators of this package, each of its .dt file and that of its gradient."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.show import show
from dtpoly.api import Scheduled, load
from dtpoly.training.differentiable import Differentiable, differentiable
from dtpoly.training.element_types import with_types
from dtpoly.training.gradient_schedules import like
from dtpoly.training.operator_messages import no_such

FOLDER = Path(__file__).parent
# What is cast under autocast, where the algorithm alone does not say it.
CAST = {"linear_cross_entropy": "low to float32"}
# The Func of losses in files that compute these together with their slopes.
LOSSES = {"cross_entropy_in_place": "cross_entropy", "linear_cross_entropy_chunk": "loss"}
GRADIENT = "_backward"  # ends the name of a file with a gradient
# Ends the name of a file with another schedule of the same algorithm: for inputs of 16 bits, on a
# device whose programs have much shared memory.
LARGE = "_large"
ROOM = 227 * 1024  # bytes that a program may have there, as on an H100


def names() -> tuple[str, ...]:
    """Return the names of all operators: of the files that have one of gradients beside them."""
    found = (path.stem.removesuffix(GRADIENT) for path in FOLDER.glob(f"*{GRADIENT}.dt"))
    return tuple(sorted(found))


@cache
def operator(name: str) -> Differentiable:
    """Return the operator of a file, with the gradient that is written for it.

    It is read and registered when it is first asked for, and proved when it is first called.
    """
    if name not in names():
        raise no_such("operator", name, names())
    path, gradient = FOLDER / f"{name}.dt", FOLDER / f"{name}{GRADIENT}.dt"
    return differentiable(path, backward=gradient, autocast=CAST.get(name))


@cache
def losing(name: str, *, is_wide: bool, has_room: bool = False) -> Scheduled:
    """Return a file that computes losses together with their slopes.

    Of inputs of 16 bits the losses have 32, since many of them are added up. Their products have
    large tiles where a device has room for these, if a file says how.
    """
    large = FOLDER / f"{name}{LARGE}.dt"
    is_large = has_room and not is_wide and large.exists()
    made = load(large if is_large else FOLDER / f"{name}.dt")
    if is_wide:
        return made
    program = with_types(made.program, {}, {LOSSES[name]: DType.F32})
    return like(made, show(program), made.name)


@cache
def kernels(name: str, func: str, is_wide: bool, has_room: bool = False) -> Callable[..., Any]:
    """Return the function of such a file that computes a Func, proved when it is first made."""
    return losing(name, is_wide=is_wide, has_room=has_room)[func].function


@cache
def has_room(device: Any) -> bool:
    """Return whether programs have room for large tiles: on a GPU, and in the interpreter."""
    if device.type != "cuda":
        return True
    properties = import_module("torch").cuda.get_device_properties(device)
    return bool(getattr(properties, "shared_memory_per_block_optin", 0) >= ROOM)
