"""A legal verdict in; what the schedule costs, as diagnostics, out."""

from collections.abc import Iterator

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.schedule.block import Block
from dtpoly.schedule.fuse_at import FuseAt
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.primitives import PRIMITIVES, Primitives, bind
from dtpoly.schedule.state import State
from dtpoly.schedule.values import Divided, Sized
from dtpoly.schedule.verdict import Note as Repeated
from dtpoly.schedule.verdict import Verdict


def costs(verdict: Verdict, primitives: Primitives = PRIMITIVES) -> Iterator[Diagnostic]:
    """What several programs compute, each for itself; told once a Func, of a legal schedule."""
    if not verdict.is_legal:
        return
    chosen = bind(verdict.scheduled.program.directives, primitives).primitives
    told: set[str] = set()
    for note in verdict.notes:
        if note.func not in told:
            told.add(note.func)
            yield _recomputation(verdict.scheduled, note, chosen)


def _recomputation(state: State, note: Repeated, chosen: tuple[Primitive, ...]) -> Diagnostic:
    blocks = [item for item in _blocks(state, note, chosen) if item.label in note.blocks]
    spans = [item.span for item in blocks]
    if not note.is_reduction:
        spans.insert(0, next((p.span for p in chosen if _is_told(state, note, p)), None))
    factors = [f"ceil({label} / {size})" for label, size in note.blocks.items()]
    each = " and of ".join(f"'{label}'" for label in note.blocks)
    return Diagnostic(
        "DT205",
        Severity.NOTE,
        str(note),
        next(iter(spans), None),
        f"computed {' * '.join(factors)} times",
        tuple(Note("for each of these blocks", span) for span in spans[1:]),
        f"with larger blocks of {each} it is computed less often",
    )


def _is_told(state: State, note: Repeated, primitive: Primitive) -> bool:
    """Whether a directive made the fusion that a note is about."""
    return isinstance(primitive, FuseAt) and any(
        (fusion.func, fusion.kernel) == (note.func, note.kernel)
        and (fusion.func, fusion.consumer, fusion.label)
        == (primitive.func, primitive.consumer.text, primitive.label.text)
        for fusion in state.fusions
    )


def _blocks(
    state: State, note: Repeated, chosen: tuple[Primitive, ...]
) -> Iterator[Sized | Divided]:
    funcs = {kernel.func for kernel in state.kernels if kernel.name == note.kernel}
    for primitive in chosen:
        if isinstance(primitive, Block) and primitive.func in funcs:
            yield from primitive.blocks
