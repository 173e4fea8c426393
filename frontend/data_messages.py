"""Messages about indices that are data, such as `T[l]` in `E[T[l], k]`."""

from dtpoly.algorithm.expressions import Expr, ProgramId
from dtpoly.diagnostics import Diagnostic, Severity

from .name_messages import parts
from .symbols import Symbol, declared_here
from .syntax import Indexed, Node


def has_elements(node: Node) -> bool:
    """Return whether an index has an element of a tensor in it."""
    return any(isinstance(one, Indexed) for one in parts(node))


def reads_a_func(node: Indexed, symbol: Symbol) -> Diagnostic:
    """Report a Func that is read at an index that is data."""
    return Diagnostic(
        "DT213",
        Severity.ERROR,
        f"'{symbol.name}' is a Func, and it is read at an index that is data",
        node.span,
        "any element may be read here",
        (declared_here(symbol),),
        "only inputs can be read so: compute the Func in a file of its own, and pass its result "
        "as an input here",
    )


def not_in_an_index(expr: Expr) -> Diagnostic | None:
    """Report a part of an index that cannot stand in one; None if this part can."""
    if not isinstance(expr, ProgramId):
        return None
    return Diagnostic(
        "DT213",
        Severity.ERROR,
        "'program_id' stands in an index",
        expr.span,
        "depends on the schedule",
        hint="an index is made of tensors, labels and numbers",
    )
