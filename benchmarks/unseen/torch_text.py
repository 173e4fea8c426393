"""Writes an algorithm as a function of torch operations: the peer that is made from itself.

Each intermediate value is a tensor with an axis for each label that it depends on. What depends on
labels alone, such as masks, is made once, before the function is called.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never

from benchmarks.unseen.torch_reads import places_of, read
from benchmarks.unseen.torch_writer import Piece, Writer, conditions, laid
from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Conditions,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
    walk,
)
from dtpoly.algorithm.inference import type_of
from dtpoly.algorithm.operations import OPERATION
from dtpoly.algorithm.program import Func, Program, in_order

HEAD = """\
import torch

from benchmarks.unseen import torch_helpers as helpers


def make(device):
"""
INFIX = {
    **{"mul": "*", "div": "/", "add": "+", "sub": "-", "lt": "<", "le": "<=", "gt": ">"},
    **{"ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "mod": "%", "quotient": "//"},
    **{"shl": "<<", "shr": ">>", "bitand": "&", "bitor": "|", "bitxor": "^", "div_rn": "/"},
    **{"fdiv": "/", "pow": "**"},
}
HELPED = {"maximum": "helpers.largest", "minimum": "helpers.smallest"}
NEUTRAL = {
    **{"rsum": "0", "rprod": "1", "rmax": "-float('inf')", "rmin": "float('inf')"},
    **{"rany": "False", "rall": "True", "rlist": "-float('inf')"},
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def torch_text(
    program: Program,
    results: Sequence[str],
    sizes: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]],
) -> str:
    """Return a module whose `make(device)` returns a function of the inputs, in their order.

    All inputs of the Program have a type.
    """
    writer = Writer(program, sizes, shapes)
    for func in in_order(program, results):
        _func(writer, func)
    names = ", ".join(one.name for one in program.inputs)
    found = [writer.returned.get(one, writer.variable(one)) for one in results]
    given = "".join(f"{one}, " for one in found)
    lines = [f"    {one}" for one in writer.constants]
    lines += ["", f"    def run({names}):", *(f"        {one}" for one in writer.lines)]
    lines += [f"        {one}" for one in writer.last]
    lines += [f"        return ({given})", "", "    return run"]
    return HEAD + "\n".join(lines) + "\n"


def _func(writer: Writer, func: Func) -> None:
    """Write the lines that compute a Func, and put it where it belongs."""
    value = expression(writer, func.body)
    shape = ", ".join(str(writer.sizes[one]) for one in func.labels)
    code = value.code
    if value.is_number:
        code = (
            f"torch.full(({shape},), {code}, device=device)"
            if shape
            else (f"torch.tensor({code}, device=device)")
        )
    else:
        code = laid(value, func.labels)
        if set(value.labels) != set(func.labels):
            code = f"{code}.expand({shape})"
    if func.when:
        mask = laid(conditions(writer, func.when), func.labels)
        code = f"torch.where({mask}, {code}, 0)"
    if func.dtype is not None:
        code = f"{code}.to(torch.{TORCH[func.dtype]})"
    name = writer.keep(f"({code}).contiguous()")
    into = func.into
    if into is None:
        writer.funcs[func.name] = name
        return
    target = writer.variable(into.tensor)
    if into.at is None:
        writer.funcs[func.name] = name
        writer.last.append(f"{target}.copy_({name})")
        writer.returned[func.name] = target
        return
    along = tuple(func.labels)
    places = [laid(one, along) for one in places_of(writer, into.at, expression)]
    start = f"{target}.clone()" if writer.program.find_func(into.tensor) else target
    call = f"helpers.put({start}, ({', '.join(places)},), {name}, {into.is_added})"
    writer.funcs[func.name] = writer.keep(call)


TORCH = {
    **{DType.F16: "float16", DType.BF16: "bfloat16", DType.F32: "float32", DType.F64: "float64"},
    **{DType.I8: "int8", DType.I16: "int16", DType.I32: "int32", DType.I64: "int64"},
    **{DType.U8: "uint8", DType.BOOL: "bool"},
}


def expression(writer: Writer, expr: Expr) -> Piece:
    """Write what computes an expression, and return how it is called."""
    match expr:
        case Integer(value=value):
            return Piece(str(value), is_number=True)
        case Float(value=value):
            return Piece(f"float('{value}')", is_number=True)
        case ScalarRead(name=name):
            return Piece(name, is_number=True)
        case Size(label=label):
            return Piece(str(writer.sizes[label]), is_number=True)
        case Index(label=label):
            return Piece(writer.indices(label), (label,))
        case Read():
            return read(writer, expr, expression)
        case Apply(operation=operation, operands=(Reduce(operation="rlist") as made, place)):
            return _listed(writer, operation, made, place)
        case Apply():
            return _applied(writer, expr)
        case Cast(operand=operand, dtype=dtype):
            inner = expression(writer, operand)
            code = f"torch.tensor({inner.code}, device=device)" if inner.is_number else inner.code
            return Piece(writer.keep(f"{code}.to(torch.{TORCH[dtype]})"), inner.labels)
        case Reduce():
            return _reduced(writer, expr)
        case Dot():
            return _dot(writer, expr)
        case Reshape(operand=operand, axes=axes):
            inner = expression(writer, operand)
            more = tuple(axis for axis in axes if axis and axis not in inner.labels)
            if inner.is_number or not more:
                return inner
            every = (*more, *inner.labels)
            shape = ", ".join(str(writer.sizes[one]) for one in every)
            return Piece(f"{laid(inner, every)}.expand({shape})", every)
        case ProgramId():
            raise NotImplementedError("a number of a program, which torch does not have")
        case _:
            assert_never(expr)


def _applied(writer: Writer, expr: Apply) -> Piece:
    pieces = [expression(writer, one) for one in expr.operands]
    labels = tuple(dict.fromkeys(x for one in _widest_first(pieces) for x in one.labels))
    given = [one.code if one.is_number else laid(one, labels) for one in pieces]
    is_number = all(one.is_number for one in pieces)
    code = _call(writer, expr, given, is_number)
    if is_number and not any(isinstance(one, ScalarRead) for one in walk(expr)):
        code = writer.once(code)  # torch's compiler need not look at how a number is made
    return Piece(code if is_number else writer.keep(code), labels, is_number)


def _widest_first(pieces: Sequence[Piece]) -> list[Piece]:
    return sorted(pieces, key=lambda one: -len(one.labels))


def _call(writer: Writer, expr: Apply, given: Sequence[str], is_number: bool) -> str:
    """Return the call of an operation for operands that line up."""
    operation, listed = expr.operation, ", ".join(given)
    if operation in INFIX:
        # The condition of a mask that is made of numbers alone has no operator for tensors.
        return f"({given[0]} {INFIX[operation]} {given[1]})"
    match operation:
        case "neg":
            return f"(-{given[0]})"
        case "not":
            return f"torch.logical_not({given[0]})"
        case "invert":
            return f"(~{given[0]})"
        case "fma":
            return f"({given[0]} * {given[1]} + {given[2]})"
        case "random" | "random_bits":
            return f"helpers.drawn({operation == 'random_bits'}, device, {listed})"
        case "where" if not is_number:
            return f"torch.where({listed})"
        case "maximum" | "minimum":
            return f"{HELPED[operation]}({listed})"
        case _:
            assert operation in OPERATION, operation
            return (
                f"helpers.call('{operation}', {listed})"
                if is_number
                else f"torch.{operation}({listed})"
            )


def _listed(writer: Writer, operation: str, made: Reduce, place: Expr) -> Piece:
    """Return the largest elements of a line, of which `place` is the label of their places."""
    (label,) = made.labels
    assert isinstance(place, Index), "a list of which a single place is asked for"
    operand = _over(writer, made)
    kept = tuple(one for one in operand.labels if one != label)
    lines = laid(operand, (*kept, label))
    count = min(writer.sizes[place.label], writer.sizes[label])
    if count < writer.sizes[place.label]:
        raise NotImplementedError("a list that is longer than the line")
    which = "indices" if operation == "rargtopk" else "values"
    return Piece(writer.keep(f"torch.topk({lines}, {count}).{which}"), (*kept, place.label))


def _over(writer: Writer, expr: Reduce) -> Piece:
    """Return the operand of a reduction, with what changes nothing where it has conditions."""
    return _masked(writer, expression(writer, expr.operand), expr.when, NEUTRAL[expr.operation])


def _masked(writer: Writer, value: Piece, when: Conditions, other: str) -> Piece:
    if not when:
        return value
    mask = conditions(writer, when)
    labels = tuple(dict.fromkeys((*value.labels, *mask.labels)))
    code = f"torch.where({laid(mask, labels)}, {laid(value, labels)}, {other})"
    return Piece(writer.keep(code), labels)


def _reduced(writer: Writer, expr: Reduce) -> Piece:
    if expr.scan is not None:
        return _scanned(writer, expr)
    if expr.operation in ("rargmax", "rargmin"):
        operand = expression(writer, expr.operand)
        assert not expr.when, "the place of an extreme of a range"
    else:
        operand = _over(writer, expr)
    missing = tuple(one for one in expr.labels if one not in operand.labels)
    if missing or operand.is_number:
        every = (*operand.labels, *missing)
        shape = ", ".join(str(writer.sizes[one]) for one in every)
        code = (
            f"torch.tensor({operand.code}, device=device)"
            if operand.is_number
            else laid(operand, every)
        )
        operand = Piece(f"{code}.expand({shape})", every)
    axes = tuple(operand.labels.index(one) for one in expr.labels)
    kept = tuple(one for one in operand.labels if one not in expr.labels)
    return Piece(writer.keep(_reduction(writer, expr, operand.code, axes)), kept)


def _reduction(writer: Writer, expr: Reduce, code: str, axes: tuple[int, ...]) -> str:
    match expr.operation:
        case "rsum":
            dtype = type_of(expr, writer.types).dtype
            assert dtype is not None, "all inputs have a type"
            kind = "" if is_float(dtype) else f", dtype=torch.{TORCH[dtype]}"
            return f"torch.sum({code}, dim={axes}{kind})"
        case "rprod":
            return f"helpers.product({code}, {axes})"
        case "rmax" | "rmin":
            return f"torch.a{expr.operation[1:]}({code}, dim={axes})"
        case "rany" | "rall":
            return f"torch.{expr.operation[1:]}({code}, dim={axes})"
        case "rargmax" | "rargmin":
            return f"torch.{expr.operation[1:]}({code}, dim={axes[0]})"
        case _:
            raise NotImplementedError(expr.operation)


def _scanned(writer: Writer, expr: Reduce) -> Piece:
    scan, (label,) = expr.scan, expr.labels
    assert scan is not None
    operand = expression(writer, expr.operand)
    beside = [expression(writer, one) for one in scan.beside]
    every = tuple(dict.fromkeys(x for one in (operand, *beside) for x in one.labels))
    kept = tuple(x for x in every if x != label)
    lined, axis = laid(operand, (*kept, label)), len(kept)
    words = f"{axis}, {scan.is_before}, {scan.is_reverse}"
    if beside:
        factor, first = (
            laid(one, (*kept, label)) if not one.is_number else one.code for one in beside
        )
        code = f"helpers.recurrence({factor}, {lined}, {first}, {words})"
    else:
        code = f"helpers.scanned('{expr.operation}', {lined}, {words})"
    return Piece(writer.keep(code), (*kept, scan.at))


def _dot(writer: Writer, expr: Dot) -> Piece:
    left, right = (expression(writer, one) for one in (expr.left, expr.right))
    left = _masked(writer, left, expr.when, "0")
    every = tuple(dict.fromkeys((*left.labels, *right.labels)))
    assert set(expr.labels) <= set(every), "a product over a label that neither side has"
    letter = dict(zip(every, LETTERS, strict=False))
    kept = tuple(one for one in every if one not in expr.labels)
    sides = ["".join(letter[x] for x in one) for one in (left.labels, right.labels, kept)]
    equation = f"{sides[0]},{sides[1]}->{sides[2]}"
    return Piece(writer.keep(f"helpers.dot('{equation}', {left.code}, {right.code})"), kept)
