"""Evaluate the Python expressions of a wrapper over symbolic sizes.

A wrapper is the Python function that checks its arguments and launches kernels. Its expressions
give sizes, shapes, types and tensors (see held for what a name can hold). Any other expression
raises Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from dtpoly.verify.algebra import kinds
from dtpoly.verify.algebra.extents import size_name
from dtpoly.verify.algebra.kinds import HALF, NEAR
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.shared import rank
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    either,
    extreme,
    name,
    negation,
    number,
    one_of,
    within,
)
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
from dtpoly.verify.triton.access import Array
from dtpoly.verify.triton.digits import programs_of

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
TORCH = {
    "torch.bool": "tl.int1",
    "torch.uint8": "tl.uint8",
    "torch.int8": "tl.int8",
    "torch.int16": "tl.int16",
    "torch.int32": "tl.int32",
    "torch.int64": "tl.int64",
    "torch.float8_e4m3fn": "tl.float8e4nv",
    "torch.float8_e5m2": "tl.float8e5",
    "torch.float16": "tl.float16",
    "torch.bfloat16": "tl.bfloat16",
    "torch.float32": "tl.float32",
    "torch.float64": "tl.float64",
}

# Calls that return the device of the caller's tensors.
DEVICES = ("dt_check(", "dt_device(")
# The largest number of 64 bits: no size is larger.
LARGEST = 2**63 - 1
# A parameter of wrappers that has no value before the wrapper sets it.
UNSET = ("device",)


def condition(wrapper: Wrapper, node: ast.expr) -> Truth:
    """Return a condition over sizes as a formula."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            word = COMPARISONS.get(type(op))
            a, b = value(wrapper, left), value(wrapper, right)
            if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
                sizes = zip(a, b, strict=True)
                same = both(
                    *(compare("==", wrapper.size(x, node), wrapper.size(y, node)) for x, y in sizes)
                )
                if word in ("==", "!="):
                    return same if word == "==" else negation(same)
            if word and isinstance(a, Whole) and isinstance(b, Whole):
                return compare(word, a, b)
        case ast.BoolOp(op=op, values=values):
            parts = [condition(wrapper, one) for one in values]
            return both(*parts) if isinstance(op, ast.And) else one_of(*parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return negation(condition(wrapper, operand))
        case ast.Constant(value=bool() as constant):
            return TRUE if constant else FALSE
        case _:
            found = value(wrapper, node)
            if isinstance(found, Whole):
                return compare("!=", found, number(0))
    raise Unread(node.lineno, f"a condition of the wrapper: '{ast.unparse(node)}'")


def value(wrapper: Wrapper, node: ast.expr) -> Held:
    """Return the value of an expression."""
    match node:
        case ast.Constant(value=bool() as constant):
            return TRUE if constant else FALSE
        case ast.Constant(value=int() as constant):
            return number(constant)
        case ast.Name(id=one) if one in wrapper.names:
            return wrapper.names[one]
        case ast.Tuple(elts=elements):
            parts: list[Held] = []
            for element in elements:
                if isinstance(element, ast.Starred):
                    parts.extend(wrapper.parts(value(wrapper, element.value), node))
                else:
                    parts.append(value(wrapper, element))
            return tuple(parts)
        case ast.Attribute(value=ast.Name(id=one), attr="shape") if one in wrapper.names:
            return wrapper.tensor(wrapper.names[one], node).shape
        case ast.Attribute(value=ast.Name(id=one), attr="dtype") if one in wrapper.names:
            return Kind(wrapper.tensor(wrapper.names[one], node).kind, is_torch=True)
        case ast.Attribute() if (text := ast.unparse(node)) in TORCH or text.startswith("tl."):
            return Kind(TORCH.get(text, text), is_torch=text in TORCH)
        case ast.Subscript(value=ast.Name(id="dt_triton" | "dt_torch" as table), slice=inner):
            given = value(wrapper, inner)
            if not isinstance(given, Kind):
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            return replace(given, is_torch=table == "dt_torch")
        case ast.Subscript(value=outer, slice=ast.Constant(value=int() as at)):
            held = wrapper.parts(value(wrapper, outer), node)
            if not 0 <= at < len(held):
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            return held[at]
        case ast.BinOp(left=left, op=op, right=right):
            first, second = value(wrapper, left), value(wrapper, right)
            result = _operated(op, first, second, node)
            if isinstance(op, ast.Mult) and isinstance(result, Whole):
                _remember_factors(wrapper, result, first, second)
            return result
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -wrapper.size(value(wrapper, operand), node)
        case ast.BoolOp(values=values) if not all(map(_is_truth, values)):
            raise Unread(node.lineno, f"'{ast.unparse(node)}', which may be a number")
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp():
            return condition(wrapper, node)
        case ast.Call():
            return _called(wrapper, node)
        case ast.Name(id=one) if one not in wrapper.file.texts and one not in UNSET:
            raise Unread(node.lineno, f"'{one}' is not known")
        case ast.Attribute() | ast.Name() | ast.Constant() | ast.Set() | ast.Dict():
            return Opaque(ast.unparse(node))
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}' in the wrapper")


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression is always True or False in Python, and never a number."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(map(_is_truth, values))
        case _:
            return False


