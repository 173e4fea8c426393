"""Gathers mistakes in emitted kernels by construct, and judges some of them.

Most constructs have a module of mistakes of their own. Where they have none, or few, the operators
of `tests.verify.mutation` make mistakes of every kind in a few small programs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from typing import Any

import torch

from dtpoly.algorithm.program import Program
from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.generate import outputs
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen import (
    scans_in_parts,
    stored_along,
    test_added,
    test_data_ranges,
    test_in_place,
    test_lists,
    test_packed,
    test_placed,
    test_ranges,
    test_started,
)
from tests.codegen.listings import code, program
from tests.evidence.constructs import Construct
from tests.verify import (
    added_mutants,
    indirect_mutants,
    placed_mutants,
    quotient_mutants,
    ragged_mutants,
    scan_mutants,
    test_added_mutants,
    test_bits_mutants,
    test_indirect_mutants,
    test_mutated_lists,
    test_mutated_ranges,
    test_parted_scan_mutants,
    test_placed_mutants,
    test_quotient_mutants,
    test_ragged_mutants,
    test_random_mutants,
    test_scan_mutants,
    test_started_mutants,
    test_stored_along_mutants,
)
from tests.verify.mutation.execution import RECIPES, Call, Outcome, probes, right_calls, runs
from tests.verify.mutation.operators import OPERATORS
from tests.verify.mutation.operators import mutants as by_operator
from tests.verify.texts import text_of, written

SECONDS = 10
# Of an operator and a program, and calls that must show that a mutant is wrong.
EACH, CALLS = 1, 12
# What calls of a text of a file give; None for those that it refuses.
Results = Callable[[str, str], Sequence[Any]]
SAME, WRONG = "proved, and the same", "proved, and wrong"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text with a mistake, and what says whether it computes the same as without."""

    what: str
    of: Program
    text: str
    is_same: Callable[[], bool]


def never() -> bool:
    """Say that a mistake is one whatever is called: such texts are not meant to be proved."""
    return False


def judged(mutant: Mutant) -> str:
    """Return what the verifier says of a mutant; if it is proved, it is run."""
    verdict = verify(mutant.of, mutant.text, seconds=SECONDS).verdict
    if verdict is not LayerVerdict.PROVED:
        return str(verdict)
    return SAME if mutant.is_same() else WRONG


@cache
def chosen(construct: Construct, count: int) -> Sequence[Mutant]:
    """Return so many of the mutants of a construct, drawn at random, but always the same."""
    every = list(MUTANTS[construct]())
    return Random(construct).sample(every, min(count, len(every)))


def counted(construct: Construct, count: int, share: int, shares: int) -> Counter[str]:
    """Return what is said of some mutants of a construct; of these, of one share of so many."""
    return Counter(judged(one) for one in chosen(construct, count)[share::shares])


def _equal(found: Sequence[Any], right: Sequence[Any]) -> bool:
    """Return whether calls give the same; calls that a text refuses give nothing wrong."""
    for one, other in zip(found, right, strict=True):
        if one is None or other is None:
            continue
        for a, b in zip(_tensors(one), _tensors(other), strict=True):
            if not torch.allclose(a.double(), b.double(), 1e-5, 1e-5, equal_nan=True):
                return False
    return True


def _tensors(result: Any) -> list[torch.Tensor]:
    """Return the one tensor that a call gives, or those that it gives or leaves."""
    return [result] if isinstance(result, torch.Tensor) else [*result]


def _by_operators(of: Program) -> Iterator[Mutant]:
    """Yield mistakes of every operator in a small program."""
    text, funcs = text_of(of), outputs(of)

    @cache
    def calls() -> tuple[Call, ...]:
        return right_calls(of, funcs, text, probes(of, RECIPES), CALLS)

    def is_same(made: str) -> bool:
        assert calls()
        # What it refuses to compute, or takes too long for, is no wrong result.
        return runs(of, funcs, made, calls()).outcome is not Outcome.WRONG

    for operator in OPERATORS:
        for one in by_operator(text, frozenset(funcs), operator, EACH):
            yield Mutant(one.what, of, one.text, partial(is_same, one.text))


def _compared(results: Results, right: str, name: str, wrong: str) -> bool:
    """Return whether two texts of a file give the same wherever both compute something."""
    return _equal(results(wrong, name), results(right, name))


def _of_files(
    names: Iterable[str],
    mutants: Callable[[str], Iterator[tuple[str, int, str]]],
    results: Results,
) -> Iterator[Mutant]:
    """Yield the mistakes in files, which are compared by the results of the same calls."""
    for name in names:
        for word, _, text in mutants(name):
            is_same = partial(_compared, results, code(name).text, name, text)
            yield Mutant(word, program(name), text, is_same)


def _several_results() -> Iterator[Mutant]:
    of = stored_along.program("rows of parts")
    yield from _by_operators(of)
    for what in test_stored_along_mutants.BY_HAND:
        yield Mutant(what, of, test_stored_along_mutants.by_hand(what), never)


def _in_place() -> Iterator[Mutant]:
    for name in ("normalized", "moved"):
        yield from _by_operators(written(test_in_place.PROGRAMS[name]))


def _indirect_reads() -> Iterator[Mutant]:
    names, results = indirect_mutants.NAMES, test_indirect_mutants.results
    yield from _of_files(names, indirect_mutants.mutants, results)


