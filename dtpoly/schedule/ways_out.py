"""Finds what would be legal in place of a directive that is refused, in words and as edits.

Whatever is offered has been judged.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from dtpoly.algorithm.program import Argument, Directive, Program
from dtpoly.algorithm.show import show_argument, show_directive
from dtpoly.diagnostics import Edit
from dtpoly.frozen import dataclass
from dtpoly.poly.effort import answered, limited
from dtpoly.schedule.argument_kinds import listed
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.directive_variants import (
    Changes,
    Variant,
    as_written,
    is_good,
    moved_together,
    neighbours,
    without,
)
from dtpoly.schedule.labels import LabelKind
from dtpoly.schedule.primitive import Count, Primitive
from dtpoly.schedule.settings import without_statement
from dtpoly.source import Span

# How many neighbours are judged, and how many of them a hint names.
MOST = 12
NAMED = 3
# How many operations isl may take for all of them. Leaving directives out is tried first.
OPERATIONS = 1_000_000
TOO_LONG = "it takes too long to find what would be legal"


@dataclass(frozen=True, slots=True)
class WaysOut:
    """The hint, and the edits that take the best way."""

    hint: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class _Legal:
    """The legal ways in place of a directive, best first; and other labels that are not legal."""

    labels: tuple[Directive, ...]  # with another label, outermost first
    others: tuple[Directive, ...]
    moved: Changes  # all that is fused there moves: asked if nothing above is legal
    gone: tuple[Changes, ...]  # what may be left out instead
    refused: tuple[Directive, ...]  # with another label
    is_complete: bool  # whether all that was to be asked was answered


def ways_out(
    program: Program, blame: Primitive, accomplices: Iterable[Primitive], primitives: Primitives
) -> WaysOut:
    """Find what could stand where a directive does, in a Program that is good but for this one.

    Another label is the best way, the innermost first, then other arguments, then another
    primitive, then nothing.
    """
    old = as_written(program, blame, primitives)
    others = (as_written(program, one, primitives) for one in accomplices)
    with limited(OPERATIONS):
        legal = _asked(program, blame, (old, *others), primitives)
    nothing = "no other argument makes this schedule legal"
    hint = "; ".join(_sentences(old, legal)) or (nothing if legal.is_complete else TOO_LONG)
    one = [((old, new),) for new in (*reversed(legal.labels), *legal.others)]
    best = next((changes for changes in (*one, legal.moved, *legal.gone) if changes), ())
    return WaysOut(hint, tuple(edit for pair in best for edit in edits_of(program, *pair)))


def _asked(
    program: Program, blame: Primitive, involved: Iterable[Directive], primitives: Primitives
) -> _Legal:

    def is_legal(left: Program) -> bool | None:
        """Return whether a Program is legal; None once isl has used up its operations."""
        return answered(lambda: is_good(left, primitives))

    gone = tuple(_gone(program, involved, primitives, is_legal))
    variants = [v for v in neighbours(program, blame, primitives) if v.new is not None][:MOST]
    asked = [(v, is_legal(v.program)) for v in variants]
    good = [v for v, is_so in asked if is_so]
    bad = [v for v, is_so in asked if is_so is False]
    labels = [v for v in good if _is_elsewhere(v, blame)]
    near = [v for v in good if v.changes == 1 and v not in labels]
    moved: Changes = ()
    if not good:
        together = moved_together(program, blame, primitives)
        moved = next((changes for left, changes in together if is_legal(left)), ())
    return _Legal(
        _directives(labels),
        _directives(near if labels or near else good),
        moved,
        gone,
        _directives(v for v in bad if _is_elsewhere(v, blame)),
        len(good) + len(bad) == len(asked),
    )


def _gone(
    program: Program,
    involved: Iterable[Directive],
    primitives: Primitives,
    is_legal: Callable[[Program], bool | None],
) -> Iterator[Changes]:
    """Yield what may be left out, so that the rest is a good schedule.

    That is the first directive, or another one without which the first one may stay.
    """
    old, *others = involved
    for directive in (old, *others):
        left = without(program, directive, primitives)
        if left is None or (directive != old and old in dict(left[1])):
            continue
        if is_legal(left[0]):
            yield left[1]


def _directives(variants: Iterable[Variant]) -> tuple[Directive, ...]:
    return tuple(variant.new for variant in variants if variant.new is not None)


def _is_elsewhere(variant: Variant, old: Primitive) -> bool:
    """Return whether only the label is another one; of several, each means something else."""
    labels = [p for p in old.parameters if p.count is Count.ONCE and isinstance(p.kind, LabelKind)]
    return variant.only is not None and labels == [variant.only]


def _sentences(old: Directive, legal: _Legal) -> Iterator[str]:
    """`fuse at m is legal; at n it is not`, `legal too: ...`, `or leave it out`."""
    others = (*legal.labels, *legal.refused)
    if others:
        word = old.name.removesuffix("_at")
        good = [_differing(old, new) for new in legal.labels]
        bad = [_differing(others[0], old), *(_differing(old, new) for new in legal.refused)]
        if good:
            yield f"{word} at {_all(good)} is legal; at {_all(bad)} it is not"
        else:
            yield f"{word} at {listed(bad)} is not legal"
    if legal.others:
        named = ", ".join(map(_text, legal.others[:NAMED]))
        yield f"legal {'too' if legal.labels else 'instead'}: {named}"
    if legal.moved:
        yield f"legal together: {' and '.join(_text(new) for _, new in legal.moved if new)}"
    if legal.gone:
        either = "or " if legal.labels or legal.others or legal.moved else ""
        gone = listed(_left_out(old, changes) for changes in legal.gone)
        yield f"{either}leave {'it out' if gone == 'this' else f'out {gone}'}"


def _left_out(old: Directive, changes: Changes) -> str:
    """Say in words what is left out: `this`, or `this with g.tensorize(f.k:16)`."""
    words: list[str] = []
    for one, new in changes:
        if new is None:
            words.append("this" if one == old else _text(one))
        else:
            gone = (show_argument(a) for a in one.arguments if a not in new.arguments)
            words.append(f"{', '.join(gone)} in {one.func}.{one.name}")
    return " with ".join(filter(None, (words[0], " and ".join(words[1:]))))


def _differing(old: Directive, new: Directive) -> str:
    """Show the argument of the other directive where the two differ."""
    pairs = zip(old.arguments, new.arguments, strict=True)
    return next(show_argument(two) for one, two in pairs if one != two)


def _all(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _text(directive: Directive) -> str:
    return show_directive(directive).rstrip(";")


def edits_of(program: Program, old: Directive, new: Directive | None) -> tuple[Edit, ...]:
    """Return the smallest change of the text that puts one directive in the place of another."""
    if old.span is None or program.directives.count(old) > 1:
        return ()
    if new is None:
        return without_statement(old.span)
    if (old.func, old.name) == (new.func, new.name):
        common = _common(old.arguments, new.arguments)
        before, after = old.arguments[common:], new.arguments[common:]
        last = old.arguments[common - 1].span if common else None
        if not before and last is not None:
            added = "".join(f", {show_argument(argument)}" for argument in after)
            return (Edit(Span(last.source, last.end, last.end), added),)
        if len(before) == len(after) == 1 and before[0].span is not None:
            return (Edit(before[0].span, show_argument(after[0])),)
    return (Edit(old.span, _text(new)),)


def _common(one: Sequence[Argument], two: Sequence[Argument]) -> int:
    """Return how many arguments are the same at the start."""
    pairs = zip(one, two, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(two)))