def is_device(wrapper: Wrapper, node: ast.expr | None) -> bool:
    """Whether an expression is the device of the caller's tensors."""
    held = wrapper.names.get(node.id) if isinstance(node, ast.Name) else None
    return isinstance(held, Opaque) and held.text.startswith(DEVICES)


def _remember_factors(wrapper: Wrapper, result: Whole, first: Held, second: Held) -> None:
    """Remember the factors of a product: a grid may have to be taken apart in these factors.

    Nothing is remembered if a factor is a constant below 1, or no whole number.
    """
    factors: list[Whole] = []
    for one in (first, second):
        if not isinstance(one, Whole) or (one.constant is not None and one.constant < 1):
            return
        factors.extend(wrapper.factors.get(one, (one,)))
    wrapper.factors[result] = tuple(factors)


def _operated(op: ast.operator, left: Held, right: Held, node: ast.expr) -> Held:
    """Carry out arithmetic on sizes; a product of sizes keeps its factors, as a `Product`."""
    if (
        isinstance(op, ast.Mult)
        and isinstance(left, Whole | Product)
        and isinstance(right, Whole | Product)
    ):
        if isinstance(left, Whole) and isinstance(right, Whole):
            if left.constant is not None or right.constant is not None:
                return left * right
            return Product((left, right))
        factors: tuple[Whole, ...] = ()
        for one in (left, right):
            factors += one.factors if isinstance(one, Product) else (one,)
        return Product(factors)
    if isinstance(left, Whole) and isinstance(right, Whole):
        by = right.constant
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.FloorDiv() if by:
                return left.floor(by) if by > 0 else (-left).floor(-by)
            case ast.Mod() if by is not None and by > 0:
                return left.modulo(by)
            case _:
                pass
    raise Unread(node.lineno, f"'{ast.unparse(node)}' in the wrapper")


def _called(wrapper: Wrapper, node: ast.Call) -> Held:
    """Return the value of a call."""
    text = ast.unparse(node.func)
    args = node.args
    match node.func, text:
        case _, "torch.empty":
            return _made(wrapper, node)
        case _, "max" | "min":
            return _extreme(wrapper, text == "max", args, node)
        case ast.Attribute(value=inner, attr="stride"), _ if not args:
            return wrapper.tensor(value(wrapper, inner), inner).strides
        case ast.Attribute(value=inner, attr="stride" | "size" as word), _:
            array = wrapper.tensor(value(wrapper, inner), inner)
            at = wrapper.size(value(wrapper, args[0]), node).constant
            parts = array.strides if word == "stride" else array.shape
            if at is None or not 0 <= at < len(parts):
                raise Unread(node.lineno, f"'{text}'")
            return parts[at]
        case ast.Name(id=function), _ if function.startswith("dt_"):
            wrapper.must_know(function, node.lineno)
            return _known(wrapper, function, args, node)
        case _:
            raise Unread(node.lineno, f"a call of '{text}' in the wrapper")


