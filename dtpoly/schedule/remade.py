"""Makes again, with dtpoly's own functions, the new statements of a user's primitive.

A primitive that inlines, cuts a reduction into parts or fuses makes statements. What is checked
later is checked against the statements, so they must not be a user's own. For that, the answer of
the primitive only says what was inlined, cut and fused. The same is done here once more, and
`well_formed` compares the answer with it.
"""

from collections.abc import Iterable, Iterator

from dtpoly.algorithm.substitute import inlined
from dtpoly.schedule.facts import Fact, Inlined
from dtpoly.schedule.fusing import fuse, fuse_around
from dtpoly.schedule.initial import initial
from dtpoly.schedule.partials import with_partial_results
from dtpoly.schedule.state import Fusion, State


def remade(before: State, after: State, func: str) -> State:
    """Return `before` with a Func inlined, cut into parts and fused as `after` says of itself."""
    if after.program != before.program:
        kept = tuple(one.func for one in before.kernels if one.func != func)
        return initial(inlined(before.program, func), kept, before.sized)
    known = before.model.parts
    parts = {name: part for name, part in after.model.parts.items() if name not in known}
    if parts:
        return with_partial_results(before, func, parts)
    inside = around = before
    for one in _new(before, after):
        inside = fuse(inside, one.kernel, one.func, one.consumer, one.label, one.recompute)
    if inside.model == after.model:
        return inside
    for one in _new(before, after):
        around = fuse_around(around, one.kernel, one.func, one.consumer, one.label)
    return around


def unstated(before: State, after: State, func: str, facts: Iterable[Fact]) -> str | None:
    """Return, as code, the first fact that is missing of what was made of a Func.

    Other stages see what is stated, and not what was made.
    """
    stated = tuple(facts)
    if after.program != before.program:
        is_stated = any(isinstance(one, Inlined) and one.func == func for one in stated)
        return None if is_stated else "Inlined(self.func)"
    missing = (one for one in _new(before, after) if not one.is_stated_by(stated))
    one = next(missing, None)
    return None if one is None else f'Fused(self.func, "{one.consumer}", "{one.label}")'


def _new(before: State, after: State) -> Iterator[Fusion]:
    if after.fusions[: len(before.fusions)] == before.fusions:
        yield from after.fusions[len(before.fusions) :]
