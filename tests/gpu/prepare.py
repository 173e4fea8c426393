"""`python -m tests.gpu.prepare FOLDER`: generated files, and what `tests.gpu.check` does with them.

This half needs isl and no GPU; the other one needs a GPU and no isl. Inputs and results are not
kept: the other half makes them anew, from seeds.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from itertools import islice, product
from pathlib import Path

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes, sizes_of
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen import drawn_bits, parted_indices
from tests.codegen.cases import in_one_launch, in_panels, launched_otherwise, random_case, verdict
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.listings import (
    COMPARED,
    DTYPES,
    FILES,
    NAMES,
    PRODUCTS,
    code,
    program,
    recipes,
    size_cases,
)
from tests.codegen.nested import FORMS, SCHEDULES
from tests.codegen.nested import program as nested_program
from tests.codegen.scratch import BARRIER, VARIANTS
from tests.codegen.specializing import random_product
from tests.gpu.chains import CHAINS, HASTE, PROGRAMS, WAIT, WORDS, Chain
from tests.gpu.plan import GROUPS, LOADING, RACES, Case, write

# Some cases have nothing to run; at least 300 have a result to compare.
RANDOM = 330
OTHERWISE = 110
TOGETHER = 20
IN_PANELS = 20
PRODUCTS_MADE = 24
SIZES = (8, 128, 136, 64, 264, 32, 104, 200)
# The parts of `top` in the loop are 16 numbers: 32 or 64 bytes.
SMALL = {
    "weighted": """\