def _extreme(wrapper: Wrapper, largest: bool, args: list[ast.expr], node: ast.Call) -> Held:
    """Return the smallest or the largest of sizes.

    If there are products among the operands of `max`, the result is a `Bound`: all that is kept of
    it is that it is not less than any of them.
    """
    found: list[Held] = []
    for arg in args:
        held = value(wrapper, arg)
        found.extend(held.parts if isinstance(held, Bound) else (held,))
    if largest and any(isinstance(one, Product) for one in found):
        return Bound(tuple(_multiplied(one) if isinstance(one, Product) else one for one in found))
    if len(args) < 2:
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    sizes = [wrapper.size(one, node) for one in found]
    total = sizes[0]
    for one in sizes[1:]:
        total = extreme(largest, total, one)
    return total


def _multiplied(of: Product) -> Whole:
    total = number(1)
    for one in of.factors:
        total = total * one
    return total


def _known(wrapper: Wrapper, function: str, args: list[ast.expr], node: ast.Call) -> Held:
    """Return what one of the functions `dt_...` gives, which each emitted file has."""
    match function:
        case "dt_lanes":
            size = wrapper.size(value(wrapper, args[0]), node)
            lanes = name(f"lanes({rank(size)})")
            wrapper.facts.append(compare(">=", lanes, size))
            wrapper.facts.append(compare(">=", lanes, number(16)))
            return lanes
        case "dt_fit":
            extent, low, high, by = (wrapper.size(value(wrapper, arg), node) for arg in args)
            return _fit(extent, low, high, by, node)
        case "dt_float" | "dt_bool" | "dt_int" if isinstance(
            given := value(wrapper, args[1]), Given
        ):
            _check_number(wrapper, function, given.name, args)
            return given
        case "dt_float" | "dt_bool":
            return value(wrapper, args[1])
        case "dt_int":
            given = value(wrapper, args[1])
            # Launches before this check have already run for numbers that it refuses.
            if isinstance(given, Whole) and not wrapper.launches:
                for word, bound in zip((">=", "<="), args[2:4], strict=True):
                    limit = wrapper.size(value(wrapper, bound), node)
                    wrapper.facts.append(compare(word, given, limit))
            return given
        case "dt_given":
            return _given(wrapper, args, node)
        case "dt_real":
            found = [value(wrapper, arg) for arg in args]
            names = {kind.name for kind in found if isinstance(kind, Kind)}
            wanted = {kinds.stored(frozenset({one})) for one in wrapper.callers}
            return Kind(kinds.REAL if wanted <= names else kinds.LOST)
        case "dt_promoted":
            kind = kinds.WEAK
            for arg in args[1:]:
                found_kind = value(wrapper, arg)
                if not isinstance(found_kind, Kind):
                    raise Unread(node.lineno, f"'{ast.unparse(node)}'")
                kind = found_kind.name if not kind else _promoted(kind, found_kind.name)
            return Kind(kind, is_torch=True)
        case "dt_operand":
            given, real = (value(wrapper, arg) for arg in args)
            if not isinstance(given, Kind) or not isinstance(real, Kind):
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            if real.name == "tl.float64":
                return real
            # If values are computed in f64 for some callers, operands must not be narrower for
            # those callers.
            is_wide = real.name == kinds.REAL or not wrapper.callers
            return Kind(kinds.operand(given.name) if is_wide else kinds.LOST)
        case "dt_offset":
            if wrapper.largest or wrapper.reaches:
                raise Unread(node.lineno, "another type of offsets, before a launch has the first")
            largest = value(wrapper, args[0])
            together = largest.parts if isinstance(largest, Bound) else (largest,)
            parts = [wrapper.size(part, node) for part in together]
            wrapper.largest = tuple(parts)
            arrays = [wrapper.tensor(value(wrapper, arg), arg) for arg in args[1:]]
            strides = (stride for array in arrays for stride in array.strides)
            wrapper.reaches = frozenset(str(one.plain) for one in strides)
            others = [one.value for one in node.keywords if one.arg == "sizes"]
            told = [s for one in others for s in wrapper.parts(value(wrapper, one), node)]
            extents = {extent for array in arrays for extent in array.shape}
            extents |= {wrapper.size(one, node) for one in told}
            # A size just below 2^31 is refused only if the largest number is large, too. So only
            # sizes that are never above one of these numbers are sure to be refused.
            ordered = sorted(extents, key=rank)
            wrapper.apart |= {one for one in ordered if _is_covered(wrapper, one, parts)}
            # If there are several numbers, the function looks only at the largest of them.
            wrapper.apart |= {*parts} if len(parts) == 1 else frozenset[Whole]()
            return Kind(kinds.OFFSET)
        case "dt_rows" if len(args) == 3:
            return _made(wrapper, node)
        case "dt_blocks" | "dt_blocks_at" if len(args) == 2 + (function == "dt_blocks_at"):
            return _blocks(wrapper, args, node)
        case "dt_turned":
            return _turned(wrapper, args, node)
        case "dt_check":
            look_at(wrapper, args)
            return Opaque(ast.unparse(node))
        case _:
            return Opaque(ast.unparse(node))


