"""List the forms that statements and expressions of a unit may have, and refuse all others.

What a kernel or a plan means is read elsewhere, and the readers understand only some of these
forms. Here each node is checked, also in branches that a proof never comes to. Only words of Triton
that are not listed are left for where a kernel is read: constants may leave their branch out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.unit.words import ANNOTATIONS, ATTRIBUTES, OF_TENSORS, OF_TILES, TYPES

OPERATORS = (
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
    *(ast.arguments, ast.arg, ast.keyword),
)
EXPRESSIONS = (
    *(ast.Name, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp),
    *(ast.Compare, ast.Call, ast.Attribute, ast.Subscript, ast.Slice, ast.IfExp),
)
STATEMENTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.Return, ast.Pass)
# The forms that kernels may have besides these.
OF_KERNELS = (ast.AnnAssign,)
# The forms that functions of Python may have besides these.
OF_PYTHON = (
    *(ast.With, ast.withitem, ast.Raise, ast.Assert, ast.Dict, ast.Set, ast.Starred),
    *(ast.JoinedStr, ast.FormattedValue, ast.Lambda, ast.GeneratorExp, ast.ListComp),
    *(ast.SetComp, ast.DictComp, ast.comprehension),
)
PLAIN = bool | int | float | str | None
TRITON_WORDS = "tl"


@dataclass(frozen=True)
class Forms:
    """The forms that one kind of function may have, and the attributes that its values may have."""

    where: str
    nodes: tuple[type[ast.AST], ...]
    attributes: frozenset[str]


KERNEL = Forms("a kernel", (*OPERATORS, *EXPRESSIONS, *STATEMENTS, *OF_KERNELS), OF_TILES)
PYTHON = Forms(
    "a function of Python", (*OPERATORS, *EXPRESSIONS, *STATEMENTS, *OF_PYTHON), OF_TENSORS
)


def unknown(line: int, what: str, where: str) -> Unread:
    """Return the error for a form that is not on the list."""
    return Unread(line, f"{what} in {where}, and the verifier takes only what it knows")


def said(node: ast.AST) -> str:
    """Return the first line of a node's text, in quotes."""
    return f"'{ast.unparse(node).strip().splitlines()[0]}'"


def check_forms(function: ast.FunctionDef, forms: Forms) -> None:
    """Refuse a function that has a part of an unknown form. Raises Unread."""
    _check_signature(function, forms)
    docstring = function.body[0]
    for statement in function.body:
        if statement is not docstring or not is_docstring(statement):
            for node, line in located(statement):
                _check_node(node, line, forms)


def is_docstring(statement: ast.stmt) -> bool:
    """True for a string that stands alone."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str(), kind=None)):
            return True
        case _:
            return False


def located(root: ast.AST, line: int = 1) -> Iterator[tuple[ast.AST, int]]:
    """Yield each node of a tree with its line, or with the line of the node that it belongs to."""
    pending = [(root, line)]
    while pending:
        node, line = pending.pop()
        line = getattr(node, "lineno", line)
        yield node, line
        pending += [(child, line) for child in ast.iter_child_nodes(node)]


def dotted(node: ast.expr) -> tuple[str, ...] | None:
    """Return the words of `a.b.c`; None for an expression that does not begin with a name."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return (node.id, *reversed(words)) if isinstance(node, ast.Name) else None