def _indirect_writes() -> Iterator[Mutant]:
    for name in test_placed.FILES:
        of = test_placed.program(name)
        right = test_placed.text(of)
        for word, _, text in placed_mutants.mutants(right):
            yield Mutant(word, of, text, partial(_compared, _placed, right, name, text))
    for name in test_added.FILES:
        of = test_added.program(name)
        right = test_added.text(of)
        for word, _, text in added_mutants.mutants(right):
            yield Mutant(word, of, text, partial(_compared, _added, right, name, text))
    for name in test_started.FILES:
        of = test_started.program(name)
        right = test_started.text(of)
        for word, text in test_started_mutants.mutants(right):
            is_same = partial(_compared, test_started_mutants.left, right, name, text)
            yield Mutant(word, of, text, is_same)


def _placed(text: str, name: str) -> list[list[torch.Tensor] | None]:
    """Return what calls leave in the inputs of a file whose results go to places."""
    given = (
        test_placed.MADE[name](*sizes, seed, torch.float64)
        for seed, sizes in enumerate(test_placed.SIZES)
    )
    return [test_placed_mutants.left(text, name, one) for one in given]


def _added(text: str, name: str) -> list[list[torch.Tensor] | None]:
    """Return what calls leave in the inputs of a file whose results are added at places."""
    given = (
        test_added.made(name, sizes, seed, torch.float64)
        for seed, sizes in enumerate(test_added.SIZES)
    )
    return [test_added_mutants.left(text, name, one) for one in given]


def _ranges() -> Iterator[Mutant]:
    for name in test_mutated_ranges.NAMES:
        of = test_ranges.program(name)
        for what, text in test_mutated_ranges.mutants(name):
            yield Mutant(what, of, text, partial(test_mutated_ranges.is_right, name, text))


def _data_ranges() -> Iterator[Mutant]:
    yield from _of_files(
        test_data_ranges.NAMES, ragged_mutants.mutants, test_ragged_mutants.results
    )


def _quotients() -> Iterator[Mutant]:
    names, results = quotient_mutants.NAMES, test_quotient_mutants.results
    yield from _of_files(names, quotient_mutants.mutants, results)


def _scans() -> Iterator[Mutant]:
    yield from _of_files(scan_mutants.NAMES, scan_mutants.mutants, test_scan_mutants.results)
    for name, word, _, text in test_parted_scan_mutants.found():
        of = scans_in_parts.program(name)
        is_same = partial(_compared, _parted_scan, text_of(of), name, text)
        yield Mutant(word, of, text, is_same)


def _parted_scan(text: str, name: str) -> list[torch.Tensor]:
    return test_parted_scan_mutants.results(name, text)


def _bits() -> Iterator[Mutant]:
    for name, edits in test_bits_mutants.MUTANTS.items():
        of = written(test_bits_mutants.PROGRAMS[name])
        for old, new in edits:
            yield Mutant(f"{old} -> {new}", of, text_of(of).replace(old, new), never)
    for function, old, new in test_bits_mutants.IN_FUNCTIONS:
        wrong = TEXTS[function].replace(old, new)
        for one in test_bits_mutants.PROGRAMS.values():
            of = written(one)
            if f"{function}(" in text_of(of):
                made = text_of(of).replace(TEXTS[function], wrong)
                yield Mutant(f"{function}: {new}", of, made, never)


def _packed() -> Iterator[Mutant]:
    for source in (
        test_packed.COPY.format(dtype="i4", tile=16),
        test_packed.SUM.format(dtype="u4"),
    ):
        yield from _by_operators(written(source))


def _random() -> Iterator[Mutant]:
    for name, function in test_random_mutants.CALLS:
        of, text = written(test_random_mutants.PROGRAMS[name]), test_random_mutants.drawn(name)
        call = test_random_mutants.call_in(text, function)
        seed, x, y = test_random_mutants.arguments(call)
        for changed in test_random_mutants.CHANGED:
            new = changed.format(f=function, s=seed, x=x, y=y)
            yield Mutant(changed, of, text.replace(call, new), never)
        bits = test_random_mutants.BITS
        for old, new in test_random_mutants.IN_FUNCTIONS:
            wrong = TEXTS[bits].replace(old, new)
            yield Mutant(f"{old} -> {new}", of, text.replace(TEXTS[bits], wrong), never)


def _lists() -> Iterator[Mutant]:
    for name in test_mutated_lists.NAMES:
        of = test_lists.program(name)
        for what, text in test_mutated_lists.mutants(name):
            yield Mutant(what, of, text, partial(test_mutated_lists.is_right, text))


MUTANTS: Mapping[Construct, Callable[[], Iterator[Mutant]]] = {
    Construct.RESULTS: _several_results,
    Construct.IN_PLACE: _in_place,
    Construct.READS: _indirect_reads,
    Construct.WRITES: _indirect_writes,
    Construct.RANGES: _ranges,
    Construct.DATA_RANGES: _data_ranges,
    Construct.QUOTIENTS: _quotients,
    Construct.SCANS: _scans,
    Construct.BITS: _bits,
    Construct.PACKED: _packed,
    Construct.RANDOM: _random,
    Construct.LISTS: _lists,
}
