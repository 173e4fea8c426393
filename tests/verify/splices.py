"""Random statements of Python, of all kinds that 3.11 to 3.13 have, put into a file at random.

A statement is a text. It may bind any name that the file uses, in any way that Python has.
"""

import ast
from collections.abc import Callable, Iterator
from random import Random

SHARED = "# What the functions above share."
FRESH = ("fresh_one", "fresh_two", "fresh_three")
DUNDERS = ("__builtins__", "__name__", "__file__", "__getattr__", "__class__", "__dict__")
KNOWN = ("float", "max", "min", "range", "len", "tl", "torch", "triton", "print", "exec", "vars")
INFIX = ("+", "-", "*", "/", "//", "%", "@", "**", "<<", "|", "&")
WORDS = ("load", "store", "float32", "fn", "src", "shape", "stride", "update", "zero_", "other")


def names_in(text: str) -> list[str]:
    """Return the names that a file uses."""
    nodes = ast.walk(ast.parse(text))
    return sorted({node.id for node in nodes if isinstance(node, ast.Name)})


class Writer:
    """Writes statements and expressions."""

    def __init__(self, random: Random, names: list[str]) -> None:
        self.random = random
        self.names = names

    def name(self) -> str:
        pool = self.random.choice((FRESH, FRESH, KNOWN, DUNDERS, self.names, self.names))
        return self.random.choice(pool)

    def target(self, depth: int) -> str:
        match self.random.randrange(7 if depth else 4):
            case 4:
                return f"{self.name()}.{self.random.choice(WORDS)}"
            case 5:
                return f"{self.name()}[{self.value(depth - 1)}]"
            case 6:
                return f"{self.target(depth - 1)}, *{self.name()}"
            case _:
                return self.name()

    def value(self, depth: int) -> str:
        r = self.random

        def v() -> str:
            return self.value(depth - 1)

        if depth <= 0:
            constants = ("0", "1", "2.5", "True", "None", "'one'", "b'one'", "1j", "...", "-1")
            return r.choice((self.name(), self.name(), r.choice(constants)))
        forms: list[Callable[[], str]] = [
            lambda: f"{v()} {r.choice(('and', 'or'))} {v()}",
            lambda: f"({r.choice((self.name(), *FRESH))} := {v()})",
            lambda: f"({v()}) {r.choice(INFIX)} ({v()})",
            lambda: f"{r.choice(('not ', '-', '~', '+'))}({v()})",
            lambda: f"(lambda {self.name()}: {v()})",
            lambda: f"({v()} if {v()} else {v()})",
            lambda: f"{{{v()}: {v()}, **{self.name()}}}",
            lambda: f"{{{v()}, {v()}}}",
            lambda: f"[{v()} for {self.name()} in {v()} if {v()}]",
            lambda: f"{{{v()} for {self.name()} in {v()}}}",
            lambda: f"{{{v()}: {v()} for {self.name()} in {v()}}}",
            lambda: f"list({v()} for {self.name()} in {v()})",
            lambda: f"(await {v()})",
            lambda: f"(yield {v()})",
            lambda: f"(yield from {v()})",
            lambda: f"({v()}) {r.choice(('<', '==', 'is', 'in', 'not in'))} ({v()})",
            lambda: f"{self.name()}({v()}, {self.name()}={v()})",
            lambda: f"{self.name()}(*{self.name()}, **{self.name()})",
            lambda: f"{self.name()}.{r.choice(WORDS)}({v()})",
            lambda: f"f'{{{self.name()}}}'",
            lambda: f"{self.name()}.{r.choice((*WORDS, *DUNDERS))}",
            lambda: f"{self.name()}[{v()}]",
            lambda: f"{self.name()}[{v()}:{v()}]",
            lambda: f"[{v()}, *{self.name()}]",
            lambda: f"({v()}, {v()})",
        ]
        return r.choice(forms)()

    def block(self, depth: int) -> str:
        return f"\n{indented(self.statement(depth - 1))}"

    def statement(self, depth: int) -> str:
        r, n = self.random, self.name

        def b() -> str:
            return self.block(depth)

        def v() -> str:
            return self.value(2)

        def t() -> str:
            return self.target(1)

        simple: list[Callable[[], str]] = [
            lambda: f"return {v()}",
            lambda: f"del {t()}",
            lambda: f"{t()} = {v()}",
            lambda: f"{n()} = {v()}",
            lambda: f"{r.choice(FRESH)} = {r.choice(('1', '2.5', 'None', '(1, 2)'))}",
            lambda: f"{n()} = {n()} = {v()}",
            lambda: f"type {n()} = {v()}",
            lambda: f"{n()} {r.choice(('+=', '-=', '*=', '//=', '@=', '|='))} {v()}",
            lambda: f"{n()}: {v()} = {v()}",
            lambda: f"{n()}: {v()}",
            lambda: f"raise {v()} from {v()}",
            lambda: f"assert {v()}, {v()}",
            lambda: f"import {r.choice(('os', 'math', 'torch', 'sys'))} as {n()}",
            lambda: f"from {r.choice(('math', 'torch', 'builtins'))} import {n()} as {n()}",
            lambda: "from math import *",
            lambda: f"global {n()}",
            lambda: f"nonlocal {n()}",
            lambda: v(),
            lambda: "pass",
            lambda: "break",
            lambda: "continue",
            lambda: "'a string'",
            lambda: "# a comment",
            lambda: "\\",
            lambda: "\x0c",
            lambda: f"pass; {n()} = {v()}",
        ]
        nested: list[Callable[[], str]] = [
            lambda: f"def {n()}({n()}, {r.choice(FRESH)}={v()}):{b()}",
            lambda: f"@{v()}\ndef {n()}({r.choice(FRESH)}: {v()}) -> {v()}:{b()}",
            lambda: f"@triton.jit\ndef {n()}({n()}):{b()}",
            lambda: f"async def {n()}():{b()}",
            lambda: f"def {n()}[{n()}]():{b()}",
            lambda: f"class {n()}({n()}):{b()}",
            lambda: f"for {t()} in {v()}:{b()}\nelse:{b()}",
            lambda: f"for {n()} in {v()}:{b()}",
            lambda: f"async for {t()} in {v()}:{b()}",
            lambda: f"while {v()}:{b()}\nelse:{b()}",
            lambda: f"if {v()}:{b()}\nelse:{b()}",
            lambda: f"with {v()} as {t()}:{b()}",
            lambda: f"async with {v()}:{b()}",
            lambda: f"match {v()}:\n    case {n()}:\n{indented(indented(self.statement(0)))}",
            lambda: f"match {v()}:\n    case [*{n()}] | {{**{n()}}}:\n        pass",
            lambda: f"match {v()}:\n    case 1 as {n()} if {v()}:\n        pass",
            lambda: f"try:{b()}\nexcept {n()} as {n()}:{b()}\nelse:{b()}\nfinally:{b()}",
            lambda: f"try:{b()}\nexcept* {n()} as {n()}:{b()}",
        ]
        return r.choice(simple if depth <= 0 or r.random() < 0.5 else nested)()


