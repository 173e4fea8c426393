"""Makes the table of names of a file from its declarations."""

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Span
from dtpoly.suggest import near

from . import elsewhere, into_messages
from .redeclare import undeclare
from .syntax import Declaration, Declared, File, IntoSyntax, NameSyntax, Node, NumberSyntax


class SymbolKind(StrEnum):
    """The words that begin a declaration; each is a kind of name."""

    FUNC = "Func"
    IN = "In"
    SIN = "SIn"
    VAR = "Var"
    RVAR = "RVar"


# The largest size that a file may fix.
MOST = 2**30
_WHAT = {
    SymbolKind.FUNC: "a Func",
    SymbolKind.IN: "a tensor input",
    SymbolKind.SIN: "a scalar input",
}
TENSORS = (SymbolKind.FUNC, SymbolKind.IN)
LABELS = (SymbolKind.VAR, SymbolKind.RVAR)


# Dtypes that only packed inputs have, and whether their numbers have a sign.
PACKED = {"i4": True, "u4": False}


@dataclass(frozen=True, slots=True)
class Packing:
    """The label along which an input is packed, and whether its numbers have a sign."""

    label: NameSyntax
    is_signed: bool


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared name, with its kind, its dtype or size if it has one, and its place."""

    name: str
    kind: SymbolKind
    dtype: DType | None
    span: Span
    size: int | None = None
    into: IntoSyntax | None = None  # the tensor that a Func is written into
    packed: Packing | None = None
    within: Node | None = None  # what the elements of an input are promised to be below


def what(symbol: Symbol) -> str:
    """Return the words by which a message calls a symbol, such as "a tensor input"."""
    match symbol.kind:
        case SymbolKind.FUNC:
            return "a Func"
        case SymbolKind.IN:
            return "a tensor input"
        case SymbolKind.SIN:
            return "a scalar input"
        case SymbolKind.VAR | SymbolKind.RVAR:
            return "a label"


def declared_here(symbol: Symbol) -> Note:
    """Return the note that shows the declaration of a symbol."""
    return Note(f"'{symbol.name}' is declared here, as {symbol.kind}", symbol.span)


@dataclass(frozen=True, slots=True)
class Symbols:
    """The declared names, in order, and the mistakes in the declarations."""

    table: dict[str, Symbol]
    found: tuple[Diagnostic, ...]

    def of(self, *kinds: SymbolKind) -> tuple[Symbol, ...]:
        """Return the symbols of these kinds, in the order of their declarations."""
        return tuple(symbol for symbol in self.table.values() if symbol.kind in kinds)


def read_dtype(name: NameSyntax) -> DType | Diagnostic:
    """Return the dtype that a name means, or a message that it means none."""
    if name.text in set(DType):
        return DType(name.text)
    if name.text in PACKED:
        return Diagnostic(
            "DT219",
            Severity.ERROR,
            f"only a packed input has the dtype {name.text}",
            name.span,
            "is half a byte",
            hint=f"say along which label two of them share a byte: In W: {name.text} packed k; "
            "elsewhere use i8 or u8",
        )
    meant = elsewhere.DTYPES.get(name.text.lower()) or near(name.text, list(DType))
    return Diagnostic(
        "DT130",
        Severity.ERROR,
        f"'{name.text}' is not a dtype",
        name.span,
        "not a dtype",
        (Note(f"the dtypes are {' '.join(DType)}"),),
        f"did you mean {meant}?" if meant else "choose one of them",
        (Edit(name.span, meant),) if meant else (),
    )


def collect(file: File) -> Symbols:
    """Read all declarations.

    Of a name that is declared twice, the first one counts, or the RVar.
    """
    table: dict[str, Symbol] = {}
    found: list[Diagnostic] = []
    for statement in file.statements:
        if isinstance(statement, Declaration):
            for item in statement.items:
                symbol = _symbol(SymbolKind(statement.word.text), item, found)
                if symbol.name in table:
                    found.append(_declared_twice(symbol, table[symbol.name]))
                    if table[symbol.name].kind is SymbolKind.VAR and symbol.kind is SymbolKind.RVAR:
                        table[symbol.name] = symbol
                else:
                    table[symbol.name] = symbol
                    found.extend(_shadows(symbol))
    return Symbols(table, tuple(found))


def _symbol(kind: SymbolKind, item: Declared, found: list[Diagnostic]) -> Symbol:
    dtype, size = None, None
    if item.packed is not None:
        if kind is SymbolKind.IN and item.dtype is not None and item.dtype.text in PACKED:
            packing = Packing(item.packed, PACKED[item.dtype.text])
            return Symbol(
                item.name.text, kind, DType.U8, item.name.span, packed=packing, within=item.within
            )
        found.append(_not_packed(item.name, item.packed))
    if item.size is not None and kind in LABELS:
        size = _size(item.name, item.size, found)
    elif item.size is not None:
        found.append(_dtype_is_number(item.name, item.size, kind))
    elif item.dtype is not None:
        read = read_dtype(item.dtype)
        if kind in LABELS:
            found.append(_label_with_dtype(item.name, item.dtype))
        elif isinstance(read, Diagnostic):
            found.append(read)
        else:
            dtype = read
    if item.into is not None and kind is not SymbolKind.FUNC:
        found.append(into_messages.not_a_func(item.name, item.into.tensor, kind))
        item = replace(item, into=None)
    return Symbol(item.name.text, kind, dtype, item.name.span, size, item.into, within=item.within)


def _not_packed(name: NameSyntax, packed: NameSyntax) -> Diagnostic:
    return Diagnostic(
        "DT219",
        Severity.ERROR,
        f"'{name.text}' cannot be packed",
        packed.span,
        "is packed along this",
        hint="only tensor inputs of i4 and u4 are packed, two numbers in a byte: "
        f"In {name.text}: i4 packed {packed.text}",
    )


def _size(name: NameSyntax, number: NumberSyntax, found: list[Diagnostic]) -> int | None:
    """Return the size of a label as it is written; None after reporting that it is not allowed."""
    digits = number.text.lstrip("+-").lstrip("0") or "0"
    size = int(digits) if digits.isdecimal() and len(digits) <= len(str(MOST)) else None
    if size is not None and 1 <= size <= MOST and number.text.isdecimal():
        return size
    if not digits.isdecimal():
        why = "is not a whole number"
    elif number.text.startswith("-"):
        why = "is negative"
    elif size == 0:
        why = "no index is below that"
    elif size is None or size > MOST:
        why = f"the largest size is {MOST}"
    else:
        why = "is written with a sign"
    found.append(
        Diagnostic(
            "DT167",
            Severity.ERROR,
            f"'{name.text}' cannot have the size {number.text}",
            number.span,
            why,
            hint=f"write a whole number of at least 1, as in {name.text}: 3; or no size, and "
            "tensors or the caller decide it",
        )
    )
    return None


def _dtype_is_number(name: NameSyntax, number: NumberSyntax, kind: SymbolKind) -> Diagnostic:
    return Diagnostic(
        "DT130",
        Severity.ERROR,
        f"'{number.text}' is not a dtype",
        number.span,
        "not a dtype",
        (Note(f"the dtypes are {' '.join(DType)}"),),
        f"'{name.text}' is {_WHAT[kind]}; a size is fixed where its label is declared, "
        "as in Var x: 16",
    )


def _label_with_dtype(name: NameSyntax, dtype: NameSyntax) -> Diagnostic:
    cut = Span(name.span.source, name.span.end, dtype.span.end)
    return Diagnostic(
        "DT164",
        Severity.ERROR,
        f"the label '{name.text}' cannot have a dtype",
        dtype.span,
        "labels only have a size",
        hint=f"remove ': {dtype.text}'; as a value a label is a whole number. "
        f"A number after the colon is its size: {name.text}: 3",
        edits=(Edit(cut, ""),),
    )


def _declared_twice(symbol: Symbol, first: Symbol) -> Diagnostic:
    edits: tuple[Edit, ...] = ()
    if {symbol.kind, first.kind} == set(LABELS):
        superfluous = symbol if symbol.kind is SymbolKind.VAR else first
        hint = "keep the RVar: it may be an ordinary label too"
        edits = undeclare(superfluous.span)
    elif symbol.kind is first.kind and symbol.dtype is None:
        hint, edits = "declare it once", undeclare(symbol.span)
    else:
        hint = "remove one of the two, or use another name"
    return Diagnostic(
        "DT121",
        Severity.ERROR,
        f"'{symbol.name}' is declared twice",
        symbol.span,
        f"declared again, as {symbol.kind}",
        (Note(f"first declared here, as {first.kind}", first.span),),
        hint,
        edits,
    )


def _shadows(symbol: Symbol) -> Iterator[Diagnostic]:
    if symbol.name in CALL_NAMES:
        yield Diagnostic(
            "DT176",
            Severity.WARNING,
            f"'{symbol.name}' is also the name of a function of the language",
            symbol.span,
            f"{symbol.name}(...) still means the function",
            hint=f"call it {symbol.name}_ or otherwise",
        )
