"""Read a launch in a wrapper: the value of each parameter of the kernel, and the grid.

`launch` adds a `Launch` to the wrapper. A launch of a kernel that is split between two (see pairs)
adds two of them. Arguments that Triton would bind or convert in another way raise Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from math import prod

from dtpoly.verify.algebra import kinds
from dtpoly.verify.algebra.kinds import HALF, NEAR
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import Descriptor, Pointer, Type, Unread, Value, scalar
from dtpoly.verify.algebra.whole import (
    Whole,
    both,
    compare,
    name,
    number,
    one_of,
    within,
)
from dtpoly.verify.plan import expressions
from dtpoly.verify.plan.held import (
    Blocks,
    Bound,
    Held,
    Kind,
    Maybe,
    Opaque,
    Product,
    TensorOf,
    Wrapper,
)
from dtpoly.verify.plan.interface import (
    CONSTANTS,
    LAUNCH,
    OFFSET,
    check_kernel,
    check_options,
)
from dtpoly.verify.plan.weakened import KEPT_FOURS, kept, weakened
from dtpoly.verify.triton.access import Launch
from dtpoly.verify.triton.early import EARLY, panel_of
from dtpoly.verify.triton.pairs import Pair, pair_of
from dtpoly.verify.triton.specialized import SPECIALIZED
from dtpoly.verify.triton.unchanged import FOURS

OPTIONS = ("num_warps", "num_stages")
# The functions that say how many programs take blocks in turn, and how many more arguments each
# has.
TURNS = {"dt_turns": 0, "dt_turns_sparing": 1, "dt_turns_beside": 1}
MOST_BYTES = (2, 4)  # bytes of the elements that the tensor cores of a specialized launch multiply
GRID = "dt_grid"

Reader = Callable[[Wrapper, ast.expr], Held]


def launch(
    wrapper: Wrapper, call: ast.Call, func: ast.Subscript, value: Reader = expressions.value
) -> None:
    """Note a launch. `value` reads its arguments: by default as expressions of a wrapper."""
    kernel = ast.unparse(func.value)
    definition = wrapper.file.jitted.get(kernel)
    if definition is None:
        raise Unread(call.lineno, f"a launch of '{kernel}', which is not here")
    given: list[Held] = []
    for arg in call.args:
        if isinstance(arg, ast.Starred):
            given.extend(wrapper.parts(value(wrapper, arg.value), arg.value))
        else:
            given.append(value(wrapper, arg))
    named = {str(one.arg) for one in call.keywords}
    check_kernel(definition, named if wrapper.file.said else LAUNCH)
    check_options(call)
    arguments = definition.args
    parameters = [one.arg for one in arguments.args]
    defaults = dict(zip(reversed(parameters), reversed(arguments.defaults), strict=False))
    if len(given) > len(parameters):
        raise Unread(call.lineno, f"'{kernel}' is given too much")
    bound: dict[str, Held] = dict(zip(parameters, given, strict=False))
    stages: int | None = None
    is_early = is_specialized = False
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="num_stages", value=ast.Constant(value=int() as count)):
                stages = count
            case ast.keyword(arg=word) if word in OPTIONS:
                continue
            case ast.keyword(
                arg=None, value=ast.Call(func=ast.Name(id="dt_early" as made), args=[_])
            ) if EARLY in parameters and EARLY not in bound:
                wrapper.must_know(made, call.lineno)
                is_early, bound[EARLY] = True, name(f"early, line {call.lineno}")
            case ast.keyword(
                arg=word, value=ast.Call(func=ast.Name(id="dt_specialized" as made)) as told
            ) if word == SPECIALIZED and word in parameters and word not in bound:
                wrapper.must_know(made, call.lineno)
                _check_told(call, given, told)
                flag = name(f"specialized, line {call.lineno}")
                is_specialized, bound[SPECIALIZED] = True, compare(">=", flag, number(1))
            case ast.keyword(arg=word, value=given_value) if (
                value is weakened and word == FOURS and word in parameters and word not in bound
            ):
                bound[word] = kept(expressions.value(wrapper, given_value), KEPT_FOURS)
            case ast.keyword(arg=str() as word, value=given_value) if (
                word in parameters and word not in bound
            ):
                bound[word] = value(wrapper, given_value)
            case _:
                raise Unread(call.lineno, f"'{kernel}' has no '{keyword.arg}' to give")
    if SPECIALIZED in parameters and not is_specialized and not wrapper.file.said:
        raise Unread(call.lineno, f"'{kernel}' is not launched as 'dt_specialized' says")
    for one, default in defaults.items():
        if one not in bound and isinstance(default, ast.Constant):
            bound[one] = value(wrapper, default)
    if missing := [one for one in parameters if one not in bound]:
        raise Unread(call.lineno, f"'{kernel}' is not given '{missing[0]}'")
    first = panel_of(definition)
    if first is not None and not _waits_for_others(wrapper, bound[first]):
        raise Unread(call.lineno, f"'{kernel}' is launched beside others, and may need them")
    options = stages, is_early, is_specialized
    pair = pair_of(wrapper.file, definition)
    if pair is None:
        grid = _grid(wrapper, func.slice, value)
        _note(wrapper, definition, bound, grid, _turns(wrapper, func.slice, value), call, options)
    else:
        _note_both(wrapper, pair, bound, func.slice, call, options, value)
    wrapper.largest, wrapper.reaches = (), frozenset()


def _waits_for_others(wrapper: Wrapper, panel: Held) -> bool:
    """Whether a kernel that waits only if its panel is 0 waits for all launches it may need.

    It does if the panel is always 0, or if it is the first launch of a loop over panels.
    """
    if panel == number(0):
        return True
    return wrapper.panels is not None and panel == wrapper.panels.start and not wrapper.launches


Options = tuple[int | None, bool, bool]  # stages, whether it is early, and specialized
Grid = tuple[tuple[Whole, ...], ...]


def _note(
    wrapper: Wrapper,
    definition: ast.FunctionDef,
    bound: Mapping[str, Held],
    grid: Grid,
    turns: tuple[Whole, ...] | None,
    call: ast.Call,
    options: Options,
    *,
    is_part: bool = False,
    before: str = "",
) -> None:
    """Note one launch of a kernel with these arguments."""
    annotated = {
        one.arg: "" if one.annotation is None else ast.unparse(one.annotation)
        for one in definition.args.args
    }
    stages, is_early, is_specialized = options
    launched = Launch(
        definition.name,
        {
            one: _argument(wrapper, one, held, annotated[one], call.lineno)
            for one, held in bound.items()
        },
        grid,
        turns=turns,
        stages=stages,
        line=call.lineno,
        largest=wrapper.largest,
        reaches=wrapper.reaches,
        apart=wrapper.apart,
        near=wrapper.near,
        below=wrapper.below,
        is_finite=wrapper.is_finite,
        is_early=is_early,
        is_specialized=is_specialized,
        is_part=is_part,
        before=before,
        factors=dict(wrapper.factors),
    )
    wrapper.launches.append(launched)


def _note_both(
    wrapper: Wrapper,
    pair: Pair,
    bound: Mapping[str, Held],
    grid: ast.expr,
    call: ast.Call,
    options: Options,
    value: Reader,
) -> None:
    """Note two launches for one: of the first programs, as many as the grid says, and of the rest.

    The grid must be a sum of both numbers, and the kernel must be given the first one.
    """
    match grid:
        case ast.Call(
            func=ast.Name(id=one) as made,
            args=[what, ast.BinOp(left=left, op=ast.Add(), right=right)],
        ) if one == GRID and value(wrapper, left) == bound[pair.before] and not any(options[1:]):
            counts = left, right
        case _:
            raise Unread(grid.lineno, f"a grid '{ast.unparse(grid)}'")
    for part, count in zip(pair.parts, counts, strict=True):
        own = ast.copy_location(ast.Call(made, [what, count], []), grid)
        given = {one: bound[word] for one, word in part.given.items() if word != pair.before}
        before = next((one for one, word in part.given.items() if word == pair.before), "")
        programs = _grid(wrapper, own, value)
        kernel = part.definition
        _note(wrapper, kernel, given, programs, None, call, options, is_part=True, before=before)


def _check_told(call: ast.Call, given: Sequence[Held], told: ast.Call) -> None:
    """Raise Unread unless all descriptors of a launch decide whether it is specialized."""
    count = sum(isinstance(one, Blocks) for one in given)
    passed, blocks = ([ast.unparse(arg) for arg in one.args] for one in (call, told))
    most = told.args[0] if told.args else None
    if not isinstance(most, ast.Constant) or most.value not in MOST_BYTES:
        raise Unread(call.lineno, f"'{ast.unparse(told)}'")
    if not count or sorted(blocks[1:]) != sorted(passed[-count:]) or told.keywords:
        raise Unread(call.lineno, "a launch that is specialized by other descriptors than its own")


def _turns(wrapper: Wrapper, node: ast.expr, value: Reader) -> tuple[Whole, ...] | None:
    """Return the number of blocks that programs take in turn, as factors; None if they do not."""
    match node:
        case ast.Call(
            func=ast.Name(id=one),
            args=[_, programs, device, ast.Constant(value=int() as each), *more],
            keywords=[],
        ) if TURNS.get(one) == len(more) and each >= 1 and expressions.is_device(wrapper, device):
            wrapper.must_know(one, node.lineno)
            wrapper.must_have_set(more)
            found = value(wrapper, programs)
            factors = found.factors if isinstance(found, Product) else (found,)
            return tuple(wrapper.size(one, node) for one in factors)
        case _:
            return None


def _grid(wrapper: Wrapper, node: ast.expr, value: Reader) -> tuple[tuple[Whole, ...], ...]:
    """Return the number of programs along each axis, as factors."""
    blocks = _turns(wrapper, node, value)
    if blocks is not None:
        _check_sign(wrapper, blocks, node)
        # The wrapper refuses more blocks than that.
        product = prod(blocks, start=number(1))
        wrapper.below = (*wrapper.below, (product, HALF - NEAR))
        # Launches before this one have already run for calls that are refused here.
        if is_affine(product) and not wrapper.launches:
            wrapper.facts.append(compare("<=", product, number(HALF - NEAR)))
        # There is at least one program if there are blocks; how many more depends on the device.
        some = name(f"programs in turn, line {node.lineno}")
        none = (compare("<=", one, number(0)) for one in blocks)
        wrapper.facts.append(one_of(compare(">=", some, number(1)), *none))
        wrapper.facts.append(within(number(0), some, number(NEAR + 1)))
        return ((some,),)
    match node:
        case ast.Call(func=ast.Name(id=one), args=[ast.Constant(), programs]) if one == GRID:
            wrapper.must_know(one, node.lineno)
            parts: tuple[Held, ...] = (value(wrapper, programs),)
        case _:
            found = value(wrapper, node)
            parts = found if isinstance(found, tuple) else (found,)
    axes: list[tuple[Whole, ...]] = []
    for part in parts:
        match part:
            case Product(factors=factors):
                axes.append(tuple(one for one in factors if one.constant != 1))
            case Whole():
                axes.append(() if part.constant == 1 else (part,))
            case _:
                raise Unread(node.lineno, f"a grid '{ast.unparse(node)}'")
    _check_sign(wrapper, [extent for axis in axes for extent in axis], node)
    return tuple(axes)


def _check_sign(wrapper: Wrapper, extents: Sequence[Whole], node: ast.expr) -> None:
    """Raise Unread if an extent of a grid may be negative.

    Two negative numbers have a positive product, and no lemma is about coordinates of such a grid.
    """
    calls = set_of(both(*wrapper.facts))
    for one in extents:
        if not is_affine(one) or not wrapper.run.holds(compare(">=", one, number(0)), calls):
            raise Unread(node.lineno, f"a grid '{ast.unparse(node)}' of what may be negative")


def _types(wrapper: Wrapper, held: Held) -> tuple[str, ...]:
    """Return the types that a parameter may be declared to have, since they change no number."""
    match held:
        case Given(name=one):
            # A launcher says itself that a float has 64 bits. Triton takes a float for 32 bits
            # unless its parameter is declared so.
            return (wrapper.scalars[one] or "tl.float64",)
        case _:
            return ()


def _float_kind(wrapper: Wrapper, annotation: str) -> str:
    """Return the kind of a float that a call passes.

    Triton makes a tensor of 32 bits of it, unless the parameter is declared as 64 bits or is a
    constant. Triton's interpreter leaves it a float of Python. A kernel that dtpoly emits declares
    64 bits, and brings the float to the type in which it computes before it uses it.
    """
    if annotation in CONSTANTS or not wrapper.file.said:
        return kinds.WEAK
    return annotation or kinds.NUMBER


def _argument(wrapper: Wrapper, parameter: str, held: Held, annotation: str, line: int) -> Value:
    types = ("", *CONSTANTS, *_types(wrapper, held))
    if isinstance(held, Given) and not wrapper.file.said:
        types = _types(wrapper, held)
    elif isinstance(held, Kind):
        types = CONSTANTS
        if held.is_torch:
            raise Unread(line, f"'{parameter}' is given a type of torch")
    if annotation not in types:
        raise Unread(line, f"'{parameter}: {annotation}', which is a type for Triton")
    if not wrapper.file.said and (parameter == OFFSET) != (held == Kind(kinds.OFFSET)):
        raise Unread(line, f"what '{parameter}' is given")
    match held:
        case TensorOf(array=array):
            return scalar(Pointer(array.name, number(0)), array.kind)
        case Whole():
            return scalar(held, kinds.WEAK if annotation in CONSTANTS else kinds.SIZE)
        case Given(name=one):
            return scalar(held, wrapper.scalars[one] or _float_kind(wrapper, annotation))
        case Kind(name=kind):
            return Type(kind)
        case Blocks(array=array, block=block, there=there):
            # The last stride of a tensor with a descriptor is 1, so the strides can be left as they
            # are.
            pointer = scalar(Pointer(array.name, number(0)), array.kind)
            return Descriptor(pointer, array.shape, array.strides, block, there)
        case Opaque():
            raise Unread(line, f"what '{parameter}' is given")
        case Maybe() | Product() | Bound() | tuple():
            raise Unread(line, f"what '{parameter}' is given")
        case _:
            # Triton makes a tensor of one bit from a truth, unless the parameter is a constant.
            return scalar(held, kinds.WEAK if annotation in CONSTANTS else kinds.BOOL)