def is_constant(node: ast.expr) -> bool:
    """True for a number (which may have a sign), a truth, a string and None."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None, kind=None):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return True
        case _:
            return False


def is_known_word(node: ast.expr) -> bool:
    """True for an attribute that a module is known to have, such as `tl.float32`."""
    words = dotted(node)
    return words is not None and len(words) > 1 and _is_listed(words)


def check_word(node: ast.expr) -> None:
    """Refuse a word of Triton that is not listed, where a kernel is read. Raises Unread."""
    words = dotted(node)
    if words is not None and words[0] == TRITON_WORDS and not _is_listed(words):
        raise unknown(node.lineno, f"'{'.'.join(words)}'", KERNEL.where)


def _is_listed(words: Sequence[str]) -> bool:
    return ".".join(words[1:]) in ATTRIBUTES.get(words[0], frozenset())


def _check_signature(function: ast.FunctionDef, forms: Forms) -> None:
    """Refuse defaults and annotations that are not plain: Python runs them when it loads a file."""
    if getattr(function, "type_params", []) or function.type_comment is not None:
        raise unknown(function.lineno, f"'{function.name}' has parameters of types", forms.where)
    given = function.args
    for star in (given.vararg, given.kwarg):
        if star is not None:
            raise unknown(star.lineno, f"'*{star.arg}'", f"the parameters of {forms.where}")
    if given.posonlyargs or (forms is KERNEL and given.kwonlyargs):
        raise unknown(function.lineno, "'/' or '*'", f"the parameters of {forms.where}")
    parameters = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    for part in (*given.defaults, *given.kw_defaults):
        if part is not None and not (is_constant(part) or is_known_word(part)):
            raise unknown(part.lineno, f"the default {said(part)}", forms.where)
    for part in (*(one.annotation for one in parameters), function.returns):
        if part is not None and not is_type(part):
            raise unknown(part.lineno, f"the annotation {said(part)}", forms.where)


def is_type(node: ast.expr) -> bool:
    """True for an annotation that Triton knows, or that is a type of Python or torch."""
    match node:
        case ast.Name(id="int" | "float" | "bool" | "str") | ast.Constant(value=None):
            return True
        case _:
            return _is_pointer(node) or ".".join(dotted(node) or ()) in ANNOTATIONS


def _is_pointer(node: ast.expr) -> bool:
    """Return whether an annotation is `tl.pointer_type(...)` of a type."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="tl"), attr="pointer_type"), args=[of], keywords=[]
        ):
            return ".".join(dotted(of) or ()).removeprefix("tl.") in TYPES
        case _:
            return False


def is_constexpr(annotation: ast.expr) -> bool:
    """True for the annotation with which Triton takes what a name is set to for a constant."""
    return ".".join(dotted(annotation) or ()) in ("tl.constexpr", "triton.language.constexpr")


def _check_node(node: ast.AST, line: int, forms: Forms) -> None:  # noqa: C901  # one case for each kind of node
    if type(node) not in forms.nodes and not isinstance(node, OPERATORS):
        what = said(node) if isinstance(node, ast.expr | ast.stmt) else type(node).__name__
        raise unknown(line, what, forms.where)
    match node:
        case ast.Constant(value=value, kind=kind):
            if not isinstance(value, PLAIN) or kind is not None:
                raise unknown(line, said(node), forms.where)
        case ast.Attribute(attr=word):
            _check_attribute(node, word, forms)
        case ast.Assign(targets=targets, type_comment=comment):
            if len(targets) != 1 or comment is not None:
                raise unknown(line, said(node), forms.where)
            _check_target(targets[0], forms)
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            if not isinstance(target, ast.Name) or value is None or not is_constexpr(annotation):
                raise unknown(line, said(node), forms.where)
        case ast.keyword(arg=None) if forms is KERNEL:
            raise unknown(line, "'**'", forms.where)
        case ast.AugAssign(target=target):
            if not isinstance(target, ast.Name):
                raise unknown(line, said(node), forms.where)
        case ast.For(target=target, orelse=orelse, type_comment=comment):
            if orelse or comment is not None:
                raise unknown(line, f"'else' of the loop {said(node)}", forms.where)
            _check_target(target, forms)
        case ast.comprehension(target=target, is_async=is_async):
            if is_async:
                raise unknown(line, "'async'", forms.where)
            _check_target(target, forms)
        case ast.withitem(optional_vars=given):
            if given is not None:
                raise unknown(line, "'as'", forms.where)
        case ast.Lambda(args=given):
            if given.vararg or given.kwarg or given.defaults or given.kwonlyargs:
                raise unknown(line, said(node), forms.where)
        case _:
            pass


def _check_target(target: ast.expr, forms: Forms) -> None:
    """Refuse assignments to anything but names, since they would change a part of something."""
    match target:
        case ast.Name():
            pass
        case ast.Tuple(elts=parts):
            for part in parts:
                _check_target(part, forms)
        case _:
            raise unknown(target.lineno, f"{said(target)}, which is set,", forms.where)


def _check_attribute(node: ast.Attribute, word: str, forms: Forms) -> None:
    """Refuse an attribute that is not listed for its module, or for values."""
    words = dotted(node)
    if words is not None and words[0] in ATTRIBUTES:
        # A kernel may have other words of Triton in branches that its constants leave out, which
        # Triton does not read either. Where one is read, `check_word` refuses it.
        is_word = len(words) == 2 and not word.startswith("_")
        is_left = forms is KERNEL and words[0] == TRITON_WORDS and is_word
        if not is_left and not _is_listed(words):
            raise unknown(node.lineno, f"'{'.'.join(words)}'", forms.where)
    elif word not in forms.attributes:
        raise unknown(node.lineno, f"the attribute '.{word}'", forms.where)
