"""Changes names, imports, and what a module does when it is loaded."""

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

from tests.attack.mutants.source import Operator, Source, anywhere, pick

DUNDERS = ("__builtins__", "__name__", "__file__", "__debug__", "__annotations__", "__all__")
TAKEN = ("tl", "torch", "triton", "range", "min", "max", "len", "float", "int", "not_", "sys")
# These lines are inserted at module level, anywhere between functions.
LINES = (
    "{dunder} = {value}",
    "{builtin} = {value}",
    "{builtin} = lambda *given, **named: 0",
    "tl.{function} = tl.{other}",
    "tl.float32 = tl.float16",
    "torch.{maker} = torch.zeros",
    "torch.float32 = torch.float16",
    "triton.cdiv = lambda a, b: a // b",
    "triton.jit = lambda one: one",
    "{function_of_file}.{attribute} = {value}",
    "{function_of_file} = {function_of_file}",
    "{function_of_file} = {other_function}",
    "del {function_of_file}",
    "for {function_of_file} in ():\n    pass",
    "if True:\n    {function_of_file} = {other_function}",
    "with threading.Lock():\n    {function_of_file} = {function_of_file}",
    "try:\n    pass\nexcept Exception as {function_of_file}:\n    pass",
    "def {function_of_file}(*given, **named):\n    return given[0]",
    "def {builtin}(*given):\n    return given[-1]",
    "def __getattr__(name):\n    return {function_of_file}",
    "class {function_of_file}:\n    pass",
    "class tl:\n    float32 = 1",
    "import {module}",
    "import {module} as tl",
    "import {module} as {function_of_file}",
    "from {module} import *",
    "from __future__ import annotations",
    "import builtins; builtins.{builtin} = {value}",
    "exec('{function_of_file} = {other_function}')",
    "globals().update({function_of_file}={other_function})",
    "vars().update()",
    "[{function_of_file} := {other_function}]",
    "({function_of_file} := {function_of_file})",
    "assert {function_of_file}",
    "lambda: {function_of_file}",
    "{new}: {function_of_file} = 1",
    "{new} = {value}",
    "{new} = [{function_of_file}]",
    "{new}, {function_of_file} = 1, {other_function}",
    "{function_of_file} += 0",
    "type {new} = int",
    "global {function_of_file}",
    "if __name__ != '__main__':\n    {function_of_file} = {other_function}",
    "if __name__ == '__main__':\n    {function_of_file} = {other_function}",
    "while False:\n    pass",
    '"""A text."""',
    "...",
    "pass",
    "0",
    "dt_inside = {value}",
    "dt_floats = {{torch.float32}}",
    "dt_interpreted = {value}",
    "{function_of_file}.__defaults__ = ({value},)",
    "{function_of_file}.__globals__['tl'] = torch",
    "{function_of_file}.__kwdefaults__ = None",
)
MODULES = (
    *("math", "torch", "triton", "triton.language", "numpy", "os", "triton.language.math"),
    *("triton.language.standard", "triton.language.extra.libdevice"),
)
DECORATORS = (
    *("triton.jit(noinline=True)", "triton.jit(debug=True)", "triton.jit(do_not_specialize=[0])"),
    *(
        "triton.autotune(configs=[triton.Config({}, num_warps=2)], key=[])",
        "triton.jit\n@triton.jit",
    ),
    *("triton.heuristics({})", "torch.no_grad()", "staticmethod", "torch.compile", "jit"),
    *("triton.runtime.jit", "triton.jit(repr=None)", "(triton.jit)", "triton.jit()", "tl.jit"),
    *("triton.jit(do_not_specialize_on_alignment=[0])", "triton . jit", "lambda one: one"),
)


