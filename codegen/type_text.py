"""Writes the Python that finds the caller's dtypes and promotes them."""

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Apply, Dot, Expr, walk
from dtpoly.algorithm.operations import OPERATION, ResultRule
from dtpoly.algorithm.program import Program, touched
from dtpoly.ir.kinds import ValueKind, kind_of, kinds_of, widest

TORCH = {
    DType.BOOL: "torch.bool",
    DType.U8: "torch.uint8",
    DType.I8: "torch.int8",
    DType.I16: "torch.int16",
    DType.I32: "torch.int32",
    DType.I64: "torch.int64",
    DType.F8E4M3: "torch.float8_e4m3fn",
    DType.F8E5M2: "torch.float8_e5m2",
    DType.F16: "torch.float16",
    DType.BF16: "torch.bfloat16",
    DType.F32: "torch.float32",
    DType.F64: "torch.float64",
}


def promoted(kind: ValueKind, inputs: Mapping[str, str]) -> str:
    """Return the torch dtype that values of a kind are stored in."""
    parts = [f"{inputs[name]}.dtype" for name in sorted(kind.callers)]
    if kind.dtype is not None:
        parts.append(TORCH[kind.dtype])
    if len(parts) == 1:
        return parts[0]
    return f'dt_promoted("{_members(kind)}", {", ".join(parts)})'


def _members(kind: ValueKind) -> str:
    names = sorted(kind.callers) + ([str(kind.dtype)] if kind.dtype else [])
    return f"{', '.join(names[:-1])} and {names[-1]}"


def real(program: Program, inputs: Mapping[str, str]) -> str:
    """Return the type in which floats are computed: f64 if the Program or an input is f64."""
    given = [tensor.dtype for tensor in program.tensors]
    read = {read.tensor for func in program.funcs for read in touched(func)}
    free = [t.name for t in program.tensors if t.dtype is None and t.name in read]
    callers = [f"{inputs[name]}.dtype" for name in free]
    if widest(program) is DType.F64 or DType.F64 in given:
        return "tl.float64"
    if not callers:
        return "tl.float32"
    return f"dt_real({', '.join(callers)})"


def meetings(program: Program) -> tuple[ValueKind, ...]:
    """Floats of several inputs that meet in an operation: their dtypes must promote.

    One that is part of another is left out.
    """
    kinds = kinds_of(program)
    found = dict.fromkeys(
        kind
        for func in program.funcs
        for node in walk(func.body)
        for kind in _meeting(node, kinds)
        if len(kind.callers) + (kind.dtype is not None) > 1 and kind.callers
    )
    return tuple(k for k in found if not any(_is_part(k, other) for other in found if other != k))


def _meeting(node: Expr, kinds: Mapping[str, ValueKind]) -> Iterator[ValueKind]:
    match node:
        case Dot(left=left, right=right):
            operands: tuple[Expr, ...] = (left, right)
        case Apply(operation=operation, operands=operands):
            if OPERATION[operation].result is ResultRule.CHOSEN:
                operands = operands[1:]
        case _:
            return
    floats = [k for k in (kind_of(e, kinds) for e in operands) if k.is_float and not k.weak]
    callers = frozenset[str]().union(*(kind.callers for kind in floats))
    known = dict.fromkeys(k.dtype for k in floats if k.dtype is not None and is_float(k.dtype))
    for dtype in known or (None,):
        yield ValueKind(dtype, callers)


def _is_part(kind: ValueKind, other: ValueKind) -> bool:
    return kind.callers <= other.callers and kind.dtype in (None, other.dtype)
