"""Says in words what is wrong in a violation, and gives notes that prove it.

`refusal` makes a diagnostic of them.
"""

from collections.abc import Iterator

from dtpoly.algorithm.expressions import Dot, Reduce, reads
from dtpoly.diagnostics import Note
from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.model import Access, Role, Statement, by_name, show_element
from dtpoly.poly.order import ViolationKind
from dtpoly.poly.passing import in_memory
from dtpoly.schedule.state import Fusion, State
from dtpoly.schedule.tree import paths
from dtpoly.schedule.verdict import Instance, Violation
from dtpoly.source import Span

_ROLES = {Role.INIT: "the init", Role.UPDATE: "an update", Role.COMBINE: "the combine"}


def title_of(state: State, violation: Violation) -> str:
    """Say what is wrong, and with which statements."""
    one, two = _names(state, violation)
    match violation.kind:
        case ViolationKind.CROSSES | ViolationKind.LATE | ViolationKind.RACE if (
            violation.dependence.kind is DependenceKind.IN_PLACE
        ):
            return _title_in_place(state, violation, one, two)
        case ViolationKind.CROSSES:
            return f"{two} depends on {one} in another program instance"
        case ViolationKind.LATE if _fusion(state, violation):
            does = "stores" if _is_store(state, violation) else "reads"
            return f"{two} {does} {one} outside of the loop that computes it"
        case ViolationKind.LATE:
            return f"{two} is computed before {one}, which it {_does(state, violation)}"
        case ViolationKind.RACE:
            lanes = f"lanes of {one}" if one == two else f"{one} and {two}"
            return f"{lanes} meet on an element in one step"
        case ViolationKind.RECOMPUTES:
            return f"{one} is computed again in {_loops(violation)}"
        case ViolationKind.LOST if _is_store(state, violation):
            return f"'{violation.dependence.array}' is not stored exactly once"
        case ViolationKind.LOST:
            return f"{one} is not computed exactly once"
        case ViolationKind.AHEAD:
            if one == two:
                return f"{two} would run ahead of earlier ones, which it adds to in memory"
            return f"{two} would run ahead of {one}, which it reads from memory in one loop"
        case ViolationKind.UNWRITTEN:
            func = state.model.arrays[violation.dependence.array].func
            return f"{one} reads an element of '{func}' that is not computed there"


def _title_in_place(state: State, violation: Violation, one: str, two: str) -> str:
    """Say that an element of an input is changed although its old value may still be read."""
    array = violation.dependence.array
    does = _does(state, violation)
    match violation.kind:
        case ViolationKind.CROSSES:
            where = "another program instance still reads"
            who = "" if one == two else f" for {one}"
            return f"{two} {does} what {where} of '{array}'{who}"
        case _:
            reader = "it is read" if one == two else f"{one} has read it"
            return f"{two} {does} an element of '{array}' before {reader}"


def evidence(state: State, violation: Violation) -> tuple[Note, ...]:
    """Note the two statements where they are written, and one instance of each, at some sizes."""
    proof = (*_statements(state, violation), *_example(state, violation))
    if violation.kind is not ViolationKind.AHEAD:
        return proof
    array = violation.dependence.array
    why = in_memory(state.model, {path.statement: path for path in paths(state.kernels)})[array]
    what = _element(state, by_name(state.model)[violation.witness.source.statement].writes)
    return (*proof, Note(f"{what} is in memory: {why}"))


def _both(state: State, violation: Violation) -> tuple[Statement, Statement]:
    known = by_name(state.lifted) | by_name(state.model)
    return known[violation.witness.source.statement], known[violation.witness.target.statement]


def _is_store(state: State, violation: Violation) -> bool:
    """Return whether the target stores a result of which its Func's kernel is the host."""
    return _both(state, violation)[1].role is Role.STORE


