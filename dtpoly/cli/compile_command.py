"""Implements `dtpoly compile FILE`, which writes a Python file with the kernels of a .dt file.

The command goes through the stages one after the other: it checks, generates, proves and writes,
and compiles for a GPU if it is asked to. All of them share the time that --seconds allows.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from dtpoly import __version__
from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError
from dtpoly.checking import Checked, check
from dtpoly.cli.doubts import tried_or_told
from dtpoly.cli.file_arguments import complete_files, file_name
from dtpoly.cli.func_option import wanted_funcs, with_func
from dtpoly.cli.lazy import load
from dtpoly.cli.main import BUG
from dtpoly.cli.output import report, write_exactly
from dtpoly.cli.output_file import check_output, contents, output_path
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.saving import save, tell_error
from dtpoly.cli.seconds_option import limited, seconds_option
from dtpoly.cli.settable import EachTimeOption
from dtpoly.cli.size_option import parse_sizes
from dtpoly.codegen.header import header
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.missing_package import require
from dtpoly.plan.runtime_text import RUNTIMES
from dtpoly.remarks import remarked
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.state import State
from dtpoly.source import Source
from dtpoly.targets.target import LIMITS, Target, parse_target
from dtpoly.verdict_messages import of_emitted
from dtpoly.verification import proved
from dtpoly.verify.proof.report import LayerVerdict

STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin", "sass", "amdgcn", "hsaco")
# The share of the time that the proof of one function may take, and the seconds for which an
# unproved function is run.
ALMOST, RING = 0.9, 20.0
COMPILED_BY = "--emit and --target let triton compile the kernels; without them nothing needs it"


@dataclass(frozen=True, slots=True)
class CompileCall:
    """The arguments and options of one call of the command, by the names that click gives them."""

    file: str
    output: str | None
    func: str | None
    test: str | None
    target: Target | None
    emit: str | None
    sizes: tuple[str, ...]
    dtype: str | None
    runtime: str
    no_verify: bool
    seconds: float
    point: str | None
    primitives: Primitives
    as_json: bool


def _target(context: click.Context, parameter: click.Parameter, word: str | None) -> Target | None:
    """Return the target that a word such as `cuda:90` names."""
    try:
        return None if word is None else parse_target(word)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command(
    short_help="Write the Triton code of a file.",
    epilog="""\b
