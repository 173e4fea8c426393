"""Makes the plan of a function: what a call must be like, and what is launched for it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Reduce, reads, walk
from dtpoly.algorithm.inference import LARGEST
from dtpoly.algorithm.operations import WITHOUT_IDENTITY
from dtpoly.algorithm.panel_axes import Crossing, cut_along
from dtpoly.algorithm.program import Scalar, Tensor, in_order
from dtpoly.ir.kinds import REAL, ValueKind, stored_parameter, widest
from dtpoly.plan.formula import FormulaExtent
from dtpoly.plan.plan import (
    CanAdd,
    HasSome,
    NumberInput,
    Plan,
    PlannedInput,
    PlannedPanels,
    PlannedTensor,
    PlannedType,
    TensorInput,
    Terms,
    UnreadInput,
)

from .building import Unsupported
from .plan_parts import FunctionParts, read_tensors
from .planned_launches import indices_of, memory_of, planned_launches
from .planned_sizes import LARGEST_SHORT, demands_of, passed_labels, planned_sizes
from .planned_tensors import Planning, planning_of, terms_of
from .type_text import meetings


def plan_of(function: FunctionParts) -> Plan:
    """Return the plan of a function. Raises Unsupported."""
    planning = planning_of(function)
    limited = _limited(function)
    sizes = tuple(
        replace(one, most=min(one.most or LARGEST_SHORT, LARGEST_SHORT))
        if one.label in limited
        else one
        for one in planned_sizes(planning.sizing)
    )
    panels = None if function.panel is None else _panels(planning, *function.panel)
    return Plan(
        function=function.names.funcs[function.func],
        names=_names(planning, [one.label for one in sizes]),
        inputs=dict(_inputs(function)),
        sizes=sizes,
        demands=(*demands_of(planning.sizing), *_not_empty(planning)),
        meet=tuple(_meeting(planning)),
        types=tuple(_types(planning)),
        adds=tuple(_adds(planning)),
        results=tuple(_result(planning, func) for func in function.results),
        between=tuple(memory_of(planning)),
        indices=indices_of(planning),
        launches=tuple(planned_launches(planning)),
        panels=panels,
    )


def _limited(function: FunctionParts) -> frozenset[str]:
    """Return the labels that decide, in 32 bits, where boxes of descriptors begin.

    Indices of a label may leave the tensor that is loaded where it is padded, or where no tensor
    shows the size of the label. Then the size must be such that a box begins where it should.
    """
    described = {one.tensor for of in function.launched for one in of.kernel.described}
    passed = {*passed_labels(function.program)}
    found = (
        label
        for func in function.program.funcs
        for one in reads(func.body)
        if one.tensor in described
        for index in one.indices
        for label in index.labels
        if one.padding is not None or one.within or label in passed
    )
    return frozenset(function.names.labels[label] for label in found)


def _result(planning: Planning, name: str) -> PlannedTensor:
    function = planning.function
    func = function.program.func(name)
    shape = tuple(planning.sizing.size(label) for label in func.labels)
    start = function.program.find_func(func.into.tensor) if func.into is not None else None
    if start is not None:
        shape = tuple(planning.sizing.size(label) for label in start.labels)
    elif func.into is not None and func.into.at is not None:
        given = function.names.inputs[func.into.tensor]
        shape = tuple(FormulaExtent(given, axis) for axis in range(len(func.into.at.indices)))
    return PlannedTensor(
        planning.tensors[name],
        shape,
        terms_of(planning, function.elements.kinds[name]),
        bool(func.labels) and function.is_pitched(name),
        "" if func.into is None or start else function.names.inputs[func.into.tensor],
    )


def _names(planning: Planning, sizes: list[str]) -> dict[str, str]:
    """Find the names in the source of parameters and labels that Python calls otherwise."""
    names = planning.function.names
    labels = {word: name for name, word in names.labels.items() if word in sizes}
    words = {word: name for name, word in names.inputs.items()} | labels
    return {word: name for word, name in words.items() if word != name}


def _inputs(function: FunctionParts) -> Iterator[tuple[str, PlannedInput]]:
    ranks = read_tensors(function.program)
    for one in function.program.inputs:
        word = function.names.inputs[one.name]
        match one:
            case Tensor(name=name, dtype=dtype) if name in ranks:
                yield word, TensorInput("float" if dtype is None else str(dtype), ranks[name])
            case Tensor():
                yield word, UnreadInput()
            case Scalar(dtype=dtype):
                yield word, _number(dtype)


def _number(dtype: DType | None) -> NumberInput:
    if dtype is None or is_float(dtype):
        return NumberInput("float")
    if dtype is DType.BOOL:
        return NumberInput("bool")
    most = LARGEST[dtype]
    return NumberInput("int", 0 if dtype is DType.U8 else -most - 1, most)


def _not_empty(planning: Planning) -> Iterator[HasSome]:
    """Refuse to reduce nothing, where a reduction has no identity."""
    function = planning.function
    found: dict[tuple[str, str], None] = {}
    for func in in_order(function.program, function.results):
        for node in walk(func.body):
            if isinstance(node, Reduce) and node.operation in WITHOUT_IDENTITY:
                found.update(((node.operation, label), None) for label in node.labels)
    for operation, label in found:
        yield HasSome(operation, function.names.labels[label])


def _needed(planning: Planning) -> Mapping[str, ValueKind | None]:
    """Return the types that kernels are compiled with, by the names of their parameters."""
    return {name: kind for one in planning.function.launched for name, kind in one.kernel.elements}


def _meeting(planning: Planning) -> Iterator[Terms]:
    """Dtypes that must go together, and that nothing else of the plan promotes."""
    function = planning.function
    results = (function.elements.kinds[one] for one in function.results)
    known = (*results, *_needed(planning).values())
    shown = [ValueKind(one.dtype, one.callers) for one in known if one is not None]
    for kind in meetings(function.program):
        if kind not in shown:
            yield terms_of(planning, kind)


def _types(planning: Planning) -> Iterator[PlannedType]:
    needed = _needed(planning)
    if REAL.name in needed or any(needed.values()):
        yield _real(planning)
    for name, kind in sorted(needed.items()):
        if kind is not None:
            is_stored = name == stored_parameter(kind)
            yield PlannedType(name, "stored" if is_stored else "operand", terms_of(planning, kind))


def _real(planning: Planning) -> PlannedType:
    """Return the type in which floats are computed: f64 if the Program or an input is f64."""
    program, inputs = planning.function.program, planning.function.names.inputs
    read = read_tensors(program)
    if widest(program) is DType.F64 or DType.F64 in [one.dtype for one in program.tensors]:
        return PlannedType(REAL.name, "f64")
    callers = tuple(
        inputs[one.name] for one in program.tensors if one.dtype is None and one.name in read
    )
    return PlannedType(REAL.name, "real", callers) if callers else PlannedType(REAL.name, "f32")


def _adds(planning: Planning) -> Iterator[CanAdd]:
    """Yield the Funcs that kernels add to in a caller's dtype: memory adds only wide ones."""
    function = planning.function
    launched = {one.func for one in function.launched}
    added = {one.func for one in function.model.statements if one.is_atomic}
    added |= function.model.added
    for func in function.program.funcs:
        if func.name not in launched & added:
            continue
        kind = function.elements.kinds[func.name]
        if kind.callers:
            last = None if func.name in function.model.added else func.body
            operation = last.operation if isinstance(last, Reduce) else "rsum"
            yield CanAdd(func.name, operation, terms_of(planning, kind))


