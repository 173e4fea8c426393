"""Builds the messages about wrong names, definitions, indices and directives."""

from collections.abc import Iterator, Sequence, Set

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span

from .call_messages import signature
from .redeclare import undeclare
from .symbols import TENSORS, Symbol, SymbolKind, declared_here, what
from .syntax import (
    BinarySyntax,
    CallSyntax,
    Definition,
    DirectiveCall,
    Indexed,
    NameSyntax,
    Node,
    NumberSyntax,
    Unary,
    names_in,
)

MAX_RANK = 64  # torch allows no tensor more dimensions
_ERROR = Severity.ERROR
MOST_SHOWN = 8  # Funcs of a cycle; a message that lists more helps nobody
# Who writes one of these in an index wants to choose between indices.
CHOOSING = frozenset({"abs", "minimum", "maximum", "clamp", "where"})
_LABELS = "made of labels and whole numbers, as in A[x + 1, 2 * y + r]"
# Who writes the size of a label wants to count from its end, or to reach half of it away.
FROM_THE_END = (
    Note(
        "to count from the end, fix the size in the file: with Var x: 4096, A[4095 - x] is A from "
        "its end to its beginning; or let the caller pass the places, In at: i64 within len(x), "
        "and read A[at[x]]"
    ),
    Note(
        "to reach half of a dimension away, pass the tensor as a view with the halves along a "
        "dimension of their own, [.., 2, half], and index the other half by 1 - p"
    ),
)


def unknown_name(
    name: NameSyntax,
    expected: SymbolKind,
    meant: str | None,
    statement: Span | None,
    spans: Sequence[Span],
) -> Diagnostic:
    """Report a name that nothing declares, where it first stands.

    The edits correct the name everywhere.
    """
    declaration = f"{expected} {name.text};"
    edits: tuple[Edit, ...] = ()
    if name.text in CALL_NAMES:
        hint = f"it is a function: call it, as in {signature(name.text)}"
    elif meant is not None:
        hint, edits = f"did you mean {meant}?", tuple(Edit(span, meant) for span in spans)
    else:
        at = statement or name.span
        hint = f"declare it: {declaration}"
        edits = (Edit(Span(at.source, at.start, at.start), f"{declaration}\n"),)
    return Diagnostic(
        "DT120",
        _ERROR,
        f"unknown name '{name.text}'",
        name.span,
        "not declared",
        hint=hint,
        edits=edits,
    )


def defined_twice(definition: Definition, first: Definition) -> Diagnostic:
    """Report a Func that has two definitions."""
    return Diagnostic(
        "DT122",
        _ERROR,
        f"'{definition.func.text}' is defined twice",
        definition.func.span,
        "defined again",
        (Note("first defined here", first.func.span),),
        "a Func has one definition; use another Func for the second step",
    )


def never_defined(symbol: Symbol) -> Diagnostic:
    """Report a Func that has no definition."""
    return Diagnostic(
        "DT123",
        _ERROR,
        f"'{symbol.name}' is declared but never defined",
        symbol.span,
        "has no definition",
        hint=f"define it: {symbol.name}[...] = ...; or, if the caller passes it, declare it as In",
    )


def not_a_func(name: NameSyntax, symbol: Symbol, way: str) -> Diagnostic:
    """Report a definition of something that is not a Func, and a way out."""
    return Diagnostic(
        "DT124",
        _ERROR,
        f"'{name.text}' is {what(symbol)} and cannot be defined",
        name.span,
        f"is {what(symbol)}",
        (declared_here(symbol),),
        way,
    )


def cycle(funcs: Sequence[str], reads: Sequence[Span | None], way: str) -> Diagnostic:
    """Report Funcs that are defined by each other, and a way out.

    `reads` has the place where each Func reads the next one, and where the last one reads the
    first.
    """
    following = (*funcs[1:], funcs[0])
    notes = tuple(
        Note(f"'{reader}' reads '{read}' here", span)
        for reader, read, span in list(zip(funcs, following, reads, strict=True))[1:MOST_SHOWN]
    )
    shown = funcs if len(funcs) <= MOST_SHOWN else (*funcs[: MOST_SHOWN - 1], "...")
    path = " needs ".join(name if name == "..." else f"'{name}'" for name in (*shown, funcs[0]))
    return Diagnostic(
        "DT125",
        _ERROR,
        f"'{funcs[0]}' reads itself" if len(funcs) == 1 else f"a cycle: {path}",
        reads[0],
        f"reads '{following[0]}'",
        notes,
        way,
    )


def tensor_without_indices(name: NameSyntax, symbol: Symbol) -> Diagnostic:
    """Report a tensor that stands without indices where a value is expected."""
    return Diagnostic(
        "DT126",
        _ERROR,
        f"'{name.text}' is {what(symbol)} and needs indices",
        name.span,
        "stands without indices",
        (declared_here(symbol),),
        f"index it by labels, as in {name.text}[x, y]",
    )


