"""Finds the tensor that a Func is declared to be written into, and checks that it fits."""

from collections.abc import Iterable
from dataclasses import replace

from dtpoly.algorithm.distinct_places import undecided
from dtpoly.algorithm.dtypes import ADDED_IN_MEMORY
from dtpoly.algorithm.expressions import Integer, Read, Reduce, data_of, free_labels, reads, walk
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.program import Func, Into, Placing, Program

from . import into_messages as messages
from .expression_meaning import lower_place
from .name_lookup import Names
from .symbols import Symbol, SymbolKind, declared_here
from .syntax import Indexed, IntoSyntax


def tensor_of(func: Symbol, names: Names) -> Symbol | None:
    """Return the tensor input that a Func goes into; None if it has its own memory.

    Of two Funcs that go into one tensor, the first one counts.
    """
    if func.into is None:
        return None
    tensor = func.into.tensor
    symbol = names.find(tensor, SymbolKind.IN)
    if symbol is None:
        return None
    is_start = symbol.kind is SymbolKind.FUNC and _is_added(func.into)
    if symbol.kind is not SymbolKind.IN and not is_start:
        names.tell(messages.not_an_input(func.name, tensor, declared_here(symbol)))
        return None
    if symbol.into is not None:
        names.tell(messages.start_in_place(func.name, tensor, symbol.into.tensor))
        return None
    first = next(
        one
        for one in names.table.values()
        if one.into is not None and one.into.tensor.text == symbol.name
    )
    if first is not func:
        names.tell(messages.taken_twice(func.name, tensor, first.name, first.span))
        return None
    if func.dtype is not None and func.dtype is not symbol.dtype:
        own, dtype = str(func.dtype), symbol.dtype and str(symbol.dtype)
        names.tell(messages.other_dtype(func.name, own, tensor, dtype, symbol.span))
        return None
    return symbol


def _is_added(into: IntoSyntax) -> bool:
    return into.how is not None and into.how.text == Placing.ADDED.value and bool(into.indices)


def goes_into(func: Symbol, tensor: str, labels: tuple[str, ...], names: Names) -> Into | None:
    """Return where a Func goes, in the tensor that `tensor_of` has found; None after a mistake."""
    said = func.into
    assert said is not None
    if not said.indices:
        if said.how is not None:
            names.tell(messages.word_alone(func.name, said, said.how))
        return Into(tensor, said.tensor.span)
    at = lower_place(names, Indexed(said.tensor, said.indices, said.place))
    if at is None:
        return None
    if not _is_place(func.name, at, labels, said, names):
        return None
    # Where it is outside, nothing is written, as nothing is read through a pad.
    at = replace(at, padding=Integer(0))
    if _is_added(said):
        lacking = [one for one in labels if one not in free_labels(at)]
        if lacking:
            names.tell(messages.added_along(func.name, said, lacking[0]))
        given = names.table[tensor]
        if given.dtype is not None and given.dtype not in ADDED_IN_MEMORY:
            names.tell(messages.not_addable(func.name, said, given.dtype, given.span, given.kind))
        return Into(tensor, said.tensor.span, at, Placing.ADDED)
    if said.how is not None:
        return Into(tensor, said.tensor.span, at, Placing.DISTINCT)
    open_ = undecided(labels, at)
    if open_:
        names.tell(messages.not_distinct(func.name, said, at, open_))
    return Into(tensor, said.tensor.span, at)


def check_sums(program: Program, names: Names) -> None:
    """Check that memory can add in the type that sums have which no declaration says."""
    types = types_of(program)
    for start, added in program.starts.items():
        dtype, said = types[start].dtype, names.table[added].into
        is_declared = names.table[start].dtype is not None
        if not is_declared and dtype is not None and dtype not in ADDED_IN_MEMORY and said:
            names.tell(messages.not_addable(added, said, dtype, names.table[start].span, "Func"))


def _is_place(func: str, at: Read, labels: tuple[str, ...], said: IntoSyntax, names: Names) -> bool:
    """Return whether a place is made of the labels of the Func, and of inputs. Report it if not."""
    lacking = [one for one in free_labels(at) if one not in labels]
    if lacking:
        names.tell(messages.foreign_label(func, said, lacking[0], labels))
        return False
    for value in data_of(at):
        if any(isinstance(node, Reduce) for node in walk(value)):
            names.tell(messages.reduced_place(func, said, value.span))
            return False
        for read in reads(value):
            symbol = names.table[read.tensor]
            if symbol.kind is SymbolKind.FUNC:
                names.tell(messages.computed_place(func, said, read, declared_here(symbol)))
                return False
            if any(
                one.into is not None and one.into.tensor.text == read.tensor
                for one in names.table.values()
            ):
                names.tell(messages.written_place(func, said, read, declared_here(symbol)))
                return False
    return True


def check_place(func: Func, names: Names) -> None:
    """Check that the tensor which a Func goes into has as many axes, where some Func reads it."""
    into = names.table[func.name].into
    if func.into is None or into is None or func.into.at is not None:
        return
    tensor = into.tensor
    rank, span = names.ranks.setdefault(func.into.tensor, (len(func.labels), tensor.span))
    if rank != len(func.labels):
        names.tell(messages.other_rank(func.name, tensor, len(func.labels), rank, span))


def check_unread(funcs: Iterable[Func], names: Names) -> tuple[Func, ...]:
    """Check that no Func reads one that goes to a place: its elements lie in another tensor.

    Neither does it read a Func that others are added to, of which nothing is left. Return the Funcs
    whose order can be found: where sums begin with a Func, those that were reported are left out.
    """
    funcs = tuple(funcs)
    into = {one.into.tensor: one for one in funcs if one.into is not None}
    starts = {n: one for n, one in into.items() if names.table[n].kind is SymbolKind.FUNC}
    wrong = set[str]()
    placed = {one.name: one for one in funcs if one.into is not None and one.into.at is not None}
    for func in funcs:
        for read in reads(func.body):
            if read.tensor in placed and read.tensor != func.name:
                names.tell(messages.read_at_place(read, placed[read.tensor], func.name))
                wrong.add(func.name)
            elif read.tensor in starts:
                names.tell(messages.read_start(read, starts[read.tensor], func.name))
                wrong.add(func.name)
    if not starts:
        return funcs
    # What is added to a Func that is left out has no tensor, and neither begins without the other.
    for start, added in starts.items():
        if {start, added.name} & wrong:
            wrong |= {start, added.name}
    return tuple(func for func in funcs if func.name not in wrong)
