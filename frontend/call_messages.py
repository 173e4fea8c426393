"""Builds the messages about wrong calls of functions and reductions."""

from collections.abc import Sequence

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.operations import (
    CALL_NAMES,
    FUNCTIONS,
    LONGEST_LIST,
    REDUCTION,
    SCAN_AFFINE,
    SCANS,
)
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span
from dtpoly.suggest import near

from . import elsewhere
from .redeclare import redeclare
from .symbols import LABELS, Symbol, SymbolKind, declared_here, what
from .syntax import CallSyntax, Indexed, NameSyntax, Node

_ERROR = Severity.ERROR


_SIGNATURES = {
    "clamp": "clamp(e, low, high)",
    "pow": "pow(e, n)",
    "where": "where(condition, a, b)",
    "random": "random(seed, x, y)",
    "random_bits": "random_bits(seed, x, y)",
    "rtopk": "rtopk(e, label, j)",
    "rargtopk": "rargtopk(e, label, j)",
    "rdot": "rdot(left, right, label)",
    "scan_affine": "scan_affine(a[s], b[s], s, t, h)",
    "cast": "cast(e, dtype)",
    "len": "len(label)",
    "pad": "pad(A, value)[x - 1]",
    "reshape": "reshape(e, label or 1, ...)",
    "program_id": "program_id(0)",
}


def signature(function: str) -> str:
    """Return how a function is called, such as "clamp(e, low, high)", for a hint."""
    if function in _SIGNATURES:
        return _SIGNATURES[function]
    if function in REDUCTION:
        return f"{function}(e, label)"
    if function in SCANS:
        return f"{function}(e[s], s, t)"
    arity = FUNCTIONS[function].arity
    return f"{function}({'e' if arity == 1 else ', '.join('abc'[:arity])})"


def unknown_function(node: CallSyntax, symbol: Symbol | None, last: Symbol | None) -> Diagnostic:
    """Report the call of something that is not a function.

    `last` is the symbol that the last argument names, or None. It tells `max` of two values from
    `max` over a label.
    """
    name = node.function
    if symbol is not None:
        return _called_like_a_function(node, symbol)
    over_label = len(node.arguments) > 1 and last is not None and last.kind in LABELS
    edits: tuple[Edit, ...] = ()
    word = name.text.lower()
    if word in elsewhere.WRITTEN_OUT:
        hint = f"write {elsewhere.WRITTEN_OUT[word]}"
    elif word in elsewhere.DTYPES or word in set(DType):
        hint = f"write cast(e, {elsewhere.DTYPES.get(word, word)})"
    else:
        either = elsewhere.EITHER.get(word)
        known = either[over_label] if either else elsewhere.FUNCTIONS.get(word)
        meant = known or near(name.text, CALL_NAMES)
        hint = f"did you mean {signature(meant)}?" if meant else f"functions: {_all_functions()}"
        fits = meant is not None and _takes(meant, len(node.arguments))
        edits = (Edit(name.span, meant),) if meant and fits else ()
    return Diagnostic(
        "DT128",
        _ERROR,
        f"unknown function '{name.text}'",
        name.span,
        "not a function",
        hint=hint,
        edits=edits,
    )


def _takes(function: str, count: int) -> bool:
    """True if a function can have this number of arguments."""
    if function in FUNCTIONS:
        return count == FUNCTIONS[function].arity
    of_scans = {**dict.fromkeys(SCANS, 3), SCAN_AFFINE: 5}
    least = {**of_scans, "rdot": 3, "len": 1, "program_id": 1}.get(function, 2)
    return count == least if least == 1 else count >= least


def _all_functions() -> str:
    return ", ".join(sorted(CALL_NAMES))


