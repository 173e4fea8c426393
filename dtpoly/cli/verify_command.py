"""Implements `dtpoly verify FILE`, which proves that kernels compute what a .dt file says."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from dtpoly import __version__
from dtpoly.algorithm.program import Program
from dtpoly.budget import SECONDS as BUDGET
from dtpoly.checking import Checked, check
from dtpoly.cli.doubts import RING_BY, in_ring, tried_or_told
from dtpoly.cli.evidence import check_proof, show_fusions, write_proof
from dtpoly.cli.file_arguments import complete_files
from dtpoly.cli.frame_assumptions import of_inputs, of_tensors
from dtpoly.cli.func_option import wanted_funcs, with_func
from dtpoly.cli.lazy import load
from dtpoly.cli.main import BUG
from dtpoly.cli.named_kernel import kernel_named_in
from dtpoly.cli.output import shown, terminal_width, wants_colour, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.row_bits import (
    BitsAsked,
    answer_about_bits,
    answers_of_file,
    layouts_asked,
    tell_of_file,
)
from dtpoly.cli.saving import is_same_file, save, tell_error
from dtpoly.cli.seconds_option import Seconds, limited, with_seconds
from dtpoly.cli.settable import EachTimeOption
from dtpoly.cli.taken_kernel import (
    SEPARATOR,
    GivenKernels,
    comments_about,
    given_kernels,
    path_of,
)
from dtpoly.cli.without_algorithm import (
    STRUCTURE,
    DeclaredTensor,
    checked_tensors,
    of_structure,
    tensors_in,
)
from dtpoly.codegen.header import header, writer_of
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.frontend.reading import STANDARD_INPUT
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of
from dtpoly.missing_package import RING_PACKAGES, require
from dtpoly.row_proofs import TIMES
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source
from dtpoly.verdict_messages import of_edited, of_emitted
from dtpoly.verification import SECONDS, verified
from dtpoly.verify.proof.other_version import of_other_version
from dtpoly.verify.proof.report import LAYERS, LayerVerdict, Report

VERSION = 1  # of the JSON document
CHECKING = 60.0  # seconds for each function of a certificate, and twice that for all of its sets
TOGETHER = ["--kernel", "--check"]
SEARCH = 60.0  # seconds for the frames of a kernel, unless the user gives more or fewer
EMITTED = "<kernels>"  # the name of a text without a file, in messages


@dataclass(frozen=True, slots=True)
class VerifyCall:
    """The arguments and options of one call of the command, by the names that click gives them."""

    file: str | None
    kernel: str | None
    func: str | None
    seconds: float
    ring: bool
    certificate: str | None
    to_check: str | None
    fusions: bool
    extract: str | None
    init: str | None
    watched: str | None
    against: str | None
    output: str | None
    bits: str | None
    same_as: str | None
    layouts: str | None
    point: str | None
    primitives: Primitives
    as_json: bool
    as_sarif: bool


@click.command(
    short_help="Prove that kernels compute the algorithm of a file.",
    epilog="""\b
