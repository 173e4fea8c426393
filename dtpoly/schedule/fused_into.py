"""Checks a directive that computes a Func inside of a kernel of one of its readers."""

from collections.abc import Iterator

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.kernels import View, reached
from dtpoly.schedule.labels import may_be_introduced, unknown_label


@dataclass(frozen=True, slots=True)
class _FusionAsked:
    """A directive of some name, which puts a Func in a loop of a consumer over a label."""

    func: str
    consumer: Name
    label: Name
    name: str


def check_fused(
    func: str, consumer: Name, label: Name, name: str, view: View
) -> Iterator[Diagnostic]:
    """Check that the consumer reads the Func in one kernel with it, and has the loop."""
    asked, into = _FusionAsked(func, consumer, label, name), consumer.text
    if func in view.inlined:
        return  # told by inline
    if into in view.inlined:
        yield _into_inlined(asked, view)
    elif not view.placement.is_read_by(func, into):
        refused = _not_read(asked, view)
        if refused is not None:
            yield refused
    else:
        known = view.loops(into)
        if label.text not in known and not may_be_introduced(label.text, into, view):
            yield unknown_label(label.text, label.span, f"'{into}'", known, view)


def _into_inlined(asked: _FusionAsked, view: View) -> Diagnostic:
    consumer = asked.consumer.text
    readers = view.placement.readers[consumer]
    return Diagnostic(
        "DT195",
        Severity.ERROR,
        f"'{consumer}' is inlined and has no loops",
        asked.consumer.span,
        "has no loops",
        (Note("inlined here", view.inlined[consumer].span),),
        f"fuse into {' or '.join(readers)} instead",
    )


def _not_read(asked: _FusionAsked, view: View) -> Diagnostic | None:
    func, consumer = asked.func, asked.consumer.text
    readers = view.placement.readers[func]
    read_by = f"'{func}' is read by {', '.join(readers)}" if readers else "no Func reads it"
    title = f"'{func}' cannot be fused into '{consumer}', which does not read it"
    if func == consumer:
        title = f"'{func}' cannot be fused into itself"
        return _refused(asked, title, "is the same Func", read_by)
    if func in reached(consumer, view.below):
        return _read_from_afar(asked, title, view)
    if consumer in reached(func, view.below):
        way = f"{consumer}.{asked.name}({func}, {asked.label.text})"
        return _refused(asked, title, f"is read by '{func}'", f"the other way round: {way}")
    storing = _way_to_store(func, consumer, view)
    if storing is not None:
        read_by += f"; the kernel of '{consumer}' stores it if one function returns both: {storing}"
    return _refused(asked, title, f"does not read '{func}'", read_by)


def _way_to_store(func: str, consumer: str, view: View) -> str | None:
    """Return a `compile` after which a kernel that does not read a result would store it."""
    if consumer not in view.kernels or func in view.inlined:
        return None
    of = {name: one.function for name, one in view.returned.items()}
    of |= {name: name for name in view.compiled}
    function = of.get(func)
    if function is None:
        return None
    results = [name for name, one in view.returned.items() if one.function == function]
    missing = [one for one in (func, consumer) if one not in (function, *results)]
    return f"{function}.compile({', '.join((*results, *missing))})" if missing else None


def _read_from_afar(asked: _FusionAsked, title: str, view: View) -> Diagnostic | None:
    func, consumer = asked.func, asked.consumer.text
    readers = view.placement.readers
    hosts = set(view.placement.hosts[consumer])
    between = reached(consumer, view.below) & reached(func, readers)
    apart = [name for name in view.funcs if name in between]
    apart = [name for name in apart if hosts.isdisjoint(view.placement.hosts[name])]
    if any((name, asked.name) in view.wrong for name in apart):
        return None  # they would be fused if their own directives were right
    names = " and ".join(f"'{name}'" for name in apart)
    note = Note(f"it is read by way of {names}") if names else None
    hint = f"fuse it into {' or '.join(readers[func])}"
    if names:
        hint += f", or fuse {names} into '{consumer}' as well"
    return _refused(asked, title, "only reads it through another kernel", hint, note)


def _refused(
    asked: _FusionAsked, title: str, label: str, hint: str, note: Note | None = None
) -> Diagnostic:
    notes = (note,) if note else ()
    return Diagnostic("DT195", Severity.ERROR, title, asked.consumer.span, label, notes, hint)
