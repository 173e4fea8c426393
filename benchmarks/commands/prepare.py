"""`python -m benchmarks prepare FOLDER`: texts to time, made where there is isl and no GPU."""

import multiprocessing
import platform
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import repeat
from pathlib import Path

import click

from benchmarks.files import ROOT
from benchmarks.gpu.manifest import MANIFEST, Manifest, Prepared, unchecked, write
from benchmarks.gpu.prepare import Wanted, prepare, wanted
from benchmarks.gpu.rows import GROUPS, files, is_named
from benchmarks.terminal import console
from dtpoly import __version__


@click.command(short_help="Compile and prove all kernels, for a machine with a GPU.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--examples",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=(ROOT / "examples", ROOT / "benchmarks" / "kernels"),
    help="Where the .dt files are; may be given again.  [default: examples/, benchmarks/kernels/]",
)
@click.option(
    "--variants",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Also KERNEL__VARIANT.dt of this folder; may be given again.",
)
@click.option(
    *("--kernels", "--only", "kernels"),
    multiple=True,
    help="Only this kernel, file or family, or all that match it (moe*); may be given again.",
)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.pass_obj
def command(
    given: Sequence[str],
    folder: Path,
    examples: tuple[Path, ...],
    folders: tuple[Path, ...],
    kernels: tuple[str, ...],
    workers: int,
) -> int:
    """Write each kernel's text into FOLDER, with a manifest of what is proved of it.

    A file that the table asks for and that is not there is named in the manifest, too. Texts
    that are in FOLDER already and are not among these stay as they are.

    Exit codes: 0 all is proved; 1 something is missing, cannot be compiled, or is not proved.
    """
    folder.mkdir(parents=True, exist_ok=True)
    groups = [g for g in GROUPS if is_named((g.kernel, g.family, *g.files), kernels)]
    if not groups:
        raise click.UsageError(f"no kernel is called {', '.join(kernels)}")
    found, missing = wanted(examples, folders, files(groups), [g.kernel for g in groups])
    out = console()
    made: list[Prepared] = []
    for one in _made(found, folder, workers):
        made.append(one)
        out.print(f"{one.name}: {_told(one)}", highlight=False, soft_wrap=True)
    for name in missing:
        out.print(f"{name}: missing: there is no {name}.dt", highlight=False)
    write(folder, _manifest(folder, made, missing, given))
    return 0 if all(one.is_proved for one in made) and not missing else 1


def _made(found: Sequence[Wanted], folder: Path, workers: int) -> Iterator[Prepared]:
    """Yield each of them, in their order."""
    if workers == 1:
        yield from (prepare(one, folder) for one in found)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(prepare, found, repeat(folder))


def _told(one: Prepared) -> str:
    if one.failure:
        return f"not prepared: {one.failure}"
    if one.is_proved:
        return "proved"
    left = ", ".join(f"{name} {said}" for name, said in one.layers.items() if said != "proved")
    return f"NOT PROVED: {left}"


def _manifest(
    folder: Path, made: list[Prepared], missing: tuple[str, ...], given: Sequence[str]
) -> Manifest:
    """Add the new texts to the manifest of a folder; they replace those of the same names."""
    names = {one.name for one in made}
    before = unchecked(folder) if (folder / MANIFEST).exists() else None
    kept = [one for one in before.texts if one.name not in names] if before else []
    gone = [one for one in before.missing if one not in names | {*missing}] if before else []
    return Manifest(
        (*kept, *made),
        (*gone, *missing),
        " ".join(("python", "-m", "benchmarks", *given)),
        datetime.now(UTC).isoformat(timespec="seconds"),
        {
            "dtpoly": __version__,
            "islpy": version("islpy"),
            "python": platform.python_version(),
        },
    )