Examples:
  dtpoly verify softmax.dt
  dtpoly verify softmax.dt --kernel softmax.py
  dtpoly verify softmax.dt --kernel project/ops/softmax.py::softmax_kernel
  dtpoly verify --kernel project/ops/softmax.py::softmax_kernel
  dtpoly verify softmax.dt --kernel softmax.py --sarif
  dtpoly verify softmax.dt --ring
  dtpoly verify softmax.dt --kernel softmax.py --certificate softmax.json
  dtpoly verify softmax.dt --kernel softmax.py --check softmax.json
  dtpoly verify softmax.dt --fuse-at
  dtpoly verify softmax.dt --bits x
  dtpoly verify softmax.dt --bits x --layouts cuda:90
  dtpoly verify softmax.dt --same-as other.dt
  dtpoly verify --init k.py::softmax --watched launches.json -o softmax.dt""",
)
@click.argument("file", metavar="[FILE]", required=False, shell_complete=complete_files)
@click.option(
    "--kernel",
    metavar="FILE[::NAME]",
    shell_complete=complete_files,
    help="The file to prove; it may be changed, or written by hand. FILE::NAME is one kernel of any"
    " module.  [default: the text that dtpoly compile writes]",
)
@click.option(
    "--func", cls=EachTimeOption, metavar="FUNC", help="Prove only the function of this Func."
)
@click.option(
    "--seconds",
    type=Seconds(),
    help="Give up a function after this time; with --init, the whole search."
    f"  [default: {SECONDS:g}; with --init, {SEARCH:g}]",
)
@click.option(
    "--ring",
    is_flag=True,
    help="Also run the text on numbers of a ring, without rounding or tolerance.",
)
@click.option(
    "--certificate",
    metavar="FILE",
    shell_complete=complete_files,
    help="Also write the proof, so that another program can check it.",
)
@click.option(
    "--check",
    "to_check",
    metavar="FILE",
    shell_complete=complete_files,
    help="Instead, check a written proof, by another engine.",
)
@click.option(
    "--extract",
    metavar="FILE",
    shell_complete=complete_files,
    help="Instead, write the kernel of --kernel FILE::NAME and what it uses to a file of its own.",
)
@click.option(
    "--fuse-at",
    "fusions",
    cls=EachTimeOption,
    is_flag=True,
    help="Instead, show why fusions are legal.",
)
@click.option(
    "--init",
    cls=EachTimeOption,
    metavar="FILE::NAME",
    shell_complete=complete_files,
    help="Instead, write the lines that a kernel needs to be proved, from launches of it.",
)
@click.option(
    "--watched",
    metavar="RECORD",
    shell_complete=complete_files,
    help="The launches for --init, which 'with dtpoly.watch(RECORD):' writes.",
)
@click.option(
    "--against",
    metavar="ALGORITHM",
    help="What the kernel of --init should compute: a name such as softmax, a .dt file, or"
    " torch:module.function.  [default: not looked at]",
)
@click.option(
    "-o",
    "output",
    metavar="FILE",
    shell_complete=complete_files,
    help="The .dt file that --init writes.  [default: standard output]",
)
@click.option(
    "--bits",
    cls=EachTimeOption,
    metavar="LABEL",
    help="Instead, prove that the bits of a row do not depend on the size of this label.",
)
@click.option(
    "--same-as",
    cls=EachTimeOption,
    metavar="FILE",
    shell_complete=complete_files,
    help="Instead, prove that FILE computes the same bits.",
)
@click.option(
    "--layouts",
    metavar="TARGET[,DTYPE]",
    help="With --bits, also compile the variants of each kernel for a GPU such as cuda:90 or"
    " hip:gfx942, and compare how they lay tiles out.",
)
@point_option
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print a SARIF 2.1.0 log.")
def command(**given: Any) -> int:
    """Read the kernels of a .dt file back, and prove that they compute its algorithm.

    For each function dtpoly proves seven layers, for all sizes: that each element is stored once,
    that loads are those of the algorithm, that no access is outside of its tensor, that masked
    lanes change nothing, that nothing is read too early or races, that values are right, and that
    no number overflows. If a layer is refuted, the output shows an example with the smallest sizes:
    the program, the lane and the element.

    A kernel without an algorithm needs no FILE, or one without a Func: a comment with its tensors
    is enough to prove the layers stores, bounds, order and overflow.

    If FILE compiles a Func that the kernels do not compute, not all is proved; --func proves the
    function of one Func alone.

    Exit codes: 0 all is proved; 1 a layer is not proved, or the text of --kernel is refuted; 3 the
    text that dtpoly itself writes is refuted, which is a bug of dtpoly.
    """
    asked = VerifyCall(**with_seconds(given, SEARCH if given["init"] else SECONDS))
    _check_options(asked)
    if asked.ring:
        require(RING_PACKAGES, RING_BY)
    if asked.init is not None:
        return _init(asked)
    asked = _with_kernel(asked)
    source = _source(asked)
    began = time.thread_time()
    checked, only = _checked(asked, source)
    if asked.fusions and checked.verdict is not None:
        assert asked.file is not None, "--fuse-at and --kernel exclude each other"
        return show_fusions(checked, asked.file, asked.as_json)
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    if checked.verdict is None:
        tell_error(f"'{source.name}' has no Func, so there is nothing to verify")
        return 1
    wanted = wanted_funcs(checked.program, asked.func)
    checked = with_func(checked, asked.func if asked.kernel is None else None)
    assert checked.program is not None
    program = checked.program
    with limited(BUDGET, time.thread_time() - began):
        kernels = _kernels(checked, source, asked, wanted, only)
    text = kernels.source
    if asked.extract is not None:
        return _extract(text, asked.extract)
    if asked.to_check is not None:
        with limited(CHECKING * (len(program.funcs) + 2)):
            return check_proof(source, text, asked.to_check, wanted, kernels.assumed, asked.as_json)
    if asked.bits is not None or asked.same_as is not None:
        return _about_bits(asked, program, kernels, wanted)
    found = kernels.assuming(_found(asked, program, text, wanted, only))
    with limited(2 * TIMES * asked.seconds * len(program.funcs) + BUDGET):
        rows = answers_of_file(program, text.text, asked.primitives, found, asked.seconds)
    _tell(asked, found, text, checked, rows)
    if (path := asked.certificate) and not write_proof(program, source, text, path, asked.seconds):
        return 1
    if found.verdict is LayerVerdict.REFUTED and asked.kernel is None:
        return BUG
    is_proved = found.verdict is LayerVerdict.PROVED
    return 0 if is_proved and all(one["verdict"] == "proved" for one in rows) else 1


def _about_bits(
    asked: VerifyCall, program: Program, kernels: GivenKernels, wanted: tuple[str, ...]
) -> int:
    """Answer a question about bits. It takes longer than the proof of a kernel."""
    about = (asked.bits, asked.same_as, asked.file, asked.kernel, asked.seconds, asked.as_json)
    layouts = None if asked.layouts is None else layouts_asked(asked.layouts)
    is_by_hand = asked.kernel is not None and kernels.is_launched
    bits = BitsAsked(*about, layouts, kernels.assumed if is_by_hand else None)
    with limited(2 * TIMES * asked.seconds * len(program.funcs) + BUDGET):
        return answer_about_bits(bits, program, kernels.source, wanted, asked.primitives)


def _with_kernel(asked: VerifyCall) -> VerifyCall:
    """Return the call with the kernel that the file names, if the call has none."""
    if asked.file in (None, STANDARD_INPUT) or asked.kernel is not None or asked.fusions:
        return asked
    assert asked.file is not None
    try:
        text = Path(asked.file).read_text("utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        return asked  # the message comes where the file is read
    kernel = kernel_named_in(text, Path(asked.file))
    return asked if kernel is None else replace(asked, kernel=kernel)


def _init(asked: VerifyCall) -> int:
    """Write the frame of a kernel. Raises DtpolyError and click.UsageError."""
    assert asked.init is not None
    if asked.watched is None:
        raise click.UsageError("--init needs --watched RECORD, the launches of the kernel")
    if SEPARATOR not in asked.init:
        raise click.UsageError("--init names one kernel: FILE::NAME")
    call: type = load("dtpoly.cli.init_frame").InitCall
    init: Callable[..., int] = load("dtpoly.cli.init_frame").init
    with limited(BUDGET + asked.seconds):
        return init(
            call(
                asked.init, asked.watched, asked.against, asked.output, asked.seconds, asked.as_json
            )
        )


def _check_options(asked: VerifyCall) -> None:
    """Refuse options that contradict each other, and a certificate that would replace its input."""
    if asked.init is None and (asked.watched or asked.output or asked.against):
        raise click.UsageError("--watched, --against and -o belong to --init")
    if asked.init is not None and (asked.file or asked.kernel or asked.bits or asked.same_as):
        raise click.UsageError("--init writes a file: it verifies no other one")
    _check_together(
        {"--check": asked.to_check, "--fuse-at": asked.fusions},
        {"--kernel": asked.kernel, "--certificate": asked.certificate, "--ring": asked.ring},
    )
    read = (asked.file, None if asked.kernel is None else path_of(asked.kernel))
    for path, option in ((asked.certificate, "--certificate"), (asked.extract, "--extract")):
        if path and any(is_same_file(path, one) for one in read if one):
            raise click.BadParameter(f"'{path}' is a file to verify", param_hint=option)
    if asked.layouts is not None and (
        asked.bits is None or asked.kernel or asked.file in (None, "-")
    ):
        raise click.UsageError("--layouts belongs to --bits of a FILE, without --kernel")
    if asked.bits is not None and asked.same_as is not None:
        raise click.UsageError("--bits and --same-as ask for different things")
    about_bits = asked.bits is not None or asked.same_as is not None
    if about_bits and any(
        (
            asked.to_check,
            asked.fusions,
            asked.certificate,
            asked.ring,
            asked.extract,
            asked.as_sarif,
        )
    ):
        raise click.UsageError("--bits and --same-as ask only about bits: give them alone")
    if asked.as_sarif and (asked.as_json or asked.fusions or asked.to_check or asked.extract):
        raise click.UsageError("--sarif is about a proof, and no other document is written with it")
    if asked.extract is not None and SEPARATOR not in (asked.kernel or ""):
        raise click.UsageError("--extract needs --kernel FILE::NAME")
    others = (asked.to_check, asked.fusions, asked.certificate, asked.ring)
    if asked.extract is not None and any(others):
        raise click.UsageError("--extract writes a file and verifies nothing: give it alone")


def _source(asked: VerifyCall) -> Source:
    """Read the file; without one, all that is said stands beside the kernel. Raises DtpolyError."""
    if asked.file is not None:
        return read_source(asked.file, asked.point)
    if asked.kernel is None:
        raise click.UsageError("Missing argument 'FILE'.")
    return Source(path_of(asked.kernel), "")


def _checked(asked: VerifyCall, source: Source) -> tuple[Checked, tuple[str, ...]]:
    """Return the checked file and the layers to prove; tensors alone make an algorithm.

    Raises DtpolyError and click.UsageError.
    """
    with limited(BUDGET):
        checked = check(source, asked.primitives)
        if checked.program is None or checked.verdict is not None or asked.kernel is None:
            return checked, tuple(LAYERS)
        comments = comments_about(asked.kernel, source)
        tensors = tensors_in(comments)
        if not tensors:
            return checked, tuple(LAYERS)
        if asked.ring or asked.certificate or asked.to_check:
            raise click.UsageError(
                "--ring, --certificate and --check need an algorithm, not only tensors"
            )
        return checked_tensors(comments, tensors, source.name, asked.primitives), STRUCTURE


def _tensors(asked: VerifyCall, source: Source) -> tuple[DeclaredTensor, ...]:
    """Return the tensors that comments declare. Raises DtpolyError."""
    return () if asked.kernel is None else tensors_in(comments_about(asked.kernel, source))


def _found(
    asked: VerifyCall,
    program: Program,
    text: Source,
    wanted: tuple[str, ...],
    only: tuple[str, ...],
) -> Report:
    """Verify, and run in the ring if that is wanted or needed."""
    # The time is doubled, because a refuted function is looked at again.
    with limited(2 * asked.seconds * len(program.funcs) + BUDGET):
        found = verified(program, text.text, wanted, asked.seconds, only)
    if asked.func is not None:
        found = Report(tuple(one for one in found.functions if one.name in (asked.func, "")))
    if only == STRUCTURE:
        found = of_structure(found)
    # A text of ours that is not proved is run automatically; a user's text only on request.
    is_ours = asked.kernel is None
    if asked.ring:
        found = in_ring(program, text.text, found, asked.seconds, all_of_them=True)
    elif is_ours and found.verdict is LayerVerdict.UNKNOWN:
        found = tried_or_told(program, text.text, found, asked.seconds)
    return found if is_ours else of_other_version(found, text.text, writer_of(text.text))


def _tell(
    asked: VerifyCall,
    found: Report,
    text: Source,
    checked: Checked,
    bits: Sequence[dict[str, Any]],
) -> None:
    """Print the verdict, as a JSON document if the user wants one.

    `bits` is what is known of the bits that the file asks about.
    """
    if asked.kernel is None and checked.verdict is not None:
        name, state = checked.file.source.name, checked.verdict.scheduled
        told = of_emitted(found, text, name, state)
    else:
        told = of_edited(found, text)
    if asked.as_sarif:
        as_log: Callable[..., str] = load("dtpoly.render.sarif").render
        descriptions: dict[str, str] = load("dtpoly.catalogue").descriptions()
        noted = tuple(load("dtpoly.verdict_table").noted(found))
        write(as_log(told, descriptions, __version__, noted))
        return
    if not asked.as_json:
        _show(found, told)
        tell_of_file(bits, text)
        return
    told_data: ModuleType = load("dtpoly.verdict_table")
    data = told_data.verdict_data(found, told)
    document = {"version": VERSION, "file": asked.file, "kernel": asked.kernel, **data}
    if bits:
        document["bits"] = list(bits)
    write(json.dumps(document, indent=2) + "\n")


def _check_together(instead: Mapping[str, object], more: Mapping[str, object]) -> None:
    """Refuse options of which one would be ignored silently. Raises click.UsageError."""
    given = [word for word, value in instead.items() if value]
    # A certificate may be checked for the kernels of --kernel.
    others = [word for word, value in more.items() if value and [word, *given] != TOGETHER]
    if given and len([*given, *others]) > 1:
        raise click.UsageError(f"{' and '.join([*given, *others])} ask for different things")


def _kernels(
    checked: Checked,
    source: Source,
    asked: VerifyCall,
    wanted: tuple[str, ...],
    only: tuple[str, ...],
) -> GivenKernels:
    """Return the kernels: those of a file, one of a module, or those that are generated."""
    if asked.kernel is not None:
        kernels = given_kernels(asked.kernel, source)
        if not kernels.is_launched:
            return kernels
        assert checked.program is not None
        is_bare = only == STRUCTURE
        declared = of_tensors(_tensors(asked, source)) if is_bare else of_inputs(checked.program)
        return replace(kernels, assumed=(*kernels.assumed, *declared))
    assert checked.verdict is not None
    heading = header(__version__, checked.file.source.name)
    return GivenKernels(
        Source(EMITTED, code_of(checked.verdict.scheduled, heading, None, wanted).text)
    )


def _extract(text: Source, path: str) -> int:
    """Write the text that a kernel was taken out to."""
    return 0 if save(Path(path), text.text.encode()) else 1


def _show(found: Report, told: tuple[Diagnostic, ...]) -> None:
    """Print the table, and below it what is not proved."""
    verdicts: ModuleType = load("dtpoly.verdict_table")
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    colour, width = wants_colour(sys.stdout, os.environ), terminal_width(sys.stdout)
    write(table(verdicts.head(found), verdicts.rows(found), width, colour=colour))
    write("".join(f"{line}\n" for line in (*verdicts.tests(found), *verdicts.noted(found))))
    if told:
        render: ModuleType = load("dtpoly.render.diagnostic_text")
        write("\n" + shown(render.render(told, width), sys.stdout))
