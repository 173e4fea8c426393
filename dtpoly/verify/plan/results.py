"""Look whether a function gives a result of the shape and the dtype that the algorithm says.

The layers of a proof are about the elements that the algorithm has, and ask whether a dtype holds
their values. A result with more elements would have some that nobody stored, and one of a wider
dtype would hold all values, too.
"""

from __future__ import annotations

from dtpoly.verify.algebra.algorithm import Meaning
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import both, compare
from dtpoly.verify.plan.held import Wrapper


def doubt_result(wrapper: Wrapper, meaning: Meaning, func: str, line: int) -> None:
    """Note a doubt unless the result has the dtype, the axes and the sizes of the Func."""
    labels = next(one.labels for one in meaning.program.funcs if one.name == func)
    result = wrapper.arrays[str(wrapper.result)]
    shape = result.shape
    if result.kind != meaning.formats[func].kind:
        wrapper.doubts.append((line, f"a result of another dtype than '{func}' has"))
    if len(shape) != len(labels):
        wrapper.doubts.append((line, f"a result with {len(shape)} axes for '{func}'"))
        return
    facts = both(*wrapper.facts)
    for label, extent in zip(labels, shape, strict=True):
        size = meaning.sizes[label]
        if extent == size:
            continue
        same = compare("==", extent, size)
        wrapper.run.about(line, f"the result has the size of '{label}'")
        if not is_affine(both(facts, same)) or not wrapper.run.holds(same, set_of(facts)):
            wrapper.doubts.append((line, f"a result of another shape than '{func}' has"))
            return
