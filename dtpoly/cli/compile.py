"""The command `dtpoly compile FILE`, which writes a Python file with Triton kernels."""

import keyword
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import click

from dtpoly import __version__
from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError
from dtpoly.cli.doubts import can_run, in_ring
from dtpoly.cli.files import complete_files, file_name
from dtpoly.cli.func_option import wanted_funcs, with_func
from dtpoly.cli.lazy import load_triton
from dtpoly.cli.main import BUG
from dtpoly.cli.output import report, write_exactly
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.saving import is_same_file, save, tell_error
from dtpoly.cli.seconds_option import limited, seconds_option
from dtpoly.cli.size_option import parse_sizes
from dtpoly.codegen.header import MARK, header
from dtpoly.codegen.names import file_names
from dtpoly.compile import check
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.reading import STANDARD_INPUT
from dtpoly.generate import Code
from dtpoly.remarks import remarked
from dtpoly.schedule.primitives import Primitives
from dtpoly.source import Source
from dtpoly.targets.target import LIMITS, Target, parse_target
from dtpoly.verdict_messages import of_emitted
from dtpoly.verification import proved
from dtpoly.verify.report import Verdict

STANDARD_OUTPUT = "-"
STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin", "sass", "amdgcn", "hsaco")
# Of the time, what the proof of one function may take; and how long what is not proved is run.
ALMOST, RING = 0.9, 20.0
# Names under which a file would hide what it needs itself.
TAKEN = frozenset(sys.stdlib_module_names) | {"torch", "triton", "numpy", "dtpoly"}


def _target(context: click.Context, parameter: click.Parameter, word: str | None) -> Target | None:
    """The target that a word such as `cuda:90` names."""
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
    help="Where to write; - is standard output.  [default: FILE's name with .py, here]",
)
@click.option("--func", metavar="FUNC", help="The Func that gets a function; its name in the file.")
@click.option(
    "--test",
    metavar="x=..,y=..",
    help="Add a function test() that tries the others on random inputs of these sizes.",
)
@click.option(
    "--target",
    metavar="GPU",
    callback=_target,
    help=f"Also compile for a GPU, which need not be there: {', '.join(LIMITS)}.",
)
@click.option(
    "--emit",
    type=click.Choice(STAGES),
    help="Print this stage of Triton's compiler instead; a GPU need not be there.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="x=..,y=..",
    help="For --emit and --target: sizes to compile for.  [default: 1024; 128 of a whole tile]",
)
@click.option(
    "--dtype",
    type=click.Choice([str(dtype) for dtype in FLOATS]),
    help="For --emit and --target: of inputs that declare none.  [default: f32]",
)
@click.option("--no-verify", is_flag=True, help="Do not prove that the text is right.")
@seconds_option
@point_option
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="With --emit: print a JSON document.")
def command(
    file: str,
    output: str | None,
    func: str | None,
    test: str | None,
    target: Target | None,
    emit: str | None,
    sizes: tuple[str, ...],
    dtype: str | None,
    no_verify: bool,
    seconds: float,
    point: str | None,
    primitives: Primitives,
    as_json: bool,
) -> int:
    """Write a Python file with the Triton kernels of a .dt file, and a function that calls them.

    The file is written whole or not at all. Without -o it gets the name of FILE, in the folder
    that you are in; a file of that name that dtpoly did not write is never replaced.

    The text is read back and proved to compute the algorithm, for all sizes; its first lines say
    what was proved. What is found to be wrong is not written, and ends with exit code 3: that is
    our bug. What cannot be proved is run at a few sizes, and then written with a warning. A proof
    is kept, so the same text is not proved twice. All of it may take --seconds: of what takes
    longer to prove, a warning says what is not proved.

    With --target, each kernel is also compiled for that GPU: what it needs there is told in a
    line, and what makes it slow in warnings that point at a directive. With --emit, one stage of
    that compilation is printed instead of the Python file.
    """
    if (sizes or dtype) and target is None and emit is None:
        message = "--size and --dtype are for --emit and --target; the file serves all sizes"
        raise click.UsageError(message)
    if as_json and emit is None:
        raise click.UsageError("--json is for --emit")
    source = read_source(file, point)
    began = time.thread_time()
    with limited(seconds):
        checked = check(source, primitives)
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    if checked.verdict is None:
        tell_error(f"'{source.name}' has no Func, so there is nothing to compile")
        return 1
    wanted = wanted_funcs(checked.program, func)
    checked = with_func(checked, func)
    assert checked.program is not None
    assert checked.verdict is not None
    program, state = checked.program, checked.verdict.scheduled
    given = parse_sizes(sizes, [label.name for label in program.labels])
    tested = None if test is None else _tested(program, test)
    _check_output(file, output)
    path = None if emit else _path(file, output)
    with limited(seconds, time.thread_time() - began):
        made = remarked(checked, header(__version__, source.name), tested, wanted)
    if made.code is None:
        raise DtpolyError(made.diagnostics)
    code = made.code
    if made.diagnostics:
        report(made.diagnostics, sys.stderr)
    text = code.text
    if not no_verify:
        with limited(seconds, time.thread_time() - began):
            # What proofs of several functions take is shared; one may take almost all there is.
            each = seconds * (ALMOST if len(code.stages.outputs) == 1 else 1 / 2)
            found = proved(program, text, code.stages.outputs, each)
        text, known = found.text, found.report
        # What is not proved may be wrong: it is run, unless triton is to compile in this process.
        is_run = known.verdict is Verdict.UNKNOWN and target is None and emit is None and can_run()
        if is_run:
            # A run that takes longer says nothing; it began in time.
            with suppress(OverBudgetError), limited(RING):
                known = in_ring(program, text, known, RING / 2, all_of_them=False) or known
        kernel = Source("<standard output>" if path is None else str(path), text)
        if told := of_emitted(known, kernel, source.name):
            report(told, sys.stderr)
        if known.verdict is Verdict.REFUTED:
            return BUG
    if path is not None and not save(path, text.encode(), more=_contents(program, code)):
        return 1
    if path is None and emit is None:
        write_exactly(text)
    if target is None and emit is None:
        return 0
    # Set, it would have Triton interpret kernels instead of compiling them.
    os.environ.pop("TRITON_INTERPRET", None)
    emitted: ModuleType | None = load_triton("dtpoly.cli.emitted")
    if emitted is None:
        return 1
    asked = emitted.Asked(target or _usual(emit), emit, given, DType(dtype or DType.F32), as_json)
    answer: int = emitted.emit(state, code, asked, output if emit else None)
    return answer


