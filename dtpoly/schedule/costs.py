"""Says what a legal schedule costs, as diagnostics.

A cost is what several programs compute, each for itself.
"""

from collections.abc import Iterator

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.facts import Blocked
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.state import State
from dtpoly.schedule.verdict import RepeatedWork as Repeated
from dtpoly.schedule.verdict import Verdict
from dtpoly.source import Span


def costs(verdict: Verdict, primitives: Primitives) -> Iterator[Diagnostic]:
    """Yield what several programs of a legal schedule compute, each for itself.

    Each Func is told once. Funcs that are computed again for the same blocks of the same kernel
    have one cause, so they are one note.
    """
    if not verdict.is_legal:
        return
    chosen = bind(verdict.scheduled.program.directives, primitives).primitives
    first: dict[str, Repeated] = {}
    for note in verdict.notes:
        first.setdefault(note.func, note)
    alike: dict[tuple[object, ...], list[Repeated]] = {}
    for note in first.values():
        cause = (note.kernel, note.is_reduction, tuple(note.blocks.items()))
        alike.setdefault(cause, []).append(note)
    for notes in alike.values():
        yield _recomputation(verdict.scheduled, notes, chosen)


def _recomputation(
    state: State, notes: list[Repeated], chosen: tuple[Primitive, ...]
) -> Diagnostic:
    note, *others = sorted(notes, key=lambda one: _start(_fusion(state, one, chosen)))
    blocks = [item for item in _blocks(state, note, chosen) if item.label in note.blocks]
    said = [(item.span, "for each of these blocks") for item in blocks]
    if not note.is_reduction:
        said[:0] = [(_fusion(state, one, chosen), f"so is '{one.func}'") for one in others]
        said.insert(0, (_fusion(state, note, chosen), ""))
    factors = [f"ceil({label} / {size})" for label, size in note.blocks.items()]
    each = " and of ".join(f"'{label}'" for label in note.blocks)
    listed = [f"'{one.func}'" for one in (note, *others)]
    them = "it is" if len(notes) == 1 else "they are"
    title = str(note)
    if others:
        funcs = f"{', '.join(listed[:-1])} and {listed[-1]}"
        title = f"{funcs} are{title.removeprefix(f'{listed[0]} is')}"
    return Diagnostic(
        "DT205",
        Severity.NOTE,
        title,
        said[0][0] if said else None,
        f"computed {' * '.join(factors)} times",
        tuple(Note(text, span) for span, text in said[1:] if span is not None),
        f"with larger blocks of {each} {them} computed less often",
    )


def _start(span: Span | None) -> int:
    return -1 if span is None else span.start


def _fusion(state: State, note: Repeated, chosen: tuple[Primitive, ...]) -> Span | None:
    """Find where the directive stands that made a fusion."""
    return next((one.span for one in chosen if _is_told(state, note, one)), None)


def _is_told(state: State, note: Repeated, primitive: Primitive) -> bool:
    """Return whether a directive made the fusion that a note is about."""
    of = (one for one in state.fusions if (one.func, one.kernel) == (note.func, note.kernel))
    return any(fusion.is_stated_by(primitive.facts()) for fusion in of)


def _blocks(state: State, note: Repeated, chosen: tuple[Primitive, ...]) -> Iterator[Blocked]:
    funcs = {kernel.func for kernel in state.kernels if kernel.name == note.kernel}
    for fact in (fact for primitive in chosen for fact in primitive.facts()):
        if isinstance(fact, Blocked) and fact.func in funcs:
            yield fact
