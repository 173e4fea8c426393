"""Makes texts with one mistake each from a generated file, by every operator there is."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from tests.verify.mutation import accesses, loops, plans, programs, values
from tests.verify.mutation.edits import Edit, Text

Item = TypeVar("Item")


class Where(StrEnum):
    """The parts of a file that an operator is for."""

    KERNEL = "kernel"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class Operator:
    """A kind of mistake."""

    name: str
    where: Where
    # Of a kernel, or of a plan with the call that makes a function of it.
    edits: Callable[[Text, Any], Iterator[Edit]]
    # Why the interpreter does not show it, if it does not.
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text with one mistake."""

    operator: str
    number: int  # among those of its operator and file
    line: int
    what: str
    text: str


KERNEL, PLAN = Where.KERNEL, Where.PLAN
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
    Operator("grid too small", PLAN, plans.grid_small),
    Operator("grid one larger", PLAN, plans.grid_large),
    Operator("grid one smaller", PLAN, plans.grid_short),
    Operator("grid lacks an axis", PLAN, plans.grid_axis_missing),
    Operator("grid of larger blocks", PLAN, plans.grid_constant),
    Operator("launch dropped", PLAN, plans.launch_dropped),
    Operator("launched again", PLAN, plans.launch_again, AGAIN),
    Operator("launches swapped", PLAN, plans.launches_swapped),
    Operator("launched under another condition", PLAN, plans.launched_never),
    Operator("scratch too small", PLAN, plans.scratch_small),
    Operator("extents of the result swapped", PLAN, plans.result_shape),
    Operator("arguments of a launch swapped", PLAN, plans.arguments_swapped),
    Operator("tensors of a launch swapped", PLAN, plans.tensors_swapped),
    Operator("sizes of other axes", PLAN, plans.shape_swapped),
    Operator("size one less", PLAN, plans.size_wrong),
    Operator("tile counts as full", PLAN, plans.flag_set),
    Operator("tile counts as full by half", PLAN, plans.flag_of_half),
    Operator("fewer lanes", PLAN, plans.lanes_wrong),
    Operator("another type of the result", PLAN, plans.result_type),
    Operator("type of fewer inputs", PLAN, plans.real_of_fewer),
    Operator("offsets of 32 bits", PLAN, plans.small_offsets, SMALL),
    Operator("check dropped", PLAN, plans.check_dropped, REFUSED),
)
NAMED = {one.name: one for one in OPERATORS}


def mutants(
    given: str, made_of_plans: frozenset[str], operator: Operator, most: int | None = None
) -> Iterator[Mutant]:
    """Mutants of an operator: of kernels, or of the plans of functions.

    Of many only some are made, from the first to the last.
    """
    text = Text(given)
    made: dict[str, Edit] = {}
    for node in _parts(ast.parse(given).body, made_of_plans, operator.where):
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


def _parts(
    body: Sequence[ast.stmt], made_of_plans: frozenset[str], where: Where
) -> Iterator[ast.AST]:
    """The kernels, or each plan with the call that makes a function of it.

    Functions that kernels share are known by their text, and are not changed.
    """
    plans = dict[str, ast.stmt]()
    for node in body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators) if where is KERNEL:
                is_kernel = any(ast.unparse(one) == "triton.jit" for one in decorators)
                if is_kernel and not name.startswith("dt_"):
                    yield node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict()):
                plans[name] = node
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=plan), *_])
            ) if where is PLAN and name in made_of_plans and plan in plans:
                yield ast.Module([plans[plan], node], [])
            case _:
                pass


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