def _called_like_a_function(node: CallSyntax, symbol: Symbol) -> Diagnostic:
    name = node.function
    if symbol.kind not in (SymbolKind.FUNC, SymbolKind.IN):
        return Diagnostic(
            "DT128",
            _ERROR,
            f"'{name.text}' is {what(symbol)}, not a function",
            name.span,
            f"is {what(symbol)}",
            (declared_here(symbol),),
            "write * to multiply",
            (Edit(Span(name.span.source, name.span.end, name.span.end), " * "),),
        )
    source = name.span.source
    opening = source.text.index("(", name.span.end)
    last = node.arguments[-1].span.end if node.arguments else opening
    closing = source.text.index(")", last)
    return Diagnostic(
        "DT128",
        _ERROR,
        f"'{name.text}' is {what(symbol)} and indexed with brackets",
        name.span,
        "is not a function",
        (declared_here(symbol),),
        f"write {name.text}[...]",
        (
            Edit(Span(source, opening, opening + 1), "["),
            Edit(Span(source, closing, closing + 1), "]"),
        ),
    )


def wrong_count(node: CallSyntax, expected: str) -> Diagnostic:
    """Report a call that has too many or too few arguments."""
    count = len(node.arguments)
    name = node.function.text
    return Diagnostic(
        "DT129",
        _ERROR,
        f"'{name}' takes {expected} argument{'' if expected == '1' else 's'}, not {count}",
        node.span,
        f"has {count}",
        hint=f"write {signature(name)}",
    )


def not_a_dtype(node: Node) -> Diagnostic:
    """Report an expression that stands where a dtype is expected."""
    return Diagnostic(
        "DT130",
        _ERROR,
        "a dtype is expected here",
        node.span,
        "not a dtype",
        (Note(f"the dtypes are {' '.join(DType)}"),),
        f"write {signature('cast')}",
    )


def malformed_pad(node: CallSyntax) -> Diagnostic:
    """Report a `pad` that does not have the form pad(A, value)[...]."""
    hint = f"write {signature('pad')}"
    edits: tuple[Edit, ...] = ()
    first = node.arguments[0] if node.arguments else None
    if len(node.arguments) == 2 and isinstance(first, NameSyntax):
        hint = f"index it: pad({first.text}, {node.arguments[1].span.text})[...]"
    if (
        len(node.arguments) == 2
        and isinstance(first, Indexed)
        and isinstance(first.base, NameSyntax)
    ):
        indices = first.span.source.text[first.base.span.end : first.span.end]
        meant = f"pad({first.base.text}, {node.arguments[1].span.text}){indices.strip()}"
        hint = f"write {meant}"
        edits = (Edit(node.span, meant),)
    return Diagnostic(
        "DT138",
        _ERROR,
        "'pad' reads a tensor, so it takes the tensor's name and is indexed",
        node.span,
        "not of the form pad(A, value)[...]",
        hint=hint,
        edits=edits,
    )


def not_an_rvar(name: Node, symbol: Symbol) -> Diagnostic:
    """Report a reduction over a Var, which would have to be an RVar."""
    return Diagnostic(
        "DT146",
        _ERROR,
        f"'{symbol.name}' is a Var and cannot be reduced over",
        name.span,
        "is a Var",
        (declared_here(symbol),),
        f"declare it as RVar {symbol.name}; it can still be an ordinary label elsewhere",
        redeclare(symbol.span, SymbolKind.RVAR, SymbolKind.VAR),
    )


def not_a_reduction_label(node: CallSyntax, argument: Node, symbol: Symbol | None) -> Diagnostic:
    """Report a reduction whose last arguments are not labels."""
    name = node.function.text
    return Diagnostic(
        "DT148",
        _ERROR,
        f"'{name}' names what it reduces over by a label",
        argument.span,
        f"is {what(symbol)}" if symbol else "not a label",
        hint=f"write {signature(name)}",
    )


def reduced_twice(label: str, before: Node, argument: Node) -> Diagnostic:
    """Report a label that one reduction names twice."""
    source = argument.span.source
    return Diagnostic(
        "DT149",
        _ERROR,
        f"the label '{label}' is reduced over twice",
        argument.span,
        "again",
        hint="name each label once",
        edits=(Edit(Span(source, before.span.end, argument.span.end), ""),),
    )


