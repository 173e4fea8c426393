"""Makes random whole kernels, well typed by construction, from the verifier's grammar."""

from __future__ import annotations

import random

from tests.attack.case import Call, Case, Given
from tests.attack.expressions import FLOAT, TRUTH, WHOLE, Scope, Value, expression
from tests.attack.loops import loop
from tests.attack.statements import statement, store
from tests.attack.writing import INDENT, Kernel, load, some_labels

NARROW = ("f16", "f16", "f32", "f32", "f32", "i8", "i16", "i32", "i32", "i64", "u8", "bool")
DOUBLE = ("f64", "f64", "i32", "i64", "bool")
VALUES = ("small", "wide", "edges", "far", "positive")


def case_of_seed(seed: int, more: tuple[str, ...] = ()) -> Case:
    """Return the case of a seed; it has more types if they are computed as on a GPU."""
    generator = random.Random(f"kernels {seed}")
    while True:
        try:
            return _case(generator, more)
        except LookupError:
            continue  # the names of the kernel do not give something that was asked for


def _case(generator: random.Random, more: tuple[str, ...]) -> Case:
    is_double = generator.random() < 0.1
    scope = Scope(generator, wide="f64" if is_double else "f32")
    labels = generator.choice((("i",), ("i", "j"), ("i", "j"), ("i", "j")))
    reduced = "k" if generator.random() < 0.6 else None
    is_dot = reduced is not None and len(labels) == 2 and not is_double and generator.random() < 0.2
    sizes = (16,) if is_dot else (2, 4, 4, 8, 8, 16)
    blocks = {one: generator.choice(sizes) for one in (*labels, "k")}
    kernel = Kernel(scope, labels, reduced, blocks)
    _begin(kernel)
    grid = _programs(kernel)
    types: tuple[str, ...] = DOUBLE if is_double else (*NARROW, *more)
    if not is_double and generator.random() < 0.4:
        # Types differ most in what their own operations give.
        types = (generator.choice(("f16", "f16", "i8", "i16", "u8", "i32", "bool", *more)),)
    functions = _functions(kernel)
    for _ in range(generator.randint(1, 3)):
        load(kernel, some_labels(kernel), generator.choice(types))
    for _ in range(generator.randint(0, 2)):
        statement(kernel)
    if reduced is not None:
        loop(kernel, types, is_dot=is_dot)
    for _ in range(generator.randint(0, 3)):
        statement(kernel)
    for _ in range(generator.randint(1, 2)):
        store(kernel)
    if not any("i" in one.labels for one in kernel.tensors if not one.is_output):
        raise LookupError("no input shows the size of i")
    return _finished(kernel, grid, functions)


def _begin(kernel: Kernel) -> None:
    """Choose names of sizes, blocks and booleans that the caller passes."""
    scope = kernel.scope
    for one in (*kernel.labels, *((kernel.reduced,) if kernel.reduced else ())):
        kernel.parameters.append((f"n{one}", f"len({one})"))
        if scope.chance(0.15):
            scope.values.append(Value(f"n{one}", (), WHOLE, is_index=True))
        kernel.constants.append((f"B{one}", str(kernel.blocks[one])))
        scope.values.append(Value(f"B{one}", (), WHOLE, is_constant=True, is_index=True))
    if scope.chance(0.4):
        kernel.constants.append(("FLAG", scope.pick(("True", "False"))))
        scope.values.append(Value("FLAG", (), TRUTH, is_constant=True))
        scope.note("a truth that is known where the kernel is compiled")
    if scope.chance(0.15):
        kernel.scalars["alpha"] = kernel.random.choice((0.5, -1.75, 3.0))
        kernel.parameters.append(("alpha", "alpha"))
        scope.values.append(Value("alpha", (), FLOAT))
        scope.note("a scalar")


def _programs(kernel: Kernel) -> str:
    """Write program ids and their meaning, and the grid."""
    scope, labels = kernel.scope, kernel.labels
    counts = {one: f"cdiv(len({one}), {kernel.blocks[one]})" for one in labels}
    starts: dict[str, str] = {}
    if len(labels) == 2 and scope.chance(0.3):
        scope.note("one program id for two axes")
        kernel.write("pid = tl.program_id(0)")
        first, second = labels if scope.chance(0.5) else labels[::-1]
        kernel.write(f"across = tl.cdiv(n{second}, B{second})")
        starts = {first: "(pid // across)", second: "(pid % across)"}
        grid = f"({counts[first]} * {counts[second]},)"
    elif len(labels) == 2 and scope.chance(0.15):
        scope.note("three axes of programs")
        starts = {labels[0]: "tl.program_id(2)", labels[1]: "tl.program_id(0)"}
        grid = f"({counts[labels[1]]}, 1, {counts[labels[0]]})"
    else:
        order = list(labels)
        kernel.random.shuffle(order)
        for axis, one in enumerate(order):
            written = scope.pick((f"tl.program_id({axis})", f"tl.program_id(axis={axis})"))
            starts[one] = f"p{one}"
            kernel.write(f"p{one} = {written}")
        grid = "(" + ", ".join(counts[one] for one in order) + ",)"
    for one in labels:
        lanes = f"tl.arange(0, B{one})"
        start = f"{starts[one]} * B{one}"
        kernel.write(
            f"o{one} = " + (f"{start} + {lanes}" if scope.chance(0.7) else f"{lanes} + {start}")
        )
        kernel.write(
            f"m{one} = " + (f"o{one} < n{one}" if scope.chance(0.7) else f"n{one} > o{one}")
        )
        # The type of an index that is made of a size depends on the size, and few operations read
        # such an index as a number.
        if starts[one] == f"p{one}" or scope.chance(0.2):
            scope.values.append(Value(f"o{one}", (one,), WHOLE, is_index=True))
    if scope.chance(0.1):
        kernel.write(f"tl.static_assert(B{labels[0]} >= 2)")
        scope.note("static_assert")
    return grid


