"""Decides where `dtpoly compile` writes, and what the line about the file says.

A file gets the name of its `.dt` file, changed so that Python can import it. A file of that name
that dtpoly did not write is never replaced, and neither is the file that is compiled.
"""

import keyword
import re
import sys
from pathlib import Path

import click

from dtpoly.algorithm.program import Program
from dtpoly.cli.saving import is_same_file
from dtpoly.codegen.header import MARK
from dtpoly.codegen.python_names import file_names
from dtpoly.frontend.reading import STANDARD_INPUT
from dtpoly.generate import Code

STANDARD_OUTPUT = "-"
# Names under which a file would hide a module that it imports itself.
TAKEN = frozenset(sys.stdlib_module_names) | {"torch", "triton", "numpy", "dtpoly"}


def check_output(file: str, output: str | None) -> None:
    """Refuse a name that no file can have here. Raises click.BadParameter."""
    if output == "":
        raise click.BadParameter("an empty name names no file", param_hint="-o")
    if output and output != STANDARD_OUTPUT and is_same_file(output, file):
        raise click.BadParameter(f"'{output}' is the file to compile", param_hint="-o")


def output_path(file: str, output: str | None) -> Path | None:
    """Return the file to write; None for standard output. Raises click.UsageError."""
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
    """Return a name that a program can import: `2mm` becomes `_2mm`, `torch` becomes `torch_`."""
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


def contents(program: Program, code: Code) -> str:
    """Return the end of the line about the file, with the names of its functions."""
    outputs = code.stages.outputs
    names = file_names(program, outputs, ()).funcs
    said = [one if names[one] == one else f"{names[one]} (Func {one})" for one in outputs]
    kernels = len(code.stages.kernels)
    count = f"{kernels} kernel{'s' if kernels > 1 else ''}"
    return f": {', '.join(said)}, {count}"
