"""Turns a syntax tree into a Program and reports everything that is wrong with it.

This is the last stage of the frontend.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.bounds import check_reads
from dtpoly.algorithm.choices import Constraint as Constrained
from dtpoly.algorithm.choices import Item, Openings
from dtpoly.algorithm.data_ranges import with_masks
from dtpoly.algorithm.drawn_numbers import check_drawn
from dtpoly.algorithm.expressions import reads
from dtpoly.algorithm.fixed_sizes import check_fixed
from dtpoly.algorithm.inference import check_types
from dtpoly.algorithm.label_ranges import check_ranges
from dtpoly.algorithm.label_sizes import check_sizes
from dtpoly.algorithm.program import (
    Func,
    Label,
    Program,
    Scalar,
    Tensor,
)
from dtpoly.algorithm.scans import check_scanned, check_scans
from dtpoly.algorithm.shapes import check_shapes
from dtpoly.algorithm.value_limits import check_values
from dtpoly.diagnostics import Diagnostic, has_errors
from dtpoly.frozen import dataclass
from dtpoly.source import Span

from . import name_messages as messages
from .constraints import checked_constraints
from .data_ends import data_ranges
from .deep import deep_recursion
from .directives import closed, directives
from .expression_meaning import lower
from .into_tensors import check_place, check_sums, check_unread, goes_into, tensor_of
from .name_lookup import Names
from .packing import packed_axes
from .places_instead import func_instead, is_told, label_instead
from .promises import check_promises, promised_ranges
from .ranges import conditions_of, label_ranges
from .symbols import LABELS, Symbol, SymbolKind, collect
from .syntax import (
    AlgorithmFile,
    AlternativesSyntax,
    ConstraintSyntax,
    Declaration,
    Definition,
    DirectiveCall,
    File,
    NameSyntax,
    Node,
    Statement,
    directives_in,
    names_in,
)
from .written_recurrences import instead_of_cycle


@dataclass(frozen=True, slots=True)
class Resolved:
    """A Program and what was found in its file; after an error, some of the Funcs are missing."""

    program: Program
    found: tuple[Diagnostic, ...]
    openings: Openings

    @property
    def is_open(self) -> bool:
        """True if the file leaves a choice open.

        The Program then has only the closed directives.
        """
        return bool(self._open)

    @property
    def first_opening(self) -> Span | None:
        """Return the place of the first choice or constraint of the file."""
        return self._open[0].span

    @property
    def _open(self) -> tuple[Item | Constrained, ...]:
        opened = (item for item in self.openings.items if closed(item) is None)
        return (*opened, *self.openings.constraints)


def resolve(file: File) -> Resolved:
    """Give every name its meaning, then check shapes, dtypes and sizes."""
    with deep_recursion():
        return _resolve(file)


def _resolve(file: File) -> Resolved:
    symbols = collect(file)
    names = Names(symbols.table, _words(file), file.unread)
    names.found.extend(symbols.found)
    if not file.statements and not file.unread:
        names.tell(messages.empty_file(Span(file.source, 0, 0)))
    names.ranges.update(label_ranges(file, names))
    names.packed.update(packed_axes(file, names))
    names.promised.update(promised_ranges(file, names))
    taken = data_ranges(file, names)
    definitions = _definitions(file, names)
    for definition in definitions.values():
        _note_rank(definition, names)
    funcs = tuple(_funcs(definitions, names))
    for func in funcs:
        check_place(func, names)
    check_promises(funcs, names)
    funcs = check_unread(funcs, names)
    items = tuple(directives(file, names))
    constraints = tuple(checked_constraints(file, items, names))
    for symbol in symbols.table.values():
        _check_defined_and_used(symbol, definitions, names)
    program = Program(
        tuple(
            Label(s.name, s.kind is SymbolKind.RVAR, s.size, s.span, names.ranges.get(s.name))
            for s in symbols.of(*LABELS)
        ),
        tuple(_input(symbol, names) for symbol in symbols.of(SymbolKind.IN, SymbolKind.SIN)),
        funcs,
        tuple(one for item in items if (one := closed(item)) is not None),
    )
    cycles = list(_cycles(program))
    if not cycles:
        check_sums(program, names)
    found = [
        *names.found,
        *(messages.cycle(*one, instead_of_cycle(program, one[0])) for one in cycles),
    ]
    if not cycles:
        masked = with_masks(program, taken)
        program, funcs = masked.program, masked.program.funcs
        found.extend(masked.found)
    for func in funcs:
        # A label that a range brings where it is not known would also be one that the left lacks.
        # So would one for which a scan should have results.
        wrong = check_ranges(program, func) or check_scans(program, func)
        found.extend(wrong or check_shapes(func))
    # A Func that reads itself has no dtype, and no first element.
    cyclic = {name for needing, _ in cycles for name in needing}
    acyclic = tuple(func for func in funcs if func.name not in cyclic)
    found.extend(check_reads(replace(program, funcs=acyclic)))
    found.extend(check_types(replace(program, funcs=acyclic)))
    found.extend(check_scanned(replace(program, funcs=acyclic)))
    if not has_errors(found):
        # A note on sizes would also count the reads that are missing because of an error.
        found.extend(check_fixed(program))
        found.extend(check_sizes(program))
        found.extend(check_values(program))
        found.extend(check_drawn(program))
    return Resolved(program, tuple(found), Openings(items, constraints))


def _words(file: File) -> dict[str, list[Span]]:
    words: dict[str, list[Span]] = {}
    for statement in file.statements:
        for name in _names_in(statement):
            words.setdefault(name.text, []).append(name.span)
    return words


def _names_in(statement: Statement) -> Iterator[NameSyntax]:
    match statement:
        case Declaration(items=items):
            for item in items:
                if item.into is not None:
                    yield item.into.tensor
                    for index in item.into.indices:
                        yield from names_in(index)
                if item.packed is not None:
                    yield item.packed
                if item.within is not None:
                    yield from names_in(item.within)
                if item.range is not None:
                    yield from names_in(item.range.start)
                    yield from names_in(item.range.stop)
        case Definition(func=func, labels=labels, body=body):
            yield func
            for label in labels:
                yield from names_in(label)
            yield from names_in(body)
        case DirectiveCall() | AlternativesSyntax():
            for call in directives_in(statement):
                yield call.func
                for argument in call.arguments:
                    if isinstance(argument.target, NameSyntax):
                        yield argument.target
        case ConstraintSyntax() | AlgorithmFile():
            pass  # these name only directives
        case _:
            assert_never(statement)


def _input(symbol: Symbol, names: Names) -> Tensor | Scalar:
    if symbol.kind is SymbolKind.IN:
        return Tensor(symbol.name, symbol.dtype, symbol.span, names.promised.get(symbol.name))
    return Scalar(symbol.name, symbol.dtype, symbol.span)


def _definitions(file: File, names: Names) -> dict[str, Definition]:
    """Return the definition of each Func; if there are two, the first one counts."""
    definitions: dict[str, Definition] = {}
    for statement in file.statements:
        if not isinstance(statement, Definition):
            continue
        names.statement = statement.span
        name = statement.func
        symbol = names.symbol(name.text)
        if symbol is None:
            names.find(name, SymbolKind.FUNC)
        elif symbol.kind is not SymbolKind.FUNC:
            names.tell(messages.not_a_func(name, symbol, func_instead(statement, symbol, names)))
        elif name.text in definitions:
            names.tell(messages.defined_twice(statement, definitions[name.text]))
        else:
            definitions[name.text] = statement
            continue
        # The wrong definition is still checked, since it may have other mistakes.
        _func(statement, None, names)
    return definitions


def _note_rank(definition: Definition, names: Names) -> None:
    span = definition.func.span
    names.ranks[definition.func.text] = (len(definition.labels), span)


def _funcs(definitions: Mapping[str, Definition], names: Names) -> Iterator[Func]:
    for definition in definitions.values():
        names.statement = definition.span
        func = _func(definition, names.symbol(definition.func.text), names)
        if func is not None:
            yield func


def _func(definition: Definition, symbol: Symbol | None, names: Names) -> Func | None:
    labels = _left_side(definition, names)
    body = lower(names, definition.body)
    if labels is None or body is None or symbol is None:
        return None
    when = conditions_of(names, labels)
    into = tensor_of(symbol, names)
    dtype = symbol.dtype if into is None else into.dtype
    goes = None if into is None else goes_into(symbol, into.name, labels, names)
    return Func(symbol.name, labels, body, dtype, definition.span, goes, when)


def _left_side(definition: Definition, names: Names) -> tuple[str, ...] | None:
    seen: dict[str, Node] = {}
    good = True
    for node in definition.labels:
        if not isinstance(node, NameSyntax):
            if not is_told(definition, node, names):
                way = label_instead(definition, node)
                names.tell(messages.left_side_not_a_label(node, None, way))
            good = False
            continue
        symbol = names.find(node, SymbolKind.VAR)
        if symbol is None:
            good = False
        elif symbol.kind not in LABELS:
            way = "a dimension is named by a label: leave it out, or declare one"
            names.tell(messages.left_side_not_a_label(node, symbol, way))
            good = False
        elif symbol.name in seen:
            names.tell(messages.left_side_twice(node, seen[symbol.name], symbol.name))
            good = False
        else:
            seen[symbol.name] = node
    good = names.is_rank(definition.func.text, definition.labels) and good
    return tuple(seen) if good else None


def _check_defined_and_used(
    symbol: Symbol, definitions: Mapping[str, Definition], names: Names
) -> None:
    if symbol.name in names.unread:
        return
    if symbol.kind is SymbolKind.FUNC:
        if symbol.name not in definitions and symbol.name not in names.meant:
            names.tell(messages.never_defined(symbol))
    elif not names.is_used(symbol):
        names.tell(messages.unused(symbol))


def _cycles(program: Program) -> Iterator[tuple[list[str], list[Span | None]]]:
    """Yield the Funcs of each cycle, and the place where each reads the next."""
    by_name = {func.name: func for func in program.funcs}
    below = {
        func.name: {read.tensor: read.span for read in reads(func.body) if read.tensor in by_name}
        for func in program.funcs
    }
    done: set[str] = set()
    for start in by_name:
        path: list[str] = []
        pending = [(start, False)]
        while pending:
            name, leaving = pending.pop()
            if leaving:
                path.pop()
                done.add(name)
            elif name in path:
                funcs = path[path.index(name) :]
                following = (*funcs[1:], name)
                spans = [below[a][b] for a, b in zip(funcs, following, strict=True)]
                yield funcs, spans
            elif name not in done:
                path.append(name)
                pending.append((name, True))
                pending.extend((other, False) for other in reversed(below[name]))
