"""Writes one point of a space as one line, such as `block=x:4,y:512 map=2,y:8`, and reads it.

The line has a word for each directive: the choices for its labels, or the number of an alternative
alone.
"""

from collections.abc import Iterator

from dtpoly.algorithm.choices import Constraint
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.explore.space.count import broken
from dtpoly.explore.space.space import Point, Space, SpaceParameter, present
from dtpoly.source import Source, Span
from dtpoly.suggest import near

# The name of the source of a line in messages.
NAME = "<point>"


def short(space: Space, point: Point) -> str:
    """Return the line of a point. Law: `read_short` reads it back to the same point."""
    words: dict[str, list[str]] = {}
    for parameter, at in zip(space.parameters, point.chosen, strict=True):
        if at is not None:
            value = str(parameter.options[at])
            named = f"{parameter.part}:{value}" if parameter.part else value
            words.setdefault(parameter.key, []).append(named)
    return " ".join(f"{key}={','.join(items)}" for key, items in words.items())


def read_short(space: Space, text: str) -> Point:
    """Read the point of a line. Raises DtpolyError if the items do not allow it.

    This does not check the constraints; `index_of` does.
    """
    source = Source(NAME, text)
    known = {(one.key, one.part): at for at, one in enumerate(space.parameters)}
    chosen: list[int | None] = [None] * len(known)
    first: dict[int, Span] = {}
    for key, part, value, span in _items(source):
        at = known.get((key, part))
        if at is None:
            raise DtpolyError([_unknown(key, part, span, space.parameters)])
        options = [str(option) for option in space.parameters[at].options]
        if value not in options:
            raise DtpolyError([_no_option(value, span, space.parameters[at])])
        if at in first:
            raise DtpolyError([_twice(space.parameters[at], span, first[at])])
        chosen[at], first[at] = options.index(value), span
    point = Point(tuple(chosen))
    wanted = present(space, point)
    for at, one in enumerate(space.parameters):
        if at not in wanted and at in first:
            raise DtpolyError([_not_there(one, first[at])])
        if at in wanted and at not in first:
            raise DtpolyError([_missing(one, Span(source, len(text), len(text)))])
    return point


def point_of(space: Space, text: str) -> Point:
    """Read the point of a line, which must break no constraint. Raises DtpolyError."""
    point = read_short(space, text)
    wrong = broken(space, point)
    if wrong:
        raise DtpolyError([_not_kept(text, wrong[0])])
    return point


def _not_kept(text: str, constraint: Constraint) -> Diagnostic:
    return Diagnostic(
        "DT251",
        Severity.ERROR,
        f"the point '{text}' does not keep a constraint",
        constraint.span,
        "not kept",
        hint="take another point; dtpoly space --list prints those that keep all",
    )


def _items(source: Source) -> Iterator[tuple[str, str, str, Span]]:
    """Yield the key, part, value and place of each choice of a line."""
    at = 0
    for word in source.text.split(" "):
        if word:
            key, equals, said = word.partition("=")
            if not equals or not key:
                raise DtpolyError([_no_word(word, Span(source, at, at + len(word)))])
            start = at + len(key) + 1
            for item in said.split(","):
                part, colon, value = item.rpartition(":")
                span = Span(source, start, start + len(item))
                if not value or (colon and not part):
                    raise DtpolyError([_no_word(word, Span(source, at, at + len(word)))])
                yield key, part, value, span
                start += len(item) + 1
        at += len(word) + 1


def _no_word(word: str, span: Span) -> Diagnostic:
    return _wrong(f"'{word}' is no part of a point", span, "not of this form", _FORM)


_FORM = "a point looks like: block=x:4,y:512 map=2 num_warps=4"


def _unknown(key: str, part: str, span: Span, known: tuple[SpaceParameter, ...]) -> Diagnostic:
    name = f"{key}.{part}" if part else key
    names = [str(one) for one in known]
    meant = near(name, names)
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    note = (
        f"there {'are' if len(names) > 1 else 'is'} {listed}"
        if names
        else "this space has one point, and nothing to choose"
    )
    hint = f"did you mean {meant}?" if meant else _FORM
    return _wrong(f"there is no '{name}' to choose", span, "no such choice", hint, note)


def _no_option(value: str, span: Span, parameter: SpaceParameter) -> Diagnostic:
    options = [str(option) for option in parameter.options]
    listed = ", ".join(options[:12]) + (", ..." if len(options) > 12 else "")
    title = f"'{value}' is no option of '{parameter}'"
    return _wrong(title, span, "not among them", f"take one of {listed}")


def _twice(parameter: SpaceParameter, span: Span, first: Span) -> Diagnostic:
    title = f"'{parameter}' is chosen twice"
    return _wrong(title, span, "again", "choose it once", Note("chosen here", first))


def _not_there(parameter: SpaceParameter, span: Span) -> Diagnostic:
    title = f"there is no '{parameter}' in the alternative that is taken"
    return _wrong(title, span, "not there", "leave it out, or take the alternative that has it")


def _missing(parameter: SpaceParameter, end: Span) -> Diagnostic:
    options = ", ".join(str(option) for option in parameter.options[:12])
    named = f"{parameter.part}:" if parameter.part else ""
    example = f"{parameter.key}={named}{parameter.options[0]}"
    title = f"'{parameter}' is not chosen"
    return _wrong(title, end, "missing", f"add {example}", f"it is one of {options}")


def _wrong(
    title: str, span: Span, label: str, hint: str, note: str | Note | None = None
) -> Diagnostic:
    notes = () if note is None else (Note(note) if isinstance(note, str) else note,)
    return Diagnostic("DT250", Severity.ERROR, title, span, label, notes, hint)
