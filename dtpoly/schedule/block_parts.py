"""Checks what a block divides besides the elements of a Func: reductions, chains of them, scans."""

from collections.abc import Iterator, Sequence

from dtpoly.algorithm.expressions import Reduce, walk
from dtpoly.algorithm.operations import FROM_LIST, LIST, WITHOUT_PARTS
from dtpoly.algorithm.parted import NotInPartsError, in_parts
from dtpoly.algorithm.scan_parts import scans_in_parts
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.schedule.argument_values import Divided, Sized, word_span
from dtpoly.schedule.facts import Blocked, MergeBlocked
from dtpoly.schedule.kernels import View
from dtpoly.schedule.parted_facts import asked_chains, asked_scans


def blocked(func: str, item: Sized | Divided) -> Blocked:
    """Return the fact that a label is cut into blocks."""
    name = item.new if isinstance(item, Divided) else ""
    return Blocked(func, item.label, item.size, name, item.span)


def refused_chains(
    func: str, blocks: Sequence[Sized | Divided], view: View
) -> Iterator[Diagnostic]:
    """Yield why parts of a chain of reductions store no results, or are not merged in blocks."""
    reduced = view.partial_labels(func)
    if not any(item.label in reduced for item in blocks):
        return
    for chain in asked_chains(view.program, view.facts):
        if chain.last != func or any(one.consumer == func for one in view.along):
            continue  # `online` reports what is wrong with its chain
        merged = [one for one in view.facts if isinstance(one, MergeBlocked)]
        merged = [one for one in merged if (one.func, one.parts) == (func, chain.name)]
        if not chain.within and not merged:
            continue  # the results that it stores besides are computed by the merging kernel
        try:
            in_parts(view.program, chain)
        except NotInPartsError as error:
            stored = " and ".join(f"'{one}'" for one in chain.within)
            why = f"programs of the parts would store {stored}" if stored else "merged here"
            yield Diagnostic(
                "DT239",
                Severity.ERROR,
                f"'{func}' cannot be computed in parts of '{chain.label}'",
                chain.span,
                f"'{error.func}' would have parts",
                (Note(str(error)), Note(why, None if stored else merged[0].span)),
                f"leave '{chain.label}' in one program: tensorize cuts its loop into tiles",
            )


def refused_partial_results(func: str, item: Sized | Divided, view: View) -> Iterator[Diagnostic]:
    """Yield why a list has no partial results."""
    for node in walk(view.funcs[func].body):
        if (
            isinstance(node, Reduce)
            and node.operation in WITHOUT_PARTS
            and item.label in node.labels
        ):
            assert node.operation == LIST
            yield Diagnostic(
                "DT191",
                Severity.ERROR,
                f"'{item.label}' cannot be blocked",
                word_span(item.span, item.label),
                f"'{FROM_LIST[1]}' has no partial results",
                (Note("it gives a list of values, which says nothing of other blocks", node.span),),
                f"leave it in one program: {func}.tensorize({item.label}:1024)",
            )


def refused_scan(func: str, item: Sized | Divided, view: View) -> Iterator[Diagnostic]:
    """Yield why a scan does not go through parts of a label."""
    (asked,) = asked_scans(view.program, (blocked(func, item),))
    why: Note | None = None
    way = "give each of the two a Func of its own"
    try:
        scans_in_parts(view.program, asked)
    except NotInPartsError as error:
        why = Note(str(error), view.funcs[func].span)
    for fused in view.fused.get(func, ()):
        why = Note(f"it is computed inside of '{fused.consumer}', too", fused.span)
        way = f"let '{fused.consumer}' read '{func}' from memory"
    block = _other_parts(func, item, view)
    if block is not None and isinstance(item, Divided):
        why = Note(f"'{item.new}' numbers other parts here", block.span)
        way = f"choose another name, such as {item.label}b"
    if why is not None:
        way += f"; or leave '{item.label}' in one program: tensorize cuts its loop into tiles"
        yield Diagnostic(
            "DT239",
            Severity.ERROR,
            f"the scan of '{func}' cannot go through parts of '{item.label}'",
            word_span(item.span, item.label),
            "would be cut into parts",
            (why,),
            way,
        )


def _other_parts(func: str, item: Sized | Divided, view: View) -> Blocked | None:
    """Return what makes other parts under the name of these, in another Func."""
    if isinstance(item, Divided):
        for other_func, names in view.names.items():
            other = names.get(item.new) if other_func != func else None
            block = None if other is None else view.blocked.get(other_func, {}).get(other.of)
            if block is not None and (block.label, block.size) != (item.label, item.size):
                return block
    return None
