"""Gives every listing and example: its Program, and the sizes around each of its tiles."""

from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from pathlib import Path
from types import ModuleType

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import needing_room
from dtpoly.algorithm.program import Program, Split
from dtpoly.checking import load, understand
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.parse import parse
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import imported

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
FILES = {
    path.stem: path
    for folder in (
        DATA / "thesis",
        DATA / "products",
        DATA / "quotients",
        DATA / "indirect",
        ROOT / "examples",
    )
    for path in sorted(folder.glob("*.dt"))
}
# Scans, which have tests of their own.
SCANS = {path.stem: path for path in sorted((DATA / "scans").glob("*.dt"))}
# Forms of attention, which have tests of their own, too.
ATTENTIONS = {path.stem: path for path in sorted((ROOT / "examples" / "attentions").glob("*.dt"))}
# Ranges whose ends are data, which have tests of their own.
RAGGED = {path.stem: path for path in sorted((DATA / "ragged").glob("*.dt"))}
# Funcs that are added at places of an input, which have tests of their own.
ADDED = {f"added_{path.stem}": path for path in sorted((DATA / "added").glob("*.dt"))}
# Promises of range, which have tests of their own, too.
PROMISED = {f"promised_{path.stem}": path for path in sorted((DATA / "promised").glob("*.dt"))}
# Sums at places that begin with a Func.
STARTED = {f"started_{path.stem}": path for path in sorted((DATA / "started").glob("*.dt"))}
# Funcs that go to places in an input, and those whose proof takes most of a minute.
PLACED = {f"placed_{path.stem}": path for path in sorted((DATA / "placed").glob("*.dt"))}
LONG = {path.stem: path for path in sorted((DATA / "long").glob("*.dt"))}
# All files that have tests of their own.
APART = {**SCANS, **ATTENTIONS, **RAGGED, **ADDED, **PROMISED, **STARTED, **PLACED, **LONG}
# Forms of products, for which not every size is tried.
PRODUCTS = tuple(path.stem for path in sorted((DATA / "products").glob("*.dt")))
# Examples with tiles for a large GPU; few sizes are tried, and only in the longer suite.
SMALL = ("matmul", "softmax")
KERNELS = tuple(
    path.stem for path in sorted((ROOT / "examples").glob("*.dt")) if path.stem not in SMALL
)
# Those whose results go to places in an input have tests of their own: what is allowed there, the
# checks of all others do not know.
# Of recurrences no bounds of errors are known: they are compared in test_following_scans.
RECURRENT = tuple(name for name in KERNELS if "scan_affine(" in FILES[name].read_text())
AT_PLACES = tuple(name for name in KERNELS if " at [" in FILES[name].read_text())
COMPARED = tuple(name for name in KERNELS if name not in (*RECURRENT, *AT_PLACES))
NAMES = tuple(name for name in FILES if name not in (*PRODUCTS, *KERNELS))
# The kernels are marked as long, because tests are quick only for small listings.
WITH_KERNELS = (*NAMES, *(pytest.param(name, marks=pytest.mark.long) for name in COMPARED))
DTYPES = (DType.F32, DType.F16, DType.BF16, DType.F64, DType.F8E4M3, DType.F8E5M2)
# Sizes of the labels that are not tested, one after the other.
BASES = (3, 5, 2, 7)
# The interpreter takes a millisecond for each step of a lane.
MOST_STEPS = 700
# The number of steps that the ordinary suite has time for, in a kernel with large tiles.
FEW_STEPS = 100
# The number of steps that the longer suite has time for, if each step has many elements.
MOST_PROGRAMS = 2000
PRIMES = (17, 67, 131, 257, 521, 1031, 2053, 4099, 8209, 65537, 131101)


@cache
def program(name: str) -> Program:
    """Return the Program of a listing, whose schedule is proved."""
    return load(_source(name))


@cache
def unproved(name: str) -> Program:
    """Return the Program of a listing, without a proof.

    Its sizes need none, and tests are collected sooner.
    """
    parsed = parse(_source(name))
    found = understand(parsed.file, parsed.found).program
    assert found is not None, name
    return found


def _source(name: str) -> Source:
    path = {**FILES, **APART}[name]
    return Source(path.name, path.read_text())


@cache
def code(name: str) -> Code:
    """Return the code that is generated for a listing."""
    return code_of(judge(program(name), DIRECTIVES).scheduled)


@cache
def module(name: str) -> ModuleType:
    """Return the generated file of a listing."""
    return imported(code(name).text)


