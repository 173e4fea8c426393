"""Prints the kernel IR as the text of a Triton function: parameters, grid and instructions."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import assert_never

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.operations import LIST
from dtpoly.ir.copy_steps import Commit, CopyLater, CopyStep, LoadSlot, SharedBuffer, WaitFor
from dtpoly.ir.covered import covering
from dtpoly.ir.kernel import (
    OFFSET,
    SPECIALIZED,
    Accumulate,
    Address,
    Barrier,
    Base,
    Box,
    Collapse,
    DescribedBlock,
    Fill,
    ForLoop,
    GivenScalar,
    Halved,
    If,
    Instruction,
    Lanes,
    Let,
    LineStart,
    Load,
    LoopScalar,
    Mask,
    OnLine,
    Product,
    Reshaped,
    Select,
    Shifted,
    Step,
    Store,
    TiledLoop,
    TileKernel,
)
from dtpoly.ir.kinds import Element
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.step_dependences import exposed
from dtpoly.ir.tile_values import Axes, Variable, axes_of
from dtpoly.ir.tiled import parts_of

from .building import Unsupported
from .grid_text import (
    GridSetting,
    ProgramNumber,
    counts,
    every_block,
    grid_comment,
    needed,
    way_to_block,
)
from .kernel_parameters import head_lines
from .launch_text import launch_lines
from .line import Head, KernelLine, OfDirective, OfInput, about, indented
from .list_text import may_enter
from .operation_spelling import (
    ASSIGNED,
    ATOMIC,
    JOIN,
    OF_BITS,
    OF_LINES,
    UNIT,
    function,
    is_float_element,
)
from .overhanging import descriptors_needed
from .python_layout import fitted
from .python_names import address, stride
from .scan_text import scan_lines
from .value_text import (
    Text,
    address_text,
    affine_text,
    bound_text,
    compared_text,
    dtype,
    laid_out,
    number_text,
    offset_texts,
    test_text,
    tests_text,
    value_text,
)
from .widths import is_large

# A name is set to what these say.
Set = Lanes | Mask | Let | LoopScalar | GivenScalar | Fill | Address
# Instructions that are one line each.
Single = Set | Load | Store | Accumulate | Select | Product | Reshaped | Barrier | CopyStep
# The comment at the head of a kernel without directives.
NO_DIRECTIVES = "No directives: loops as the algorithm has them."


def kernel_lines(kernel: TileKernel) -> list[KernelLine]:
    """Return the kernel as a Triton function."""
    comment = kernel.comment or (NO_DIRECTIVES,)
    head = [
        *(KernelLine(f"# {text}", about=OfDirective(text)) for text in comment),
        *about(Head.GRID, (f"# {text}" for text in grid_comment(kernel))),
        *launch_lines(kernel.head),
    ]
    steps = _on_grid(kernel)
    body = (replace(one, text=text) for one in steps for text in fitted([one.text]))
    return [*head_lines(kernel), *indented((*head, *body, *launch_lines(kernel.foot)))]


def _on_grid(kernel: TileKernel) -> list[KernelLine]:
    """Print the body with its block, which is that of the program.

    If programs take blocks in turn, the body is put into a loop over the blocks of its program.
    Numbers that the kernel is given are brought to their types in front of that loop: Triton takes
    no program in which a loop sets a parameter to another type.
    """
    given = [one for one in kernel.body if isinstance(one.instruction, GivenScalar)]
    first = given if kernel.each else []
    body = _block(tuple(one for one in kernel.body if one not in first)) or [KernelLine("pass")]
    number = ProgramNumber.BEHIND_OTHERS if kernel.is_beside else ProgramNumber.ALONE
    number = ProgramNumber.IN_TURN if kernel.each else number
    program = [GridSetting("program", number, None)] if uses_program(kernel) else []
    way = [*program, *way_to_block(kernel, number)]
    if not kernel.each:
        return [*(one.line for one in needed([*counts(kernel), *way])), *body]
    head = f"for block in tl.range({_turns(kernel)}):"
    inner = [*(one.line for one in needed(way)), *body]
    return [
        *(one.line for one in counts(kernel)),
        *_block(tuple(first)),
        KernelLine(head, about=Head.TURNS),
        *indented(inner),
    ]


def _turns(kernel: TileKernel) -> str:
    """Print which blocks a program takes, and whether loops inside become one with that loop.

    Then loads run ahead from block to block. What is done for the rest of a size would be in
    between.
    """
    ways = [kernel.flags[0].name if kernel.flags else "True"]
    if kernel.flags and (described := descriptors_needed(kernel.body)):
        ways.append(_are_there(described))
    is_one = " or ".join(ways)
    extra = ""
    if kernel.own:  # then it stays apart, for those that load and those that compute
        is_one = f"not {SPECIALIZED} and {is_one if len(ways) == 1 else f'({is_one})'}"
        extra = f", warp_specialize={SPECIALIZED}"
    blocks = f"tl.program_id(0), {every_block(kernel)}, tl.num_programs(0)"
    return f"{blocks}, flatten={is_one}{extra}"


def uses_program(kernel: TileKernel) -> bool:
    """Return whether the body needs the program's number."""
    return any(t.is_scratch for t in kernel.tensors) or "program" in exposed(kernel.body)


