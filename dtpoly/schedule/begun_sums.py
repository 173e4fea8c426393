"""Checks directives about Funcs that say what sums at places begin with.

All elements of such a Func are stored in the tensor of the sums before anything is added there. So
it has a kernel of its own, before that of the sums, and no function returns it by itself.
"""

from collections.abc import Iterator, Sequence

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.schedule.facts import Compiled, Returned
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Primitive, Stage


def check_starts(view: View, primitives: Sequence[Primitive]) -> Iterator[Diagnostic]:
    """Report directives that would take such a Func its kernel, or its tensor."""
    starts = view.program.starts
    for one in primitives if starts else ():
        if one.func in starts and one.stage is Stage.FUSIONS:
            why = "all of it is stored before anything is added, by a kernel of its own"
            yield _refused(view, one, one.func, "would have no kernel", why)
    for one in primitives if starts else ():
        asked = (fact.func for fact in one.facts() if isinstance(fact, Compiled | Returned))
        for start in (name for name in asked if name in starts):
            why = f"what is left there are the sums: compile '{starts[start]}'"
            yield _refused(view, one, start, "has no tensor of its own", why)


def _refused(view: View, one: Primitive, start: str, what: str, why: str) -> Diagnostic:
    added = view.program.func(view.program.starts[start])
    span = None if added.into is None else added.into.span
    return Diagnostic(
        "DT256",
        Severity.ERROR,
        f"'{start}' is what the sums of '{added.name}' begin with, and {what}",
        one.span,
        "asked for here",
        (Note(f"'{added.name}' goes into it", span),),
        f"remove it: {why}",
    )