def _given(wrapper: Wrapper, args: Sequence[ast.expr], node: ast.Call) -> Maybe:
    """Return a size that a call may leave out, now checked to be a whole number not below 0.

    The facts about its name hold also for the size that it has if the call leaves it out: that is
    not larger than LARGEST either.
    """
    match args:
        case [_, given, ast.Constant(value=int() as most)] if most >= LARGEST:
            held = value(wrapper, given)
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    if not isinstance(held, Maybe):
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    size = name(size_name(held.label))
    wrapper.facts += [compare(">=", size, number(0)), compare("<=", size, number(LARGEST))]
    return replace(held, is_checked=True)


def _blocks(wrapper: Wrapper, args: list[ast.expr], node: ast.Call) -> Blocks:
    """Return a descriptor that may be None; if it is not, no index of the tensor is near 2^31."""
    array = wrapper.tensor(value(wrapper, args[0]), node)
    block = [
        wrapper.size(one, node).constant for one in wrapper.parts(value(wrapper, args[1]), node)
    ]
    # A descriptor for blocks that start at multiples of `steps` may be None although one for the
    # same blocks without `steps` is not: so these are part of its name.
    steps = [wrapper.size(value(wrapper, one), node).constant for one in args[2:]]
    is_box = len(block) == len(array.shape) and all(one and one & (one - 1) == 0 for one in block)
    if not is_box or None in steps:
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    flag = name(f"blocks({array.name}: {' '.join(map(str, (*block, *steps)))})")
    there = compare("==", flag, number(1))
    wrapper.facts.append(within(number(0), flag, number(2)))
    # This is one choice for all axes, not one for each: isl looks at all combinations of choices.
    inside = both(*(within(number(1), extent, number(HALF - NEAR)) for extent in array.shape))
    wrapper.facts.append(one_of(negation(there), inside))
    return Blocks(array, tuple(one for one in block if one is not None), there)


def _turned(wrapper: Wrapper, args: list[ast.expr], node: ast.Call) -> Blocks:
    """Return a descriptor with its axes in another order."""
    blocks = value(wrapper, args[0])
    axes = [
        wrapper.size(one, node).constant for one in wrapper.parts(value(wrapper, args[1]), node)
    ]
    order = [axis for axis in axes if axis is not None]
    if not isinstance(blocks, Blocks) or sorted(order) != [*range(len(blocks.block))]:
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    array = blocks.array
    if len(order) < len(axes) or order[-1] != len(array.shape) - 1:
        raise Unread(node.lineno, f"'{ast.unparse(node)}': the last axis must stay the last one")
    strides, shape = (tuple(part[axis] for axis in order) for part in (array.strides, array.shape))
    turned = replace(array, strides=strides, shape=shape)
    return replace(blocks, array=turned, block=tuple(blocks.block[axis] for axis in order))


