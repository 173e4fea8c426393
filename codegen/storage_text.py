"""Shows where each array lives, and why, as text or as data for JSON."""

from collections.abc import Iterator

from dtpoly.algorithm.show import show_affine
from dtpoly.poly.model import Model

from .storage import Extent, Storage


def show_storage(model: Model, storage: Storage) -> Iterator[str]:
    """Yield a line for each array, and one for each reason."""
    for name, place, reason in _places(model, storage):
        dims = ", ".join(model.arrays[name].dims)
        yield f"{name}[{dims}]: {place}"
        if reason:
            yield f"  because {reason}"


def storage_data(model: Model, storage: Storage) -> list[dict[str, object]]:
    """Return the same for JSON."""
    return [
        {
            "array": name,
            "dims": list(model.arrays[name].dims),
            "place": place,
            "reason": reason or None,
        }
        for name, place, reason in _places(model, storage)
    ]


def _places(model: Model, storage: Storage) -> Iterator[tuple[str, str, str]]:
    for name in model.arrays:
        parts: list[str] = []
        if name in storage.registers:
            parts.append("a tile of registers")
        if name in storage.scratch:
            kept = ", ".join(map(_show_extent, storage.scratch[name].extents))
            parts.append(f"scratch memory, [{kept}] for each program")
        if name in storage.stored:
            parts.append("memory that the caller or other kernels see")
        if parts:
            yield name, "; ".join(parts), storage.why.get(name, "")


def _show_extent(one: Extent) -> str:
    if one.count is None:
        return f"all of {one.label}"
    start = show_affine(one.origin)
    return f"{one.count} of {one.label}{'' if start == '0' else f' from {start}'}"