def _block(body: tuple[Step, ...], there: Sequence[str] = ()) -> list[KernelLine]:
    """Print the steps. `there` has the descriptors that are known not to be None here."""
    return [line for step in body for line in _lines(step.instruction, step.origin, there)]


def _inner(body: tuple[Step, ...], there: Sequence[str]) -> list[KernelLine]:
    return indented(_block(body, there))


def _tiled(step: Step, one: TiledLoop) -> list[KernelLine]:
    """Print the loop over whole tiles and what is left, or one over all where it is covered."""
    apart = _block(parts_of(step))
    if not one.covered:
        return apart
    first = _inner((covering(step),), one.covered)
    head = KernelLine(f"if {_are_there(one.covered)}:", step.origin)
    return [head, *first, KernelLine("else:", step.origin), *indented(apart)]


def _are_there(descriptors: Sequence[str]) -> str:
    return " and ".join(f"{one} is not None" for one in descriptors)


def _lines(one: Instruction, origin: str, there: Sequence[str]) -> list[KernelLine]:
    match one:
        case ForLoop(body=body) | If(body=body):
            return [KernelLine(_head(one), origin), *_inner(body, there)]
        case TiledLoop():
            return _tiled(Step(one, origin), one)
        case Barrier():
            return [KernelLine(_line(one), origin, Head.NEXT)]
        case GivenScalar(name=name):
            return [KernelLine(_line(one), origin, OfInput(name))]
        case Load(block=DescribedBlock() as block) if block.descriptor in there:
            return [KernelLine(_loaded_block(one, block), origin)]
        case Collapse():
            return [KernelLine(text, origin) for text in _collapse(one)]
        case ScanLanes():
            return [KernelLine(text, origin) for text in scan_lines(one)]
        case Lanes(shifted=Shifted() as shifted) as lanes:
            counted = KernelLine(_line(replace(lanes, name=shifted.name)), origin)
            index = KernelLine(f"{lanes.name} = {shifted.name} - {shifted.by}", origin)
            return [counted, index] if shifted.is_index else [counted]
        case Select(skips=True):
            inner = KernelLine(f"    {_line(one)}", origin)
            return [KernelLine(f"if {may_enter(one)}:", origin), inner]
        case LineStart():
            return [KernelLine(text, origin) for text in _line_start(one)]
        case Store(line=OnLine() as line):
            aligned = replace(one, base=line.base, indices=line.indices)
            return [
                KernelLine(f"if {' == '.join(line.shifts)}:", origin),
                KernelLine(f"    {_store(aligned)}", origin),
                KernelLine("else:", origin),
                KernelLine(f"    {_store(one)}", origin),
            ]
        case Store(block=DescribedBlock() as block):
            return _if_described(block, _stored_block(one, block), _store(one), origin)
        case Load(block=DescribedBlock() as block):
            return _if_described(block, [_loaded_block(one, block)], _load(one), origin)
        case _:
            return [KernelLine(_line(one), origin)]


