"""Defines the group of all commands, their exit codes, and what happens when one fails.

Exit codes: 0 good, 1 the input is wrong, 2 usage, 3 a bug of dtpoly, 130 interrupted, 141 the
reader of the output went away.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from dtpoly import __version__
from dtpoly.budget import OverBudgetError
from dtpoly.budget_messages import over
from dtpoly.cli.interruption import INTERRUPTED
from dtpoly.cli.lazy import HELP, LazyGroup, load, of_settings, put_off
from dtpoly.cli.output import prepare_streams, report
from dtpoly.cli.verbosity import verbose_option
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.deep import deep_recursion
from dtpoly.missing_package import kernel_package, missing_package
from dtpoly.render.printable import printable

GOOD, WRONG_INPUT, USAGE, BUG, CLOSED_PIPE = 0, 1, 2, 3, 141

PROGRAM = "dtpoly"
# pyparsing and pathlib load these modules for functions that most commands never use.
UNUSED = ("importlib.resources", "argparse", "ipaddress")
# If one of these is missing, dtpoly was not installed correctly, which is not a bug.
PACKAGES = ("islpy", "pyparsing", "rich")
COMPLETION_VARIABLE = "_DTPOLY_COMPLETE"


@click.group(
    cls=LazyGroup,
    modules="dtpoly.cli.{}_command",
    names=(
        *("check", "fmt", "show", "explain", "why-not", "legal", "directives", "compile", "verify"),
        *("run", "space", "cost", "schedule", "device", "explore", "report", "ship"),
        *("differentiate", "new", "lsp", "doctor", "cache", "completion"),
    ),
    invoke_without_command=True,
    context_settings={"help_option_names": [*HELP]},
    epilog="""\b
Examples:
  dtpoly check softmax.dt
  dtpoly explain softmax.dt
  dtpoly compile softmax.dt
  dtpoly run softmax.dt --size x=4,y=1000
  dtpoly COMMAND --help

\b
Exit codes: 0 good, 1 the input is wrong, 2 usage, 3 a bug of dtpoly, 130 interrupted.
Options may be set in dtpoly.toml, in pyproject.toml, and in the environment (docs/settings.md).
FILE may be - for standard input.""",
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@verbose_option
@click.pass_context
def cli(context: click.Context) -> None:
    """Decoupled Triton: an algorithm and, apart from it, a schedule."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


def entry(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, whatever happens."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    prepare_streams()
    if arguments is None:
        put_off(*UNUSED)
    try:
        code = _run(given)
        if not sys.stdout.closed:  # as it is once the language server has said good-bye
            sys.stdout.flush()
        if arguments is None and "triton" not in sys.modules:
            # The process ends soon. Freeing its objects one by one would take a fifth of its time.
            # Triton's library would complain about objects that are left.
            gc.freeze()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return CLOSED_PIPE
    except Exception as error:
        # Any other exception that gets here is our bug, and the user shall have a way to report it
        # instead of a traceback.
        if os.environ.get("DTPOLY_DEBUG"):
            raise
        if isinstance(error, OSError) and error.errno and error.filename is None:
            # If a file cannot be read or written, the error names it; a stream has no name.
            _drop_output()
            _say(f"error: cannot write the output: {error.strerror or error}")
            return WRONG_INPUT
        if isinstance(error, OSError) and _is_named(error.filename, given):
            _say(printable(f"error: cannot use '{error.filename}': {error.strerror or error}"))
            return WRONG_INPUT
        if _is_out_of_memory(error):
            _say("error: there is not enough memory here for that: take smaller sizes")
            return WRONG_INPUT
        if isinstance(error, EOFError | ValueError | TypeError):
            about_python: str | None = load("dtpoly.cli.bytecode").damaged(error)
            if about_python is not None:
                _say(about_python)
                return WRONG_INPUT
        tell: Callable[[Exception, Sequence[str]], str] = load("dtpoly.cli.bug").tell
        _say(tell(error, given))
        return BUG
    return code


def _is_out_of_memory(error: Exception) -> bool:
    """True if Python got no memory, or torch, which says so only in the text of its error."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def _is_named(file: object, arguments: Sequence[str]) -> bool:
    """True if the user named this file, so that it may be missing or anything else."""
    return any(str(file) in (word, word.partition("=")[2]) for word in arguments if file)


def _run(arguments: list[str]) -> int:
    try:
        instruction = os.environ.get(COMPLETION_VARIABLE)
        if instruction:
            return _complete(instruction)
        if any("\0" in word for word in arguments):
            raise click.UsageError("an argument holds a null character")
        with deep_recursion(), cli.make_context(PROGRAM, arguments) as context:
            answer: Any = cli.invoke(context)
        return answer if isinstance(answer, int) else GOOD
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.BadParameter as error:
        told = of_settings(error)
        if isinstance(told, DtpolyError):
            report(told.diagnostics, sys.stderr)
            return WRONG_INPUT
        error.show()
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except DtpolyError as error:
        report(error.diagnostics, sys.stderr)
        return WRONG_INPUT
    except OverBudgetError as error:
        report([over(error)], sys.stderr)
        return WRONG_INPUT
    except ModuleNotFoundError as error:
        if (needed := kernel_package(error)) is not None:
            report([missing_package(needed)], sys.stderr)
            return WRONG_INPUT
        package = (error.name or "").partition(".")[0]
        if package not in PACKAGES:
            raise
        _say(f"error: {package} is not installed: pip install {package}")
        return WRONG_INPUT


def _complete(instruction: str) -> int:
    """Answer the shell, which asks through the environment."""
    shell_complete: Callable[..., int] = load("click.shell_completion").shell_complete
    try:
        return shell_complete(cli, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    except (LookupError, ValueError) as error:
        # Other variables have the words of the line and the number of the one to complete.
        message = f"{COMPLETION_VARIABLE} is for a shell, which also says what there is to complete"
        raise click.UsageError(message) from error


def _say(message: str) -> None:
    with contextlib.suppress(OSError):
        print(message, file=sys.stderr, flush=True)


def _drop_output() -> None:
    """Point standard output nowhere, so that the interpreter's last flush does not fail too."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
