"""Kernels that compute every entry on numbers at the ends of types, as plain files in a folder.

`python -m tests.semantics.prepared FOLDER`; then `python FOLDER/launched.py FOLDER`, wherever there
is a GPU, and `python -m tests.semantics.judged FOLDER` here.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from dtpoly.frozen import dataclass
from dtpoly.verify.semantics.entries import entry
from dtpoly.verify.semantics.row import OperationRow
from dtpoly.verify.semantics.table_operations import BINARY, BY_NAME, UNARY
from dtpoly.verify.semantics.types import CONSTANTS, EIGHTS, TENSORS, TRUTH, TYPES, is_constant
from tests.semantics.compiled import WRITTEN
from tests.semantics.in_types import edges, packed

HEAD = "import triton\nimport triton.language as tl\n\n"
PYTHONS = ("pow",)  # operations on constants only
MEMORY = ("store", "atomic_add", "atomic_max", "atomic_min")
MOST = 24  # entries of a kernel


@dataclass(frozen=True, slots=True)
class Asked:
    """An entry as a kernel computes it: which of the kernel's inputs are its operands."""

    name: str
    operands: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def row(self) -> OperationRow:
        """Return the entry."""
        return entry(self.name, self.operands)


def given(types: Sequence[str]) -> list[list[int | float]]:
    """Return the numbers of each input: all pairs, if there are two inputs."""
    first = [one for one in edges(types[0]) for _ in range(16)] if not is_constant(types[0]) else []
    if len(types) == 1:
        return [edges(types[0]) * 16]
    second = edges(types[1]) * 16 if not is_constant(types[1]) else []
    return [first, second]


def asked_of(types: tuple[str, ...]) -> list[Asked]:
    """Return the entries with one or two inputs of these types."""
    if len(types) == 1:
        (of,) = types
        found = [Asked(name, (of,), (0,)) for name in UNARY]
        found += [Asked("cast", (of, to), (0,)) for to in TENSORS]
    else:
        one, other = types
        found = [Asked(name, types, (0, 1)) for name in BINARY if name not in PYTHONS]
        found += [Asked("where", (TRUTH, *types), (2, 0, 1))]
        for name in ("fma", "clamp"):
            found += [
                Asked(name, (one, one, other), (0, 0, 1)),
                Asked(name, (one, other, one), (0, 1, 0)),
                Asked(name, (other, one, one), (1, 0, 0)),
            ]
        if not is_constant(one):
            found += [Asked(name, types, (0, 1)) for name in (*MEMORY, "load other")]
    return [asked for asked in dict.fromkeys(found) if is_computed(asked)]


def is_computed(asked: Asked) -> bool:
    """True if the entry gives a tensor or changes memory, and is no arithmetic of 8 bits."""
    row = asked.row
    moves = asked.name in ("cast", "where", "load other", *MEMORY)
    if row.is_refused or (row.within in EIGHTS and not moves) or "|" in row.result:
        return False
    return row.result in TENSORS or asked.name in MEMORY


def line_of(asked: Asked, at: int, types: Sequence[str]) -> str:
    """Return how a kernel computes an entry, and where it stores it."""
    names = [
        WRITTEN[types[place]] if place < 2 and is_constant(types[place]) else f"v{place}"
        for place in asked.places
    ]
    name = asked.name
    if name in MEMORY:
        return f"{BY_NAME[name].text.format(f'o{at} + lanes', names[1])}"
    if name == "load other":
        text = (
            BY_NAME[name].text.format("p0 + lanes", names[1]).replace("mask=mask", "mask=lanes < 0")
        )
    elif name == "cast":
        text = BY_NAME[name].text.format(names[0], asked.operands[1])
    else:
        text = BY_NAME[name].text.format(*names)
    return f"tl.store(o{at} + lanes, {text})"


def kernel(name: str, types: Sequence[str], every: Sequence[Asked]) -> str:
    """Return a kernel of several entries; `only` chooses one of them."""
    inputs = [f"p{at}" for at, of in enumerate(types) if not is_constant(of)]
    outs = [f"o{at}" for at in range(len(every))]
    lines = [
        f"@triton.jit\ndef {name}({', '.join((*inputs, *outs))}, only: tl.constexpr):",
        "    lanes = tl.arange(0, 256)",
        "    v2 = lanes % 2 == 0",
        *(f"    v{one[1:]} = tl.load({one} + lanes)" for one in inputs),
    ]
    for at, asked in enumerate(every):
        lines += [f"    if only == -1 or only == {at}:", f"        {line_of(asked, at, types)}"]
    return "\n".join(lines) + "\n\n\n"


def groups() -> list[tuple[tuple[str, ...], list[Asked]]]:
    """Return entries by the types of inputs, not too many together."""
    found: list[tuple[tuple[str, ...], list[Asked]]] = []
    pairs = [one for one in product(TYPES, TYPES) if not set(one) <= set(CONSTANTS)]
    for types in (*((one,) for one in TENSORS), *pairs):
        every = asked_of(types)
        found += [(types, every[at : at + MOST]) for at in range(0, len(every), MOST)]
    return found


def out_type(asked: Asked) -> str:
    """Return the type of the value that a kernel stores for an entry."""
    return asked.operands[0] if asked.name in MEMORY else asked.row.result


def main(folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    texts, described = [HEAD], {}
    for number, (types, every) in enumerate(groups()):
        name = f"g{number}"
        texts.append(kernel(name, types, every))
        inputs = [
            [of, base64.b64encode(packed(numbers, of)).decode()]
            for of, numbers in zip(types, given(types), strict=True)
            if not is_constant(of)
        ]
        described[name] = {"inputs": inputs, "outs": [out_type(one) for one in every]}
    (folder / "kernels.py").write_text("".join(texts))
    (folder / "groups.json").write_text(json.dumps(described))
    shutil.copy(Path(__file__).with_name("launched.py"), folder / "launched.py")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