def not_a_tensor(node: Indexed, base: Node, symbol: Symbol | None) -> Diagnostic:
    """Report indices on something that is not a tensor."""
    if symbol is None:
        return Diagnostic(
            "DT127",
            _ERROR,
            "only a tensor or a Func can be indexed",
            base.span,
            "is not a tensor",
            hint="give it a Func of its own and index that",
        )
    hint = "remove the indices"
    if symbol.kind is SymbolKind.SIN:
        hint += f", or declare it as a tensor: In {symbol.name};"
    return Diagnostic(
        "DT127",
        _ERROR,
        f"'{symbol.name}' is {what(symbol)} and cannot be indexed",
        base.span,
        f"is {what(symbol)}",
        (declared_here(symbol),),
        hint,
        _without_indices(node) if base is node.base else (),
    )


def _without_indices(node: Indexed) -> tuple[Edit, ...]:
    source, start = node.base.span.source, node.base.span.end
    last = node.indices[-1].span.end if node.indices else start
    return (Edit(Span(source, start, source.text.index("]", last) + 1), ""),)


def integer_too_large(node: NumberSyntax, bits: int) -> Diagnostic:
    """Report a whole number that no type can hold."""
    return Diagnostic(
        "DT131",
        _ERROR,
        "this whole number is too large",
        node.span,
        f"does not fit {bits} bits",
        hint="write a smaller number",
    )


def float_too_large(node: NumberSyntax) -> Diagnostic:
    """Report a float that would be infinite."""
    return Diagnostic(
        "DT131",
        _ERROR,
        "this number is too large for a float",
        node.span,
        "would be infinite",
        hint="write inf if infinity is meant",
        edits=(Edit(node.span, "inf"),),
    )


def left_side_not_a_label(node: Node, symbol: Symbol | None, way: str) -> Diagnostic:
    """Report something other than a label on the left side of a definition, and a way out."""
    return Diagnostic(
        "DT132",
        _ERROR,
        "the left side is indexed by labels only",
        node.span,
        f"is {what(symbol)}" if symbol else "not a label",
        (declared_here(symbol),) if symbol else (),
        way,
    )


def left_side_twice(node: Node, first: Node, label: str) -> Diagnostic:
    """Report a label that stands twice on the left side of a definition."""
    return Diagnostic(
        "DT133",
        _ERROR,
        f"the label '{label}' stands twice on the left side",
        node.span,
        "again",
        (Note("first here", first.span),),
        "use a label of its own for each dimension",
    )


def too_many_dimensions(name: str, first: Node) -> Diagnostic:
    """Report a Func or input with more dimensions than a tensor can have."""
    return Diagnostic(
        "DT166",
        _ERROR,
        f"'{name}' has more than {MAX_RANK} dimensions",
        first.span,
        "one too many",
        hint="put several labels into one, or split the Func",
    )


def wrong_rank(symbol: Symbol, node: Indexed, rank: int, expected: int, where: Span) -> Diagnostic:
    """Report a tensor that is read with more or fewer indices than it has."""
    indices = "1 index" if expected == 1 else f"{expected} indices"
    return Diagnostic(
        "DT134",
        _ERROR,
        f"'{symbol.name}' has {indices}, not {rank}",
        node.span,
        f"has {rank}",
        (Note(f"here '{symbol.name}' has {expected}", where),),
        "a tensor has one index per dimension wherever it stands",
    )


def not_an_index(name: NameSyntax, symbol: Symbol) -> Diagnostic:
    """Report a name in an index that is not a label."""
    hint = f"an index is {_LABELS}"
    if symbol.kind is SymbolKind.SIN:
        hint = (
            f"let the caller pass it as a tensor of one element, In {name.text}: i64, and write "
            f"{name.text}[0]: elements of tensors may stand in an index"
        )
    elif symbol.kind in TENSORS:
        hint = f"an element of it may stand there: {name.text}[...]; other indices are {_LABELS}"
    return Diagnostic(
        "DT135",
        _ERROR,
        f"'{name.text}' is {what(symbol)} and cannot stand in an index",
        name.span,
        f"is {what(symbol)}",
        (declared_here(symbol),),
        hint,
    )


def not_affine(node: Node) -> Diagnostic:
    """Report an index that is not a sum of whole numbers times labels."""
    words = {name.text for name in names_in(node)}
    notes = FROM_THE_END if "len" in words and not words & CHOOSING else ()
    looks = "an index looks like x, x + 1, 2 * y + r, x // 2 or x % 3"
    return Diagnostic(
        "DT135",
        _ERROR,
        "this index is not a sum of labels times whole numbers",
        node.span,
        "not affine",
        notes,
        looks if notes else f"{looks}; {_instead_of(node, words)}",
    )


