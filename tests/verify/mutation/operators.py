"""Makes texts with one mistake each from a generated file, by every operator there is."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from tests.verify.mutation import accesses, loops, programs, values, wrappers
from tests.verify.mutation.edits import Edit, Edits, Text

Item = TypeVar("Item")


class Where(StrEnum):
    """The functions of a file to which an operator applies."""

    KERNEL = "kernel"
    WRAPPER = "wrapper"


@dataclass(frozen=True, slots=True)
class Operator:
    """A kind of mistake."""

    name: str
    where: Where
    edits: Edits
    # The reason why the interpreter does not show the mistake, if it does not.
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text with one mistake."""

    operator: str
    number: int  # among those of its operator and file
    line: int
    what: str
    text: str


KERNEL, WRAPPER = Where.KERNEL, Where.WRAPPER
NO_PIPELINE = "the interpreter runs no loop ahead"
NO_TF32 = "the interpreter multiplies in full"
SMALL = "only sizes near 2^31 show it"
ZERO = "the interpreter loads 0 there"
AGAIN = "the second launch stores the same"
REFUSED = "only a call that should be refused shows it"

OPERATORS = (
    Operator("load without mask", KERNEL, accesses.load_without_mask),
    Operator("store without mask", KERNEL, accesses.store_without_mask),
    Operator("weaker mask", KERNEL, accesses.weaker_mask),
    Operator("another label's mask", KERNEL, accesses.other_mask),
    Operator("wrong `other=`", KERNEL, accesses.other_wrong),
    Operator("no `other=`", KERNEL, accesses.other_missing, ZERO),
    Operator("strides swapped", KERNEL, accesses.strides_swapped),
    Operator("no stride", KERNEL, accesses.stride_missing),
    Operator("another tensor", KERNEL, accesses.other_tensor),
    Operator("address transposed", KERNEL, accesses.lanes_transposed),
    Operator("index off by one", KERNEL, accesses.index_off_by_one),
    Operator("stored twice", KERNEL, accesses.stored_twice),
    Operator("loop starts late", KERNEL, loops.starts_late),
    Operator("loop ends early", KERNEL, loops.ends_early),
    Operator("loop goes on", KERNEL, loops.goes_on),
    Operator("loop takes the ragged tile", KERNEL, loops.goes_on_by_a_tile),
    Operator("wrong step", KERNEL, loops.wrong_step),
    Operator("`<=` for `<`", KERNEL, loops.bound_one_more),
    Operator("bound one less", KERNEL, loops.bound_one_less),
    Operator("comparison inverted", KERNEL, loops.comparison_inverted),
    Operator("condition negated", KERNEL, loops.condition_negated),
    Operator("condition dropped", KERNEL, loops.condition_dropped),
    Operator("branch dropped", KERNEL, loops.branch_dropped),
    Operator("no barrier", KERNEL, loops.barrier_missing),
    Operator("wrong start value", KERNEL, loops.start_wrong),
    Operator("not accumulated", KERNEL, loops.not_accumulated),
    Operator("accumulated twice", KERNEL, loops.accumulated_twice),
    Operator("stale accumulator", KERNEL, loops.stale_accumulator),
    Operator("statement dropped", KERNEL, loops.statement_dropped),
    Operator("statements swapped", KERNEL, loops.statements_swapped),
    Operator("loop may be pipelined", KERNEL, loops.pipelined, NO_PIPELINE),
    Operator("`where` dropped", KERNEL, values.where_dropped),
    Operator("`where` exchanged", KERNEL, values.where_exchanged),
    Operator("operand of `dot` transposed", KERNEL, values.operand_transposed),
    Operator("operands of `dot` exchanged", KERNEL, values.operands_exchanged),
    Operator("wrong axis of a reduction", KERNEL, values.wrong_axis),
    Operator("another reduction", KERNEL, values.other_reduction),
    Operator("another function", KERNEL, values.other_function),
    Operator("factor missing", KERNEL, values.factor_missing),
    Operator("addend missing", KERNEL, values.addend_missing),
    Operator("operands of `-` or `/` swapped", KERNEL, values.operands_swapped),
    Operator("another operation", KERNEL, values.other_operation),
    Operator("wrong constant", KERNEL, values.wrong_constant),
    Operator("constant halved", KERNEL, values.halved_constant),
    Operator("no cast", KERNEL, values.cast_missing),
    Operator("no cast of an index", KERNEL, values.index_cast_missing, SMALL),
    Operator("rounded on the way", KERNEL, values.rounded),
    Operator("product in fewer bits", KERNEL, values.fewer_bits, NO_TF32),
    Operator("`//` and `%` exchanged", KERNEL, programs.axes_exchanged),
    Operator("program axes exchanged", KERNEL, programs.coordinates_exchanged),
    Operator("another label's blocks", KERNEL, programs.other_blocks),
    Operator("another label's size", KERNEL, programs.other_size),
    Operator("another label's start", KERNEL, programs.other_index),
    Operator("last group of a map", KERNEL, programs.last_group),
    Operator("`max` for `min`", KERNEL, programs.minimum_for_maximum),
    Operator("lanes shifted", KERNEL, programs.lanes_shifted),
    Operator("lanes reversed", KERNEL, programs.lanes_reversed),
    Operator("programs shifted", KERNEL, programs.program_shifted),
    Operator("grid too small", WRAPPER, wrappers.grid_small),
    Operator("grid one larger", WRAPPER, wrappers.grid_large),
    Operator("grid one smaller", WRAPPER, wrappers.grid_short),
    Operator("grid lacks an axis", WRAPPER, wrappers.grid_axis_missing),
    Operator("grid of larger blocks", WRAPPER, wrappers.grid_constant),
    Operator("launch dropped", WRAPPER, wrappers.launch_dropped),
    Operator("launched again", WRAPPER, wrappers.launch_again, AGAIN),
    Operator("launches swapped", WRAPPER, wrappers.launches_swapped),
    Operator("launched under another condition", WRAPPER, wrappers.launched_never),
    Operator("scratch too small", WRAPPER, wrappers.scratch_small),
    Operator("extents of the result swapped", WRAPPER, wrappers.result_shape),
    Operator("arguments of a launch swapped", WRAPPER, wrappers.arguments_swapped),
    Operator("strides of another tensor", WRAPPER, wrappers.strides_of_another),
    Operator("strides reversed", WRAPPER, wrappers.strides_reversed),
    Operator("sizes of other axes", WRAPPER, wrappers.shape_swapped),
    Operator("size one less", WRAPPER, wrappers.size_wrong),
    Operator("tile counts as full", WRAPPER, wrappers.flag_set),
    Operator("tile counts as full by half", WRAPPER, wrappers.flag_of_half),
    Operator("fewer lanes", WRAPPER, wrappers.lanes_wrong),
    Operator("another type of the result", WRAPPER, wrappers.result_type),
    Operator("type of fewer inputs", WRAPPER, wrappers.real_of_fewer),
    Operator("early return negated", WRAPPER, wrappers.return_negated),
    Operator("offsets of 32 bits", WRAPPER, wrappers.small_offsets, SMALL),
    Operator("check dropped", WRAPPER, wrappers.check_dropped, REFUSED),
)
NAMED = {one.name: one for one in OPERATORS}


