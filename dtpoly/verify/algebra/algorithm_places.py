"""Where the elements of a Func go, if they go to places in an input."""

from __future__ import annotations

from dataclasses import replace

from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning, TermReading
from dtpoly.verify.algebra.extents import extent
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import Term
from dtpoly.verify.algebra.whole import TRUE, Truth, Whole, both, number, within


def place_of(
    run: ProofRun, meaning: AlgorithmMeaning, func: str, indices: tuple[Whole, ...]
) -> Term:
    """Return what is read where an element of a Func goes to, before it is there."""
    found = meaning.program.func(func)
    assert found.into is not None
    assert found.into.at is not None
    labels = dict(zip(found.labels, indices, strict=True))
    # An element of a Func is looked at as one of a tensor: where it is, and not what it is.
    meaning = replace(meaning, opaque=meaning.opaque | {found.into.tensor}, known={})
    return TermReading(run, meaning, labels).read(found.into.at)


def is_written(
    run: ProofRun, meaning: AlgorithmMeaning, func: str, indices: tuple[Whole, ...]
) -> Truth:
    """Return the formula that the place of an element of a Func is inside, along axes of no data.

    It is true of a Func that goes to no place.
    """
    found = meaning.program.func(func)
    if found.into is None or found.into.at is None:
        return TRUE
    at = found.into.at
    reading = TermReading(run, meaning, dict(zip(found.labels, indices, strict=True)))
    extents = (extent(meaning.program, at.tensor, a, meaning.sizes) for a in range(len(at.indices)))
    return both(
        *(
            within(number(0), reading.index(index), size)
            for index, size in zip(at.indices, extents, strict=True)
            if index.data is None
        )
    )