def _instead_of(node: Node, words: Set[str]) -> str:
    """Return the part of a hint that says what to write instead of an index that is not affine."""
    if words & CHOOSING:
        return (
            "to choose between indices, choose between reads: "
            "where(x < 3, pad(A, 0)[3 - x], pad(A, 0)[x - 3])"
        )
    if any(
        isinstance(one, BinarySyntax) and one.operator.text in ("/", "%") for one in parts(node)
    ):
        return (
            "to divide an index, pass the tensor as a view with two dimensions in the place of "
            "one, [.., outer, inner], each with a label"
        )
    named = sorted(names_in(node), key=lambda name: name.span.start)
    labels = ", ".join(dict.fromkeys(name.text for name in named)) or "x"
    return f"for any other one, let the caller pass a table, In at: i64, and read A[at[{labels}]]"


def parts(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes inside it."""
    yield node
    match node:
        case CallSyntax(arguments=arguments):
            inner = arguments
        case Indexed(base=base, indices=indices):
            inner = (base, *indices)
        case Unary(operand=operand):
            inner = (operand,)
        case BinarySyntax(left=left, right=right):
            inner = (left, right)
        case _:
            return
    for part in inner:
        yield from parts(part)


def fraction_in_index(node: NumberSyntax) -> Diagnostic:
    """Report a fraction in an index."""
    return Diagnostic(
        "DT136",
        _ERROR,
        "an index is made of whole numbers",
        node.span,
        "not a whole number",
        hint="write a whole number",
    )


def not_a_divisor(node: Node, sign: str, given: Affine) -> Diagnostic:
    """Report what an index is divided by, if that is no number above 0."""
    is_number = not given.terms
    word = "a quotient" if sign == "//" else "a remainder"
    return Diagnostic(
        "DT217",
        _ERROR,
        "an index can only be divided by a number above 0",
        node.span,
        f"is {given.constant}" if is_number else "is not a number in the file",
        hint=f"{word} of an index looks like x {sign} 2 or (x + r) {sign} 4"
        if is_number
        else "write the number here, and compile the file once for each number that is needed; or "
        f"divide by an element of a tensor that the caller passes, as in x {sign} size[0]",
    )


def index_too_large(node: Node) -> Diagnostic:
    """Report an index whose numbers are out of range."""
    return Diagnostic(
        "DT131",
        _ERROR,
        "the numbers of this index are too large",
        node.span,
        "does not fit",
        hint="coefficients and offsets must fit 31 bits",
    )


def not_schedulable(directive: DirectiveCall, symbol: Symbol) -> Diagnostic:
    """Report a directive on something that is not a Func."""
    return Diagnostic(
        "DT155",
        _ERROR,
        f"'{symbol.name}' is {what(symbol)} and has no schedule",
        directive.func.span,
        f"is {what(symbol)}",
        (declared_here(symbol),),
        "put the directive on the Func that is computed",
    )


def unused(symbol: Symbol) -> Diagnostic:
    """Warn of a name that nothing uses."""
    return Diagnostic(
        "DT175",
        Severity.WARNING,
        f"'{symbol.name}' is never used",
        symbol.span,
        f"unused {symbol.kind}",
        hint="remove it",
        edits=undeclare(symbol.span),
    )


def empty_file(source_start: Span) -> Diagnostic:
    """Warn of a file without statements."""
    return Diagnostic(
        "DT179",
        Severity.WARNING,
        "this file has no statements",
        source_start,
        "nothing is declared or defined",
        hint="start with: Func f; In A; Var x; f[x] = A[x]; f.compile();",
    )


def fraction_in_directive(node: NumberSyntax) -> Diagnostic:
    """Report a number in a directive that is not whole."""
    return Diagnostic(
        "DT113",
        _ERROR,
        "the numbers of a directive are whole",
        node.span,
        "not a whole number",
        hint="directives look like: f.block(x:16, y:64);  f.num_warps(8);",
    )


def range_of_no_label(name: NameSyntax, span: Span) -> Diagnostic:
    """Report a range that is not one of a label."""
    return Diagnostic(
        "DT164",
        _ERROR,
        f"'{name.text}' cannot have a range",
        span,
        "only labels have a range",
        hint="give it to a label, as in RVar k in [0, m + 1)",
    )


def range_of_itself(symbol: Symbol, span: Span) -> Diagnostic:
    """Report a range whose ends depend on the label itself."""
    return Diagnostic(
        "DT215",
        _ERROR,
        f"the range of '{symbol.name}' depends on '{symbol.name}' itself",
        span,
        "names the label that it limits",
        hint="write the ends with other labels and with sizes, as in [0, m + 1)",
    )


def empty_range(symbol: Symbol, span: Span) -> Diagnostic:
    """Report a range without an index."""
    return Diagnostic(
        "DT216",
        _ERROR,
        f"the range of '{symbol.name}' has no index",
        span,
        "empty for all sizes",
        (Note("a range has its start and ends before its stop; no index is below 0"),),
        "write a stop that is above the start",
    )


def not_an_end(node: Node) -> Diagnostic:
    """Report an end of a range that is not a sum of labels, sizes and numbers."""
    hint = "an end looks like m + 1, 2 * m - 3 or len(x) - m"
    return Diagnostic(
        "DT135",
        _ERROR,
        "this end of a range is not a sum of labels and sizes times whole numbers",
        node.span,
        "not affine",
        hint=hint,
    )