def _functions(kernel: Kernel) -> list[str]:
    """Write functions of the file, each of one expression."""
    scope, found = kernel.scope, list[str]()
    for _ in range(kernel.random.choice((0, 0, 1, 2))):
        name = f"helper{len(found)}"
        inside = Scope(
            kernel.random, [Value("a", (), FLOAT), Value("b", (), FLOAT)], wide=scope.wide
        )
        body = f"(a + {expression(inside, (), FLOAT, 2)})"
        if any(word in body for word in (".to(", "tl.cast", "tl.fma")):
            continue
        found += ["@triton.jit", f"def {name}(a, b):", f"{INDENT}return {body} * b", "", ""]
        scope.functions = (*scope.functions, (name, 2))
    return found


def _finished(kernel: Kernel, grid: str, functions: list[str]) -> Case:
    """Write the file, the algorithm and the calls."""
    generator, scope = kernel.random, kernel.scope
    names = [name for name, _ in kernel.parameters]
    signature = ", ".join([*names, *(f"{name}: tl.constexpr" for name, _ in kernel.constants)])
    given = [value for _, value in kernel.parameters]
    given += [f"{name}={value}" for name, value in kernel.constants]
    assumed = [f"# assume: {', '.join(kernel.assumed)}"] if kernel.assumed else []
    lines = [
        "import triton",
        "import triton.language as tl",
        "",
        f"# verify: kernel[{grid}]({', '.join(given)})",
        *assumed,
        "",
        "",
        *functions,
        "@triton.jit",
        f"def kernel({signature}):",
        *kernel.lines,
    ]
    labels = {label for one in kernel.tensors for label in one.labels} | {*kernel.labels}
    if kernel.reduced:
        labels.add("k")
    shown = {label for one in kernel.tensors if not one.is_output for label in one.labels}
    if labels - shown:
        raise LookupError("no input shows a size")
    calls: list[Call] = []
    for at in range(3):
        sizes = {label: generator.choice((1, 3, 5, 7, 8, 13, 16, 20)) for label in sorted(labels)}
        if kernel.assumed:
            most = int(kernel.assumed[0].rpartition(" ")[2])
            sizes["k"] = min(sizes["k"], most)
        values = "small" if at == 0 else generator.choice(VALUES)
        calls.append(Call(sizes, generator.randrange(2**30), values))
    text = "\n".join(lines) + "\n"
    algorithm = algorithm_of(kernel.tensors, kernel.scalars)
    return Case(
        text,
        algorithm,
        tuple(kernel.tensors),
        kernel.scalars,
        tuple(calls),
        tuple(sorted(scope.features)),
        scope.wide,
    )


def algorithm_of(tensors: list[Given], scalars: dict[str, float]) -> str:
    """Return an algorithm that declares the tensors, and says nothing of what a kernel computes.

    Each input is read at its labels, so that these have its sizes.
    """
    lines: list[str] = []
    labels = sorted({label for one in tensors for label in one.labels})
    for one in tensors:
        if one.is_output:
            lines.append(f"Func {one.name}: {one.dtype};")
        else:
            lines.append(f"In {one.name}: {one.dtype};")
            lines.append(f"Func f{one.name}: {one.dtype};")
    lines += [f"SIn {one};" for one in scalars]
    lines.append(f"RVar {', '.join(labels)};")
    for one in tensors:
        indices = ", ".join(one.labels)
        if one.is_output:
            value = f"cast({' + '.join(one.labels)}, {one.dtype})"
            lines.append(f"{one.name}[{indices}] = {value};")
        else:
            lines.append(f"f{one.name}[{indices}] = {one.name}[{indices}];")
    if scalars:
        anchor = next(one for one in tensors if one.is_output)
        lines.append(f"Func fscalar;\nfscalar[{anchor.labels[0]}] = {' + '.join(scalars)};")
    return "\n".join(lines) + "\n"
