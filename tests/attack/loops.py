"""Makes random loops of a kernel: the loads of each iteration, and the carried values."""

from __future__ import annotations

from dataclasses import dataclass

from tests.attack.expressions import (
    FLOAT,
    TL,
    TRUTH,
    WHOLE,
    Axes,
    Value,
    cast,
    class_of,
    expression,
    tile,
)
from tests.attack.writing import INDENT, Kernel, load, some_labels


@dataclass(frozen=True)
class Accumulator:
    """A value that a loop carries: its start, and how it changes."""

    name: str
    axes: Axes
    word: str
    dtype: str


def _accumulator(kernel: Kernel, *, is_dot: bool) -> Accumulator:
    scope = kernel.scope
    floats = (scope.wide, scope.wide) if scope.wide == "f64" else ("f32",) * 9 + ("f16",)
    dtype = scope.pick((*floats, "i32", "i32", "i64"))
    word = scope.pick(("+", "+", "max", "min"))
    if is_dot:
        return Accumulator(kernel.name("acc"), kernel.labels, "dot", "f32")
    shapes: list[Axes] = [kernel.labels, (kernel.labels[0],)]
    if len(kernel.labels) == 1:
        shapes = [kernel.labels, (*kernel.labels, "k")]
    return Accumulator(kernel.name("acc"), kernel.random.choice(shapes), word, dtype)


def _start(kernel: Kernel, one: Accumulator) -> None:
    shape = ", ".join(f"B{axis}" for axis in one.axes)
    shape = f"({shape},)" if len(one.axes) == 1 else f"({shape})"
    kind = TL[one.dtype]
    is_float = class_of(one.dtype) == FLOAT
    match one.word:
        case "max" | "min" if is_float:
            sign = "-" if one.word == "max" else ""
            start = f"tl.full({shape}, float('{sign}inf'), {kind})"
        case "max" | "min":
            start = f"tl.full({shape}, {-100 if one.word == 'max' else 100}, dtype={kind})"
        case _ if kernel.scope.chance(0.2):
            start = f"tl.full({shape}, {'1.5' if is_float else '2'}, {kind})"
        case _:
            start = f"tl.zeros({shape}, dtype={kind})"
    kernel.write(f"{one.name} = {start}")


def loop(kernel: Kernel, types: tuple[str, ...], *, is_dot: bool) -> None:
    """Write a loop over the reduced label, with the values that it carries."""
    scope, outer = kernel.scope, list(kernel.scope.values)
    carried = [_accumulator(kernel, is_dot=is_dot)]
    if scope.chance(0.35):
        carried.append(_accumulator(kernel, is_dot=False))
    for one in carried:
        _start(kernel, one)
    step = kernel.random.randrange(4)
    match step:
        case 0:
            kernel.write("for k in range(0, nk, Bk):")
            index = "k + tl.arange(0, Bk)"
        case 1:
            kernel.write(f"for k in {scope.pick(('range', 'tl.range'))}(tl.cdiv(nk, Bk)):")
            index = "k * Bk + tl.arange(0, Bk)"
        case 2:
            kernel.write("for k in tl.range(0, nk, Bk, num_stages=2):")
            index = "tl.arange(0, Bk) + k"
        case _:
            count = kernel.random.randint(2, 4)
            kernel.constants.append(("TIMES", str(count)))
            kernel.assumed.append(f"len(k) <= {count * kernel.blocks['k']}")
            kernel.write(f"for k in {scope.pick(('range', 'tl.static_range'))}(TIMES):")
            scope.note("a loop of a known length")
            index = "k * Bk + tl.arange(0, Bk)"
    scope.note("a loop")
    kernel.depth += 1
    kernel.write(f"ok = {index}")
    kernel.write("mk = ok < nk")
    if (index.startswith("k * Bk") and "TIMES" in kernel.lines[-3]) or scope.chance(0.15):
        scope.values.append(Value("ok", ("k",), WHOLE, is_index=True))
    if is_dot:
        dtype = scope.pick(("f16", "f16", "f32", "i8"))
        left = load(kernel, scope.random.choice((("i", "k"), ("k", "i"))), dtype, other="0")
        right = load(kernel, scope.random.choice((("k", "j"), ("j", "k"))), dtype, other="0")
        _dot(kernel, carried[0], left, right, dtype)
    else:
        for _ in range(kernel.random.randint(1, 2)):
            load(kernel, some_labels(kernel, ("k",)), kernel.random.choice(types))
    if scope.chance(0.3):
        code = tile(scope, ("k",), FLOAT, 2)
        kernel.set("v", code, ("k",), FLOAT)
    for one in carried:
        if one.word != "dot":
            _go_on(kernel, one)
    kernel.depth -= 1
    scope.values = outer
    for one in carried:
        _after(kernel, one)


