"""Look whether a function gives results of the shapes and the dtypes that the algorithm says.

The layers of a proof are about the elements that the algorithm has, and ask whether a dtype holds
their values. A result with more elements would have some that nobody stored, and one of a wider
dtype would hold all values, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.algorithm.program import Program, in_order
from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import both, compare
from dtpoly.verify.plan.call_plan import CallPlan
from dtpoly.verify.plan.held import FunctionReading, TensorOf

# The directive that says which results a function returns, and in which order.
ASKING = ("compile", "compile_to_kernel")


def asked(program: Program, func: str) -> tuple[str, ...] | None:
    """Return the results that the directives ask of the function of a Func; None if none does."""
    for one in program.directives:
        if one.func == func and one.name in ASKING:
            return (func, *(str(argument.target) for argument in one.arguments))
    return None


def check_places(plan: CallPlan, results: Mapping[str, str], program: Program) -> None:
    """Refuse a function unless just those results are in place that the algorithm says.

    `results` has the name in the plan of each Func that the function returns. A Func in place that
    the function needs must be one of them: else nobody could tell that it is written. Raises
    Unread.
    """
    for func in in_order(program, results):
        wanted = "" if func.into is None else func.into.tensor
        if wanted in program.starts:
            wanted = ""  # the result has a tensor of its own, which begins as that Func
            if plan.panels is not None:
                raise Unread(plan.panels.line, "panels of what is added to a Func")
            if func.name not in results:
                raise Unread(plan.first_line, f"'{func.name}' with sums, which is not returned")
        if func.name not in results:
            if wanted:
                raise Unread(plan.first_line, f"'{func.name}' in place, which is not returned")
            continue
        made = plan.results[results[func.name]]
        given = plan.named(made.into) if made.into else ""
        if given != wanted:
            what = f"does not go into '{wanted}'" if wanted else "is in place"
            raise Unread(made.line, f"the result '{func.name}', which {what}")


def started_tensors(
    reading: FunctionReading, results: Mapping[str, str], program: Program
) -> dict[str, str]:
    """Return the Func that is added in each result which begins as another Func.

    `results` has the name in the plan of each Func that the function returns.
    """
    found = dict[str, str]()
    for added in program.starts.values():
        held = reading.names.get(results.get(added, ""))
        if isinstance(held, TensorOf):
            found[held.array.name] = added
    return found


def doubt_result(reading: FunctionReading, meaning: AlgorithmMeaning, func: str, line: int) -> None:
    """Note a doubt unless the result has the dtype, the axes and the sizes of the Func."""
    found = meaning.program.func(func)
    start = None if found.into is None else meaning.program.find_func(found.into.tensor)
    labels = found.labels if start is None else start.labels
    result = reading.arrays[str(reading.result)]
    shape = result.shape
    if result.kind != meaning.formats[func].kind:
        reading.doubts.append((line, f"a result of another dtype than '{func}' has"))
    if start is None and found.into is not None and found.into.at is not None:
        return  # it has the shape of the input
    if len(shape) != len(labels):
        reading.doubts.append((line, f"a result with {len(shape)} axes for '{func}'"))
        return
    facts = both(*reading.facts)
    for label, extent in zip(labels, shape, strict=True):
        size = meaning.sizes[label]
        if extent == size:
            continue
        same = compare("==", extent, size)
        reading.run.about(line, f"the result has the size of '{label}'")
        if not is_affine(both(facts, same)) or not reading.run.holds(same, set_of(facts)):
            reading.doubts.append((line, f"a result of another shape than '{func}' has"))
            return
