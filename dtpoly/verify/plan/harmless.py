"""Refuse a wrapper with a call that may have effects which the proof does not look at.

Much of a wrapper only refuses bad arguments, or decides about warps, and the verifier does not
follow it. So no part of a wrapper may call anything that could change a tensor, run something else,
or give a name another meaning. This module lists the calls that are known to be harmless.
"""

from __future__ import annotations

import ast

from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.triton import known
from dtpoly.verify.triton.unit.unit import Unit

# The functions of each emitted file that a wrapper may call: they only make, check or refuse
# something.
HELPERS = frozenset(
    f"dt_{word}"
    for word in (
        *("is_traced", "check", "device", "is_current", "float", "int", "bool", "number", "fit"),
        *("disagree", "other_shape", "outside", "nothing", "wrong", "promoted", "real", "operand"),
        *("check_atomic", "check_out", "blocks", "turned", "rows", "lanes", "too_large", "grid"),
        *("blocks_at", "early", "specialized", "turns", "offset"),
        *("turns_sparing", "turns_beside", "part", "given", "not_passed"),
    )
)
PYTHON = ("max", "min", "range", "ValueError", "TypeError", "RuntimeError", "IndexError")
TORCH = ("torch.empty", "torch.cuda.device")
# The arguments that may be given by name. Others may change the meaning: `max(a, b, key=...)` is
# not `max(a, b)`.
KEYWORDS = {"dt_offset": {"sizes"}, "torch.empty": {"dtype", "device"}}
METHODS = ("stride", "size", "numel", "dim", "element_size")
HIDDEN = (
    *(ast.Lambda, ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.Await, ast.Yield, ast.YieldFrom),
    ast.Slice,  # a slice may be of a tensor that is None, as `out` is in many calls
)


def check_calls(file: Unit, definition: ast.FunctionDef) -> None:
    """Raise Unread for the first call, or hidden expression, that is not known to be harmless."""
    # Launches and operators stand alone, as statements or after `return`: nothing is computed from
    # their results.
    alone = {
        id(node.value)
        for node in ast.walk(definition)
        if isinstance(node, ast.Expr | ast.Return) and isinstance(node.value, ast.Call)
    }
    for statement in definition.body:
        for node in ast.walk(statement):
            if isinstance(node, HIDDEN):
                raise Unread(node.lineno, f"'{ast.unparse(node)}' in the wrapper")
            if isinstance(node, ast.Call) and not _is_harmless(file, node, id(node) in alone):
                raise Unread(node.lineno, f"a call of '{ast.unparse(node.func)}' in the wrapper")


def _is_harmless(file: Unit, call: ast.Call, is_alone: bool) -> bool:
    is_ours = (
        isinstance(call.func, ast.Name)
        and call.func.id not in HELPERS
        and (call.func.id in file.plain or call.func.id in file.values)
    )
    if not (is_alone and (is_ours or isinstance(call.func, ast.Subscript))):
        # Launches and the like are read with all their arguments; other calls must have no starred
        # arguments, and only known ones by name.
        named = {one.arg for one in call.keywords}
        starred = any(isinstance(arg, ast.Starred) for arg in call.args)
        if starred or not named <= KEYWORDS.get(ast.unparse(call.func), set()):
            return False
    match call.func:
        case ast.Name(id=one) if one in HELPERS:
            return known.is_known(file, one)
        case ast.Name(id=one):
            return one in PYTHON or (is_alone and (one in file.values or one in file.plain))
        case ast.Subscript():  # a kernel, with its grid
            return is_alone
        case ast.Attribute(attr=word) as dotted if ast.unparse(dotted) not in TORCH:
            numbers = all(isinstance(arg, ast.Constant) for arg in call.args)
            return word in METHODS and numbers and not call.keywords
        case ast.Attribute():
            return True
        case _:
            return False