Func out, top, e; In S, V; Var m, n; RVar l;
top[m] = rmax(S[m, l], l);
e[m, l] = exp(S[m, l] - reshape(top[m], m, 1));
out[m, n] = rdot(e[m, l], V[l, n], l);
e.inline();
top.block(m:1); top.tensorize(m:0, l:0);
out.block(m:16, n:32); out.tensorize(m:0, n:0, l:64); out.descriptor(S, top, V);
out.num_stages(4); out.compile();
"""
}
FOURS = (4, 100, 52, 132, 20, 36, 60, 28)  # small, because some listings have tiles of whole sizes


def main() -> None:
    """Write all cases into a folder, or those that are asked for."""
    parser = argparse.ArgumentParser(prog="tests.gpu.prepare", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=MAKERS, help="only these cases, and no chains")
    chosen = parser.parse_args()
    folder: Path = chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for name in chosen.only or MAKERS for case in MAKERS[name](folder)]
    write(folder, cases)
    print(f"{len(cases)} cases of {len({case.file for case in cases})} files in {folder}")
    if chosen.only:
        return
    found = races()
    (folder / RACES).write_text(json.dumps(found, indent=1) + "\n")
    chained = [asdict(one) for one in chains(folder)]
    (folder / CHAINS).write_text(json.dumps(chained, indent=1) + "\n")
    print(f"{sum(bool(one['without_barriers']) for one in found)} of {len(found)} are refuted")


def listings(folder: Path) -> Iterator[Case]:
    """Yield each listing, and examples that begin early, at the sizes around each of its tiles."""
    words = {name: {one.name for one in program(name).directives} for name in COMPARED}
    # For listings that load in blocks, tiles are too large for f64.
    early = [
        name for name in COMPARED if "early" in words[name] and "descriptor" not in words[name]
    ]
    pairs = [(name, sizes) for name in (*NAMES, *early) for sizes in size_cases(name)]
    for (name, sizes), (recipe, out) in zip(pairs, recipes(len(pairs)), strict=True):
        yield Case(
            "sizes", name, _kept(folder, name), _text(name), _outputs(name), sizes, recipe, out
        )


def every_layout(folder: Path) -> Iterator[Case]:
    """Yield each listing with inputs of every dtype in every layout, at ragged sizes."""
    for name in (*NAMES, *PRODUCTS):
        sizes = list(size_cases(name))[-1]
        for at, (dtype, layout) in enumerate(product(DTYPES, Layout)):
            recipe = Recipe(at, dtype, layout, list(Data)[at % 3])
            out = (Layout.PLAIN, Layout.SLICED, Layout.TRANSPOSED)[at % 3]
            file = _kept(folder, name)
            yield Case("layouts", name, file, _text(name), _outputs(name), sizes, recipe, out)


def in_blocks(folder: Path) -> Iterator[Case]:
    """Yield kernels with descriptors, at ragged sizes that allow descriptors: multiples of 8."""
    for name in (*PRODUCTS, *COMPARED):
        words = {directive.name for directive in program(name).directives}
        labels = program(name).labels
        if "descriptor" not in words or len(labels) > 4:
            continue
        # Tiles of f32 that are as large as those of the examples need too much memory.
        for at in range(9 if name in PRODUCTS else 2):
            wish = {one.name: SIZES[(2 * at + 5 * n) % len(SIZES)] for n, one in enumerate(labels)}
            sizes = filled(program(name), {}, wish)
            recipe = Recipe(at, (DType.F16, DType.BF16, DType.F32)[at % 3])
            given = _kept(folder, name), _text(name), _outputs(name), sizes, recipe
            yield Case("in blocks", name, *given)
            if "warp_specialize" in words and at < 3:
                yield Case(LOADING, name, *given)


def small_blocks(folder: Path) -> Iterator[Case]:
    """Yield a kernel that would load, in a loop, a block that is too small for the copy engine."""
    for name, text in SMALL.items():
        file, outputs = _compiled(folder, name, text)
        for at, dtype in enumerate((DType.F16, DType.BF16, DType.F32)):
            sizes = {"m": 8 << at, "n": 136, "l": 1000}
            yield Case("small blocks", name, file, text, outputs, sizes, Recipe(at, dtype))


def in_fours(folder: Path) -> Iterator[Case]:
    """Yield kernels without descriptors, at sizes that are multiples of 4 and not of 16."""
    for name in (*NAMES, *PRODUCTS, *COMPARED):
        text, labels = code(name).text, program(name).labels
        if "if fours:" not in text or len(labels) > 4:
            continue
        # With f32, tiles that are made for the copy engine need too much memory.
        is_small = "descriptor" in {directive.name for directive in program(name).directives}
        for at, dtype in enumerate((DType.F16 if is_small else DType.F32, DType.F16, DType.BF16)):
            wish = {one.name: FOURS[(3 * at + 5 * n) % len(FOURS)] for n, one in enumerate(labels)}
            sizes = filled(program(name), {}, wish)
            if not _fit(program(name), sizes):
                sizes = filled(program(name), {}, {one.name: FOURS[at] for one in labels})
            given = _kept(folder, name), _text(name), _outputs(name), sizes, Recipe(at, dtype)
            yield Case("in fours", name, *given)


def _fit(program: Program, sizes: dict[str, int]) -> bool:
    """True if inputs can have these sizes; some labels share one size."""
    shapes = input_shapes(program, sizes)
    try:
        sizes_of(program, shapes, sizes)
    except DtpolyError:
        return False
    return True


def loading(folder: Path) -> Iterator[Case]:
    """Yield random products in which some warps load for others."""
    for seed in range(PRODUCTS_MADE):
        name, text = f"product_{seed}", random_product(seed)
        made = code_of(judge(load(Source(f"{name}.dt", text)), DIRECTIVES).scheduled)
        for at, (m, n, k) in enumerate(((8, 136, 72), (264, 200, 136), (1000, 520, 264))):
            sizes = {"m": m, "n": n, "k": k}
            given = _written(folder, name, made), text, made.stages.outputs, sizes, Recipe(at)
            yield Case("in blocks", name, *given)
            if at == 1:
                yield Case(LOADING, name, *given)


def nested(folder: Path) -> Iterator[Case]:
    """Yield reductions inside of loops, which Triton would move if nothing prevented it."""
    pairs = product(FORMS.values(), SCHEDULES.values())
    for number, (value, schedule) in enumerate(pairs):
        name = f"nested_{number}"
        warps = f"f.num_warps({(1, 4)[number % 2]});"
        text = nested_program(value, f"{schedule} {warps} ", "")
        made = code_of(judge(load(Source(f"{name}.dt", text)), DIRECTIVES).scheduled)
        # Products of many numbers leave the range of floats.
        few = 3 if "rprod" in value else 1
        for at, dtype in enumerate((DType.F32, DType.F16, DType.BF16)):
            sizes = {"i": 37, "k": 29 // few**2, "l": (64, 41)[at % 2] // few}
            given = _written(folder, name, made), text, made.stages.outputs, sizes
            yield Case("nested", name, *given, Recipe(at, dtype))


def random_cases(folder: Path, count: int) -> Iterator[Case]:
    """Yield so many random cases, all of them legal."""
    seed = 0
    while count:
        case = random_case(seed)
        judged = verdict(case)
        if judged.is_legal:
            made = code_of(judged.scheduled)
            name = f"case_{seed}"
            file = _written(folder, name, made)
            text, funcs = show(case.program), made.stages.outputs
            yield Case("random", name, file, text, funcs, case.sizes, case.recipe, case.out)
            count -= 1
        seed += 1


def otherwise_cases(folder: Path, count: int) -> Iterator[Case]:
    """Yield so many that begin early, keep rows aligned, and store through descriptors."""
    legal = (case for case in map(random_case, range(10 * count)) if verdict(case).is_legal)
    for case in islice(map(launched_otherwise, legal), count):
        made = code_of(verdict(case).scheduled)
        name = f"otherwise_{case.seed}"
        given = _written(folder, name, made), show(case.program), made.stages.outputs, case.sizes
        yield Case("otherwise", name, *given, case.recipe, case.out)


def together_cases(folder: Path, count: int) -> Iterator[Case]:
    """Yield so many in which one launch computes two kernels.

    Few cases have two that can share one.
    """
    legal = (case for case in map(random_case, range(50 * count)) if verdict(case).is_legal)
    for case in islice(filter(None, map(in_one_launch, legal)), count):
        made = code_of(verdict(case).scheduled)
        name = f"together_{case.seed}"
        given = _written(folder, name, made), show(case.program), made.stages.outputs, case.sizes
        yield Case("together", name, *given, case.recipe, case.out)


def panel_cases(folder: Path, count: int) -> Iterator[Case]:
    """Yield so many that are computed in panels, and large products in panels at all sizes."""
    legal = (case for case in map(random_case, range(50 * count)) if verdict(case).is_legal)
    for case in islice(filter(None, map(in_panels, legal)), count):
        made = code_of(verdict(case).scheduled)
        name = f"panels_{case.seed}"
        given = _written(folder, name, made), show(case.program), made.stages.outputs, case.sizes
        yield Case("panels", name, *given, case.recipe, case.out)
    name = "tf32_matmul"
    for at, (m, n, k) in enumerate(product((1, 520), (2047, 2048, 6152), (8, 264))):
        given = _kept(folder, name), _text(name), _outputs(name), {"m": m, "n": n, "k": k}
        recipe = Recipe(at, layout=(Layout.PLAIN, Layout.TRANSPOSED)[at % 2])
        yield Case("panels", name, *given, recipe, (Layout.PLAIN, Layout.SLICED)[at % 2])


def scratch(folder: Path) -> Iterator[Case]:
    """Yield the kernel whose lanes read what other lanes wrote, with and without its barriers."""
    for variant in VARIANTS:
        made = variant.code
        assert BARRIER in made.text
        # Many programs on one processor get out of step more often than one alone.
        sizes = {"x": 4096 if variant.blocks else 16, "y": 1000}
        for group, generated in zip(GROUPS, (made.text, variant.without_barriers), strict=True):
            name = f"{variant.name}_{group.replace(' ', '_')}"
            (folder / f"{name}.py").write_text(generated)
            yield Case(group, name, f"{name}.py", variant.text, made.stages.outputs, sizes)


def drawn(folder: Path) -> Iterator[Case]:
    """Yield kernels that draw random bits, each of which must be that of the reference."""
    for number, (name, text) in enumerate(drawn_bits.DRAWN.items()):
        file, outputs = _compiled(folder, f"drawn_{number}", text)
        for seed, (x, y) in enumerate(drawn_bits.SIZES):
            for layout in (Layout.PLAIN, Layout.TRANSPOSED, Layout.SLICED):
                given = file, text, outputs, drawn_bits.sizes_of(name, x, y)
                yield Case("random bits", name, *given, Recipe(seed, layout=layout))


def best_in_parts(folder: Path) -> Iterator[Case]:
    """Yield index reductions in parts, at the sizes around parts and with many of them."""
    for number, (name, text) in enumerate(parted_indices.PARTED.items()):
        file, outputs = _compiled(folder, f"best_{number}", text)
        for recipe in parted_indices.RECIPES:
            for x, k in ((5, 1), (5, 64), (5, 65), (5, 203), (67, 4099)):
                sizes = parted_indices.sizes_of(name, x, k)
                yield Case("best in parts", name, file, text, outputs, sizes, recipe)


def _compiled(folder: Path, name: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Write the generated file of a program, and return its name and its results."""
    made = code_of(judge(load(Source(f"{name}.dt", text)), DIRECTIVES).scheduled)
    return _written(folder, name, made), made.stages.outputs


