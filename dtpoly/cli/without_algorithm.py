"""Makes the file for a kernel of which no algorithm is known: only its tensors are.

A line `# tensors: X[r, n], W[n].f16, T[r].i64, out(Y[r, n].f16)` names each tensor with the labels
of its axes, and says which of them the kernel stores; `inout` is for those that it loads, too. From
it comes a program whose values mean nothing. So only the layers in `STRUCTURE` are proved of it.
"""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span
from dtpoly.verify.proof.report import Layer, Report

STRUCTURE = ("stores", "bounds", "order", "overflow")
LINE = re.compile(r"#\s*tensors\s*:(.*)")
LOADED, STORED, BOTH = "in", "out", "inout"
F32 = "f32"
WAY = "write it as # tensors: X[r, n], W[n].f16, out(Y[r, n]), inout(Z[n])"
# A label that no file has: a sum over it lets a read stand anywhere.
ALONE = "one_label_of_its_own"
UNSEEN = (
    "no algorithm is given, so what values are stored, and whether types of data hold them, is not"
    " looked at"
)
# Behind the name of a tensor that is loaded and stored: what it becomes.
NEW = "_new"


@dataclass(frozen=True, slots=True)
class DeclaredTensor:
    """A tensor of a kernel, with the labels of its axes, and what the kernel does with it."""

    name: str
    labels: tuple[str, ...]
    dtype: str
    use: str


def tensors_in(comments: Iterable[tuple[Source, str]]) -> tuple[DeclaredTensor, ...]:
    """Return the tensors that comments of files declare.

    Raises DtpolyError for what is not understood.
    """
    found: list[DeclaredTensor] = []
    for source, comment in comments:
        line = LINE.fullmatch(comment)
        if line is None:
            continue
        try:
            body = ast.parse(line[1].strip(), mode="eval").body
        except SyntaxError as error:
            raise _refused(source, comment, error.msg) from error
        except ValueError as error:
            raise _refused(source, comment, str(error)) from error
        for one in body.elts if isinstance(body, ast.Tuple) else (body,):
            tensor = _tensor(source, comment, one)
            if tensor.name in {other.name for other in found}:
                raise _refused(source, comment, f"'{tensor.name}' is declared twice")
            found.append(tensor)
    return tuple(found)


def algorithm_of(tensors: Sequence[DeclaredTensor]) -> str:
    """Return a file whose Funcs are the tensors that are stored, and which reads all others."""
    labels = dict.fromkeys(label for one in tensors for label in one.labels)
    loaded = [one for one in tensors if one.use == LOADED]
    lines = [f"RVar {', '.join([*labels, ALONE])}: 1;"]
    lines += [f"In {one.name}: {one.dtype};" for one in tensors if one.use != STORED]
    for one in tensors:
        if one.use == LOADED:
            continue
        name = one.name if one.use == STORED else f"{one.name}{NEW}"
        into = "" if one.use == STORED else f" into {one.name}"
        value = " + ".join(_read(other, one.labels) for other in loaded) or "0"
        lines.append(f"Func {name}: {one.dtype}{into};")
        lines.append(f"{name}[{', '.join(one.labels)}] = cast({value}, {one.dtype});")
        lines.append(f"{name}.compile();")
    return "\n".join([*lines, ""])


def of_structure(report: Report) -> Report:
    """Return the report as it is told: without the label that only the program has."""
    functions = (
        replace(one, assumed=(*one.assumed, UNSEEN), layers=tuple(map(_shown, one.layers)))
        for one in report.functions
    )
    return Report(tuple(functions))


def _shown(layer: Layer) -> Layer:
    if layer.witness is None:
        return layer
    sizes = tuple((label, size) for label, size in layer.witness.sizes if label != ALONE)
    return replace(layer, witness=replace(layer.witness, sizes=sizes))


def _read(tensor: DeclaredTensor, kept: Sequence[str]) -> str:
    """Return a read of all elements of a tensor, over the labels that are kept."""
    summed = [label for label in tensor.labels if label not in kept]
    read = f"cast({tensor.name}[{', '.join(tensor.labels)}], {F32}) + {ALONE}"
    return f"rsum({read}, {', '.join([*summed, ALONE])})"


def _tensor(source: Source, comment: str, node: ast.expr) -> DeclaredTensor:
    match node:
        case ast.Call(func=ast.Name(id=("out" | "inout") as use), args=[inner], keywords=[]):
            return replace(_typed(source, comment, inner), use=use)
        case _:
            return _typed(source, comment, node)


def _typed(source: Source, comment: str, node: ast.expr) -> DeclaredTensor:
    dtype, shown = (node.attr, node.value) if isinstance(node, ast.Attribute) else (F32, node)
    match shown:
        case ast.Subscript(value=ast.Name(id=name), slice=axes):
            labels = axes.elts if isinstance(axes, ast.Tuple) else [axes]
            names = [one.id for one in labels if isinstance(one, ast.Name)]
            if len(names) == len(labels) == len(set(names)):
                return DeclaredTensor(name, tuple(names), dtype, LOADED)
        case _:
            pass
    raise _refused(source, comment, f"'{ast.unparse(node)}' is no tensor with labels")


def _refused(source: Source, said: str, why: str) -> DtpolyError:
    start = max(source.text.find(said), 0)
    span = Span(source, start, min(start + len(said), len(source.text)))
    title = "the line with the tensors is not understood"
    return DtpolyError((Diagnostic("DT315", Severity.ERROR, title, span, why, hint=WAY),))
