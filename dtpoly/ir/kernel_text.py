"""Shows the kernel IR as text, one instruction a line, in a spelling that is not Triton's."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.operations import ATOM, OPERATION, SUM
from dtpoly.algorithm.show import show_affine
from dtpoly.ir.bounds_text import show_bound, show_condition
from dtpoly.ir.copy_steps import Commit, CopyLater, CopyStep, LoadSlot, SharedBuffer, WaitFor
from dtpoly.ir.covered import covering
from dtpoly.ir.kernel import (
    BEFORE,
    FOURS,
    PANEL,
    Accumulate,
    Address,
    Barrier,
    Base,
    Collapse,
    DescribedBlock,
    Fill,
    ForLoop,
    GivenScalar,
    If,
    Instruction,
    Lanes,
    Let,
    LineStart,
    Load,
    LoopScalar,
    Mask,
    Product,
    Reshaped,
    Select,
    Step,
    Store,
    TiledLoop,
    TileKernel,
)
from dtpoly.ir.kinds import Element, Named
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.launch_steps import (
    LaunchStep,
    LetNextBegin,
    MakeDescriptor,
    TellFours,
    WaitForLaunch,
)
from dtpoly.ir.tile_values import (
    Call,
    Converted,
    Holds,
    IndexValue,
    LiteralNumber,
    Masked,
    Merged,
    Test,
    Value,
    Variable,
)
from dtpoly.ir.tiled import parts_of


def show_kernel(kernel: TileKernel) -> Iterator[str]:
    """Show parameters, grid and body.

    After each instruction stands the statement or axis that it comes from.
    """
    tensors = (f"{t.name}({t.rank})" + " written" * t.is_written for t in kernel.tensors)
    yield f"kernel {kernel.name}: {', '.join(tensors)}"
    for name, variable, element in kernel.scalars:
        yield f"  scalar {variable} = {name} as {show_element(element)}"
    for param, variable in kernel.sizes:
        yield f"  size {variable} = len({param.removeprefix('N_')})"
    for tensor, axis, variable in kernel.shapes:
        yield f"  size {variable} = {tensor}.shape[{axis}]"
    for name, size in kernel.counts:
        yield f"  known {name} = {size} rounded up to a power of two"
    for flag in kernel.flags:
        what = f"a multiple of {flag.multiple}" if flag.multiple else "a power of two"
        yield f"  known {flag.name}: {flag.size} is {what}"
    for name, kind in kernel.elements:
        yield f"  known {name}: a dtype{'' if kind is None else f' of {_callers(kind.callers)}'}"
    for described in kernel.described:
        block = " x ".join(map(str, described.block))
        yield f"  descriptor {described.name}: {block} of {described.tensor}"
    if kernel.fours:
        rows = ", ".join(row.variable for row in kernel.fours)
        yield f"  known {FOURS}: {rows} {_are(kernel.fours)} of four"
    for one in kernel.grid:
        blocks = f"groups of {one.group} blocks" if one.group else "blocks"
        yield f"  grid {one.name}: {blocks} of {one.size}, {one.step} each"
    if kernel.is_beside:
        yield f"  programs from number {BEFORE} on, of a launch that has others before"
    yield from (f"  {_launch_line(one)}" for one in kernel.head)
    yield from show_steps(kernel.body, "  ")
    yield from (f"  {_launch_line(one)}" for one in kernel.foot)


def _are(several: Sequence[object]) -> str:
    return "is a multiple" if len(several) == 1 else "are multiples"


def _launch_line(one: LaunchStep) -> str:
    match one:
        case WaitForLaunch(in_first_panel=in_first_panel):
            panel = f" and {PANEL} is 0" if in_first_panel else ""
            return f"wait for the kernel before it, if this one began early{panel}"
        case LetNextBegin():
            return "let the first kernel of the next panel begin"
        case MakeDescriptor(name=name, tensor=tensor, block=block):
            size = " x ".join(map(str, block))
            return f"make {name} here, {size} of {tensor}, if some warps load for the others"
        case TellFours(rows=rows):
            return f"show that {', '.join(rows)} {_are(rows)} of four, if {FOURS}"
        case _:
            assert_never(one)


def _callers(names: frozenset[str]) -> str:
    return " and ".join(sorted(names))


def show_element(element: Element) -> str:
    """Return a type by its name."""
    return element.name if isinstance(element, Named) else str(element)


def show_steps(body: Sequence[Step], pad: str = "") -> Iterator[str]:
    """Instructions, one a line; those of loops indented."""
    for step in body:
        origin = f"  # {step.origin}" if step.origin else ""
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner) as one:
                yield f"{pad}{_head(one)}{origin}"
                yield from show_steps(inner, f"{pad}  ")
            case TiledLoop(covered=()):
                yield from show_steps(parts_of(step), pad)
            case TiledLoop(covered=names):
                yield f"{pad}if {' and '.join(names)}{origin}"
                yield from show_steps((covering(step),), f"{pad}  ")
                yield f"{pad}else"
                yield from show_steps(parts_of(step), f"{pad}  ")
            case one:
                yield f"{pad}{_line(one)}{origin}"


def _head(one: ForLoop | If) -> str:
    if isinstance(one, If):
        unless = f" unless {one.unless}" if one.unless else ""
        return f"if {' and '.join(map(show_condition, one.conditions))}{unless}"
    ends = f"from {show_bound(one.start)} to below {show_bound(one.stop)}"
    by = f" by {one.step}" if one.step != 1 else ""
    unrolled = f", {one.unroll} at a time" if one.unroll > 1 else ""
    return f"for {one.name} {ends}{by}{unrolled}{'' if one.is_pipelined else ', in order'}"


def _line(one: Instruction) -> str:  # noqa: C901  # one case for each instruction
    match one:
        case Lanes(name=name, start=start, count=count, step=step, shifted=shifted):
            by = f" by {step}" if step != 1 else ""
            if shifted is not None:
                by += f" as {shifted.name}, less {shifted.by}"
            return f"lanes {name} = {count} from {show_affine(start)}{by}"
        case Mask(name=name, test=test):
            return f"mask {name} = {show_test(test)}"
        case Let(name=name, value=value, axes=axes):
            return f"let {_tile(name, axes)} = {show_value(value)}"
        case LoopScalar(name=name, value=number):
            return f"let {name} = {show_bound(number)}"
        case GivenScalar(name=name, dtype=element):
            return f"let {name} = {name} as {show_element(element)}"
        case Fill(name=name, shape=shape, value=start, dtype=element):
            size = " x ".join(map(str, shape)) or "1"
            return f"fill {name} = {start}, {size} of {show_element(element)}"
        case Address(name=name, tensor=tensor, indices=indices, included=included, axes=axes):
            own = [show_affine(i) if at in included else ":" for at, i in enumerate(indices)]
            place = f"{tensor if one.base is None else one.base.name}[{', '.join(own)}]"
            return f"let {_tile(name, axes)} = address of {place}"
        case LineStart(name=name, shift=shift, tensor=tensor, indices=indices):
            line = ", ".join((*map(show_affine, indices[:-1]), ":"))
            return f"let {shift}, {name} = line {tensor}[{line}], from where it is aligned"
        case Load():
            return _load(one)
        case Store():
            return _store(one)
        case Accumulate(name=name, reduction=reduction, value=value):
            return f"{reduction} {name} with {show_value(value)}"
        case Select(name=name, index=index, reduction=reduction, value=value, at=at):
            skipped = ", if some of it may enter" if one.skips else ""
            taken = f"{show_value(value)}, {show_value(at)}"
            return f"{reduction} {name}, {index} with {taken}{skipped}"
        case Product(name=name, left=left, right=right, precision=precision):
            exact = f" in {precision}" if precision else ""
            return f"product {name} with {show_value(left)} @ {show_value(right)}{exact}"
        case Reshaped(name=name, value=value, counts=counts, is_joined=is_joined):
            groups = [*map(_product, counts)] if is_joined else [str(n) for g in counts for n in g]
            return f"let {name} = {show_value(value)} as {' x '.join(groups)}"
        case Collapse(name=name, source=source, reduction=reduction, axes=axes, kept=kept):
            return f"let {_tile(name, kept)} = {reduction} of {_tile(source, axes)}"
        case ScanLanes(name=name, carry=carry, reduction=reduction, axes=axes):
            along = f" along {one.along}" if one.along is not None else ""
            back = " from its end" if one.is_reverse else ""
            first = f"let {_tile(name, axes)}, {carry} = {reduction}{along}{back}"
            factor = f" by {show_value(one.factor)}" if one.factor is not None else ""
            return f"{first} of {carry}{factor}, {show_value(one.value)}"
        case Barrier():
            return "barrier"
        case SharedBuffer() | CopyLater() | Commit() | WaitFor() | LoadSlot():
            return _copy_line(one)
        case ForLoop() | If():
            return _head(one)
        case TiledLoop():
            return _head(ForLoop(one.name, Affine(), one.size, one.step, one.main))
        case _:
            assert_never(one)


def _load(one: Load) -> str:
    other = "" if one.other is None or not one.conditions else f" else {one.other}"
    place = _place(one.tensor, one.indices, one.base)
    kept = f" as {show_element(one.converted)}" if one.converted is not None else ""
    first = ", which leaves the cache first" if one.is_streamed else ""
    condition = f"{_where(one.conditions)}{other}"
    return f"load {_tile(one.name, one.axes)} = {place}{condition}{kept}{_by(one.block)}{first}"


def _store(one: Store) -> str:
    how = "store" if one.atomic is None else f"atomic {one.atomic}"
    place = _place(one.tensor, one.indices, one.base)
    alike = f", aligned if {' is '.join(one.line.shifts)}" if one.line else ""
    parts = f", in {len(one.block.boxes)} boxes" if one.block and one.block.boxes else ""
    what = f"{show_value(one.value)}{_where(one.conditions)}"
    return f"{how} {place} = {what}{alike}{_by(one.block)}{parts}"


def _by(block: DescribedBlock | None) -> str:
    return f" by {block.descriptor} if there is one" if block is not None else ""


def _copy_line(one: CopyStep) -> str:
    match one:
        case SharedBuffer(name=name, slots=slots, shape=shape, dtype=element):
            size = " x ".join(map(str, shape))
            return f"shared {name} = {slots} slots, {size} of {show_element(element)} each"
        case CopyLater(tensor=tensor, indices=indices, conditions=conditions):
            place = _place(tensor, indices, None)
            return f"copy later {_slot(one)} = {place}{_where(conditions)}"
        case Commit():
            return "commit"
        case WaitFor(pending=pending):
            return f"wait until {pending} or fewer groups of copies are under way"
        case LoadSlot(name=name, axes=axes):
            return f"let {_tile(name, axes)} = {_slot(one)}"
        case _:
            assert_never(one)


def _slot(one: CopyLater | LoadSlot) -> str:
    return f"{one.buffer}, slot {show_affine(one.slot)}"


def _product(counts: Sequence[int | str]) -> str:
    return " * ".join(map(str, counts)) if len(counts) == 1 else f"({' * '.join(map(str, counts))})"


def _place(tensor: str, indices: Sequence[Affine], base: Base | None) -> str:
    known = f" from {base.name}" if base is not None else ""
    return f"{tensor}[{', '.join(map(show_affine, indices))}]{known}"


def _tile(name: str, axes: tuple[str, ...]) -> str:
    return f"{name}[{', '.join(axes)}]" if axes else name


def _where(conditions: Sequence[Test]) -> str:
    return f" where {' and '.join(map(show_test, conditions))}" if conditions else ""


def show_test(test: Test) -> str:
    """`x < x_size unless x_even`; the name of a test that has one."""
    if test.name is not None:
        return test.name
    small = [(name, -c) for name, c in test.value.terms if c < 0]
    large = [(name, c) for name, c in test.value.terms if c > 0]
    # For whole numbers, left + 1 <= right means left < right.
    is_strict = test.value.constant < 0
    rest = test.value.constant + is_strict
    left, right = Affine(tuple(small), -min(rest, 0)), Affine(tuple(large), max(rest, 0))
    text = f"{show_affine(left)} {'<' if is_strict else '<='} {show_affine(right)}"
    return text + (f" unless {test.unless}" if test.unless else "")


def show_value(value: Value, least: int = 0) -> str:
    """Return a value as an expression."""
    match value:
        case Variable(name=name):
            return name
        case LiteralNumber(value=number):
            return str(number)
        case IndexValue(index=index):
            return _within(show_affine(index), SUM if len(index.terms) > 1 else ATOM, least)
        case Holds(test=test):
            return _within(show_test(test), 0, least)
        case Converted(value=inner, dtype=element):
            return f"{show_element(element)}({show_value(inner)})"
        case Masked(value=inner, conditions=conditions, other=other):
            text = f"{show_value(inner)}{_where(conditions)} else {other}"
            return _within(text, 0, least)
        case Merged(reduction=reduction, left=left, right=right):
            return f"{reduction}({show_value(left)}, {show_value(right)})"
        case Call():
            return _call(value, least)
        case _:
            assert_never(value)


def _call(call: Call, least: int) -> str:
    info = OPERATION[call.operation]
    level = info.precedence
    if not info.symbol:
        return f"{call.operation}({', '.join(show_value(one) for one in call.operands)})"
    *left, right = call.operands
    if not left:
        space = " " if info.symbol.isalpha() else ""
        return _within(f"{info.symbol}{space}{show_value(right, level)}", level, least)
    text = f"{show_value(left[0], level)} {info.symbol} {show_value(right, level + 1)}"
    return _within(text, level, least)


def _within(text: str, level: int, least: int) -> str:
    return f"({text})" if level < least else text
