"""Writes the Python wrapper of a Func: sizes, checks, outputs, and launches of its kernels."""

import re
from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Reduce, walk
from dtpoly.algorithm.inference import LARGEST
from dtpoly.algorithm.operations import REDUCTION
from dtpoly.algorithm.program import Scalar, Tensor, in_order
from dtpoly.ir.kinds import REAL, Kind, stored_parameter

from .launch_text import lanes_lines, largest_lines, launch_lines, memory_lines
from .layout import call, fitted, inside, tuple_of
from .panels import panel_lines
from .size_text import check_lines, keyword_labels, size_lines
from .type_text import TORCH, meetings, promoted, real
from .wrapping import Locals, Wrapping, first_tensor, locals_of, read_tensors, sizing_of


def wrapper_lines(wrapping: Wrapping) -> list[str]:
    """The function that a caller calls."""
    own = locals_of(wrapping)
    sizing = sizing_of(wrapping, own)
    first = [f'"""{_summary(wrapping)}"""']
    first += _as_operator(wrapping)
    first += _check_tensors(wrapping, own)
    first += _on_device(wrapping, own)
    rest = check_lines(sizing)
    rest += _check_reductions(wrapping, own)
    rest += _scalars(wrapping)
    rest += _types(wrapping, own)
    rest += _outputs(wrapping, own)
    if wrapping.panel is not None:
        rest += panel_lines(wrapping, own, *wrapping.panel)
    else:
        rest += lanes_lines(wrapping, own)
        rest += largest_lines(wrapping, own)
        for one in wrapping.launched:
            rest += memory_lines(wrapping, own, one)
            rest += launch_lines(wrapping, own, one)
    rest.append("return out")
    # Not every label's size is used: several may share one.
    used = set(re.findall(r"\w+", "\n".join(rest)))
    labels = [label for label, size in own.sizes.items() if size in used]
    body = [*first, *size_lines(sizing, (*labels, *keyword_labels(wrapping.program))), *rest]
    return [*_signature(wrapping), *inside(fitted(body))]


def like_lines(wrapping: Wrapping) -> list[str]:
    """The function that makes a result without values, for torch.compile."""
    own = locals_of(wrapping)
    func = wrapping.program.func(wrapping.func)
    body = [f'"""What `{func.name}` returns, without its values."""']
    sizing = replace(sizing_of(wrapping, own), is_checked=False)  # there may be no numbers yet
    body += size_lines(sizing, func.labels)
    first = first_tensor(wrapping)
    device = f"{first}.device" if first else "dt_device(device)"
    body += call(f"return {_maker(wrapping)}", _empty(wrapping, own, device))
    parameters = [*_parameters(wrapping), *_only_by_name(wrapping, has_out=False)]
    return [*call(f"def {wrapping.like}", parameters, ":", indent=0), *inside(body)]


def again_lines(wrapping: Wrapping) -> list[str]:
    """Let the wrapper repeat what it did for a like call, where it is given nothing by name."""
    # Sizes that may be left out can be left out of all calls, which are then calls of one kind.
    if not all(keyword_labels(wrapping.program).values()) or not first_tensor(wrapping):
        return []
    name = wrapping.names.funcs[wrapping.func]
    return [f"{name} = dt_again({name})"]


def operator_lines(wrapping: Wrapping) -> list[str]:
    """The wrapper as an operator of torch, to whose name the file adds the number of its text."""
    name = wrapping.names.funcs[wrapping.func]
    arguments = [f'"{name}"', name, wrapping.like, f'"{_schema(wrapping)}"']
    function = "dt_operator"
    if wrapping.program.scalars:
        arguments.append(f'"{_schema(wrapping, "Tensor")}"')
        function = "dt_operator_with_numbers"
    return call(f"{wrapping.operator} = {function}", arguments, indent=0)


def _schema(wrapping: Wrapping, number: str | None = None) -> str:
    """The arguments of the wrapper as an operator of torch declares them.

    Numbers are Python's, or all of another kind.
    """
    names, kinds = wrapping.names.inputs, list[str]()
    read = read_tensors(wrapping.program)
    for one in wrapping.program.inputs:
        match one:
            case Tensor(name=name):
                kinds.append(f"Tensor{'' if name in read else '?'} {names[name]}")
            case Scalar(name=name, dtype=dtype):
                kinds.append(f"{number or _python_type(dtype)} {names[name]}")
    passed = [
        f"SymInt? {word}=None" if may_miss else f"SymInt {word}"
        for word, may_miss in _sizes_by_name(wrapping).items()
    ]
    passed += [] if first_tensor(wrapping) else ["Device? device=None"]
    return ", ".join([*kinds, *(["*"] if passed else []), *passed])


