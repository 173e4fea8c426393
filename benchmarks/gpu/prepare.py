"""Emits the texts of examples and variants, and proves them, for a machine with a GPU.

This half needs isl and no GPU; `benchmarks.gpu.run` needs a GPU and no isl.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.gpu.manifest import Prepared, hash_of
from benchmarks.gpu.rows import DERIVED, Derived
from dtpoly import __version__
from dtpoly.algorithm.show import show, show_directive
from dtpoly.checking import check
from dtpoly.codegen.header import header
from dtpoly.codegen.module import plans_of
from dtpoly.diagnostics import DtpolyError, Severity
from dtpoly.frontend.parse import parse
from dtpoly.frontend.reading import read_file
from dtpoly.frontend.resolve import resolve
from dtpoly.generate import code_of, outputs
from dtpoly.source import Source
from dtpoly.verification import proved
from dtpoly.verify.proof.report import LAYERS, LayerVerdict, Report

SUFFIX = ".dt"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text to make: its name, and the .dt file that it is made from."""

    name: str
    source: Source


def wanted(
    examples: Sequence[Path], folders: Sequence[Path], names: Sequence[str], kernels: Sequence[str]
) -> tuple[tuple[Wanted, ...], tuple[str, ...]]:
    """Everything to prepare of the named files, and variants of those and of kernels.

    Then the names of those that are not there.
    """
    found: list[Wanted] = []
    missing: list[str] = []
    derived = {one.name: one for one in DERIVED}
    for name in names:
        if path := _path(examples, name):
            found.append(Wanted(name, read_file(str(path))))
        elif name in derived and (path := _path(examples, derived[name].of)):
            found.append(Wanted(name, _derived(path, derived[name])))
        else:
            missing.append(name)
    found.extend(one for folder in folders for one in _variants(folder, {*names, *kernels}))
    return tuple(found), tuple(missing)


def _path(folders: Sequence[Path], name: str) -> Path | None:
    """Return the file of a name, in the first of the folders that has it."""
    paths = (folder / f"{name}{SUFFIX}" for folder in folders)
    return next((path for path in paths if path.exists()), None)


def _variants(folder: Path, names: Set[str]) -> Iterator[Wanted]:
    """`KERNEL__VARIANT.dt` of a folder, where the table has such a file or kernel."""
    for path in sorted(folder.glob(f"*__*{SUFFIX}")):
        if path.stem.partition("__")[0] in names:
            yield Wanted(path.stem, read_file(str(path)))


def _derived(path: Path, one: Derived) -> Source:
    """Return the source of a file with other directives.

    The compiler tells what is wrong with it as it does for any file.
    """
    source = read_file(str(path))
    program = resolve(parse(source).file).program
    left = tuple(d for d in program.directives if d.name not in one.leaves_out)
    text = show(replace(program, directives=left))
    return Source(f"{one.name}{SUFFIX}", f"{text.rstrip()}\n{one.adds}\n")


def prepare(one: Wanted, folder: Path) -> Prepared:
    """Compile a file into a folder, and prove what was emitted."""
    name = Path(one.source.name).name
    made = Prepared(one.name, name, source_hash=hash_of(one.source.text))
    checked = check(one.source)
    errors = [d for d in checked.diagnostics if d.severity is Severity.ERROR]
    if checked.program is None or checked.verdict is None or errors:
        told = "; ".join(f"{d.code}: {d.title}" for d in errors)
        return replace(made, failure=told or "it has no Func")
    try:
        code = code_of(checked.verdict.scheduled, header(__version__, name))
    except DtpolyError as error:
        return replace(made, failure="; ".join(f"{d.code}: {d.title}" for d in error.diagnostics))
    state = checked.verdict.scheduled
    (*_, plan) = plans_of(state.sized, state.model, code.stages)
    stamped = proved(checked.program, code.text, outputs(checked.program))
    (folder / f"{one.name}.py").write_text(stamped.text)
    return replace(
        made,
        func=plan.function,
        file=f"{one.name}.py",
        parameters=tuple(plan.inputs),
        text_hash=hash_of(stamped.text),
        layers=layers(stamped.report),
        schedule=tuple(map(show_directive, checked.program.directives)),
    )


def layers(report: Report) -> dict[str, str]:
    """Return the worst verdict on each layer in any function; a test counts as no proof."""
    worst = (LayerVerdict.REFUTED, LayerVerdict.UNKNOWN, LayerVerdict.TESTED, LayerVerdict.PROVED)
    found = {name: [one.verdict for one in report.layers if one.name == name] for name in LAYERS}
    return {
        name: str(min(verdicts, key=worst.index, default=LayerVerdict.UNKNOWN))
        for name, verdicts in found.items()
    }
