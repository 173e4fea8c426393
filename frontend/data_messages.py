"""Messages about indices that are data, such as `T[l]` in `E[T[l], k]`."""

from dtpoly.algorithm.expressions import Expr, ProgramId, Read
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


def func_as_end(expr: Read, symbol: Symbol) -> Diagnostic:
    """Report a Func as an end of a range."""
    return Diagnostic(
        "DT237",
        Severity.ERROR,
        f"'{symbol.name}' is a Func, and it is an end of a range",
        expr.span,
        "loops begin and end here, before anything is computed",
        (declared_here(symbol),),
        "only inputs can be ends: compute the Func in a file of its own, and pass its result "
        "as an input here",
    )


def no_whole_number(expr: Read, symbol: Symbol) -> Diagnostic:
    """Report an end of a range that is no whole number."""
    is_open = symbol.dtype is None
    what = "has no dtype, so it may be a float" if is_open else f"has the dtype {symbol.dtype}"
    return Diagnostic(
        "DT237",
        Severity.ERROR,
        f"an end of a range is a whole number, and '{symbol.name}' {what}",
        expr.span,
        "no whole number",
        (declared_here(symbol),),
        f"declare it with a dtype of whole numbers: In {symbol.name}: i64",
    )


def no_end(expr: Expr, node: Node) -> Diagnostic:
    """Report a part of an end of a range that cannot stand in one."""
    return Diagnostic(
        "DT237",
        Severity.ERROR,
        "this cannot be an end of a range",
        expr.span or node.span,
        "not a sum of elements, labels, sizes and numbers",
        hint="an end looks like offsets[b + 1], cu[seq[m]] + 128 or minimum(m + 1, lengths[b]); "
        "compute anything else before, and pass it as an input",
    )