def not_a_label(node: CallSyntax, argument: Node, symbol: Symbol | None) -> Diagnostic:
    """Report a `len` of something that is not a label."""
    hint = "write len(x) for a label x"
    if symbol is not None and symbol.kind is not SymbolKind.SIN:
        hint = f"the size of a dimension of '{symbol.name}' is the len of the label that indexes it"
    return Diagnostic(
        "DT150",
        _ERROR,
        f"'{node.function.text}' takes a label",
        argument.span,
        f"is {what(symbol)}" if symbol else "not a label",
        hint=hint,
    )


def depends_on_schedule(node: CallSyntax) -> Diagnostic:
    """Warn of a `program_id` in an algorithm."""
    return Diagnostic(
        "DT151",
        Severity.WARNING,
        "program_id makes the result depend on the schedule",
        node.span,
        "differs from one schedule to another",
        hint="use a label in value position if the index of an element is meant",
    )


def wrong_axis(node: CallSyntax, arguments: Sequence[Node]) -> Diagnostic:
    """Report a `program_id` whose argument is not an axis of the launch grid."""
    return Diagnostic(
        "DT152",
        _ERROR,
        "program_id takes an axis of the launch grid",
        arguments[0].span if len(arguments) == 1 else node.span,
        "not one of 0, 1, 2",
        hint=f"write {signature('program_id')}",
    )


def not_an_axis(argument: Node, symbol: Symbol | None) -> Diagnostic:
    """Report an axis of a reshape that is neither a label nor 1, or a label that stands twice."""
    twice = symbol is not None and symbol.kind in LABELS
    return Diagnostic(
        "DT153",
        _ERROR,
        f"the label '{symbol.name}' stands twice in this reshape"
        if symbol and twice
        else "an axis of a reshape is a label or 1",
        argument.span,
        "again" if twice else f"is {what(symbol)}" if symbol else "neither a label nor 1",
        hint="name each label of the operand once, in order, and put 1 where it has none",
    )


def one_label_only(node: CallSyntax, argument: Node) -> Diagnostic:
    """Report an rargmax or rargmin over several labels."""
    return Diagnostic(
        "DT154",
        _ERROR,
        f"'{node.function.text}' takes one label",
        argument.span,
        "a second label",
        hint="its result is an index along one label",
    )


def no_order(word: str, argument: Node) -> Diagnostic:
    """Report what follows the labels of a scan and is neither `before` nor `reverse`, or again."""
    return Diagnostic(
        "DT218",
        _ERROR,
        f"'{word}' does not know this order",
        argument.span,
        "is no other word of a scan",
        hint="write before, which leaves out the element at the index itself, or reverse, which "
        "begins at the end",
    )


def no_result_label(word: str, argument: Node, symbol: Symbol | None) -> Diagnostic:
    """Report the argument of a scan that should be another label than the scanned one."""
    return Diagnostic(
        "DT218",
        _ERROR,
        f"'{word}' needs the label of its results",
        argument.span,
        "is no name"
        if symbol is None
        else "is what it goes over"
        if symbol.kind in LABELS
        else f"is {what(symbol)}",
        () if symbol is None else (declared_here(symbol),),
        f"name a label of the left side: {signature(word)} is the result for all s up to t",
    )


def no_places(node: CallSyntax, argument: Node, symbol: Symbol | None) -> Diagnostic:
    """Report a list whose places are no label of a fixed size, or of one that is too large."""
    if symbol is None:
        seen = "not a label"
    elif symbol.kind not in LABELS:
        seen = f"is {what(symbol)}"
    elif symbol.size is None:
        seen = "has no size in the file"
    else:
        seen = f"has {symbol.size:,} indices"
    return Diagnostic(
        "DT235",
        _ERROR,
        f"the places of '{node.function.text}' are the indices of a label",
        argument.span,
        seen,
        (Note("how long the list is decides what a kernel holds in registers"),),
        f"declare a label with 1 to {LONGEST_LIST} indices, as in Var j: 8, and write "
        f"{node.function.text}(e, k, j)",
    )