def _usual(stage: str | None) -> Target:
    return parse_target("hip:gfx942" if stage in ("amdgcn", "hsaco") else "cuda:90")


def _tested(program: Program, words: str) -> dict[str, int]:
    """The sizes of all labels for a test. Raises click.BadParameter."""
    try:
        return filled(program, parse_sizes((words,), [label.name for label in program.labels]))
    except click.BadParameter as error:
        raise click.BadParameter(error.message, param_hint="--test") from None
    except DtpolyError as error:
        raise click.BadParameter(error.diagnostics[0].title, param_hint="--test") from None


def _check_output(file: str, output: str | None) -> None:
    """Refuse a name that no file can have here. Raises click.BadParameter."""
    if output == "":
        raise click.BadParameter("an empty name names no file", param_hint="-o")
    if output and output != STANDARD_OUTPUT and is_same_file(output, file):
        raise click.BadParameter(f"'{output}' is the file to compile", param_hint="-o")


def _path(file: str, output: str | None) -> Path | None:
    """The file to write; None for standard output. Raises click.UsageError."""
    if output == STANDARD_OUTPUT or (output is None and file == STANDARD_INPUT):
        return None
    if output is None:
        path = Path(f"{module_name(Path(file).stem)}.py")
        if path.exists() and not _is_ours(path):
            message = f"'{path}' is there, and dtpoly did not write it; name a file with -o"
            raise click.UsageError(message)
        return path
    return Path(output)


def module_name(stem: str) -> str:
    """A name that a program can import: `2mm` becomes `_2mm`, `torch` becomes `torch_`."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII) or "_"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if name in TAKEN or keyword.iskeyword(name) else name


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK.encode()
    except OSError:
        return False


def _contents(program: Program, code: Code) -> str:
    """Say which functions a file has, by their names there, for whoever just wrote it."""
    outputs = code.stages.outputs
    names = file_names(program, outputs, ()).funcs
    said = [one if names[one] == one else f"{names[one]} (Func {one})" for one in outputs]
    kernels = len(code.stages.kernels)
    count = f"{kernels} kernel{'s' if kernels > 1 else ''}"
    return f": {', '.join(said)}, {count}"
