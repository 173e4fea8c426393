"""Finds frames with an algorithm for `dtpoly verify --init ... --against`.

The algorithm is one of those that come with dtpoly, a .dt file, or a function of torch. Its tensors
are matched with those of the kernel; the verifier tries the matches, the most probable one first.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from dtpoly.checking import check
from dtpoly.cli.lazy import load
from dtpoly.cli.taken_kernel import SEPARATOR, TakenKernel
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.extract.python_modules import read_module
from dtpoly.framing.algorithm_matching import (
    AlgorithmMatch,
    fixed_labels,
    matches,
    numbers_for,
    scalar_names,
)
from dtpoly.framing.frame_arguments import CannotFrame
from dtpoly.framing.frame_search import (
    LATE,
    OPEN,
    PROVED,
    UNREADABLE,
    FoundFrame,
    Prover,
    SearchTime,
    found_frame,
)
from dtpoly.framing.kernel_frame import FrameGuess, KernelFrame, text_of
from dtpoly.framing.launch_groups import LaunchGroup
from dtpoly.framing.plain_algorithm import (
    NotPlain,
    PlainAlgorithm,
    algorithm_text,
    plain_of,
    variants,
    with_numbers,
)
from dtpoly.frontend.reading import read_file
from dtpoly.source import Source, Span
from dtpoly.suggest import near
from dtpoly.verification import verified
from dtpoly.verify.proof.report import LayerVerdict, Report

PACKAGE = Path(__file__).parent.parent
FOLDERS = (PACKAGE / "framing" / "algorithms", PACKAGE / "nn")
TORCH = "torch:"
FRAME = "<frame>"
MOST_TRIED = 8  # matches


def algorithms_for(against: str, group: LaunchGroup) -> Iterator[PlainAlgorithm]:
    """Yield what a kernel may compute, as `--against` says. Raises DtpolyError."""
    if against.startswith(TORCH):
        traced: Callable[..., Iterator[PlainAlgorithm]]
        traced = load("dtpoly.framing.torch_tracing").traced_algorithms
        for one in traced(against.removeprefix(TORCH), group):
            yield from variants(one)
        return
    source = _read(against)
    checked = check(source)
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    found = plain_of(checked.program, Path(source.name).stem)
    if isinstance(found, NotPlain):
        raise refused(source, f"'{against}' cannot be matched with a kernel", found.why)
    yield from variants(found)


def frame_against(
    kernel: str,
    group: LaunchGroup,
    against: str,
    clock: SearchTime,
    names: tuple[tuple[str, str], ...],
    trials: list[DtpolyError],
) -> FoundFrame | CannotFrame:
    """Return the frame of a kernel that computes an algorithm. Raises DtpolyError."""
    first: FoundFrame | None = None
    tried = 0
    undecided: tuple[str, ...] = ()
    prove = prover(kernel, trials)
    for algorithm in algorithms_for(against, group):
        found = matches(group, algorithm)
        for at, match in enumerate(islice(found, MOST_TRIED)):
            if first is not None and not clock.left:
                undecided = ("other ways to match the algorithm were not looked at",)
                break
            scalars = scalar_names(match.group, algorithm)
            numbers = numbers_for(match.group, algorithm, scalars)
            fixed = fixed_labels(match.group, match.choice.labels)
            known = with_numbers(replace(algorithm, fixed={**algorithm.fixed, **fixed}), numbers)
            one = found_frame(
                replace(match.group, scalars=scalars),
                (match.choice,),
                prove,
                # The first match is the most probable one, and gets as long as all others.
                clock.part(2 if at == 0 and len(found) > 1 else 1),
                _completed(known, match, names, len(found)),
                with_values=True,
            )
            if isinstance(one, CannotFrame):
                return one
            tried += one.tried
            if one.end == PROVED:
                return replace(one, tried=tried)
            first = first or one
    if first is None:
        source = Source(against, against)
        why = "its inputs and results have other axes than the tensors that were launched"
        raise refused(source, f"no tensor of '{group.name}' fits '{against}'", why)
    return replace(first, tried=tried, undecided=(*first.undecided, *undecided))


def _completed(
    algorithm: PlainAlgorithm,
    match: AlgorithmMatch,
    names: tuple[tuple[str, str], ...],
    count: int,
) -> Callable[[KernelFrame], KernelFrame]:
    """Return what gives a frame its algorithm."""
    pairs = ", ".join(f"{one} is '{other}'" for one, other in match.pairs)
    matched = FrameGuess("of the algorithm", pairs, ())
    taken = [f"the tensors of '{match.group.name}' are those of '{algorithm.name}': {pairs}"]
    taken += [f"len({label}) is always {size}" for label, size in algorithm.fixed.items()]
    taken += algorithm.guesses
    others = f"There are {count} such matches." if count > 1 else "No other match fits the sizes."

    def complete(frame: KernelFrame) -> KernelFrame:
        scalars = {one.name: one.dtype for one in frame.scalars}
        text = algorithm_text(
            algorithm, match.dtypes, match.stored, match.into, scalars, match.others
        )
        said = (f"The algorithm is '{algorithm.name}', where {matched.taken}. {others}",)
        notes = (*frame.notes, *said, *algorithm.notes)
        beyond = (*frame.beyond, *taken)
        return replace(frame, names=names, algorithm=text, notes=notes, beyond=beyond)

    return complete


def end_of(report: Report) -> str:
    """Return how a proof ended, as a report says it."""
    is_late = report.is_late and report.verdict is not LayerVerdict.PROVED
    return LATE if is_late else str(report.verdict)


def prover(kernel: str, trials: list[DtpolyError]) -> Prover:
    """Return what proves a frame with its algorithm; errors are kept."""
    path, _, name = kernel.partition(SEPARATOR)
    taken = TakenKernel(read_module(read_file(path)), name)

    def prove(frame: KernelFrame, seconds: float, *, decides: bool) -> str:
        source = Source(FRAME, text_of(frame))
        checked = check(source)
        if checked.program is None:
            trials.append(DtpolyError(checked.diagnostics))
            return OPEN
        try:
            given = taken.given(source)
        except DtpolyError as error:
            trials.append(error)
            return UNREADABLE
        text = given.source.text
        return end_of(verified(checked.program, text, (), seconds, decides=decides))

    return prove


def _read(against: str) -> Source:
    """Read the file that is meant: a path, or the name of an algorithm that comes with dtpoly."""
    known = [folder / f"{against}.dt" for folder in FOLDERS]
    path = next((one for one in known if one.is_file()), None)
    if path is not None:
        return read_file(str(path))
    if Path(against).suffix == ".dt" or Path(against).exists():
        return read_file(against)
    names = sorted({one.stem for folder in FOLDERS for one in folder.glob("*.dt")})
    meant = near(against, names)
    way = f"did you mean '{meant}'?" if meant else f"these are known: {', '.join(names)}"
    raise refused(Source(against, against), f"no algorithm '{against}'", "no file has it", way)


def refused(source: Source, title: str, why: str, way: str = "") -> DtpolyError:
    """Return the error that an algorithm cannot be used."""
    span = Span(source, 0, min(len(source.text), 1))
    hint = way or "give a .dt file with the algorithm, or none: docs/public-kernels.md"
    return DtpolyError((Diagnostic("DT318", Severity.ERROR, title, span, why, hint=hint),))