def _fusion(state: State, violation: Violation) -> Fusion | None:
    """Return the fusion that leaves the target outside of the loop that computes the source."""
    reader, array = violation.witness.target.statement, violation.dependence.array
    return next((f for f in state.fusions if f.func == array and reader in f.outside), None)


def _loops(violation: Violation) -> str:
    """Return the loops in whose iterations the two instances differ."""
    one, two = violation.witness.source.place, violation.witness.target.place
    assert one is not None
    assert two is not None
    names = [f"'{name}'" for name, at in one.loops.items() if two.loops.get(name) != at]
    return f"the loop{'s' if len(names) > 1 else ''} over {' and '.join(names)}"


def _names(state: State, violation: Violation) -> tuple[str, str]:
    """Name the two statements by their Funcs.

    If both belong to one Func, they are named by what they do for it: `an update of ...`.
    """
    source, target = _both(state, violation)
    if source.func != target.func:
        return f"'{source.func}'", f"'{target.func}'"
    return _who(state, source), _who(state, target)


def _who(state: State, statement: Statement) -> str:
    func = f"'{statement.func}'"
    if statement.role is Role.STORE:
        return f"the store of '{statement.writes.array}'"
    if statement.scan is not None:
        return f"a step of the scan along '{statement.scan.label}' in {func}"
    if statement.role is Role.VALUE:
        own = state.program.func(statement.func).labels
        is_part = state.model.arrays[statement.writes.array].dims != own
        return f"the partial result of {func}" if is_part else func
    body = _update(state, statement).body
    over = f" over {', '.join(body.labels)}" if isinstance(body, Reduce | Dot) else ""
    return f"{_ROLES[statement.role]} of the reduction{over} in {func}"


def _update(state: State, statement: Statement) -> Statement:
    """Return the update of the reduction that a statement belongs to."""
    array = statement.writes.array
    same = (s for s in state.model.statements if s.writes.array == array)
    return next((s for s in same if s.role is Role.UPDATE), statement)


def _span(state: State, statement: Statement) -> Span | None:
    """Find where a statement is written: the definition of a Func, or a reduction in it."""
    if statement.role is Role.STORE:
        return state.program.func(statement.writes.array).span
    body = None if statement.role is Role.VALUE else _update(state, statement).body
    span = None if body is None else body.span
    return span or state.program.func(statement.func).span


def _statements(state: State, violation: Violation) -> Iterator[Note]:
    """Note the dependence: who writes what, and who reads or overwrites that."""
    source, target = _both(state, violation)
    one, two = _names(state, violation)
    array = violation.dependence.array
    writes = Note(f"{one} writes {_element(state, source.writes)}", _span(state, source))
    if violation.kind is ViolationKind.LOST:
        yield writes
        return
    if violation.kind is ViolationKind.RECOMPUTES:
        yield writes
        yield from _needed_by(state, source)
        return
    if violation.kind is ViolationKind.UNWRITTEN:
        read, span = _read(state, target, array)
        yield Note(f"{two} reads {read}", span)
        return
    match violation.dependence.kind:
        case DependenceKind.FLOW:
            yield writes
            read, span = _read(state, target, array)
            does = "stores" if _is_store(state, violation) else "reads"
            yield Note(f"{two} {does} {read}, which {one} writes", span)
        case DependenceKind.IN_PLACE:
            read, span = _read(state, source, array)
            yield Note(f"{one} reads {read}", span)
            into = state.program.func(state.model.into[array]).into
            yield Note(f"{two} goes into '{array}'", None if into is None else into.span)
        case DependenceKind.ANTI:
            read, span = _read(state, source, array)
            yield Note(f"{one} reads {read}", span)
            yield Note(f"{two} overwrites what {one} reads", _span(state, target))
        case DependenceKind.OUTPUT:
            yield writes
            yield Note(f"{two} overwrites what {one} writes", _span(state, target))
        case DependenceKind.REDUCTION:
            yield Note(f"every update adds to {_element(state, source.writes)}", writes.span)
        case DependenceKind.SCAN:
            at = source.scan.label if source.scan is not None else ""
            text = f"the scan over '{at}' of '{source.func}' goes on from the element before"
            yield Note(text, _span(state, source))


