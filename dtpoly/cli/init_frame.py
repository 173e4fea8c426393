"""Writes the frame of a kernel for `dtpoly verify --init FILE::NAME --watched RECORD`.

The frame comes from launches that were watched. Each frame that fits them is tried by the verifier,
and the first one that it proves is written; what is guessed in it stands in lines `# guessed:`,
which the verdict of a later `dtpoly verify` repeats.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from dtpoly.checking import check
from dtpoly.cli.init_against import end_of, frame_against
from dtpoly.cli.named_kernel import line_for
from dtpoly.cli.output import shown, terminal_width, write
from dtpoly.cli.saving import save
from dtpoly.cli.taken_kernel import SEPARATOR, TakenKernel, path_of
from dtpoly.cli.without_algorithm import STRUCTURE, algorithm_of, of_structure, tensors_in
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.extract.meanings import Unclear, meaning
from dtpoly.extract.python_modules import Module, read_module
from dtpoly.extract.taking_out import take_out
from dtpoly.framing.frame_arguments import CannotFrame
from dtpoly.framing.frame_search import (
    OPEN,
    UNREADABLE,
    FoundFrame,
    Prover,
    found_frame,
    search_time,
)
from dtpoly.framing.kernel_frame import FrameGuess, KernelFrame, text_of
from dtpoly.framing.launch_groups import LaunchGroup, grouped, split_by
from dtpoly.framing.pointer_uses import PointerUses, uses_of
from dtpoly.framing.size_formulas import formulas_of
from dtpoly.framing.tensor_axes import AxesChoice, axes_choices, facts_of
from dtpoly.frontend.reading import read_file
from dtpoly.frozen import dataclass
from dtpoly.render.diagnostic_text import render
from dtpoly.source import Source, Span
from dtpoly.verification import verified
from dtpoly.watching.launch_record import WatchedLaunch, read_record

VERSION = 1  # of the JSON document
FRAME = "<frame>"  # the name of a text without a file, in messages
PARTS = 4  # the part of the time in which the axes of tensors are chosen
MOST_UNDECIDED = 3  # that are shown
WAY = "let your own call launch it: with dtpoly.watch('record.json'): ..."


@dataclass(frozen=True, slots=True)
class InitCall:
    """What `--init` is asked for."""

    kernel: str
    record: str
    against: str | None
    output: str | None
    seconds: float
    as_json: bool


def init(asked: InitCall) -> int:
    """Write the frames of a kernel; return 0 if all of them are proved. Raises DtpolyError."""
    path, _, name = asked.kernel.partition(SEPARATOR)
    module = read_module(read_file(path))
    record = read_file(asked.record)
    launches = launches_of(read_record(record), module, name)
    if not launches:
        raise unseen(record, asked.kernel, read_record(record))
    trials: list[DtpolyError] = []
    found: list[FoundFrame] = []
    clock = search_time(asked.seconds)
    groups = groups_of(launches, module, clock.part(PARTS).until)
    for at, (group, choices) in enumerate(groups):
        names = names_of(module, group)
        part = clock.part(len(groups) - at)
        if asked.against is None:
            prove = prover(asked.kernel, trials)
            one = found_frame(group, choices, prove, part, _with_names(names))
        else:
            one = frame_against(asked.kernel, group, asked.against, part, names, trials)
        if isinstance(one, CannotFrame):
            raise _unwritten(record, asked.kernel, one)
        if text_of(one.frame) not in [text_of(other.frame) for other in found]:
            found.append(one)
    is_open = any(one.end == "unknown" for one in found)
    for error in trials[:1] if is_open else ():
        sys.stderr.write(shown(render(error.diagnostics, terminal_width(sys.stderr)), sys.stderr))
    return _tell(asked, found)


def _with_names(names: tuple[tuple[str, str], ...]) -> Callable[[KernelFrame], KernelFrame]:
    """Return what gives a frame the meanings of names."""
    return lambda frame: replace(frame, names=names)


def launches_of(
    launches: Sequence[WatchedLaunch], module: Module, name: str
) -> tuple[WatchedLaunch, ...]:
    """Return the launches of a kernel of a module."""
    path = os.path.realpath(module.source.name)
    return tuple(one for one in launches if one.name == name and os.path.realpath(one.file) == path)


def groups_of(
    launches: Sequence[WatchedLaunch], module: Module, until: float = inf
) -> tuple[tuple[LaunchGroup, tuple[AxesChoice, ...]], ...]:
    """Return the groups of launches that have one frame each, with ways to see their tensors.

    A constant that no formula gives, and that is not the same in all launches, was chosen by tuning
    or by a caller: each of its values has its own frame.
    """
    name = launches[0].name

    def uses(constants: Mapping[str, object]) -> PointerUses:
        return uses_of(module, name, constants)

    found: list[tuple[LaunchGroup, tuple[AxesChoice, ...]]] = []
    for kind in _alike(launches):
        (group,) = grouped(kind, uses)
        choices = axes_choices(group, until)
        facts = facts_of(group, choices[0].labels)
        chosen = [
            one
            for one, row in group.numbers.items()
            if one in group.constants
            and one not in group.unread
            and not formulas_of(row, facts, is_constant=True)
        ]
        chosen += [one for one in group.constants if one in group.varying]
        parts = split_by(kind, chosen) if chosen else ()
        if len(parts) < 2:
            found.append((group, choices))
        else:
            apart = [one for part in parts for one in grouped(part, uses)]
            found += [(one, axes_choices(one, until)) for one in apart]
    return tuple(found)


def names_of(module: Module, launch: LaunchGroup | WatchedLaunch) -> tuple[tuple[str, str], ...]:
    """Return what names of a module are that cannot be understood from its text.

    The launches have seen what they were. A name about which nothing has to be said is left out.
    """
    named = {
        name: text
        for name, text in launch.names.items()
        if isinstance(meaning(module, name), Unclear)
    }
    try:
        take_out(module, launch.name, named)
    except DtpolyError:
        for name in tuple(named):
            rest = {one: text for one, text in named.items() if one != name}
            if _is_taken(module, launch.name, rest):
                named = rest
                break
    return tuple(named.items())


def _is_taken(module: Module, kernel: str, named: Mapping[str, str]) -> bool:
    try:
        take_out(module, kernel, named)
    except DtpolyError:
        return False
    return True


def _alike(launches: Sequence[WatchedLaunch]) -> list[list[WatchedLaunch]]:
    """Return the launches apart by what is no size."""
    kinds: list[list[WatchedLaunch]] = []
    for one in launches:
        for kind in kinds:
            if len(grouped([kind[0], one], _no_uses)) == 1:
                kind.append(one)
                break
        else:
            kinds.append([one])
    return kinds


def _no_uses(_: Mapping[str, object]) -> PointerUses:
    return PointerUses()


def prover(kernel: str, trials: list[DtpolyError]) -> Prover:
    """Return what proves a frame without an algorithm; errors of the kernel are kept."""
    path, _, name = kernel.partition(SEPARATOR)
    taken = TakenKernel(read_module(read_file(path)), name)

    def prove(frame: KernelFrame, seconds: float, *, decides: bool) -> str:
        source = Source(FRAME, text_of(frame))
        try:
            lines = tuple((source, line) for line in source.text.splitlines())
            program = check(Source(FRAME, algorithm_of(tensors_in(lines)))).program
            if program is None:
                return OPEN
            given = taken.given(source)
        except DtpolyError as error:
            trials.append(error)
            return UNREADABLE
        text = given.source.text
        report = verified(program, text, (), seconds, STRUCTURE, decides=decides)
        return end_of(of_structure(report))

    return prove


def _tell(asked: InitCall, found: Sequence[FoundFrame]) -> int:
    """Write the frames to files, or to standard output, and say how their proofs ended."""
    texts = [text_of(one.frame) for one in found]
    is_proved = all(one.end == "proved" for one in found)
    if asked.as_json:
        document = {
            "version": VERSION,
            "kernel": asked.kernel,
            "frames": [_frame_data(one) for one in found],
        }
        write(json.dumps(document, indent=2) + "\n")
    elif asked.output is None:
        write("\n".join(texts))
    if asked.output is not None:
        for path, text in zip(_paths(asked.output, len(texts)), texts, strict=True):
            line = line_for(asked.kernel, path)
            if not save(path, f"{line}\n{text}".encode()):
                return 1
    if not asked.as_json:
        for one in found:
            tried = f"{one.tried} proof{'' if one.tried == 1 else 's'} tried"
            print(f"{one.frame.kernel}: {one.end.upper()} ({tried})", file=sys.stderr)
            for what in one.undecided[:MOST_UNDECIDED]:
                print(f"  not decided: {what}; a larger --seconds may tell", file=sys.stderr)
    return 0 if is_proved else 1


def _paths(output: str, count: int) -> list[Path]:
    """Return a file for each frame: the first has the name that was given, others a number."""
    path = Path(output)
    more = (path.with_stem(f"{path.stem}_{at}") for at in range(2, count + 1))
    return [path, *more]


def _frame_data(one: FoundFrame) -> dict[str, object]:
    return {
        "text": text_of(one.frame),
        "verdict": one.end,
        "promises": list(one.frame.promises),
        "guesses": [_guess_data(guess) for guess in one.frame.guesses],
        "assumed": list(one.frame.beyond),
        "tried": one.tried,
        "undecided": list(one.undecided),
    }


def _guess_data(one: FrameGuess) -> dict[str, object]:
    return {
        "about": one.about,
        "taken": one.taken,
        "others": list(one.others),
        "further": one.further,
    }


def unseen(record: Source, kernel: str, launches: Sequence[WatchedLaunch]) -> DtpolyError:
    """Return the error that a record has no launch of a kernel."""
    names = sorted({f"'{one.name}' of '{Path(one.file).name}'" for one in launches})
    why = f"it has launches of {', '.join(names)}" if names else "no launch was recorded"
    title = f"the record has no launch of '{kernel}'"
    return _refused(record, title, why, WAY)


def _unwritten(record: Source, kernel: str, cannot: CannotFrame) -> DtpolyError:
    title = f"the frame of '{kernel}' cannot be written, because of '{cannot.parameter}'"
    return _refused(record, title, cannot.why, "write the frame by hand: docs/handwritten.md")


def _refused(record: Source, title: str, why: str, way: str) -> DtpolyError:
    span = Span(record, 0, min(len(record.text), 1))
    return DtpolyError((Diagnostic("DT317", Severity.ERROR, title, span, why, hint=way),))


def is_kernel(kernel: str) -> bool:
    """Return whether a text names one kernel of a file."""
    return SEPARATOR in kernel and bool(path_of(kernel))