def _panels(planning: Planning, label: str, size: int) -> PlannedPanels:
    """Say along which axes tensors are cut. Raises Unsupported if panels need each other."""
    function = planning.function
    first = function.launched[0]
    if not first.kernel.is_first_of_panel:
        raise Unsupported(f"'{first.func}' has a kernel before that which each panel begins with")
    for one in function.launched:
        if any(tensor.is_scratch for tensor in one.kernel.tensors):
            raise Unsupported(
                f"'{one.func}' has memory for each of its programs, which would be made for each "
                "panel: tensorize so that values stay in registers, or remove panels"
            )
    size_of, labels = function.model.size_of, function.names.labels
    used = {one.label for one in planned_sizes(planning.sizing)}
    alike = [
        labels[one.name]
        for one in function.program.labels
        if size_of.get(one.name) == size_of[label] and labels[one.name] in used
    ]
    cut = {planning.tensors[name]: axis for name, axis in _axes(function, label).items()}
    return PlannedPanels(tuple(alike), size, cut)


def _axes(function: FunctionParts, label: str) -> dict[str, int]:
    """Find the axis along which each tensor that the kernels touch is cut into panels."""
    found = cut_along(function.program, function.func, label)
    if isinstance(found, Crossing):
        raise Unsupported(f"panels of '{label}' need each other: {found.why}")
    tensors = [tensor for one in function.launched for tensor in one.kernel.tensors]
    touched = {tensor.name for tensor in tensors}
    if whole := sorted({tensor.name for tensor in tensors if tensor.is_written} - found.keys()):
        raise Unsupported(f"all panels would write the same of '{whole[0]}'")
    return {tensor: axis for tensor, axis in found.items() if tensor in touched}
