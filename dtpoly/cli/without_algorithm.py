"""Makes the file for a kernel of which no algorithm is known: only its tensors are.

A line `# tensors: X[r, n], W[n].f16, T[r].i64, out(Y[r, n].f16)` names each tensor with the labels
of its axes, and says which of them the kernel stores; `inout` is for those that it loads, too. An
axis may also be a number, which is its size, as in `X[r, 2, n]`; and a name without axes is a
number that callers choose, as in `eps` or `seed.i32`. From the line comes a program whose values
mean nothing. So only the layers in `STRUCTURE` are proved of it.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dtpoly.checking import Checked, check
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source, Span
from dtpoly.verify.proof.report import Layer, Report

STRUCTURE = ("stores", "bounds", "order", "overflow")
LINE = re.compile(r"#\s*tensors\s*:(.*)")
LOADED, STORED, BOTH = "in", "out", "inout"
F32 = "f32"
SCALAR = "scalar"
WAY = "write it as # tensors: X[r, n], W[n].f16, out(Y[r, n]), inout(Z[n, 2]), eps"
# A label that no file has: a sum over it lets a read stand anywhere.
ALONE = "one_label_of_its_own"
# Begins the label of an axis whose size is a number.
AXIS = "axis_of_its_own_"
UNSEEN = (
    "no algorithm is given, so what values are stored, and whether types of data hold them, is not"
    " looked at"
)
# Behind the name of a tensor that is loaded and stored: what it becomes.
NEW = "_new"


@dataclass(frozen=True, slots=True)
class DeclaredTensor:
    """A tensor of a kernel, with the labels of its axes, and what the kernel does with it.

    An axis whose size is a number has that number in the place of its label. A number that callers
    choose is none of these, and its use says so.
    """

    name: str
    labels: tuple[str | int, ...]
    dtype: str
    use: str

    @property
    def axes(self) -> tuple[str, ...]:
        """Return a label for each axis: those of numbers belong to this tensor alone."""
        return tuple(
            one if isinstance(one, str) else f"{AXIS}{at}_of_{self.name}"
            for at, one in enumerate(self.labels)
        )


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
    labels = dict.fromkeys(
        axis for one in tensors for axis, of in _both(one) if isinstance(of, str)
    )
    loaded = [one for one in tensors if one.use == LOADED]
    lines = [f"RVar {', '.join([*labels, ALONE])}: 1;"]
    lines += [
        f"RVar {axis}: {of};" for one in tensors for axis, of in _both(one) if isinstance(of, int)
    ]
    lines += [f"SIn {one.name}: {one.dtype};" for one in tensors if one.use == SCALAR]
    lines += [f"In {one.name}: {one.dtype};" for one in tensors if one.use in (LOADED, BOTH)]
    for one in tensors:
        if one.use not in (STORED, BOTH):
            continue
        name = one.name if one.use == STORED else f"{one.name}{NEW}"
        into = "" if one.use == STORED else f" into {one.name}"
        value = " + ".join(_read(other, one.axes) for other in loaded) or "0"
        lines.append(f"Func {name}: {one.dtype}{into};")
        lines.append(f"{name}[{', '.join(one.axes)}] = cast({value}, {one.dtype});")
        lines.append(f"{name}.compile();")
    return "\n".join([*lines, ""])


def checked_tensors(
    comments: Iterable[tuple[Source, str]],
    tensors: Sequence[DeclaredTensor],
    name: str,
    primitives: Primitives,
) -> Checked:
    """Return the checked file of tensors that comments declare.

    Raises DtpolyError at these comments, because nobody has written the file itself.
    """
    checked = check(Source(name, algorithm_of(tensors)), primitives)
    if checked.program is None:
        source, comment = next(pair for pair in comments if LINE.fullmatch(pair[1]))
        raise _refused(source, comment, checked.diagnostics[0].title)
    return checked


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
    sizes = tuple(
        (label, size)
        for label, size in layer.witness.sizes
        if label != ALONE and not label.startswith(AXIS)
    )
    return replace(layer, witness=replace(layer.witness, sizes=sizes))


def _both(tensor: DeclaredTensor) -> Iterator[tuple[str, str | int]]:
    """Yield the label of each axis, and what is declared of it."""
    yield from zip(tensor.axes, tensor.labels, strict=True)


def _read(tensor: DeclaredTensor, kept: Sequence[str]) -> str:
    """Return a read of all elements of a tensor, over the labels that are kept."""
    summed = [label for label in tensor.axes if label not in kept]
    read = f"cast({tensor.name}[{', '.join(tensor.axes)}], {F32}) + {ALONE}"
    return f"rsum({read}, {', '.join([*summed, ALONE])})"


def _tensor(source: Source, comment: str, node: ast.expr) -> DeclaredTensor:
    match node:
        case ast.Call(func=ast.Name(id=("out" | "inout") as use), args=[inner], keywords=[]):
            tensor = _typed(source, comment, inner)
            if tensor.use == SCALAR:
                raise _refused(source, comment, f"'{tensor.name}' is a number, and has no axes")
            return replace(tensor, use=use)
        case _:
            return _typed(source, comment, node)


def _typed(source: Source, comment: str, node: ast.expr) -> DeclaredTensor:
    dtype, shown = (node.attr, node.value) if isinstance(node, ast.Attribute) else (F32, node)
    match shown:
        case ast.Subscript(value=ast.Name(id=name), slice=axes):
            labels = axes.elts if isinstance(axes, ast.Tuple) else [axes]
            words = tuple(map(_axis, labels))
            names = [one for one in words if isinstance(one, str)]
            if None not in words and len(names) == len(set(names)):
                known = tuple(one for one in words if one is not None)
                return DeclaredTensor(name, known, dtype, LOADED)
        case ast.Name(id=name):
            return DeclaredTensor(name, (), dtype, SCALAR)
        case _:
            pass
    raise _refused(source, comment, f"'{ast.unparse(node)}' is no tensor with labels")


def _axis(node: ast.expr) -> str | int | None:
    """Return the label or the size of an axis; None for anything else."""
    match node:
        case ast.Name(id=label):
            return label
        case ast.Constant(value=int() as size) if size > 0 and not isinstance(size, bool):
            return size
        case _:
            return None


def _refused(source: Source, said: str, why: str) -> DtpolyError:
    start = max(source.text.find(said), 0)
    span = Span(source, start, min(start + len(said), len(source.text)))
    title = "the line with the tensors is not understood"
    return DtpolyError((Diagnostic("DT315", Severity.ERROR, title, span, why, hint=WAY),))
