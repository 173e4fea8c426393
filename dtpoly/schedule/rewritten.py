"""Runs what directives make of the code of kernels, and looks at what users' own ones made.

`generate` loads it: where schedules are only checked, the kernel IR is not loaded.
"""

from typing import cast

from dtpoly.diagnostics import DtpolyError
from dtpoly.ir.body import Body
from dtpoly.ir.check import complaints
from dtpoly.ir.kernel import Step, TileKernel
from dtpoly.schedule.foreign import at_work, is_foreign, no_such
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.tree import Kernel, LaunchDirective


def rewritten_by(asked: LaunchDirective, body: Body) -> tuple[Step, ...]:
    """Return the steps that a directive makes. Raises DtpolyError if a user's code fails."""
    if not isinstance(asked, Primitive) or not is_foreign(type(asked)):
        return asked.rewrite(body)
    with at_work(type(asked), asked.span):
        found = cast(object, asked.rewrite(body))
        parts = cast("tuple[object, ...]", found) if isinstance(found, tuple) else None
        steps = tuple(one for one in parts or () if isinstance(one, Step))
        if parts is None or len(steps) != len(parts):
            raise TypeError("rewrite returns something else than a tuple of steps")
    return steps


def check_rewritten(node: Kernel, kernel: TileKernel) -> None:
    """Raise DtpolyError if what a user's primitive made of a kernel is not valid."""
    for one in node.options.asked:
        if isinstance(one, Primitive) and is_foreign(type(one)):
            wrong = next(complaints(kernel), None)
            if wrong is not None:
                raise DtpolyError([no_such(one, "valid kernel", str(wrong), type(one).rewrite)])