def _line(source: Source, random: Random) -> str:
    """Return one of the lines, with names of this file."""
    functions = [one.name for one in source.tree.body if isinstance(one, ast.FunctionDef)]
    functions = functions or ["f"]
    own = [one.name for one in source.functions] or functions
    names = ("exp", "sum", "max", "load", "store", "arange", "where", "dot", "maximum")
    return random.choice(LINES).format(
        dunder=random.choice(DUNDERS),
        builtin=random.choice((*("range", "min", "max", "len", "float", "int"), *dir(builtins))),
        function_of_file=random.choice((*own, *own, *functions)),
        other_function=random.choice(functions),
        function=random.choice(names),
        other=random.choice(names),
        maker=random.choice(("empty", "empty_like", "full")),
        attribute=random.choice(("__code__", "fn", "src", "arg_names", "__name__", "run", "x")),
        module=random.choice(MODULES),
        new=random.choice(("unused", "_", "__x", "A", "x", "dt_more", "dt_reduce_max")),
        value=random.choice(("{}", "None", "0", "1", "True", "()", '""', "{'int': float}", "[]")),
    )


def _inserted(source: Source, random: Random) -> str | None:
    """Insert a line at module level."""
    tops = [node for node in source.tree.body if not isinstance(node, ast.Expr)]
    one = pick(random, tops)
    if one is None:
        return None
    first = min([one.lineno, *(d.lineno for d in getattr(one, "decorator_list", []))])
    place = random.choice((source.starts[first - 1], len(source.text)))
    return source.edited([(place, place, f"{_line(source, random)}\n\n\n")])


def _inserted_inside(source: Source, random: Random) -> str | None:
    """Insert such a line inside of a function."""
    functions = [one for one in source.tree.body if isinstance(one, ast.FunctionDef)]
    function = pick(random, source.functions * 3 + functions)
    if function is None:
        return None
    one = random.choice(function.body)
    before = " " * one.col_offset
    text = "".join(f"{before}{line}\n" for line in _line(source, random).splitlines())
    place = source.starts[one.lineno - 1]
    return source.edited([(place, place, text)])


def _imported(source: Source, random: Random) -> str | None:
    """Replace an import by another one."""
    found = [node for node in source.tree.body if isinstance(node, ast.Import)]
    one = pick(random, found)
    if one is None:
        return None
    name = one.names[0].asname or one.names[0].name
    module = random.choice((*MODULES, one.names[0].name))
    new = random.choice(
        (
            f"import {module} as {name}",
            f"import {module}",
            f"from {module} import *",
            f"try:\n    {source.of(one)}\nexcept ImportError:\n    {name} = None",
            f"if True:\n    {source.of(one)}",
            f"{source.of(one)} as {random.choice(TAKEN)}",
            f"{source.of(one)}, {module}",
            f"{source.of(one)}; {source.of(one)}",
            f"{name} = __import__('{one.names[0].name}')",
            "",
        )
    )
    return source.put((one, new))


def _decorated(source: Source, random: Random) -> str | None:
    """Change a decorator, or add one."""
    function = pick(random, [n for n in source.tree.body if isinstance(n, ast.FunctionDef)])
    if function is None:
        return None
    new = random.choice(DECORATORS)
    if function.decorator_list:
        return source.put((random.choice(function.decorator_list), new))
    place = source.starts[function.lineno - 1]
    return source.edited([(place, place, f"@{new}\n")])


def _functions_exchanged(source: Source, random: Random) -> str | None:
    """Exchange functions, or put one in two places."""
    found = [node for node in source.tree.body if isinstance(node, ast.FunctionDef)]
    if len(found) < 2:
        return None
    one, other = random.sample([*source.functions, *found], 2)
    if one is other:
        return None
    first, second = source.span(one), source.span(other)
    end = len(source.text)
    texts = source.text[slice(*first)], source.text[slice(*second)]
    return random.choice(
        (
            source.edited([(*first, texts[1]), (*second, texts[0])]),
            source.edited([(*second, texts[0])]),
            source.edited([(first[0], first[0], f"{texts[1]}\n\n\n")]),
            source.edited([(end, end, f"\n\n\n{texts[0]}\n")]),
            source.edited(
                [(*first, f"if True:\n    {texts[0].replace(chr(10), chr(10) + '    ')}")]
            ),
        )
    )


