"""Reports names of tensors in a directive that the kernel does not read."""

from collections.abc import Iterable, Iterator

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.kernels import View


def check_reads(names: Iterable[Name], func: str, view: View) -> Iterator[Diagnostic]:
    """Check that the kernel reads each: an input, or what another kernel left in memory."""
    kernel = view.kernels[func]
    known = kernel.inputs | kernel.stored
    named = (*(tensor.name for tensor in view.program.tensors), *view.funcs)
    reads = [name for name in named if name in known]
    for item in names:
        if item.text not in known:
            yield Diagnostic(
                "DT197",
                Severity.ERROR,
                f"the kernel of '{func}' does not read '{item.text}'",
                item.span,
                "is not read there",
                (Note(f"it reads {', '.join(reads) or 'nothing from memory'}"),),
                "name an input that it reads, or put the directive on the Func that reads it",
            )