def _if_described(
    block: DescribedBlock, through: Sequence[str], otherwise: str, origin: str
) -> list[KernelLine]:
    """Print what is done through a descriptor if there is one, and else by addresses."""
    return [
        KernelLine(f"if {block.descriptor} is not None:", origin),
        *(KernelLine(f"    {text}", origin) for text in through),
        KernelLine("else:", origin),
        KernelLine(f"    {otherwise}", origin),
    ]


def _head(one: ForLoop | If) -> str:
    if isinstance(one, If):
        unless = [f"not {one.unless}"] if one.unless is not None else []
        tests = " and ".join((*unless, *map(compared_text, one.conditions)))
        return f"if {tests}:"
    extra = ", num_stages=1" if not one.is_pipelined else ""
    extra += f", warp_specialize={SPECIALIZED}" if one.is_specialized else ""
    extra += f", loop_unroll_factor={one.unroll}" if one.unroll > 1 else ""
    steps = f", {one.step}" if one.step != 1 or extra else ""
    ends = f"{bound_text(one.start)}, {bound_text(one.stop)}"
    return f"for {one.name} in tl.range({ends}{steps}{extra}):"


def _line(one: Single) -> str:
    match one:
        case Lanes() | Mask() | Let() | LoopScalar() | GivenScalar() | Fill() | Address():
            return f"{one.name} = {_set_to(one)}"
        case Load():
            return _load(one)
        case Store():
            return _store(one)
        case Accumulate() | Select() | Product():
            return _taken_in(one)
        case Reshaped():
            return _reshaped(one)
        case Barrier():
            return "tl.debug_barrier()"
        case SharedBuffer() | CopyLater() | Commit() | WaitFor() | LoadSlot():
            raise Unsupported("copies that go on while a kernel computes are not printed yet")
        case _:
            assert_never(one)


def _set_to(one: Set) -> str:
    """Print what a name is set to."""
    match one:
        case Lanes():
            return _lanes(one)
        case Mask(test=test):
            return test_text(test, test.axes)[0]
        case Let(value=value, axes=axes):
            return value_text(value, axes)[0]
        case LoopScalar(value=number):
            return bound_text(number)
        case GivenScalar(name=name, dtype=DType.I64):
            # Triton's interpreter keeps some in 32 bits, and a sum has 64.
            return f"tl.zeros((), tl.int64) + {name}"
        case GivenScalar(name=name, dtype=element):
            return f"tl.full((), {name}, {dtype(element)})"
        case Fill(shape=shape, value=start, dtype=element):
            return f"tl.full({_shape(shape)}, {number_text(start, element)}, {dtype(element)})"
        case Address(tensor=tensor, indices=indices, included=included, axes=axes, base=base):
            wanted = tuple(i if at in included else Affine() for at, i in enumerate(indices))
            return _address(tensor, wanted, axes, base)
        case _:
            assert_never(one)


def _lanes(one: Lanes) -> str:
    """Print the indices that lanes stand for."""
    lanes = f"tl.arange(0, {one.count})" + (f" * {one.step}" if one.step != 1 else "")
    if one.start != Affine():
        wide = OFFSET if is_large(one.start) else None
        lanes = f"({affine_text(one.start, (), wide)[0]} + {lanes})"
    elif one.step != 1:
        lanes = f"({lanes})"
    return f"{lanes}.to({OFFSET})"


