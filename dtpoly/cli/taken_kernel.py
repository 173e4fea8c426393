"""Reads the kernels of `--kernel`: those of a file, or `FILE::NAME`, one kernel of any module."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.diagnostics import DtpolyError
from dtpoly.extract.python_modules import read_module
from dtpoly.extract.taking_out import take_out, unlaunched
from dtpoly.frontend.reading import read_file
from dtpoly.frozen import dataclass
from dtpoly.source import Source
from dtpoly.verify.proof.report import Report
from dtpoly.verify.triton.said import LINE

SEPARATOR = "::"


@dataclass(frozen=True, slots=True)
class GivenKernels:
    """The text to verify, and what is assumed because it was taken out of a module."""

    source: Source
    assumed: tuple[str, ...] = ()

    def assuming(self, report: Report) -> Report:
        """Return a report that says what was assumed to take the kernel out of its module."""
        functions = (replace(f, assumed=(*f.assumed, *self.assumed)) for f in report.functions)
        return Report(tuple(functions)) if self.assumed else report


def path_of(kernel: str) -> str:
    """Return the path of a file or of a module."""
    return kernel.partition(SEPARATOR)[0]


def given_kernels(kernel: str, algorithm: Source) -> GivenKernels:
    """Read the kernels of a file, or take one out of a module. Raises DtpolyError.

    How a kernel of a module is launched is said in the module or, because that may be somebody
    else's, in comments of the file with the algorithm.
    """
    path, separator, name = kernel.partition(SEPARATOR)
    source = read_file(path)
    if not separator:
        return GivenKernels(source)
    module = read_module(source)
    taken = take_out(module, name)
    lines = [*_said(algorithm.text, name), *_said(source.text, name)]
    if not any(f"{name}[" in line for line in lines):
        raise DtpolyError((unlaunched(module, name, algorithm.name),))
    text = "\n".join([taken.text, "", *lines, ""])
    return GivenKernels(Source(source.name, text), taken.assumed)


def _said(text: str, kernel: str) -> Iterator[str]:
    """Yield the comments that say how a kernel is launched, and what callers promise."""
    is_open = False
    for line in map(str.strip, text.splitlines()):
        found = LINE.fullmatch(line)
        if found is not None:
            is_open = found[1] == "assume" or found[2].strip().startswith(f"{kernel}[")
        elif not line.startswith("#"):
            is_open = False
        if is_open:
            yield line