def _dot(kernel: Kernel, one: Accumulator, left: Value, right: Value, dtype: str) -> None:
    scope = kernel.scope
    scope.note("tl.dot")
    a = left.code if left.axes == ("i", "k") else f"tl.trans({left.code})"
    b = right.code if right.axes == ("k", "j") else f"tl.trans({right.code})"
    options = ', input_precision="ieee"' if dtype == "f32" else ""
    if dtype == "i8":
        kernel.write(f"{one.name} += tl.dot({a}, {b}).to(tl.float32)")
    elif scope.chance(0.5):
        kernel.write(f"{one.name} = tl.dot({a}, {b}, {one.name}{options})")
    else:
        kernel.write(f"{one.name} += tl.dot({a}, {b}{options})")


def _go_on(kernel: Kernel, one: Accumulator) -> None:
    """Combine something with a value that the loop carries."""
    scope, of = kernel.scope, class_of(one.dtype)
    depth = kernel.random.randint(0, 2)
    if "k" in one.axes:
        code = tile(scope, one.axes, of, depth)
    else:
        inner = (one.axes[0], "k") if len(one.axes) == 1 else ("k",)
        if len(one.axes) == 1:
            word = scope.pick(("sum", "sum", "max", "min"))
            scope.note(f"tl.{word}")
            code = f"tl.{word}({tile(scope, inner, of, depth)}, axis=1)"
        else:
            # This is one number for each iteration, spread over the tile.
            word = scope.pick(("sum", "max"))
            scope.note("a reduction to one number")
            kernel.set("r", f"tl.{word}({tile(scope, ('k',), of, depth)}, axis=0)", (), of)
            code = tile(scope, one.axes, of, 1)
    code = cast(scope, code, one.dtype)
    match one.word:
        case "+":
            line = (
                f"{one.name} += {code}"
                if scope.chance(0.5)
                else f"{one.name} = {one.name} + {code}"
            )
        case _ if of == FLOAT and scope.chance(0.95):
            nans = ", propagate_nan=tl.PropagateNan.ALL"
            line = f"{one.name} = tl.{one.word}imum({one.name}, {code}{nans})"
        case _:
            line = f"{one.name} = tl.{one.word}imum({one.name}, {code})"
    if scope.chance(0.15):
        scope.note("a branch in a loop")
        kernel.write(f"if {scope.pick(('k > 0', 'nk > 5', f'n{kernel.labels[0]} > 3'))}:")
        kernel.write(INDENT + line)
    elif one.word == "+" and scope.chance(0.15):
        scope.note("an accumulator that sometimes stays")
        condition = expression(scope, one.axes, TRUTH, 1)
        kernel.write(f"{one.name} = tl.where({condition}, {one.name} + {code}, {one.name})")
    else:
        kernel.write(line)


def _after(kernel: Kernel, one: Accumulator) -> None:
    """After the loop, its carried values are values as any other."""
    of = class_of(one.dtype)
    if one.axes == kernel.labels or len(one.axes) == 1:
        kernel.scope.values.append(Value(one.name, one.axes, of))
        return
    word = {"+": "sum", "max": "max", "min": "min"}[one.word]
    kernel.scope.note(f"tl.{word}")
    kernel.set("r", f"tl.{word}({one.name}, axis=1)", (one.axes[0],), of)
