"""Read what a plan says of sizes, and which calls are refused because of them.

A proof holds for all sizes for which every read is inside, no matter who decides them. So each
demand is a fact that the proof may use. What remains to be shown is that a size that a call leaves
out becomes what the algorithm says: the largest that fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import Truth, Whole, both, compare, name, number, one_of
from dtpoly.verify.plan.call_plan import (
    CallPlan,
    Demand,
    InsideDemand,
    LabelSize,
    ShapeDemand,
    SizeDemand,
    SomeDemand,
)
from dtpoly.verify.plan.formula_parsing import Formula
from dtpoly.verify.plan.held import FunctionReading, Held, TensorOf
from dtpoly.verify.plan.numbers import size, size_name
from dtpoly.verify.plan.plan_forms import LARGEST


def note_sizes(reading: FunctionReading, plan: CallPlan) -> None:
    """Give each label its size, in the order of the plan. Raises Unread."""
    passed = {one: name(size_name(plan.named(one))) for one in _may_be_passed(plan)}
    for one in passed.values():
        # These also hold for a size that a call leaves out: no size is larger than LARGEST.
        reading.facts += [compare(">=", one, number(0)), compare("<=", one, number(LARGEST))]
    for label, said in plan.sizes.items():
        if said.formula is None:
            found = passed[label]
        else:
            found = _computed(reading, said, said.formula, passed)
            if said.may_be_passed:
                _check_left_out(reading, plan.named(label), said.formula, found)
                found = passed[label]
        if said.most is not None:
            reading.facts.append(compare("<=", found, number(said.most)))
        reading.names[label] = found


def _may_be_passed(plan: CallPlan) -> Iterator[str]:
    return (
        label for label, said in plan.sizes.items() if said.formula is None or said.may_be_passed
    )


def _computed(
    reading: FunctionReading, said: LabelSize, formula: Formula, passed: Mapping[str, Whole]
) -> Whole:
    """Return the size that a formula gives; sizes that must be passed instead are there for it."""
    instead: dict[str, Held] = {one: passed[one] for one in said.instead if one in passed}
    if missing := [one for one in said.instead if one not in passed]:
        raise Unread(said.line, f"'{missing[0]}', which no call can pass")
    return size(replace(reading, names={**instead, **reading.names}), formula)


def _check_left_out(reading: FunctionReading, label: str, formula: Formula, own: Whole) -> None:
    """Raise Unread unless a size that is left out is the one that the algorithm says."""
    wanted = reading.left_out.get(label)
    if wanted is None:
        raise Unread(formula.line, f"the size of '{label}', which no call of this can pass")
    if own != wanted:
        facts, same = both(*reading.facts), compare("==", own, wanted)
        reading.run.about(
            formula.line, f"the size of '{label}' is the largest that fits, if none is passed"
        )
        if not is_affine(both(facts, same)) or not reading.run.holds(same, set_of(facts)):
            raise Unread(formula.line, f"'{formula.text}' for the size of '{label}'")


def note_demands(reading: FunctionReading, plan: CallPlan) -> None:
    """Note the facts that hold for each call that meets the demands of the plan."""
    for demand in plan.demands:
        reading.facts += _facts(reading, demand)


def _facts(reading: FunctionReading, demand: Demand) -> Iterator[Truth]:
    match demand:
        case ShapeDemand(tensor=tensor, labels=labels):
            shape = _shape(reading, tensor, demand.line)
            if len(shape) != len(labels):
                raise Unread(demand.line, f"the shape of '{tensor}', which has {len(shape)} axes")
            sizes = (_label(reading, one, demand.line) for one in labels)
            pairs = zip(shape, sizes, strict=True)
            yield both(*(compare("==", extent, one) for extent, one in pairs))
        case SizeDemand(label=label, formula=formula):
            yield compare("==", size(reading, formula), _label(reading, label, demand.line))
        case SomeDemand(label=label):
            yield compare("!=", _label(reading, label, demand.line), number(0))
        case InsideDemand(extent=extent, low=low, high=high):
            none = [
                compare("==", _label(reading, one, demand.line), number(0)) for one in demand.where
            ]
            if low is not None:
                yield one_of(*none, compare(">=", size(reading, low), number(0)))
            if high is not None:
                inside = compare("<", size(reading, high), size(reading, extent))
                yield one_of(*none, inside)


def _shape(reading: FunctionReading, tensor: str, line: int) -> tuple[Whole, ...]:
    match reading.names.get(tensor):
        case TensorOf(array=array) if array.name in reading.inputs:
            return array.shape
        case _:
            raise Unread(line, f"the shape of '{tensor}', which is no tensor of the caller")


def _label(reading: FunctionReading, label: str, line: int) -> Whole:
    match reading.names.get(label):
        case Whole() as found:
            return found
        case _:
            raise Unread(line, f"the size of '{label}', which the plan does not have")
