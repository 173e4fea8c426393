"""Builds the messages about the choices, alternatives and constraints of a schedule."""

from collections.abc import Sequence

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span
from dtpoly.suggest import near

from .syntax import (
    AlgorithmFile,
    ChoiceSyntax,
    NameSyntax,
    Node,
    NumberSyntax,
    RangeSyntax,
    Statement,
)

_ERROR = Severity.ERROR


def option_twice(
    again: NameSyntax | NumberSyntax | RangeSyntax,
    value: int | str,
    first: NameSyntax | NumberSyntax | RangeSyntax,
) -> Diagnostic:
    """Report an option that stands twice in a choice."""
    return Diagnostic(
        "DT241",
        _ERROR,
        f"'{value}' stands twice in this choice",
        again.span,
        "again",
        (Note("first here", first.span),),
        "list each option once",
    )


def too_many_options(choice: ChoiceSyntax, most: int) -> Diagnostic:
    """Report a choice that has more options than anybody could try."""
    return Diagnostic(
        "DT242",
        _ERROR,
        f"this choice has more than {most:,} options",
        choice.span,
        "too many",
        hint="take larger steps: {16..4096 *2}  or  {16..4096 +64}",
    )


def empty_range(written: RangeSyntax) -> Diagnostic:
    """Report a range from a number to a smaller one."""
    swapped = f"{written.last.text}..{written.first.text}"
    return Diagnostic(
        "DT243",
        _ERROR,
        "this range is empty",
        written.span,
        f"{written.first.text} is larger than {written.last.text}",
        hint=f"write {swapped}",
        edits=(Edit(written.first.span.to(written.last.span), swapped),),
    )


def never_grows(written: RangeSyntax, first: str, step: str) -> Diagnostic:
    """Report a range that never reaches its end, because its steps do not grow."""
    return Diagnostic(
        "DT243",
        _ERROR,
        "this range never ends",
        written.span,
        "does not grow",
        (Note(f"it starts at {first}, and its step is {step}"),),
        "write a range as {16..128 *2}  or  {16..128 +16}",
    )


def choice_of_labels(choice: ChoiceSyntax) -> Diagnostic:
    """Report a choice before a ':', where the label of a number stands."""
    return Diagnostic(
        "DT244",
        _ERROR,
        "a choice cannot stand before ':'",
        choice.span,
        "a choice of labels",
        hint="write alternatives: { f.block(x:4) | f.block(y:4) };",
    )


def not_a_divisor(factor: NumberSyntax | ChoiceSyntax | None) -> Diagnostic:
    """Report a choice of names where a label is divided by a number."""
    return Diagnostic(
        "DT244",
        _ERROR,
        "a label is divided by a number",
        factor.span if factor else None,
        "a choice of names",
        hint="write numbers, as in y:yi/{4, 8}",
    )


def no_choice_here(choice: ChoiceSyntax) -> Diagnostic:
    """Report a choice in a directive that is added to a schedule, where nothing may stay open."""
    return Diagnostic(
        "DT244",
        _ERROR,
        "a directive that is added leaves nothing open",
        choice.span,
        "a choice",
        hint="choose one option; choices stand in a file, for dtpoly space",
    )


def unknown_mention(
    name: NameSyntax, path: str, known: Sequence[str], *, is_word: bool
) -> Diagnostic:
    """Report a constraint on a number that no directive has."""
    meant = None if is_word else near(path, known)
    listed = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    return Diagnostic(
        "DT245",
        _ERROR,
        f"'{path}' is no number of a directive",
        name.span,
        "a name, and not a number" if is_word else "no directive has it",
        (Note(f"the numbers are {listed}" if known else "no directive has a number"),),
        f"did you mean {meant}?" if meant else "name a directive and a label: tensorize.y",
        (Edit(name.span, meant),) if meant else (),
    )


def ambiguous_mention(name: NameSyntax, path: str, funcs: Sequence[str]) -> Diagnostic:
    """Report a constraint on a number that the directives of several Funcs have."""
    return Diagnostic(
        "DT246",
        _ERROR,
        f"several Funcs have '{path}'",
        name.span,
        "of which Func?",
        (Note(f"these Funcs have it: {', '.join(funcs[:8])}"),),
        f"write {funcs[0]}.{path}",
    )


def not_a_condition(node: Node, label: str, hint: str) -> Diagnostic:
    """Report a part of a constraint that is not a comparison of whole numbers."""
    title = "a constraint compares whole numbers of directives"
    return Diagnostic("DT247", _ERROR, title, node.span, label, hint=hint)


def not_in_a_schedule_file(statement: Statement, algorithm: AlgorithmFile) -> Diagnostic:
    """Report a declaration or a definition in a schedule file, which belongs to the algorithm."""
    return Diagnostic(
        "DT248",
        _ERROR,
        "a schedule file declares and defines nothing",
        statement.span,
        "belongs to the algorithm",
        (Note("the algorithm is in this file", algorithm.path.span),),
        f"put it into '{algorithm.path.text}'",
    )


def algorithm_twice(again: AlgorithmFile, first: AlgorithmFile) -> Diagnostic:
    """Report a schedule file that names two algorithms."""
    return Diagnostic(
        "DT248",
        _ERROR,
        "a schedule file names one algorithm",
        again.span,
        "a second one",
        (Note("the first one", first.span),),
        "write a schedule file for each algorithm",
    )


def no_algorithm(named: AlgorithmFile) -> Diagnostic:
    """Report a schedule file that names another schedule file as its algorithm."""
    return Diagnostic(
        "DT248",
        _ERROR,
        f"'{named.path.text}' is a schedule file too",
        named.path.span,
        "names another file itself",
        hint="name the file that declares and defines the algorithm",
    )


def no_dt_file(named: AlgorithmFile) -> Diagnostic:
    """Report a schedule file whose algorithm is not in a .dt file."""
    return Diagnostic(
        "DT100",
        _ERROR,
        f"'{named.path.text}' is no .dt file",
        named.path.span,
        "its name does not end in .dt",
        (Note("files of other kinds are not read, since messages would quote them"),),
        "name the file that declares and defines the algorithm",
    )


def is_a_space(name: str, span: Span | None) -> Diagnostic:
    """Report a file that leaves choices open, where a single schedule is wanted."""
    file = "FILE" if name.startswith("<") else name
    return Diagnostic(
        "DT240",
        _ERROR,
        f"'{name}' is a space of schedules",
        span,
        "leaves something open",
        (Note(f"dtpoly space {file} says what there is to choose, and lists points"),),
        "take one point of it: --point 'block=x:4'; in Python dtpoly.load(..., point='block=x:4')",
    )