def chains(folder: Path) -> Iterator[Chain]:
    """Yield launches of which each needs the one before, early ones and others."""
    for number, (name, text) in enumerate(PROGRAMS.items()):
        given = load(Source(f"{name}.dt", text))
        others = tuple(one for one in given.directives if one.name not in WORDS)
        early, late = (
            code_of(judge(one, DIRECTIVES).scheduled).text
            for one in (given, replace(given, directives=others))
        )
        assert WAIT in early
        assert WAIT not in late
        files: list[str] = []
        for kind, made in (
            ("early", early),
            ("late", late),
            ("unwaiting", early.replace(WAIT, HASTE)),
        ):
            files.append(f"chain_{number}_{kind}.py")
            (folder / files[-1]).write_text(made)
        yield Chain(name, *files)


def races() -> list[dict[str, object]]:
    """Run the interpreter's race detector on each; it refutes those without barriers."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.codegen.scratch"],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _text(name: str) -> str:
    return FILES[name].read_text()


def _outputs(name: str) -> tuple[str, ...]:
    return code(name).stages.outputs


def _kept(folder: Path, name: str) -> str:
    assert program(name)
    return _written(folder, name, code(name))


def _written(folder: Path, name: str, made: Code) -> str:
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text() != made.text:
        path.write_text(made.text)
    return path.name


MAKERS: Mapping[str, Callable[[Path], Iterator[Case]]] = {
    "listings": listings,
    "every layout": every_layout,
    "in blocks": in_blocks,
    "small blocks": small_blocks,
    "in fours": in_fours,
    "loading": loading,
    "nested": nested,
    "random": partial(random_cases, count=RANDOM),
    "otherwise": partial(otherwise_cases, count=OTHERWISE),
    "together": partial(together_cases, count=TOGETHER),
    "panels": partial(panel_cases, count=IN_PANELS),
    "scratch": scratch,
    "random bits": drawn,
    "best in parts": best_in_parts,
}

if __name__ == "__main__":
    main()