def _needed_by(state: State, copy: Statement) -> Iterator[Note]:
    """Yield a reader of the private copy of a Func."""
    arrays = {s.writes.array for s in state.model.statements if _is_one_copy(s, copy)}
    for reader in state.model.statements:
        array = next((r.array for r in reader.reads if r.array in arrays), None)
        if reader.func != copy.func and array is not None:
            read, span = _read(state, reader, array)
            yield Note(f"'{reader.func}' reads {read}, which '{copy.func}' writes", span)
            return


def _is_one_copy(statement: Statement, copy: Statement) -> bool:
    return (statement.func, statement.copies) == (copy.func, copy.copies)


def _read(state: State, statement: Statement, array: str) -> tuple[str, Span | None]:
    """Show what a statement reads of an array, and where it says so."""
    touched = (*statement.reads, *statement.old)
    access = next(read for read in touched if read.array == array)
    found = () if statement.body is None else reads(statement.body)
    span = next((read.span for read in found if read.tensor == array), None)
    return _element(state, access), span or _span(state, statement)


def _element(state: State, access: Access) -> str:
    """Show an element such as `mm[m, l]`; that of a private copy is called like the Func's own."""
    array = state.model.array(access.array)
    if array.name.split("@")[0] != array.func:
        return "a partial result" if array.reduction is None else "the accumulator"
    return array.func + show_element(access)[len(access.array) :]


def _example(state: State, violation: Violation) -> Iterator[Note]:
    """Yield the smallest sizes, and two concrete instances with their places."""
    witness = violation.witness
    one, two = witness.source, witness.target
    sizes = ", ".join(f"{label} = {size}" for label, size in witness.sizes.items())
    at = f"example, at {sizes}:" if sizes else "example:"
    fusion = _fusion(state, violation)
    match violation.kind:
        case ViolationKind.RECOMPUTES:
            yield Note(f"{at} {one} is computed in {one.place}")
            yield Note(f"it is computed again in {two.place}")
        case ViolationKind.UNWRITTEN:
            yield Note(f"{at} nothing computes what {two} reads in {two.place}")
            yield Note("no schedule should show this: it is a mistake of dtpoly; please report it")
        case ViolationKind.LOST if one == two:
            yield Note(f"{at} {_often(state, one)}")
        case ViolationKind.LOST:
            yield Note(f"{at} {one} and {two} are computed in one place: {one.place}")
        case _ if fusion is not None:
            loop = f"loop over '{fusion.label}' of '{fusion.consumer}'"
            yield Note(f"no {loop} is around every read of '{fusion.func}'")
            does = "is" if two.role is Role.STORE else f"reads {one}"
            yield Note(f"{at} {two} {does} in {two.place}")
        case _:
            yield Note(f"{at} {one} is computed in {one.place}")
            yield Note(f"{two}, which {_does(state, violation)} it, is computed in {two.place}")


def _often(state: State, one: Instance) -> str:
    """Say how often an instance is computed that is not computed once."""
    found = [path for path in paths(state.kernels) if path.statement == one.statement]
    if one.role is Role.STORE and len(found) < 2:
        return f"no program stores {one.element}"
    return f"{one} is computed {'more than once' if len(found) > 1 else 'nowhere'}"


def _does(state: State, violation: Violation) -> str:
    model, array = state.model, violation.dependence.array
    match violation.dependence.kind:
        case DependenceKind.FLOW:
            return "reads"
        case DependenceKind.IN_PLACE if model.into[array] in model.added:
            return "adds to"
        case DependenceKind.ANTI | DependenceKind.OUTPUT | DependenceKind.IN_PLACE:
            return "overwrites"
        case DependenceKind.REDUCTION:
            return "adds to the same as"
        case DependenceKind.SCAN:
            return "goes on from"
