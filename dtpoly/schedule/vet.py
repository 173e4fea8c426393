"""Says, when a user's class is loaded, what keeps it from being a primitive."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, cast

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.python_places import class_place, file_of
from dtpoly.schedule.argument_kinds import Word
from dtpoly.schedule.foreign import is_foreign
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INHERITED = ("func", "span")
_KIND = ("form", "what", "read", "check")
# The stages that a turn can belong to.
STAGE_OF: Mapping[Turn | None, tuple[Stage, ...]] = {
    None: (Stage.REWRITES, Stage.OPTIONS, Stage.COMPILE),
    Turn.INLINED: (Stage.FUSIONS,),
    Turn.MEETINGS: (Stage.OPTIONS,),
    Turn.BLOCKS: (Stage.LOOPS,),
    Turn.DIVISIONS: (Stage.LOOPS,),
    Turn.ORDER: (Stage.LOOPS,),
    Turn.LANES: (Stage.LOOPS,),
    Turn.NUMBERING: (Stage.LOOPS,),
    Turn.FUSIONS: (Stage.FUSIONS,),
}


def vet(
    classes: Iterable[type[Primitive]], known: Iterable[type[Primitive]]
) -> Iterator[Diagnostic]:
    """Report the first flaw of each class.

    It is a flaw of the class itself, or a name that another primitive has already.
    """
    taken = {word: cls for cls in known for word in (cls.name, *cls.aliases)}
    for cls in classes:
        flaw = next(_flaws(cls), None)
        if flaw is not None:
            yield _not_whole(cls, *flaw)
            continue
        for word in (cls.name, *cls.aliases):
            other = taken.setdefault(word, cls)
            if other is not cls:
                yield _taken(cls, word, other)
                break


def _flaws(cls: type[Primitive]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a class, each time with the way out."""
    name: object = getattr(cls, "name", None)
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
    if not isinstance(name, str):
        why = "has no name" if name is None else "has a name that is a field"
        yield why, f'write  name = "{word}"  without a type, or with ClassVar[str]'
        return
    aliases: object = cls.aliases
    for one in (name, *(cast("tuple[object, ...]", aliases) if _is_tuple(aliases) else (None,))):
        if not isinstance(one, str) or not _WORD.fullmatch(one):
            yield f"has a name that is no word: {one!r}", "use letters, digits and '_'"
    params: Any = vars(cls).get("__dataclass_params__")
    if params is None or not params.frozen:
        yield "is no frozen dataclass", "write  @dataclass(frozen=True, slots=True)  above it"
        return
    yield from _flaws_of_parameters(cls)
    reference: object = getattr(cls, "reference", None)
    if not isinstance(reference, Reference):
        hint = 'write  reference = Reference(rows=(Row(("f.it(x);",), "what it does"),))'
        yield "has a reference that is none", hint
    yield from _flaws_of_methods(cls)
    yield from _flaws_of_turn(cls)


def _flaws_of_methods(cls: type[Primitive]) -> Iterator[tuple[str, str]]:
    """Say what keeps a class from doing anything."""
    if issubclass(cls, LaunchEdit):
        if not cls.has_edits() and cls.facts is Primitive.facts:
            hint = "define  def edit(self, launch: Launch, kernel: Kernel) -> Launch  or  rewrite"
            yield "has neither edit nor rewrite, so it does nothing", hint
    elif cls.edits is not Primitive.edits and not cls.has_edits():
        hint = "define  def edit(self, launch: Launch, kernel: Kernel) -> Launch  or  rewrite"
        yield "has edits, and neither edit nor rewrite that would be called", hint
    elif cls.apply is Primitive.apply and cls.facts is Primitive.facts and not cls.has_edits():
        hint = "define  def apply(self, state: State) -> State  and return what becomes of it"
        yield "has no apply, so it does nothing", hint


def _flaws_of_turn(cls: type[Primitive]) -> Iterator[tuple[str, str]]:
    """Say what is wrong with when a class is carried out; a stage without its turn never is."""
    stage, turn = cast(object, cls.stage), cast(object, cls.turn)
    if not isinstance(stage, Stage) or not (turn is None or isinstance(turn, Turn)):
        yield "has a stage or a turn that is none", "write  stage = Stage.LOOPS; turn = Turn.LANES"
        return
    fitting = STAGE_OF[turn]
    if stage not in fitting:
        turns = [one for one, stages in STAGE_OF.items() if one is not None and stage in stages]
        if turn is None:
            ways = " or ".join(f"turn = Turn.{one.name}" for one in turns)
            yield f"has the stage {stage.name} without a turn", f"write  {ways}"
        else:
            way = f"write  stage = Stage.{fitting[0].name}"
            yield f"has the turn {turn.name}, which is not one of the stage {stage.name}", way
    elif stage is Stage.COMPILE and (cls.apply is not Primitive.apply or cls.has_edits()):
        yield "has the stage COMPILE, in which facts alone count", "leave stage out"


def _flaws_of_parameters(cls: type[Primitive]) -> Iterator[tuple[str, str]]:
    given: object = cls.parameters
    if not _is_tuple(given):
        yield "has parameters that are no tuple", 'write  parameters = (Parameter("x", Label()),)'
        return
    parameters = cast("tuple[object, ...]", given)
    names: list[str] = []
    for at, one in enumerate(parameters, 1):
        if not isinstance(one, Parameter) or not all(hasattr(one.kind, a) for a in _KIND):
            yield f"has a parameter that is none: {one!r}", 'write  Parameter("x", Label())'
            return
        names.append(one.name)
        if one.count is not Count.ONCE and at < len(parameters):
            yield f"takes arguments after those of '{one.name}'", "let that parameter be the last"
        if one.count is Count.IF_GIVEN and not isinstance(one.kind, Word):
            yield f"has a '{one.name}' that may be missing and is no word", "make it a Word"
    own = [field.name for field in fields(cls) if field.name not in _INHERITED]
    if names != own:
        yield (
            f"has {_listed('parameters', names)}, but {_listed('fields', own)}",
            "give it one field for each parameter, of the same name and in the same order",
        )


def _is_tuple(value: object) -> bool:
    return isinstance(value, tuple)


def _listed(what: str, names: list[str]) -> str:
    return f"the {what} {', '.join(names)}" if names else f"no {what}"


def _not_whole(cls: type[Primitive], why: str, hint: str) -> Diagnostic:
    return Diagnostic(
        "DT225",
        Severity.ERROR,
        f"the class '{cls.__name__}' {why}",
        class_place(cls),
        "is no primitive yet",
        () if class_place(cls) else (Note(f"it is defined in {file_of(cls)}"),),
        hint,
    )


def _taken(cls: type[Primitive], word: str, other: type[Primitive]) -> Diagnostic:
    span = class_place(other) if is_foreign(other) else None
    by = f"by {other.__name__} in {file_of(other)}" if is_foreign(other) else "by dtpoly itself"
    return Diagnostic(
        "DT224",
        Severity.ERROR,
        f"the directive '{word}' is there already, {by}",
        class_place(cls),
        f"is called '{word}' too",
        (Note("the other one", span),) if span else (),
        "choose another name; a primitive that is there cannot be replaced",
    )
