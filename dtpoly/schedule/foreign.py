"""Runs a user's own primitive, and makes a diagnostic of its failure.

Its code is run but never trusted: what it raises is caught, and what it returns is checked.
"""

import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from typing import cast

from dtpoly.algorithm.program import in_order
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.plan.launch import Launch
from dtpoly.plan.price import Price
from dtpoly.python_places import class_place, file_of, function_place, raised_at, said_by
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.remade import remade, unstated
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, LaunchDirective
from dtpoly.schedule.typed_fields import wrong_field
from dtpoly.schedule.well_formed import flaw
from dtpoly.source import Span

HOME = "dtpoly"
MOST = 100  # diagnostics of one directive
# The fields of a Launch that are filled in after all edits.
FILLED_IN = ("name", "paths", "unrolled", "comment", "func", "is_first_of_panel", "passes")


def is_foreign(cls: type[Primitive]) -> bool:
    """True for a primitive that is not dtpoly's own."""
    return cls.__module__.partition(".")[0] != HOME


def applied(primitive: Primitive, state: State) -> State:
    """Return the State with a directive carried out, and known to the kernels that it edits.

    Raises DtpolyError if a user's code fails.
    """
    cls = type(primitive)
    if not is_foreign(cls):
        return primitive.asked(primitive.apply(state))
    with at_work(cls, primitive.span):
        after = cast(object, primitive.apply(state))
        before = state
        if isinstance(after, State) and primitive.turn is not None:
            missing = unstated(state, after, primitive.func, primitive.facts())
            if missing is not None:
                raise DtpolyError([_unstated(primitive, missing)])
            before = remade(state, after, primitive.func)
    why = flaw(before, after)
    if why is not None:
        raise DtpolyError([_no_tree(primitive, why)])
    assert isinstance(after, State)
    with at_work(cls, primitive.span):
        after = primitive.asked(after)
    for kernel in after.kernels:
        for one in kernel.options.asked:
            _check_edit(one, kernel)
    return after


def _check_edit(asked: LaunchDirective, kernel: Kernel) -> None:
    assert isinstance(asked, Primitive)
    if is_foreign(type(asked)):
        before = Launch(kernel.name)
        with at_work(type(asked), asked.span):
            edited = cast(object, asked.edit(before, kernel))
        why: str | None = f"edit returns {type(edited).__name__}"
        if isinstance(edited, Launch):
            why = wrong_field(edited) or edited.flaw() or _lost_field(before, edited)
        if why is not None:
            raise DtpolyError([no_such(asked, "launch", why, type(asked).edit)])


def repriced(price: Price, kernel: Kernel) -> Price:
    """Return the predicted time of a launch, as the directives that edit the kernel correct it.

    Raises DtpolyError if a user's code fails, or makes a time that nothing takes.
    """
    for one in kernel.options.asked:
        assert isinstance(one, Primitive)
        if not is_foreign(type(one)):
            price = one.priced(price, kernel)
            continue
        with at_work(type(one), one.span):
            found = cast(object, one.priced(price, kernel))
        why: str | None = f"priced returns {type(found).__name__}"
        if isinstance(found, Price):
            why = wrong_field(found) or found.flaw()
        if why is not None:
            raise DtpolyError([no_such(one, "price", why, type(one).priced)])
        assert isinstance(found, Price)
        price = found
    return price


def _lost_field(before: Launch, edited: Launch) -> str | None:
    """Say which field an edit has changed that the compiler fills in by itself."""
    changed = (one for one in FILLED_IN if getattr(edited, one) != getattr(before, one))
    name = next(changed, None)
    return None if name is None else f"the compiler fills in '{name}' of Launch by itself"


def _rewriters(state: State, func: str) -> tuple[Primitive, ...]:
    """Return the users' primitives that edit or rewrite a kernel which a Func's function runs."""
    needed = {one.name for one in in_order(state.program, [func])}
    asked = (
        one
        for kernel in state.kernels
        if state.program.owner(kernel.func) in needed
        for one in kernel.options.asked
    )
    users = (one for one in asked if isinstance(one, Primitive) and is_foreign(type(one)))
    return tuple(dict.fromkeys(one for one in users if one.has_edits()))