def numbers(given: Program) -> dict[str, set[int]]:
    """Return the sizes of blocks, tiles and groups of each label; 0 stands for the whole label."""
    found: dict[str, set[int]] = {label.name: set() for label in given.labels}
    blocks: dict[str, int] = {}
    for directive in given.directives:
        for argument in directive.arguments:
            label = str(argument.target).rpartition(".")[2]
            match argument.value:
                case int(size) if label in found:
                    found[label].add(size)
                    if directive.name == "block":
                        blocks[label] = size
                case Split(factor=factor) if label in found:
                    # Groups of blocks matter as soon as one of them is ragged.
                    found[label].add(factor * blocks.get(label, 1))
                case _:
                    pass
    return found


def interesting(sizes: set[int]) -> tuple[int, ...]:
    """Return 0, 1, the sizes around each tile, and a prime that no tile divides."""
    near = {size + by for size in sizes if size for by in (-1, 0, 1)}
    prime = 13 if sizes <= {0} else next(p for p in PRIMES if p > max(sizes))
    return tuple(sorted({0, 1, prime} | near))


def size_cases(name: str) -> Iterator[dict[str, int]]:
    """Yield sizes of all labels.

    First one label is varied; then all labels are at or just beyond a tile.
    """
    given = unproved(name)
    found = numbers(given)
    bases: dict[str, int] = dict(zip(found, BASES * 3, strict=False))
    wanted: list[tuple[dict[str, int], dict[str, int]]] = [
        ({label: size}, bases)
        for label in found
        # If the file fixes the size of a label, other sizes are refused.
        if label not in given.fixed
        for size in interesting(found[label])
    ]
    wanted.append(({}, {label: max(sizes | {4}) for label, sizes in found.items()}))
    wanted.append(({}, {label: max(sizes | {2}) + 1 for label, sizes in found.items()}))
    # A tensor that is too small for a window is refused: for these labels, none has the size 0.
    with_room = {label for labels in needing_room(given).values() for label in labels}
    seen: list[dict[str, int]] = []
    for chosen, others in wanted:
        try:
            sizes = filled(given, chosen, others)
        except DtpolyError:  # an index at a quotient: no tensor gives such a size
            continue
        if any(sizes[label] == 0 for label in with_room):
            continue
        if sizes not in seen and steps(given, sizes) <= MOST_STEPS:
            seen.append(sizes)
            yield sizes


def ragged_case(name: str) -> dict[str, int]:
    """Return sizes just beyond a small tile, or inside of a large one."""
    given = unproved(name)
    found = numbers(given)
    bases = dict(zip(found, BASES * 3, strict=False))
    sizes = {
        label: min(
            (size + 1 for size in tiles if 1 < size <= 64),
            default=bases[label] if max(tiles, default=0) < 64 else 45,
        )
        for label, tiles in found.items()
    }
    return filled(given, {}, sizes)


def steps(given: Program, sizes: Mapping[str, int]) -> int:
    """Return roughly how often an interpreted kernel runs its innermost loop."""
    tiles = {
        str(argument.target).rpartition(".")[2]: argument.value
        for directive in given.directives
        if directive.name == "tensorize"
        for argument in directive.arguments
    }
    lanes = {label: tiles.get(label, 1) or size for label, size in sizes.items()}
    return prod(-(-size // max(int(str(lanes[label])), 1)) for label, size in sizes.items())


def programs(given: Program, sizes: Mapping[str, int]) -> int:
    """Return how many programs the largest kernel has; each takes a step at least."""
    blocks: dict[str, int] = {}
    for directive in given.directives:
        if directive.name == "block":
            for argument in directive.arguments:
                label = str(argument.target).rpartition(".")[2]  # `p.y` is y in another kernel
                size, value = sizes[label], argument.value
                block = value.factor if isinstance(value, Split) else int(str(value))
                count = -(-size // (block or max(size, 1)))
                blocks[directive.func] = blocks.get(directive.func, 1) * count
    return max(blocks.values(), default=1)


def recipes(count: int) -> Iterator[tuple[Recipe, Layout]]:
    """Yield recipes for inputs and layouts of outputs, such that each occurs in turn."""
    for at in range(count):
        recipe = Recipe(
            at + 1,
            DTYPES[at % len(DTYPES)],
            tuple(Layout)[(at // 2) % 4],
            tuple(Data)[(at // 3) % 3],
        )
        yield recipe, (Layout.PLAIN, Layout.TRANSPOSED, Layout.SLICED)[at % 3]
