"""Prove that the bits of a row do not depend on a size, or that two files give the same bits.

See docs/same-bits.md for the theorems.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.algorithm_terms import Unsaid
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_limits import limited
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import NotAffine
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.bits.bit_examples import calls_of
from dtpoly.verify.bits.bit_report import BitsFound, BitsVerdict
from dtpoly.verify.bits.bit_scopes import BitDifference
from dtpoly.verify.bits.compared_calls import (
    BitQuestion,
    BitsOfTensors,
    bits_read,
    names_shared,
    question_of,
)
from dtpoly.verify.bits.row_places import has_places
from dtpoly.verify.bits.tile_variants import ordered, stride_difference
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.proof.proof_errors import CONFUSED, told
from dtpoly.verify.proof.verify import results_of_function

SECONDS = 60.0
FAILED = (Unread, *CONFUSED, NotAffine, Unsaid, OverBudgetError, RecursionError, isl.Error)


@dataclass(frozen=True)
class BitAnswer:
    """The answer for one result: a difference, if there may be one.

    `at_places` is a difference that there may be only for rows that stand at another place in the
    second call.
    """

    question: BitQuestion
    tiles: dict[int, str]
    difference: BitDifference | None = None
    at_places: BitDifference | None = None


def bits_of(
    program: Program, text: str, func: str, label: str, seconds: float = SECONDS
) -> BitsFound:
    """Prove what can be proved of one function and the size of one label. It never raises."""

    def answers() -> list[BitAnswer]:
        results = results_of_function(program, file_of(program, text), func)
        # A result without the label is made of all rows.
        asked = [one for one in results if label in program.func(one).labels]
        if not asked:
            raise Unread(0, f"no result of '{func}' has the label '{label}'")
        return [_answered(question_of(program, text, func, one, label)) for one in asked]

    found = _found(BitsFound(func, label, BitsVerdict.UNKNOWN), answers, seconds)
    if found.verdict is not BitsVerdict.PROVED or found.is_for_places:
        return found
    if has_places(program, func, label):
        return replace(found, line=0, why="", calls=())
    why = f"it is so only for a row that stays at its place: {found.why}"
    return replace(found, verdict=BitsVerdict.UNKNOWN, why=why)


def same_bits(
    programs: tuple[Program, Program], texts: tuple[str, str], func: str, seconds: float = SECONDS
) -> BitsFound:
    """Prove that two files compute a Func with the same bits, at all sizes. It never raises."""

    def answers() -> list[BitAnswer]:
        results = results_of_function(programs[0], file_of(programs[0], texts[0]), func)
        return [_of_two(programs, texts, func, one) for one in results]

    return _found(BitsFound(func, "", BitsVerdict.UNKNOWN), answers, seconds)


def _of_two(
    programs: tuple[Program, Program], texts: tuple[str, str], func: str, result: str
) -> BitAnswer:
    if len({replace(one, directives=()) for one in programs}) > 1:
        raise Unread(0, "the two files have other algorithms")
    if _types(texts[0], func) != _types(texts[1], func):
        raise Unread(0, "the two files keep values in other types")
    run = ProofRun(is_empty)
    first, second = (
        bits_read(run, program, text, func, result)
        for program, text in zip(programs, texts, strict=True)
    )
    shared = names_shared(first.proof, "") & names_shared(second.proof, "")
    question = BitQuestion(run, (first, second), "", shared)
    compared = BitsOfTensors(question, is_moved=False)
    return BitAnswer(question, compared.tiles, compared.difference())


def _types(text: str, func: str) -> dict[str, object]:
    """Return what the plan of a function says of types and of tensors. Raises Unread."""
    for node in ast.parse(text).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=one)], value=ast.Dict() as literal):
                if one == f"{func}_plan":
                    plan: dict[str, object] = ast.literal_eval(literal)
                    return {key: plan.get(key) for key in ("types", "results", "between")}
            case _:
                pass
    raise Unread(0, f"no plan says how '{func}' is computed")


def _answered(question: BitQuestion) -> BitAnswer:
    """Answer for rows at any place; if that fails, for rows that stay where they are."""
    moved = BitsOfTensors(question, is_moved=True)
    first = moved.difference()
    if first is None:
        by_strides = stride_difference(question, moved.tiles)
        return BitAnswer(question, moved.tiles, difference=by_strides)
    still = BitsOfTensors(question, is_moved=False)
    second = still.difference()
    if second is None:
        by_strides = stride_difference(question, still.tiles)
        return BitAnswer(question, still.tiles, difference=by_strides, at_places=first)
    return BitAnswer(question, still.tiles, difference=second)


def _found(found: BitsFound, answers: Callable[[], list[BitAnswer]], seconds: float) -> BitsFound:
    """Return the answer for all results of a function together: the worst of them."""
    began = time.monotonic()
    try:
        with limited(seconds):
            of_results = answers()
            found = _worst(found, of_results)
    except FAILED as error:
        line, why = told(error)
        found = replace(found, line=line, why=why)
    return replace(found, seconds=time.monotonic() - began)


def _worst(found: BitsFound, answers: list[BitAnswer]) -> BitsFound:
    tiles = {line: word for one in answers for line, word in one.tiles.items()}
    assumed = tuple(f"line {line}: {word}" for line, word in sorted(tiles.items()))
    in_order = tuple(sorted(ordered(tiles)))
    proved = replace(found, verdict=BitsVerdict.PROVED, assumed=assumed, in_order=in_order)
    for answer in answers:
        if answer.difference is not None:
            return _different(found, answer.question, answer.difference)
    for answer in answers:
        if answer.at_places is not None:
            return _different(proved, answer.question, answer.at_places)
    return replace(proved, is_for_places=True)


def _different(found: BitsFound, question: BitQuestion, one: BitDifference) -> BitsFound:
    calls = tuple(calls_of(question, one))
    return replace(found, line=one.line, why=one.why, calls=calls)
