"""The kinds of arguments that name a label of a Func's kernel, and the errors if they do not."""

from collections.abc import Iterable, Iterator
from dataclasses import field

from dtpoly.algorithm.program import Argument, Func, Split
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_kinds import IntegerKind, Refusal, describe, listed, read_name
from dtpoly.schedule.argument_values import Divided, Name, Sized, word_span
from dtpoly.schedule.kernels import View
from dtpoly.source import Span
from dtpoly.suggest import near


@dataclass(frozen=True, slots=True)
class LabelKind:
    """A label of the Func's kernel.

    With `anywhere`, the primitive itself says what it is a label of.
    """

    what: str = field(default="a label", init=False)
    form: str = field(default="label", init=False)

    anywhere: bool = False

    def read(self, argument: Argument) -> Name | Refusal:
        """`x`."""
        return read_name(argument)

    def check(self, value: Name, func: str, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel has the label."""
        if not self.anywhere:
            yield from check_label(value.text, value.span, func, view)


@dataclass(frozen=True, slots=True)
class SizedLabel:
    """A label of the Func's kernel and a number; if `qualified`, perhaps of one Func in it.

    `noun` says what the number is. If it may be `of_merge`, it may be about the kernel alone that
    merges parts, which the label that numbers these names.
    """

    number: IntegerKind = field(default_factory=IntegerKind)
    noun: str = "size"
    qualified: bool = False
    of_merge: bool = False

    @property
    def form(self) -> str:
        """`label:size`."""
        return f"label:{self.noun}"

    @property
    def what(self) -> str:
        """Return the same as the form."""
        return self.form

    def read(self, argument: Argument) -> Sized | Refusal:
        """`x:16` or `mm.x:16`."""
        target, value = argument.target, argument.value
        if not isinstance(target, str) or not isinstance(value, int):
            return Refusal(describe(argument))
        producer, dot, label = target.rpartition(".")
        if dot and not (self.qualified or self.of_merge):
            return Refusal("is a name with a '.'")
        size = self.number.accept(value, f"the {self.noun} in ", f"{target}:")
        if isinstance(size, Refusal):
            return size
        return Sized(label, size, producer or None, argument.span)

    def check(self, value: Sized, func: str, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel has the label, or that the one Func in the kernel has it."""
        if value.producer is None:
            yield from check_label(value.label, value.span, func, view)
        elif self.of_merge:
            yield from _check_of_merge(value, value.producer, func, view)
        else:
            yield from _check_qualified(value, value.producer, func, view)


@dataclass(frozen=True, slots=True)
class DividedLabel:
    """A label of the Func's kernel, a new name and a number; `noun` says what the number is.

    With `anywhere`, the primitive itself says what it is a label of.
    """

    noun: str = "factor"
    anywhere: bool = False

    @property
    def form(self) -> str:
        """`label:new/factor`."""
        return f"label:new/{self.noun}"

    @property
    def what(self) -> str:
        """Return the same as the form."""
        return self.form

    def read(self, argument: Argument) -> Divided | Refusal:
        """`y:yi/8`."""
        target, value = argument.target, argument.value
        if not isinstance(target, str) or not isinstance(value, Split):
            return Refusal(describe(argument))
        if "." in target:
            return Refusal("is a name with a '.'")
        prefix = f"{target}:{value.name}/"
        size = IntegerKind().accept(value.factor, f"the {self.noun} in ", prefix)
        if isinstance(size, Refusal):
            return size
        return Divided(target, value.name, size, argument.span)

    def check(self, value: Divided, func: str, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel has the label."""
        if not self.anywhere:
            yield from check_label(value.label, value.span, func, view)


def twice(loops: Iterable[Name]) -> Iterator[Diagnostic]:
    """Report loops of a list that stand in it already."""
    seen: dict[str, Name] = {}
    for loop in loops:
        first = seen.setdefault(loop.text, loop)
        if first is not loop:
            yield Diagnostic(
                "DT193",
                Severity.ERROR,
                f"'{loop.text}' stands twice",
                loop.span,
                "again",
                (Note("the other argument", first.span),),
                "list each loop once, outermost first",
            )


def check_label(label: str, span: Span | None, func: str, view: View) -> Iterator[Diagnostic]:
    """Report a name that is no label of a Func's own kernel."""
    known = view.kernels[func].labels
    if label not in known and not may_be_introduced(label, func, view):
        what = f"the kernel of '{func}'"
        yield unknown_label(label, span, what, known, view)


def may_be_introduced(label: str, func: str, view: View) -> bool:
    """True for a name that a directive on the Func would explain if that one were right."""
    declared = any(label == known.name for known in view.program.labels)
    return not declared and any(wrong == func for wrong, _ in view.wrong)


def _check_qualified(value: Sized, producer: str, func: str, view: View) -> Iterator[Diagnostic]:
    kernel = view.kernels[func]
    if producer not in kernel.members:
        members = ", ".join(kernel.members)
        meant = near(producer, kernel.members)
        yield Diagnostic(
            "DT185",
            Severity.ERROR,
            f"'{producer}' is not computed in the kernel of '{func}'",
            word_span(value.span, producer),
            "is not fused into it" if producer in view.funcs else "no Func",
            (Note(f"the kernel of '{func}' computes {members}"),),
            f"did you mean {meant}?" if meant else f"write {value.label}:{value.size} for all",
        )
    elif value.label not in view.own_labels(producer):
        known = view.own_labels(producer)
        yield unknown_label(value.label, value.span, f"'{producer}'", known, view)


def _check_of_merge(value: Sized, parts: str, func: str, view: View) -> Iterator[Diagnostic]:
    """Report what numbers no parts of a reduction of a Func, and labels that are not its own."""
    names = view.names.get(func, {})
    known = [one for one, new in names.items() if new.of in view.partial_labels(func)]
    known = [one for one in known if names[one].of in view.blocked.get(func, {})]
    if parts not in known and not may_be_introduced(parts, func, view):
        reduced = ", ".join(view.partial_labels(func))
        why = f"'{func}' reduces over {reduced}" if reduced else f"'{func}' reduces over nothing"
        meant = near(parts, known) or (known[0] if known else None)
        yield Diagnostic(
            "DT185",
            Severity.ERROR,
            f"'{parts}' numbers no parts that a kernel of '{func}' merges",
            word_span(value.span, parts),
            "no label of parts",
            (Note(why),),
            f"did you mean {meant}?" if meant else f"write {value.label}:{value.size}",
        )
    elif value.label not in view.funcs[func].labels:
        known = list(view.funcs[func].labels)
        what = f"what the parts of '{func}' are merged to"
        yield unknown_label(value.label, value.span, what, known, view)


def unknown_label(
    label: str, span: Span | None, what: str, known: Iterable[str], view: View
) -> Diagnostic:
    """Make the error for a name that is no label of `what`, which has the known ones."""
    labels = list(known)
    at = word_span(span, label)
    meant = near(label, labels)
    notes = [Note(f"{what} has the labels {', '.join(labels)}" if labels else f"{what} has none")]
    elsewhere = next((f for f in view.funcs.values() if _has(f, label, view)), None)
    hint = f"write {listed(labels[:8])}" if labels else "remove it"
    if elsewhere is not None:
        notes.append(Note(f"'{label}' is a label of '{elsewhere.name}'", elsewhere.span))
    elif meant is not None:
        hint = f"did you mean {meant}?"
    return Diagnostic(
        "DT185",
        Severity.ERROR,
        f"'{label}' is not a label of {what}",
        at,
        "no loop of this name",
        tuple(notes),
        hint,
        (Edit(at, meant),) if at and meant and elsewhere is None else (),
    )


def _has(func: Func, label: str, view: View) -> bool:
    return label in func.labels or label in view.reduced[func.name]