# Signature


def _parameters(wrapping: Wrapping) -> list[str]:
    return [wrapping.names.inputs[one.name] for one in wrapping.program.inputs]


def _only_by_name(wrapping: Wrapping, *, has_out: bool = True) -> list[str]:
    named = ["out=None"] if has_out else []
    named += [f"{word}=None" if o else word for word, o in _sizes_by_name(wrapping).items()]
    named += [] if first_tensor(wrapping) else ["device=None"]
    return ["*", *named] if named else []


def _sizes_by_name(wrapping: Wrapping) -> dict[str, bool]:
    """The parameters that are sizes, and whether a call may leave them out."""
    labels = wrapping.names.labels
    return {labels[label]: o for label, o in keyword_labels(wrapping.program).items()}


def _signature(wrapping: Wrapping) -> list[str]:
    name = wrapping.names.funcs[wrapping.func]
    return call(f"def {name}", [*_parameters(wrapping), *_only_by_name(wrapping)], ":", indent=0)


def _summary(wrapping: Wrapping) -> str:
    func = wrapping.program.func(wrapping.func)
    return f"`{func.name}[{', '.join(func.labels)}]`; into `out`, if one is given."


def _passed_on(wrapping: Wrapping) -> list[str]:
    """The sizes, and the device, as arguments of another call."""
    passed = [f"{word}={word}" for word in _sizes_by_name(wrapping)]
    return passed if first_tensor(wrapping) else [*passed, "device=device"]


def _as_operator(wrapping: Wrapping) -> Iterator[str]:
    """Under torch.compile, an operator that it does not look into."""
    arguments = ["out", *_parameters(wrapping), *_passed_on(wrapping)]
    read = read_tensors(wrapping.program)
    yield from call("if dt_is_traced", [wrapping.names.inputs[name] for name in read], ":")
    yield from inside(call(f"return {wrapping.operator}", arguments, indent=8))


# Inputs


def _check_tensors(wrapping: Wrapping, own: Locals) -> Iterator[str]:
    """Check ranks, dtypes and devices."""
    dtypes = {tensor.name: tensor.dtype for tensor in wrapping.program.tensors}
    if not first_tensor(wrapping):
        yield f"{own.device} = dt_device({own.device}, out)"
    for at, (name, rank) in enumerate(read_tensors(wrapping.program).items()):
        dtype = dtypes[name]
        allowed = f"({TORCH[dtype]},)" if dtype is not None else "dt_floats"
        arguments = [f'"{name}"', wrapping.names.inputs[name], str(rank), allowed]
        head = f"{own.device} = dt_check" if at == 0 else "dt_check"
        yield from call(head, [*arguments, *([own.device] if at else [])])


def _on_device(wrapping: Wrapping, own: Locals) -> Iterator[str]:
    """Call the wrapper again with the right current device: launches go to the current one."""
    name = wrapping.names.funcs[wrapping.func]
    arguments = [*_parameters(wrapping), "out=out", *_passed_on(wrapping)]
    yield f"if not dt_is_current({own.device}):"
    yield f"    with torch.cuda.device({own.device}):"
    yield from inside(inside(call(f"return {name}", arguments, indent=12)))


def _check_reductions(wrapping: Wrapping, own: Locals) -> Iterator[str]:
    """Refuse to reduce nothing, where a reduction has no identity."""
    found: dict[tuple[str, str], None] = {}
    for func in in_order(wrapping.program, [wrapping.func]):
        for node in walk(func.body):
            if isinstance(node, Reduce) and not REDUCTION[node.operation].has_identity:
                found.update(((node.operation, label), None) for label in node.labels)
    for operation, label in found:
        yield f"if not {own.sizes[label]}:"
        yield f'    raise dt_nothing("{operation}", "{label}")'


def _python_type(dtype: DType | None) -> str:
    if dtype is None or is_float(dtype):
        return "float"
    return "bool" if dtype is DType.BOOL else "int"