def to_mend(state: State, func: str) -> str:
    """Say which users' primitives to mend if the function of a Func is wrong; else say nothing."""
    found = _rewriters(state, func)
    said = (f"the primitive '{one.name}' ({_place(type(one))})" for one in found)
    verbs = ("rewrites", "has") if len(found) == 1 else ("rewrite", "have")
    return f"{' and '.join(said)} {verbs[0]} this kernel and {verbs[1]} to be mended" * bool(found)


def _place(cls: type[Primitive]) -> str:
    """Return where a user's primitive is written: `mine.py:12`."""
    place = class_place(cls)
    if place is None:
        return file_of(cls)
    return f"{place.source.name}:{place.source.position(place.start)[0]}"


def checked(
    primitive: Primitive, check: Callable[[], Iterable[Diagnostic]]
) -> tuple[Diagnostic, ...]:
    """Give what a check says of a primitive, or how the check fails."""
    cls = type(primitive)
    if not is_foreign(cls):
        return tuple(check())
    try:
        with at_work(cls, primitive.span):
            return tuple(map(_as_diagnostic, islice(check(), MOST)))
    except DtpolyError as error:
        return error.diagnostics


@contextmanager
def at_work(cls: type[Primitive], span: Span | None) -> Generator[None]:
    """Turn what a user's primitive raises into a DtpolyError, at the line that raised it.

    What it prints goes to standard error. What a primitive of dtpoly raises is dtpoly's own bug,
    and passes.
    """
    if not is_foreign(cls):
        yield
        return
    try:
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise
    except DtpolyError as error:
        if _says_something(error):
            raise
        raise DtpolyError([_failed(cls, error, span)]) from error
    except BaseException as error:
        # A user's code may raise anything; one that exits must not end a check as if all is well.
        raise DtpolyError([_failed(cls, error, span)]) from error


def _says_something(error: DtpolyError) -> bool:
    """Return whether a user's primitive raised it with diagnostics, and with nothing else."""
    return bool(error.diagnostics) and all(map(_is_diagnostic, error.diagnostics))


def _is_diagnostic(one: object) -> bool:
    return isinstance(one, Diagnostic) and wrong_field(one) is None


def _failed(cls: type[Primitive], error: BaseException, span: Span | None) -> Diagnostic:
    place = raised_at(error, cls.__module__)
    return Diagnostic(
        "DT226",
        Severity.ERROR,
        f"the primitive '{cls.name}' fails: {said_by(error)}",
        place or span,
        "raised here" if place else "while it was carried out",
        (Note("for this directive", span),) if place and span else (),
        f"mend the class {cls.__name__} in {file_of(cls)}",
    )


def _no_tree(primitive: Primitive, why: str) -> Diagnostic:
    cls = type(primitive)
    place = function_place(cls.apply)
    return Diagnostic(
        "DT227",
        Severity.ERROR,
        f"the primitive '{cls.name}' leaves no schedule tree: {why}",
        place or primitive.span,
        "what this returns",
        (Note("for this directive", primitive.span),) if place and primitive.span else (),
        "return the State that apply was given, with other kernels: state.with_loops(...)",
    )


def _unstated(primitive: Primitive, fact: str) -> Diagnostic:
    cls = type(primitive)
    place = function_place(cls.apply)
    return Diagnostic(
        "DT227",
        Severity.ERROR,
        f"the primitive '{cls.name}' does more than its facts state",
        place or primitive.span,
        "what this does",
        (Note("for this directive", primitive.span),) if place and primitive.span else (),
        f"let its facts yield {fact}, because other stages see only what is stated",
    )


def no_such(
    primitive: Primitive, what: str, why: str, made_by: Callable[..., object]
) -> Diagnostic:
    """Report that a user's primitive makes no launch, or no kernel, that can be used."""
    place = function_place(made_by)
    return Diagnostic(
        "DT227",
        Severity.ERROR,
        f"the primitive '{type(primitive).name}' makes no {what}: {why}",
        place or primitive.span,
        "what this returns",
        (Note("for this directive", primitive.span),) if place and primitive.span else (),
        "return what was given, with other fields: dataclasses.replace(...)",
    )


def _as_diagnostic(one: object) -> Diagnostic:
    if isinstance(one, Diagnostic):
        wrong = wrong_field(one)
        if wrong is None:
            return one
        raise TypeError(f"check yields a Diagnostic in which {wrong}")
    raise TypeError(f"check yields {one!r}; let it yield self.mistake(...)")
