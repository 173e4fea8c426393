"""Kernels that may start while the launches before them still run (programmatic launches).

Such a kernel must wait, before it does anything else, until the earlier launches are done. This
module checks that it does, and returns the statements after the wait. `running` runs these.
"""

from __future__ import annotations

import ast

from dtpoly.verify.algebra.kernel_values import Unread

EARLY = "early"
# The wait for all launches before this one. After it the kernel may also let the next launch begin,
# up to the point where that one waits.
WAIT = "if early:\n    tl.extra.cuda.gdc_wait()"
LET = "\n    tl.extra.cuda.gdc_launch_dependents()"
_WAITS, _LETS = (ast.dump(ast.parse(text).body[0]) for text in (WAIT, WAIT + LET))


def after_waiting(definition: ast.FunctionDef) -> list[ast.stmt]:
    """Return what a kernel that is launched early does after it has waited.

    Raises Unread if it may do something before that.
    """
    first, *rest = definition.body
    if ast.dump(first) in (_WAITS, _LETS):
        return rest
    if panel_of(definition) is not None:
        return rest[:-1]
    raise Unread(first.lineno, "a kernel that is launched early and does not wait first")


def panel_of(definition: ast.FunctionDef) -> str | None:
    """Return the parameter that says whether a kernel waits first; None for other kernels.

    It is for launches in a loop over panels. Such a kernel waits first only if the parameter is 0,
    and it always waits at its end.
    """
    match definition.body:
        case [
            ast.If(
                test=ast.Name(id="early"),
                body=[
                    ast.If(
                        test=ast.Compare(
                            left=ast.Name(id=one),
                            ops=[ast.Eq()],
                            comparators=[ast.Constant(value=0)],
                        ),
                        body=[wait],
                        orelse=[],
                    )
                ],
                orelse=[],
            ) as first,
            *_,
            last,
        ] if first is not last and ast.dump(last) == _WAITS:
            is_wait = ast.unparse(wait) == "tl.extra.cuda.gdc_wait()"
            return one if is_wait and one in [arg.arg for arg in definition.args.args] else None
        case _:
            return None