def mutants(
    given: str, wrapped: frozenset[str], operator: Operator, most: int | None = None
) -> Iterator[Mutant]:
    """Mutants of an operator: of kernels, or of the functions that are wrappers.

    Of many only some are made, from the first to the last.
    """
    text = Text(given)
    made: dict[str, Edit] = {}
    for node in ast.parse(given).body:
        if isinstance(node, ast.FunctionDef) and _where(node, wrapped) is operator.where:
            for edit in operator.edits(text, node):
                made.setdefault(text.edited(edit), edit)
    made.pop(given, None)
    found = list(enumerate(made.items()))
    for number, (one, edit) in found if most is None else spread(found, most):
        if _is_python(one):
            yield Mutant(operator.name, number, edit.line, edit.what, one)


def spread(found: Sequence[Item], most: int) -> Sequence[Item]:
    """Return so many of them, evenly from the first to the last."""
    if len(found) <= most:
        return found
    return [found[at * (len(found) - 1) // max(most - 1, 1)] for at in range(most)]


def _where(node: ast.FunctionDef, wrapped: frozenset[str]) -> Where | None:
    """Return the functions that may be changed.

    Functions that all kernels share are known by their text.
    """
    if node.name in wrapped:
        return Where.WRAPPER
    is_kernel = any(ast.unparse(one) == "triton.jit" for one in node.decorator_list)
    return Where.KERNEL if is_kernel and not node.name.startswith("dt_") else None


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