def _scalars(wrapping: Wrapping) -> Iterator[str]:
    """Scalars as Python numbers."""
    for scalar in wrapping.program.scalars:
        name, kind = wrapping.names.inputs[scalar.name], _python_type(scalar.dtype)
        arguments = [f'"{scalar.name}"', name]
        if kind == "int" and scalar.dtype is not None:
            most = LARGEST[scalar.dtype]
            least = 0 if scalar.dtype is DType.U8 else -most - 1
            arguments += [str(least), str(most)]
        yield from call(f"{name} = dt_{kind}", arguments)


# Dtypes and results


def _types(wrapping: Wrapping, own: Locals) -> Iterator[str]:
    """The dtypes that kernels are compiled with, and whether those of inputs go together."""
    inputs = wrapping.names.inputs
    needed = {name: kind for one in wrapping.launched for name, kind in one.kernel.elements}
    known = (wrapping.elements.kinds[wrapping.func], *needed.values())
    shown = [Kind(one.dtype, one.callers) for one in known if one is not None]
    for kind in meetings(wrapping.program):
        if kind not in shown:
            yield promoted(kind, inputs)
    if REAL.name in needed or any(needed.values()):
        yield f"{own.elements[REAL.name]} = {real(wrapping.program, inputs)}"
    for name, met in sorted(needed.items()):
        if met is not None and name == stored_parameter(met):
            yield f"{own.elements[name]} = dt_triton[{promoted(met, inputs)}]"
        elif met is not None:
            arguments = [promoted(met, inputs), own.elements[REAL.name]]
            yield from call(f"{own.elements[name]} = dt_operand", arguments)
    yield from _check_atomic(wrapping)


def _check_atomic(wrapping: Wrapping) -> Iterator[str]:
    """Refuse types in which memory cannot combine partial results: only wide ones can be."""
    launched = {one.func for one in wrapping.launched}
    added = {s.func for s in wrapping.model.statements if s.is_atomic}
    for func in wrapping.program.funcs:
        if func.name not in launched & added:
            continue
        kind = wrapping.elements.kinds[func.name]
        if kind.callers:
            operation = func.body.operation if isinstance(func.body, Reduce) else "rsum"
            arguments = [f'"{func.name}"', f'"{operation}"', promoted(kind, wrapping.names.inputs)]
            yield from call("dt_check_atomic", arguments)


def _maker(wrapping: Wrapping) -> str:
    """Name the function that makes the result."""
    has_rows = bool(wrapping.program.func(wrapping.func).labels)
    return "dt_rows" if has_rows and wrapping.is_pitched(wrapping.func) else "torch.empty"


def _empty(wrapping: Wrapping, own: Locals, device: str, dtype: str | None = None) -> list[str]:
    """Write the arguments of the function that makes the result."""
    kind = wrapping.elements.kinds[wrapping.func]
    dtype = dtype or promoted(kind, wrapping.names.inputs)
    if _maker(wrapping) == "dt_rows":
        return [_shape_of(wrapping, own), dtype, device]
    return [_shape_of(wrapping, own), f"dtype={dtype}", f"device={device}"]


def _shape_of(wrapping: Wrapping, own: Locals) -> str:
    labels = wrapping.program.func(wrapping.func).labels
    return tuple_of([own.sizes[label] for label in labels])


def _outputs(wrapping: Wrapping, own: Locals) -> Iterator[str]:
    """The result, new or the caller's."""
    dtype = promoted(wrapping.elements.kinds[wrapping.func], wrapping.names.inputs)
    if dtype.startswith("dt_"):
        yield f"{own.dtype} = {dtype}"
        dtype = own.dtype
    inputs = ", ".join(
        f'"{name}": {wrapping.names.inputs[name]}' for name in read_tensors(wrapping.program)
    )
    arguments = ["out", _shape_of(wrapping, own), dtype, own.device, f"{{{inputs}}}"]
    yield "if out is None:"
    empty = _empty(wrapping, own, own.device, dtype)
    yield from inside(call(f"out = {_maker(wrapping)}", empty, indent=8))
    yield "else:"
    yield from inside(call("dt_check_out", arguments, indent=8))
    yield "if not out.numel():"
    yield "    return out"