def _taken_in(one: Accumulate | Select | Product) -> str:
    """Print how an accumulator takes in a value."""
    match one:
        case Accumulate(name=name, reduction=reduction, value=value, axes=axes, dtype=element):
            return _accumulate(name, reduction, value_text(value, axes, element), element)
        case Select():
            join = JOIN[one.reduction][0]
            better, at = value_text(one.value, one.axes)[0], value_text(one.at, one.axes)[0]
            both = f"{one.name}, {one.index}"
            if one.reduction == LIST:
                at = f"{at}, {len(one.axes) - 1}, {one.count}"
            return f"{both} = {join}({both}, {better}, {at})"
        case Product():
            left = value_text(one.left, one.left_axes)[0]
            right = value_text(one.right, one.right_axes)[0]
            precision = f', input_precision="{one.precision or "ieee"}"'
            out = f", out_dtype={dtype(one.dtype)}" if one.dtype is not DType.F32 else ""
            return f"{one.name} = tl.dot({left}, {right}, {one.name}{precision}{out})"
        case _:
            assert_never(one)


def _line_start(one: LineStart) -> list[str]:
    """Print by how much a line is shifted, and the address of the aligned place before it."""
    *outer, _ = one.indices
    first = " + ".join(offset_texts(one.tensor, tuple(outer), ()))
    arguments = f"{first}, {stride(one.tensor, len(outer))}, {UNIT}"
    shift, line = OF_LINES
    return [
        f"{one.shift} = {shift}({arguments})",
        f"{one.name} = {address(one.tensor)} + {line}({arguments})",
    ]


def _reshaped(one: Reshaped) -> str:
    """Return the value, spread along the axes that it lacks, in its new shape."""
    text = value_text(one.value, one.axes)[0]
    parts = [count for group in one.counts for count in group]
    if one.is_joined and set(axes_of(one.value)) != set(one.axes):
        text = f"tl.broadcast_to({text}, {_shape(parts)})"
    shape = [" * ".join(map(str, _folded(g))) for g in one.counts] if one.is_joined else parts
    if one.is_joined and len(shape) == len(parts):
        return f"{one.name} = {text}"
    return f"{one.name} = tl.reshape({text}, {_shape(shape)})"


def _folded(counts: Sequence[int | str]) -> list[int | str]:
    """Return the factors of a number of lanes, those that are known multiplied."""
    known = prod(count for count in counts if isinstance(count, int))
    names: list[int | str] = [count for count in counts if isinstance(count, str)]
    return names if known == 1 and names else [known, *names]


def _shape(counts: Sequence[int | str]) -> str:
    return f"({', '.join(map(str, counts))}{',' if len(counts) == 1 else ''})"


def _address(
    tensor: str,
    indices: tuple[Affine, ...],
    axes: Axes,
    base: Base | None,
    taken: Sequence[Variable] = (),
) -> str:
    """Print where elements are, starting from the address that is known already."""
    if base is None:
        return address_text(tensor, indices, axes, taken)
    known = laid_out(base.name, base.axes, axes)
    rest = tuple(Affine() if at in base.included else i for at, i in enumerate(indices))
    return " + ".join((known, *offset_texts(tensor, rest, axes, taken)))


def _loaded_block(one: Load, block: DescribedBlock) -> str:
    """Return the tile, from the box that a descriptor loads."""
    starts = ", ".join(map(_start, block.starts))
    text = f"{block.descriptor}.load([{starts}])"
    if len(block.starts) > len(block.shape):
        text = f"tl.reshape({text}, {_shape(block.shape)})"
    if block.order != tuple(range(len(block.order))):
        text = f"tl.trans({text}, {', '.join(map(str, block.order))})"
    return f"{one.name} = {text}{_kept(one)}"


def _stored_block(one: Store, block: DescribedBlock) -> list[str]:
    """Return the tile, into the box that a descriptor stores, or its parts into several boxes.

    It is cut as it was computed: the descriptor gives it the type in memory.
    """
    value = value_text(one.value, one.axes)[0]
    halved = [_halved(half, half.name or value) for half in block.halved]
    boxes = block.boxes or (Box(value, (0,) * len(block.shape)),)
    return [*halved, *(_stored_box(block, box) for box in boxes)]


