"""A kernel that may be placed while launches before it run, in; what it does after waiting, out."""

from __future__ import annotations

import ast

from dtpoly.verify.values import Unread

EARLY = "early"
# It waits until all before it is done; it may also let the next launch begin then, as far as that
# does not wait itself.
WAIT = "if early:\n    tl.extra.cuda.gdc_wait()"
LET = "\n    tl.extra.cuda.gdc_launch_dependents()"
_WAITS, _LETS = (ast.dump(ast.parse(text).body[0]) for text in (WAIT, WAIT + LET))


def after_waiting(definition: ast.FunctionDef) -> list[ast.stmt]:
    """What a kernel does that is launched early: nothing before it has waited. Raises Unread."""
    first, *rest = definition.body
    if ast.dump(first) in (_WAITS, _LETS):
        return rest
    if panel_of(definition) is not None:
        return rest[:-1]
    raise Unread(first.lineno, "a kernel that is launched early and does not wait first")


def panel_of(definition: ast.FunctionDef) -> str | None:
    """The parameter of a kernel that waits first only if that is 0, and always in the end."""
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