def _is_covered(wrapper: Wrapper, one: Whole, parts: Sequence[Whole]) -> bool:
    """Whether one of the parts is known to be never less than a number."""
    known = [compare(">=", part, one) for part in parts]
    calls = both(*wrapper.facts)
    return any(
        is_affine(both(calls, least)) and wrapper.run.holds(least, set_of(calls)) for least in known
    )


def _check_number(wrapper: Wrapper, function: str, one: str, args: Sequence[ast.expr]) -> None:
    """Note that the wrapper refuses a number that is not of its declared type.

    Raises Unread if it checks for another type.
    """
    kind = wrapper.scalars[one]
    words = {"": "dt_float", kinds.BOOL: "dt_bool"}
    bounds = [wrapper.size(value(wrapper, arg), arg).constant for arg in args[2:]]
    wanted = [kinds.LEAST[kind], kinds.LARGEST[kind]] if kind in kinds.WHOLES else []
    if function != words.get(kind, "dt_int") or bounds != wanted:
        raise Unread(args[1].lineno, f"'{one}' is looked at as another number than it is")
    wrapper.checked.add(one)


def look_at(wrapper: Wrapper, args: list[ast.expr]) -> None:
    """Note that the wrapper refuses a tensor that has not the declared rank and type.

    The first tensor that is checked decides the device, and all others must be there, too.
    """
    match args:
        case [_, ast.Name(id=one), ast.Constant(value=int() as rank), allowed, *device]:
            is_first = wrapper.checked.isdisjoint(wrapper.inputs)
            if not (is_first and not device) and not any(is_device(wrapper, a) for a in device):
                raise Unread(args[1].lineno, f"nobody looks where '{one}' is")
            array = wrapper.tensor(wrapper.names.get(one), args[1])
            is_any = ast.unparse(allowed) == "dt_floats" and one in wrapper.callers
            types = value(wrapper, allowed)
            if rank == len(array.shape) and (is_any or types == (Kind(array.kind),)):
                wrapper.checked.add(array.name)
        case _:
            pass


def _promoted(first: str, second: str) -> str:
    parts = (kinds.members(first) or {first}) | (kinds.members(second) or {second})
    if parts <= {*kinds.FLOATS}:
        return kinds.met(first, second)
    return kinds.stored(frozenset(parts))


def _fit(extent: Whole, low: Whole, high: Whole, coefficient: Whole, node: ast.expr) -> Whole:
    """Return the largest size of a label for which an index stays inside of an axis."""
    by = coefficient.constant
    if not by:
        raise Unread(node.lineno, f"'{ast.unparse(node)}' in the wrapper")
    largest = (extent - 1 - high).floor(by) + 1 if by > 0 else low.floor(-by) + 1
    inside = both(compare(">=", low, number(0)), compare("<", high, extent))
    return either(inside, largest, number(0))


def _made(wrapper: Wrapper, node: ast.Call) -> Held:
    """Return a new tensor; it gets its name and strides when it is bound to a name."""
    shape = wrapper.parts(value(wrapper, node.args[0]), node)
    extents = tuple(
        programs_of(one.factors) if isinstance(one, Product) else wrapper.size(one, node)
        for one in shape
    )
    given = zip(("dtype", "device"), node.args[1:], strict=False)
    named = {keyword.arg: keyword.value for keyword in node.keywords} | dict(given)
    if set(named) - {"dtype", "device"} or "dtype" not in named:
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    device = ast.unparse(named.get("device", node))
    held = wrapper.names.get(device)
    where = held.text if isinstance(held, Opaque) else device
    if not (where.startswith(DEVICES) or (where.endswith(".device") and wrapper.like)):
        raise Unread(node.lineno, f"where '{ast.unparse(node)}' is")
    kind = value(wrapper, named["dtype"])
    if not isinstance(kind, Kind):
        raise Unread(node.lineno, f"the type of '{ast.unparse(node)}'")
    return TensorOf(Array("?", (), extents, kind.name))
