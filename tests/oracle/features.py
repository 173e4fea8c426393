"""Lists the features of the Program and the schedule of a case, to count them."""

from collections.abc import Iterator

from dtpoly.algorithm.program import Directive, Program, producers, reduced_labels
from tests.oracle.cases import Case
from tests.oracle.said import REWRITES

# These directives are counted by their names.
_NAMES = ("block", "tensorize", "map", "split", "reorder", "unroll", "inline", "atomic")

FEATURES = (
    "a fusion",
    "a chain of four fusions",
    "several producers in one kernel",
    "a diamond",
    "another reader in another kernel",
    "recompute",
    *_NAMES,
    "a tile of one producer",
    "a reduction in parts",
    "a user's primitive",
    "ordered reductions",
    "a stencil or a shift",
    "a size of 0",
    "a tile or block larger than its size",
)


def features(case: Case) -> tuple[str, ...]:
    """Return the features of a case, in the order of FEATURES."""
    found = set(_found(case))
    return tuple(feature for feature in FEATURES if feature in found)


def _found(case: Case) -> Iterator[str]:
    program = case.program
    names = {directive.name for directive in program.directives}
    yield from (name for name in _NAMES if name in names)
    if names & set(REWRITES):
        yield "a user's primitive"
    if case.ordered:
        yield "ordered reductions"
    if 0 in case.sizes.values():
        yield "a size of 0"
    if "padding=Integer" in repr(program.funcs):
        yield "a stencil or a shift"
    yield from _of_fusions(program)
    for directive in program.directives:
        yield from _of_sizes(directive, case)


def _of_fusions(program: Program) -> Iterator[str]:
    fusions = [one for one in program.directives if one.name == "fuse_at"]
    into: dict[str, list[str]] = {}
    for one in fusions:
        into.setdefault(str(one.arguments[0].target), []).append(one.func)
    if fusions:
        yield "a fusion"
    if any(len(one.arguments) > 2 for one in fusions):
        yield "recompute"
    if any(len(set(producers)) > 1 for producers in into.values()):
        yield "several producers in one kernel"
    if max((_depth(func, into) for func in into), default=0) >= 4:
        yield "a chain of four fusions"
    below = producers(program)
    readers = {func: [r for r in below if func in below[r]] for func in below}
    if any(_is_top_of_diamond(func, readers) for func in readers):
        yield "a diamond"
    fused = {(one.func, str(one.arguments[0].target)) for one in fusions}
    if any(
        (one.func, reader) not in fused and len(readers[one.func]) > 1
        for one in fusions
        for reader in readers[one.func]
    ):
        yield "another reader in another kernel"


def _depth(func: str, into: dict[str, list[str]]) -> int:
    return max((1 + _depth(producer, into) for producer in into.get(func, ())), default=0)


def _is_top_of_diamond(func: str, readers: dict[str, list[str]]) -> bool:
    mine = readers[func]
    return any(
        set(readers[one]) & set(readers[other]) for one in mine for other in mine if one != other
    )


def _of_sizes(directive: Directive, case: Case) -> Iterator[str]:
    for argument in directive.arguments:
        label, size = str(argument.target), argument.value
        if directive.name in ("block", "tensorize") and isinstance(size, int):
            if size > case.sizes.get(label.rpartition(".")[2], size):
                yield "a tile or block larger than its size"
            if "." in label:
                yield "a tile of one producer"
        func = case.program.func(directive.func)
        reduced = set(reduced_labels(func)) - set(func.labels)
        if directive.name == "block" and label in reduced:
            yield "a reduction in parts"
