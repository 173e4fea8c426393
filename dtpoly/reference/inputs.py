"""Checks the tensors, numbers and sizes that a caller gives a Program, by name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import torch

from dtpoly.algorithm.dtypes import DType, category, is_float
from dtpoly.algorithm.program import Program, Scalar, Tensor, touched
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.reference.labelled_values import DTYPE, TORCH_DTYPE
from dtpoly.source import Span

Number = int | float | bool
Inputs = Mapping[str, torch.Tensor | Number]


def check_inputs(
    program: Program, inputs: Inputs, sizes: Mapping[str, int], wanted: tuple[str, ...]
) -> None:
    """Raise DtpolyError with everything about the names, ranks and dtypes that does not fit."""
    found = [*_check_names(program, inputs, wanted), *check_size_names(program, sizes)]
    for declared in program.inputs:
        if declared.name not in inputs:
            continue
        match declared:
            case Tensor():
                found.extend(_check_tensor(program, declared, inputs[declared.name]))
            case Scalar():
                found.extend(_check_scalar(declared, inputs[declared.name]))
    if found:
        raise DtpolyError(found)


def with_dtypes(program: Program, inputs: Inputs) -> Program:
    """Return the program with every input declared as what was given."""
    return replace(program, inputs=tuple(_declared_as(i, inputs[i.name]) for i in program.inputs))


def _declared_as(declared: Tensor | Scalar, given: torch.Tensor | Number) -> Tensor | Scalar:
    if declared.dtype is not None:
        return declared
    dtype = _dtype(given)
    assert dtype is not None, "inputs are checked first"
    if isinstance(declared, Scalar) and not is_float(dtype):
        dtype = DType.F32  # a number without a type is a float: its value decides no types
    return replace(declared, dtype=dtype)


def _dtype(given: object) -> DType | None:
    match given:
        case torch.Tensor():
            return DTYPE.get(given.dtype)
        case bool():
            return DType.BOOL
        case int():
            return DType.I64
        case float():
            return DType.F32
        case _:
            return None


def _check_names(program: Program, inputs: Inputs, wanted: tuple[str, ...]) -> Iterator[Diagnostic]:
    for declared in program.inputs:
        if declared.name not in inputs:
            kind = "tensor" if isinstance(declared, Tensor) else "number"
            title = f"the {kind} '{declared.name}' is missing"
            yield _wrong_argument(title, f"pass {declared.name}=...", declared.span)
    yield from _unknown("input", inputs, [declared.name for declared in program.inputs])
    yield from _unknown("Func", wanted, [func.name for func in program.funcs])


def check_size_names(program: Program, sizes: Mapping[str, int]) -> Iterator[Diagnostic]:
    """Report sizes of labels that the program lacks, and sizes that are none."""
    yield from _unknown("label", sizes, [label.name for label in program.labels])
    for label, size in sizes.items():
        if size < 0:
            yield _wrong_argument(f"the size of '{label}' is {size}", "a size is 0 or more")


def _unknown(kind: str, given: Iterable[str], known: list[str]) -> Iterator[Diagnostic]:
    hint = f"it has {', '.join(known)}" if known else ""
    for name in given:
        if name not in known:
            yield _wrong_argument(f"the program has no {kind} '{name}'", hint)


def _wrong_argument(title: str, hint: str, span: Span | None = None) -> Diagnostic:
    return Diagnostic(
        "DT159", Severity.ERROR, title, span, "declared here" if span else "", hint=hint
    )


def _check_tensor(program: Program, declared: Tensor, given: object) -> Iterator[Diagnostic]:
    if not isinstance(given, torch.Tensor):
        yield _wrong_dtype(declared, f"a {type(given).__name__} was given", "pass a tensor")
        return
    all_reads = [read for func in program.funcs for read in touched(func)]
    read = next((read for read in all_reads if read.tensor == declared.name), None)
    if read is not None and len(read.indices) != given.dim():
        yield _wrong_rank(declared, len(read.indices), given)
    yield from _check_dtype_of_tensor(declared, given)


def _check_dtype_of_tensor(declared: Tensor | Scalar, given: torch.Tensor) -> Iterator[Diagnostic]:
    dtype = DTYPE.get(given.dtype)
    if dtype is None:
        hint = f"convert it to one of {' '.join(DType)}"
        yield _wrong_dtype(declared, f"a tensor of {given.dtype} was given", hint)
    elif isinstance(declared, Tensor) and declared.dtype not in (None, dtype):
        wanted = TORCH_DTYPE[declared.dtype or dtype]
        yield _wrong_dtype(declared, f"a tensor of {dtype} was given", f"convert it: .to({wanted})")


def _check_scalar(declared: Scalar, given: object) -> Iterator[Diagnostic]:
    if isinstance(given, torch.Tensor):
        if given.dim() > 0:
            yield _wrong_rank(declared, 0, given)
        yield from _check_dtype_of_tensor(declared, given)
        if given.dim() > 0 or given.dtype not in DTYPE:
            return
    elif not isinstance(given, int | float):
        yield _wrong_dtype(declared, f"a {type(given).__name__} was given", "pass a number")
        return
    dtype = _dtype(given)
    assert dtype is not None
    kind = declared.dtype or DType.F32
    if category(dtype) > category(kind):
        yield _wrong_dtype(declared, f"{given} was given", "round it first, or declare it a float")
    elif not is_float(kind) and not _fits(int(given), kind):
        yield _wrong_dtype(declared, f"{given} was given", f"pass a number that {kind} can hold")


def _fits(value: int, dtype: DType) -> bool:
    if dtype is DType.BOOL:
        return value in (0, 1)
    bounds = torch.iinfo(TORCH_DTYPE[dtype])
    return bounds.min <= value <= bounds.max


def _wrong_rank(declared: Tensor | Scalar, rank: int, given: torch.Tensor) -> Diagnostic:
    return Diagnostic(
        "DT157",
        Severity.ERROR,
        f"'{declared.name}' has the wrong rank",
        declared.span,
        f"needs {rank} {'axis' if rank == 1 else 'axes'}",
        (Note(f"its shape is {tuple(given.shape)}"),),
        f"pass a tensor with {rank} {'axis' if rank == 1 else 'axes'}"
        if rank
        else "pass a number or a tensor without axes",
    )


def _wrong_dtype(declared: Tensor | Scalar, what: str, hint: str) -> Diagnostic:
    return Diagnostic(
        "DT158",
        Severity.ERROR,
        f"'{declared.name}' has the wrong dtype",
        declared.span,
        f"is declared {declared.dtype}" if declared.dtype else "has the dtype of what is passed",
        (Note(what),),
        hint,
    )