def _halved(half: Halved, value: str) -> str:
    """Write both halves of an axis: it becomes two, and the one of two lanes is taken apart."""
    outer, inner = half.shape[: half.axis], half.shape[half.axis + 1 :]
    shape = (*outer, 2, half.shape[half.axis] // 2, *inner)
    order = [axis for axis in range(len(shape)) if axis != half.axis]
    last = ", ".join(map(str, (*order, half.axis)))
    text = f"tl.permute(tl.reshape({value}, {_shape(shape)}), {last})"
    return f"{half.first}, {half.second} = tl.split({text})"


def _stored_box(block: DescribedBlock, box: Box) -> str:
    units = len(block.starts) - len(block.shape)
    offsets = ((0,) * units) + box.offsets
    starts = ", ".join(
        _start(start + Affine((), offset))
        for start, offset in zip(block.starts, offsets, strict=True)
    )
    value = box.name
    if units:
        value = f"tl.reshape({value}, {_shape((1,) * units + block.shape)})"
    return f"{block.descriptor}.store([{starts}], {value})"


def _start(start: Affine) -> str:
    """Print where a block starts.

    Descriptors count in 32 bits; the runtime sees that these suffice.
    """
    if not start.terms:
        return str(start.constant)
    return f"tl.cast({affine_text(start, ())[0]}, tl.int32)"


def _kept(one: Load) -> str:
    return f".to({dtype(one.converted)})" if one.converted is not None else ""


def _load(one: Load) -> str:
    mask = tests_text(one.conditions, one.axes)
    rest = f", mask={mask}" if mask else ""
    if mask and one.other is not None:
        rest += f", other={number_text(one.other, one.dtype)}"
    rest += ', eviction_policy="evict_first"' if one.is_streamed else ""
    place = _address(one.tensor, one.indices, one.axes, one.base, one.taken)
    return f"{one.name} = tl.load({place}{rest}){_kept(one)}"


def _store(one: Store) -> str:
    mask = tests_text(one.conditions, one.axes)
    rest = f", mask={mask}" if mask else ""
    place = _address(one.tensor, one.indices, one.axes, one.base, one.taken)
    value = value_text(one.value, one.axes)[0]
    if one.atomic is None:
        return f"tl.store({place}, {value}{rest})"
    if one.atomic in OF_BITS and is_float_element(one.dtype):
        value = f"{OF_BITS[one.atomic]}({value}, {address(one.tensor)})"
    return f'{ATOMIC[one.atomic]}({place}, {value}{rest}, sem="relaxed")'


def _accumulate(name: str, reduction: str, value: Text, element: Element) -> str:
    if reduction in ASSIGNED:
        return f"{name} {ASSIGNED[reduction]} {value[0]}"
    return f"{name} = {function(JOIN[reduction], element)}({name}, {value[0]})"


def _collapse(one: Collapse) -> list[str]:
    lines: list[str] = []
    axes, source = one.axes, one.source
    gone = [axis for axis in reversed(axes) if axis not in one.kept]
    for number, axis in enumerate(gone):
        at = axes.index(axis)
        axes = tuple(a for a in axes if a != axis)
        if one.index is not None:
            join = JOIN[one.reduction][0]
            is_last = number == len(gone) - 1 and not one.keeps_value
            names = f"_, {one.name}" if is_last else f"{one.source}, {one.index}"
            lines.append(f"{names} = tl.reduce(({one.source}, {one.index}), {at}, {join})")
            continue
        match one.reduction:
            case "rsum":
                reduced = f"tl.sum({source}, {at})"
            case _:
                reduced = f"tl.reduce({source}, {at}, {JOIN[one.reduction][0]})"
        lines.append(f"{one.name} = {reduced}")
        source = one.name
    return lines
