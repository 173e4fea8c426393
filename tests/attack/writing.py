"""A random kernel that is being written: its names, its tensors, how it loads them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.attack.case import Given
from tests.attack.expressions import FLOAT, WHOLE, Axes, Scope, Value, class_of

INDENT = "    "


@dataclass
class Kernel:
    """A kernel that is being written."""

    scope: Scope
    # The labels of the tile, and of what is reduced in a loop.
    labels: tuple[str, ...]
    reduced: str | None
    blocks: dict[str, int]
    lines: list[str] = field(default_factory=list[str])
    depth: int = 1
    tensors: list[Given] = field(default_factory=list[Given])
    # Parameters with what they are given.
    parameters: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    constants: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    scalars: dict[str, float] = field(default_factory=dict[str, float])
    assumed: list[str] = field(default_factory=list[str])
    count: int = 0

    @property
    def random(self) -> random.Random:
        """Return what is drawn next."""
        return self.scope.random

    def write(self, line: str) -> None:
        """One more statement."""
        self.lines.append(INDENT * self.depth + line)

    def name(self, like: str) -> str:
        """Return a name that is not taken."""
        self.count += 1
        return f"{like}{self.count}"

    def set(self, like: str, code: str, axes: Axes, of: str) -> Value:
        """Return a new name for an expression."""
        made = Value(self.name(like), axes, of)
        self.write(f"{made.code} = {code}")
        self.scope.values.append(made)
        return made


def some_labels(kernel: Kernel, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    labels = (*kernel.labels, *more)
    count = kernel.random.randint(1, min(2, len(labels)))
    found = kernel.random.sample(labels, count)
    if more and more[0] not in found:
        found[kernel.random.randrange(len(found))] = more[0]
    return tuple(sorted(found)) if kernel.scope.chance(0.7) else tuple(found)


def in_order(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return labels in the order that tiles have them."""
    return tuple(sorted(labels))


def offset_of(kernel: Kernel, one: Given, axes: tuple[str, ...], places: dict[str, str]) -> str:
    """Return an address: each index with its stride, or with the sizes behind it."""
    parts: list[str] = []
    for at, label in enumerate(one.labels):
        index = places[label]
        if len(axes) == 2:
            index += "[:, None]" if axes[0] == label else "[None, :]"
        if at == len(one.labels) - 1 and (one.gap == 0 or kernel.scope.chance(0.5)):
            parts.append(index)
        elif one.gap == 0 and kernel.scope.chance(0.6):
            parts.append(f"{index} * n{one.labels[at + 1]}")
        else:
            stride = f"s{one.name}{at}"
            if (stride, f"{one.name}.stride({at})") not in kernel.parameters:
                kernel.parameters.append((stride, f"{one.name}.stride({at})"))
                kernel.scope.note("strides")
            parts.append(f"{index} * {stride}")
    kernel.random.shuffle(parts)
    return (
        f"{one.name.lower()}_ptr + {' + '.join(parts)}"
        if kernel.scope.chance(0.7)
        else (f"{one.name.lower()}_ptr + ({' + '.join(parts)})")
    )


def mask_of(kernel: Kernel, axes: tuple[str, ...], names: dict[str, str]) -> str:
    parts = [names[one] for one in axes]
    if len(axes) == 2:
        parts = [f"{parts[0]}[:, None]", f"{parts[1]}[None, :]"]
    kernel.random.shuffle(parts)
    return " & ".join(parts)


def given(kernel: Kernel, labels: tuple[str, ...], dtype: str, *, is_output: bool) -> Given:
    letter = "out" if is_output else "A"
    gap = kernel.random.choice((0, 0, 3)) if len(labels) == 2 else 0
    name = f"{letter}{len(kernel.tensors)}"
    one = Given(name, dtype, labels, is_output, gap)
    kernel.tensors.append(one)
    kernel.parameters.append((f"{name.lower()}_ptr", name))
    return one


def load(
    kernel: Kernel,
    labels: tuple[str, ...],
    dtype: str,
    index: str | None = None,
    *,
    other: str | None = None,
) -> Value:
    """Load a tile; along the reduced label at the index that is given."""
    scope = kernel.scope
    one = given(kernel, labels, dtype, is_output=False)
    axes = in_order(labels)
    places = {label: f"o{label}" for label in kernel.labels} | {"k": index or "ok"}
    masks = {label: f"m{label}" for label in kernel.labels} | {"k": "mk"}
    address = offset_of(kernel, one, axes, places)
    if scope.chance(0.3):
        scope.note("an address with a name")
        kernel.write(f"{one.name.lower()}_at = {address}")
        address = f"{one.name.lower()}_at"
    mask = mask_of(kernel, axes, masks)
    if other is None and scope.chance(0.75):
        written = {FLOAT: ("0.0", "1.0", "-2.0", "float('-inf')", "0"), WHOLE: ("0", "1", "3")}
        other = scope.pick(written.get(class_of(dtype), ("0", "1")))
    if other is not None:
        scope.note("other")
    tail = "" if other is None else f", other={other}"
    if scope.chance(0.1):
        tail += ', eviction_policy="evict_last"'
    said = f"mask={mask}" if scope.chance(0.7) else mask
    return kernel.set("x", f"tl.load({address}, {said}{tail})", axes, class_of(dtype))
