"""Random statements of a kernel: values from values, branches, stores."""

from __future__ import annotations

from tests.attack.case import Given
from tests.attack.expressions import (
    FLOAT,
    TRUTH,
    WHOLE,
    Axes,
    Value,
    cast,
    class_of,
    covered,
    expression,
    tile,
)
from tests.attack.writing import INDENT, Kernel, given, mask_of, offset_of

OUTPUTS = ("f32", "f32", "f16", "i32", "i64", "i8", "bool")


def _axes(kernel: Kernel) -> Axes:
    """Return the axes of some tile."""
    labels = kernel.labels
    if len(labels) == 2 and kernel.scope.chance(0.25):
        return (kernel.random.choice(labels),)
    return labels


def statement(kernel: Kernel) -> None:
    """A new value from those that are there."""
    scope, way = kernel.scope, kernel.random.randrange(12)
    of = kernel.random.choice((FLOAT, FLOAT, FLOAT, WHOLE, WHOLE, TRUTH))
    axes = _axes(kernel)
    match way:
        case 0 if len(kernel.labels) == 2:
            _reduction(kernel, kernel.labels)
        case 1 | 2:
            _branch(kernel, axes)
        case 3 | 5:
            names = [one for one in scope.values if one.code[0] in "vx" and one.of == FLOAT]
            if not names:
                raise LookupError("nothing to change")
            changed = kernel.random.choice(names)
            code = expression(scope, changed.axes, FLOAT, 1)
            if not covered(scope, code) <= set(changed.axes):
                raise LookupError("it would have more axes")
            scope.note("augmented assignment")
            kernel.write(f"{changed.code} {scope.pick(('+=', '-=', '*='))} {code}")
        case 4 | 6 if len(kernel.labels) == 2:
            _rearranged(kernel)
        case _:
            code = tile(scope, axes, of, kernel.random.randint(1, 3))
            kernel.set("v", code, axes, of)


def _rearranged(kernel: Kernel) -> None:
    """A tile turned around and back, or laid out anew."""
    scope, (first, second) = kernel.scope, kernel.labels
    whole = [one for one in scope.values if one.axes == kernel.labels and one.of != TRUTH]
    if not whole:
        raise LookupError("no tile")
    value = kernel.random.choice(whole)
    match kernel.random.randrange(3):
        case 0:
            scope.note("trans")
            turned = kernel.name("t")
            kernel.write(f"{turned} = tl.trans({value.code})")
            kernel.set("v", f"tl.trans({turned} * 2)", kernel.labels, value.of)
        case 1:
            scope.note("reshape")
            flat = kernel.name("t")
            kernel.write(f"{flat} = tl.reshape({value.code}, (B{first} * B{second},))")
            kernel.set("v", f"tl.reshape({flat}, (B{first}, B{second}))", kernel.labels, value.of)
        case _:
            scope.note("broadcast_to")
            along = [one for one in scope.values if one.axes == (second,) and one.of != TRUTH]
            if not along:
                raise LookupError("nothing to broadcast")
            chosen = kernel.random.choice(along)
            code = f"tl.broadcast_to({chosen.code}[None, :], (B{first}, B{second}))"
            kernel.set("v", code, kernel.labels, chosen.of)


def _reduction(kernel: Kernel, labels: tuple[str, ...]) -> Value:
    """Return all lanes of one axis of a tile put together."""
    scope = kernel.scope
    of = kernel.random.choice((FLOAT, FLOAT, WHOLE))
    word = scope.pick(("sum", "sum", "max", "min"))
    code = tile(scope, labels, of, kernel.random.randint(0, 2))
    at = kernel.random.randrange(2)
    rest = (labels[1 - at],)
    axis = scope.pick((f"axis={at}", str(at), f"axis={at - 2}"))
    scope.note(f"tl.{word}")
    return kernel.set("r", f"tl.{word}({code}, {axis})", rest, of)


def _branch(kernel: Kernel, axes: Axes) -> None:
    """A value that is one of two, as sizes say."""
    scope = kernel.scope
    dtype = scope.pick((scope.wide, scope.wide, "i32"))
    of = class_of(dtype)
    made = kernel.name("v")
    size = f"n{kernel.random.choice(kernel.labels)}"
    tests = [
        f"{size} > {kernel.random.randint(1, 20)}",
        f"{size} % 2 == 0",
        "Bi > 4",
        "Bi // 2 == 2",
    ]
    if any(name == "FLAG" for name, _ in kernel.constants):
        tests += ["FLAG", "not FLAG", "~FLAG", "FLAG and Bi > 2", "FLAG == True"]
    test = scope.pick(tests)
    if "~" in test:
        scope.note("~ of what is known where the kernel is compiled")
    scope.note("a branch on what is known" if "n" not in test else "a branch on sizes")
    sides = [cast(scope, tile(scope, axes, of, kernel.random.randint(1, 2)), dtype) for _ in "12"]
    if scope.chance(0.3):
        kernel.write(f"{made} = {sides[0]}")
        kernel.write(f"if {test}:")
        kernel.write(f"{INDENT}{made} = {sides[1]}")
    else:
        kernel.write(f"if {test}:")
        kernel.write(f"{INDENT}{made} = {sides[0]}")
        kernel.write("else:")
        kernel.write(f"{INDENT}{made} = {sides[1]}")
    scope.values.append(Value(made, axes, of))


def store(kernel: Kernel) -> None:
    """Store a value of a tile, or of one axis of it, or put it to what is there."""
    scope = kernel.scope
    axes = _axes(kernel)
    if axes != kernel.labels and not _is_alone(kernel, axes):
        axes = kernel.labels
    dtype = scope.pick(("f64", "i64")) if scope.wide == "f64" else scope.pick(OUTPUTS)
    labels = tuple(str(one) for one in axes)
    if scope.chance(0.2):
        labels = labels[::-1]
    one = given(kernel, labels, dtype, is_output=True)
    names = {label: f"m{label}" for label in kernel.labels}
    code = tile(scope, axes, class_of(dtype), kernel.random.randint(0, 2))
    if scope.chance(0.5) and dtype != "bool":
        code = cast(scope, code, dtype)
    places = {label: f"o{label}" for label in kernel.labels}
    address = offset_of(kernel, one, labels if len(labels) < 2 else tuple(map(str, axes)), places)
    mask = mask_of(kernel, tuple(str(label) for label in axes), names)
    word = "store"
    if dtype in ("f32", "i32") and scope.chance(0.12):
        word = scope.pick(("atomic_add", "atomic_add", "atomic_max", "atomic_min"))
        if word != "atomic_add" and dtype == "f32":
            word = "atomic_add"
        scope.note(word)
        kernel.tensors[-1] = Given(one.name, dtype, labels, True, one.gap, "values")
        code = cast(scope, tile(scope, axes, class_of(dtype), 1), dtype)
    if scope.chance(0.2) and word == "store":
        kernel.write(f"if n{kernel.labels[0]} > 1:")
        kernel.write(f"{INDENT}tl.store({address}, {code}, mask={mask})")
        scope.note("a store in a branch")
    else:
        kernel.write(f"tl.{word}({address}, {code}, mask={mask})")


def _is_alone(kernel: Kernel, axes: Axes) -> bool:
    """Several programs may write one element only if they write the same: that is not tried."""
    return axes == kernel.labels