def indented(text: str, by: str = "    ") -> str:
    """Return the text, set in; a backslash and a form feed stay in column 0."""
    lines = text.split("\n")
    return "\n".join(line if line in ("\\", "\x0c") else f"{by}{line}" for line in lines)


def spliced(random: Random, text: str) -> tuple[str, str]:
    """Return the text with a statement above one of its lines, and the statement."""
    lines = text.split("\n")
    # Below stand the functions that all files have, and these are known by their text.
    most = len(lines) if random.random() < 0.2 or SHARED not in lines else lines.index(SHARED)
    at = random.randrange(most)
    line = lines[at] or next((one for one in lines[at:] if one), "")
    by = line[: len(line) - len(line.lstrip())]
    by = random.choice((by, by, by, by, "", "    "))
    statement = Writer(random, names_in(text)).statement(2)
    made = indented(statement, by)
    return "\n".join((*lines[:at], made, *lines[at:])), statement


HARMLESS = (
    *(ast.Pass, ast.Assign, ast.If, ast.Expr, ast.Name, ast.Constant, ast.Tuple, ast.UnaryOp),
    *(ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.expr_context, ast.operator),
    *(ast.unaryop, ast.boolop, ast.cmpop),
)


def is_harmless(statement: str) -> bool:
    """True for what does nothing: it sets nothing but new names, and calls nothing."""
    return all(_is_harmless(node) for node in ast.parse(statement).body)


def _is_harmless(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        # Nobody calls it; what is evaluated where it is defined is plain.
        given = (*node.args.defaults, *(one.annotation for one in node.args.args), node.returns)
        plain = all(one is None or isinstance(one, ast.Constant) for one in given)
        jitted = [ast.unparse(one) for one in node.decorator_list] in ([], ["triton.jit"])
        return node.name in FRESH and plain and jitted and not any(_reaches_out(node))
    return all(isinstance(one, HARMLESS) and _is_new(one) for one in ast.walk(node))


def _is_new(node: ast.AST) -> bool:
    is_set = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    return not is_set or (isinstance(node, ast.Name) and node.id in FRESH)


def _reaches_out(function: ast.FunctionDef) -> Iterator[bool]:
    for node in ast.walk(function):
        yield isinstance(node, ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom)
        yield isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