Examples:
  dtpoly compile softmax.dt
  dtpoly compile softmax.dt -o kernels/softmax.py --test x=4,y=1000
  dtpoly compile softmax.dt -o - --func total
  dtpoly compile softmax.dt --runtime import
  dtpoly compile softmax.dt --target cuda:80
  dtpoly compile matmul.dt --emit ptx --size m=4096,n=4096,k=4096 --dtype bf16
  dtpoly compile matmul.dt --emit cubin --target cuda:90 -o matmul.cubin""",
)
@file_name
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="Where to write; - is standard output.  [default: FILE's name with .py, in this folder]",
)
@click.option("--func", metavar="FUNC", help="The Func that gets a function; its name in the file.")
@click.option(
    "--test",
    metavar="x=..,y=..",
    help="Add a function test() that runs the others on random inputs of these sizes.",
)
@click.option(
    "--target",
    metavar="GPU",
    callback=_target,
    help=f"Also compile for a GPU; the machine need not have it: {', '.join(LIMITS)}.",
)
@click.option(
    "--emit",
    type=click.Choice(STAGES),
    help="Print this stage of Triton's compiler instead; this needs no GPU.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="x=..,y=..",
    help="For --emit and --target: sizes to compile for."
    "  [default: 1024; 128 if a tile has the whole label]",
)
@click.option(
    "--dtype",
    type=click.Choice([str(dtype) for dtype in FLOATS]),
    help="For --emit and --target: the dtype of inputs that declare none.  [default: f32]",
)
@click.option(
    "--runtime",
    type=click.Choice(RUNTIMES),
    default=RUNTIMES[0],
    show_default=True,
    help="Whether the file carries the runtime, or imports it and so needs dtpoly where it runs.",
)
@click.option(
    "--no-verify",
    cls=EachTimeOption,
    is_flag=True,
    help="Do not prove that the text is right.",
)
@seconds_option
@point_option
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="With --emit: print a JSON document.")
def command(**given: Any) -> int:
    """Write a Python file with the Triton kernels of a .dt file, and a function that calls them.

    The file is written whole or not at all. Without -o it gets the name of FILE, in the current
    folder. A file of that name that dtpoly did not write is never replaced.

    The file has the kernels, a plan for each function, and the runtime: the Python that carries
    plans out. Such a file needs torch and triton alone. With --runtime import it imports the
    runtime instead, and is short; then it needs a dtpoly of this version where it runs.

    dtpoly reads the text back and proves that it computes the algorithm, for all sizes; the first
    lines of the file say what was proved. A text that is wrong is not written, and the command ends
    with exit code 3, because this is a bug of dtpoly. A text that cannot be proved is run at a few
    sizes, and then written with a warning. Proofs are kept, so the same text is not proved twice.
    All of this may take --seconds; if a proof takes longer, a warning says what is not proved.

    With --target, each kernel is also compiled for that GPU. One line says what the kernel needs
    there, and warnings that point at directives say what makes it slow. With --emit, the command
    prints one stage of that compilation instead of the Python file.
    """
    asked = CompileCall(**given)
    is_compiled = asked.target is not None or asked.emit is not None
    if (asked.sizes or asked.dtype) and not is_compiled:
        message = "--size and --dtype are for --emit and --target; the file serves all sizes"
        raise click.UsageError(message)
    if asked.as_json and asked.emit is None:
        raise click.UsageError("--json is for --emit")
    source = read_source(asked.file, asked.point)
    began = time.thread_time()
    with limited(asked.seconds):
        checked = check(source, asked.primitives)
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    if checked.verdict is None:
        tell_error(f"'{source.name}' has no Func, so there is nothing to compile")
        return 1
    wanted = wanted_funcs(checked.program, asked.func)
    return _compiled(asked, with_func(checked, asked.func), wanted, began)


def _compiled(asked: CompileCall, checked: Checked, wanted: Sequence[str], began: float) -> int:
    """Generate the text of a legal file, prove it, write it, and compile it if asked to.

    `began` is the thread's time when the command began to compute.
    """
    assert checked.program is not None
    assert checked.verdict is not None
    program, state = checked.program, checked.verdict.scheduled
    given = parse_sizes(asked.sizes, [label.name for label in program.labels])
    tested = None if asked.test is None else _tested(program, asked.test)
    check_output(asked.file, asked.output)
    if asked.target is not None or asked.emit is not None:
        require(why=COMPILED_BY)
    path = None if asked.emit else output_path(asked.file, asked.output)
    heading = header(__version__, checked.file.source.name)
    with limited(asked.seconds, time.thread_time() - began):
        carries = asked.runtime == RUNTIMES[0]
        made = remarked(checked, heading, tested, tuple(wanted), carries_runtime=carries)
    if made.code is None:
        raise DtpolyError(made.diagnostics)
    code = made.code
    if made.diagnostics:
        report(made.diagnostics, sys.stderr)
    text = code.text if asked.no_verify else _proved(asked, checked, code, path, began)
    if text is None:
        return BUG
    if path is not None and not save(path, text.encode(), more=contents(program, code)):
        return 1
    if path is None and asked.emit is None:
        write_exactly(text)
    if asked.target is None and asked.emit is None:
        return 0
    return _compiled_further(asked, state, code, given)


def _proved(
    asked: CompileCall, checked: Checked, code: Code, path: Path | None, began: float
) -> str | None:
    """Return the text with its verdict in its first lines, or None if it is refuted.

    What is not proved is run at a few sizes. The user is told about that, and about a refutation.
    """
    assert checked.program is not None
    assert checked.verdict is not None
    outputs = code.stages.outputs
    with limited(asked.seconds, time.thread_time() - began):
        # Several functions share the time for proofs; a single function may take almost all of it.
        each = asked.seconds * (ALMOST if len(outputs) == 1 else 1 / 2)
        found = proved(checked.program, code.text, outputs, each)
    text, known = found.text, found.report
    # A text that is not proved may be wrong, so it is run, unless triton is to compile in this
    # process.
    is_compiled = asked.target is not None or asked.emit is not None
    if known.verdict is LayerVerdict.UNKNOWN and not is_compiled:
        # The run began in time, so if it takes longer, nothing is reported.
        with suppress(OverBudgetError), limited(RING):
            known = tried_or_told(checked.program, text, known, RING / 2)
    kernel = Source("<standard output>" if path is None else str(path), text)
    name, state = checked.file.source.name, checked.verdict.scheduled
    if told := of_emitted(known, kernel, name, state):
        report(told, sys.stderr)
    return None if known.verdict is LayerVerdict.REFUTED else text


def _compiled_further(
    asked: CompileCall, state: State, code: Code, sizes: Mapping[str, int]
) -> int:
    """Let Triton compile the kernels for a GPU, and show what the user asked for."""
    # If this were set, Triton would interpret the kernels instead of compiling them.
    os.environ.pop("TRITON_INTERPRET", None)
    emitted: ModuleType = load("dtpoly.cli.emitted")
    target, dtype = asked.target or _usual(asked.emit), DType(asked.dtype or DType.F32)
    shown = emitted.EmitRequest(target, asked.emit, sizes, dtype, asked.as_json)
    answer: int = emitted.emit(state, code, shown, asked.output if asked.emit else None)
    return answer


def _usual(stage: str | None) -> Target:
    """Return a GPU whose compiler has this stage."""
    return parse_target("hip:gfx942" if stage in ("amdgcn", "hsaco") else "cuda:90")


def _tested(program: Program, words: str) -> dict[str, int]:
    """Return the sizes of all labels for a test. Raises click.BadParameter."""
    try:
        return filled(program, parse_sizes((words,), [label.name for label in program.labels]))
    except click.BadParameter as error:
        raise click.BadParameter(error.message, param_hint="--test") from None
    except DtpolyError as error:
        raise click.BadParameter(error.diagnostics[0].title, param_hint="--test") from None