def _signature(source: Source, random: Random) -> str | None:
    """Give parameters other defaults, annotations, order or kinds."""
    function = pick(random, [*source.functions, *source.kernels])
    args = function.args.args if function is not None else []
    if len(args) < 2:
        return None
    one, other = random.sample(args, 2)
    name = one.arg
    annotations = (
        *(
            "tl.constexpr",
            "tl.float32",
            "tl.int64",
            "'tl.constexpr'",
            "int",
            "tl.int32",
            "tl.tensor",
        ),
        *("tl.int8", "tl.pointer_type(tl.float16)", "tl.float64", '"*fp16"', '"i64"', "tl.float16"),
    )
    new = random.choice(
        (
            f"{name}: {random.choice(annotations)}",
            f"{name}: {random.choice(annotations)}",
            name,
            f"{name}=0",
            f"{name}: tl.constexpr = 0",
            f"*{name}",
            f"{name}, more=None",
            f"{name}, /",
            f"*, {name}",
            f"{name}__",
        )
    )
    if random.random() < 0.3:
        return source.put((one, source.of(other)), (other, source.of(one)))
    return source.put((one, new))


def _other_name(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield random.choice(source.names or ["x"])
        yield random.choice(TAKEN)
        yield random.choice(DUNDERS)


def _renamed(source: Source, random: Random, new: Callable[[str], Sequence[str]]) -> str | None:
    """Rename a name in a whole function."""
    function = pick(random, source.functions)
    if function is None:
        return None
    own = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)}
    own |= {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    one = pick(random, sorted(own))
    if one is None:
        return None
    start, end = source.span(function)
    other = random.choice(new(one))
    text = re.sub(rf"(?<![\w.]){one}(?!\w)", lambda _: other, source.text[start:end])
    return source.edited([(start, end, text)])


def _renamed_taken(source: Source, random: Random) -> str | None:
    """Rename a name of a function to one that has a meaning."""
    return _renamed(source, random, lambda _: (*TAKEN, *DUNDERS, "_", "print", "dt_max"))


def _renamed_alike(source: Source, random: Random) -> str | None:
    """Rename a name of a function to one that looks like it, or that is the same to Python."""

    def alike(one: str) -> tuple[str, ...]:
        wide = "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in one)
        return (wide, f"{one}_", f"_{one}", f"__{one}", one.swapcase(), f"{one}\u0301", f"{one}2")

    return _renamed(source, random, alike)


def _walrus(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Make an expression also assign, or compute it in a scope of its own."""
    if isinstance(node, ast.BinOp | ast.Compare | ast.Call | ast.Subscript):
        name, text = random.choice(source.names or ["x"]), source.of(node)
        yield from (f"({name} := {text})", f"(lambda: {text})()", f"[{text} for _ in (0,)][0]")
        yield from (f"({text}, {name})[0]", f"({text} if True else {name})", f"(yield {text})")
        yield from (f"({text} or {name})", f"next(iter([{text}]))", f"eval({text!r})")


OPERATORS = (
    Operator("module", "a statement at module level", _inserted),
    Operator("module", "a statement of a module inside of a function", _inserted_inside),
    Operator("module", "another import", _imported),
    Operator("module", "another decorator", _decorated),
    Operator("module", "functions exchanged or twice", _functions_exchanged),
    Operator("module", "another signature", _signature),
    Operator("names", "another name", anywhere(_other_name)),
    Operator("names", "a name that has a meaning", _renamed_taken),
    Operator("names", "a name that looks alike", _renamed_alike),
    Operator("names", "an expression that assigns", anywhere(_walrus)),
)
