"""Changes statements and their order: moved, wrapped, done twice; and barriers and atomics."""

import ast
from collections.abc import Iterator, Sequence
from random import Random

from tests.attack.mutants.source import (
    Change,
    Operator,
    Source,
    blocks,
    called,
    deeper,
    in_kernels,
    margin,
    pick,
    whole_lines,
)

CONDITIONS = (
    *("even", "not even", "~even", "real", "fours", "even and fours", "True", "False", "1 == 1.0"),
    *("tl.program_id(0) >= 0", "tl.program_id(0) == 0", "pid == 0", "offset == tl.int32"),
    *("tl.num_programs(0) > 0", "real == tl.float32", "tl.constexpr(1)", "x_size > 0", "not 0"),
    *("(even, )", "tl.float32", "~True", "even is True", "-even", "even + 1", "even >= 0"),
)
BARRIER = "tl.debug_barrier()"


def _statements(source: Source, functions: Sequence[ast.FunctionDef]) -> list[ast.stmt]:
    """Return statements that have lines of their own."""
    return [
        one
        for function in functions
        for block in blocks(function)
        for one in block
        if source.lines[one.lineno - 1].strip().startswith(source.of(one)[:1])
    ]


def _in(around: str) -> Change:
    """Statements of kernels with other lines around them."""

    def change(source: Source, random: Random) -> str | None:
        one = pick(random, _statements(source, source.kernels))
        if one is None:
            return None
        start, end = whole_lines(source, one)
        before, text = margin(source, one), source.text[start:end]
        own = (*(n for n in source.names if n.endswith("_size")), *CONDITIONS)
        condition = random.choice((*CONDITIONS, *own))
        new = around.replace("{text}", text).replace("{deeper}", deeper(text))
        new = new.replace("{deepest}", deeper(text, "        ")).replace("|", before)
        return source.edited([(start, end, new.replace("{condition}", condition))])

    return change


AROUND = {
    "a statement under a condition": "|if {condition}:\n{deeper}",
    "a statement under a condition or else": "|if {condition}:\n{deeper}|else:\n{deeper}",
    "a statement where a condition is false": "|if {condition}:\n|    pass\n|else:\n{deeper}",
    "a statement where two conditions disagree": (
        "|if {condition}:\n|    if {condition}:\n{deepest}|    else:\n|        pass\n{text}"
    ),
    "a statement in a loop": "|for _ in range(1):\n{deeper}",
    "a statement in a loop of Triton": "|for again in tl.static_range(2):\n{deeper}",
    "a statement in a loop that is left": "|while True:\n{deeper}|    break\n",
    "a statement twice": "{text}{text}",
    "a statement dropped": "|pass\n",
    "a return before a statement": "|if {condition}:\n|    return\n{text}",
    "an assertion before a statement": "|assert {condition}\n{text}",
    "a statement after `else` of a loop": "|for _ in range(0):\n|    pass\n|else:\n{deeper}",
    "a statement that is tried": "|try:\n{deeper}|finally:\n|    pass\n",
    "a statement in `with`": "|with {condition}:\n{deeper}",
    "a barrier before a statement": f"|{BARRIER}\n{{text}}",
    "a function around a statement": "|def inner():\n{deeper}|inner()\n",
    "a class around a statement": "|class inner:\n{deeper}",
    "a match around a statement": "|match {condition}:\n|    case _:\n{deepest}",
    "a string around a statement": '|"""\n{text}|"""\n',
}


def _moved(source: Source, random: Random) -> str | None:
    """A statement is somewhere else in its function."""
    function = pick(random, source.kernels)
    found = _statements(source, [function]) if function is not None else []
    if len(found) < 2:
        return None
    one, other = random.sample(found, 2)
    start, end = whole_lines(source, one)
    place = source.starts[other.lineno - 1]
    if start <= place < end:
        return None
    text = source.text[start:end]
    before, after = margin(source, one), margin(source, other)
    text = "".join(
        f"{after}{line.removeprefix(before)}" if line.strip() else line
        for line in text.splitlines(True)
    )
    return source.edited([(start, end, ""), (place, place, text)])


def _exchanged(source: Source, random: Random) -> str | None:
    """Two statements of one block stand for each other."""
    function = pick(random, source.kernels)
    found = [b for b in blocks(function) if len(b) > 1] if function is not None else []
    block = pick(random, found)
    if block is None:
        return None
    at = random.randrange(len(block) - 1)
    one, other = block[at], random.choice(block[at + 1 :])
    first, second = whole_lines(source, one), whole_lines(source, other)
    texts = source.text[slice(*first)], source.text[slice(*second)]
    return source.edited([(*first, texts[1]), (*second, texts[0])])


def _branches(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Exchange branches, drop one, or always take one."""
    if isinstance(node, ast.If) and node.orelse and not isinstance(node.orelse[0], ast.If):
        before = margin(source, node.body[0])
        texts = [
            "".join(source.text[slice(*whole_lines(source, one))] for one in block)
            for block in (node.body, node.orelse)
        ]
        outer, test = before[4:], source.of(node.test)
        yield f"if {test}:\n{texts[1]}{outer}else:\n{texts[0]}".rstrip()
        yield f"if {test}:\n{texts[0]}".rstrip()
        yield f"if {test}:\n{texts[0]}{outer}if not ({test}):\n{texts[1]}".rstrip()
        yield f"if {test}:\n{texts[0]}{outer}if ~({test}):\n{texts[1]}".rstrip()


def _assigned(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Assign instead of adding, or combine in another way."""
    match node:
        case ast.AugAssign(target=target, op=op, value=value):
            one, new = source.of(target), source.of(value)
            yield from (f"{one} {sign}= {new}" for sign in ("", "+", "-", "*", "/", "@"))
            if isinstance(op, ast.Add):
                yield from (f"{one} = {one} + ({new})", f"{one} = ({new}) + {one}")
                yield f"{one} += ({new}) + ({new})"
                yield f"{one} = tl.maximum({one}, {new})"
        case ast.Assign(targets=[ast.Name(id=one)], value=value):
            new = source.of(value)
            yield from (f"{one} += {new}", f"({one} := {new})", f"{one}: tl.constexpr = {new}")
            yield from (f"{one} = other_name = {new}", f"[{one}] = [{new}]", f"{one}, = ({new},)")
            yield f"{one} = {new} if even else {new}"
            yield f"{one} = ({new}); {one} = {one}"
            yield f"{one}: tl.int8 = {new}"
        case _:
            pass


def _barrier(source: Source, random: Random) -> str | None:
    """Drop every barrier, or replace it."""
    found = [node for node in source.kernel_nodes if called(node, BARRIER[:-2]) is not None]
    one = pick(random, found)
    if one is None:
        return None
    new = random.choice(
        ("pass", "0", "tl.debug_barrier", f"{BARRIER} if even else 0", "tl.program_id(0)")
    )
    return source.put((one, new))


def _atomic(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Make a store atomic, or replace an atomic operation by another one."""
    names = ("add", "max", "min", "xchg", "and", "or", "xor")
    call = called(node, "tl.store", *(f"tl.atomic_{one}" for one in names))
    if call is not None and len(call.args) > 1:
        inside = ", ".join(source.of(one) for one in (*call.args, *call.keywords))
        yield from (f"tl.atomic_{one}({inside})" for one in names)
        yield f"tl.store({inside})"
        name = source.of(call.func)
        if name != "tl.store":
            given = [source.of(one) for one in call.keywords if one.arg not in ("sem", "scope")]
            args = ", ".join((*(source.of(one) for one in call.args), *given))
            more = ('sem="relaxed"', 'sem="release"', 'scope="cta"', 'scope="sys"', 'sem="acq_rel"')
            yield from (f"{name}({args}, {one})" for one in more)
        pointer, value = source.of(call.args[0]), source.inside(call.args[1])
        rest = "".join(f", {source.of(one)}" for one in call.keywords if one.arg == "mask")
        yield f"{name}({pointer}, {value} * 2{rest})"
        yield f"{name}({pointer}, {value} - tl.load({pointer}){rest})"
        yield f"{name}({pointer}, {value} + tl.load({pointer}{rest}){rest})"
        yield f"{name}({pointer}, {value}.to(tl.float16){rest})"
        yield f"{name}({pointer}, {value}, {value} == {value})"


def _stored_first(source: Source, random: Random) -> str | None:
    """Store the last stored value earlier, too, as it is or changed."""
    calls = [
        one
        for one in _statements(source, source.kernels)
        if isinstance(one, ast.Expr) and called(one.value, "tl.store") is not None
    ]
    one = pick(random, calls)
    if one is None or not isinstance(one.value, ast.Call):
        return None
    start, _ = whole_lines(source, one)
    call = one.value
    value = random.choice(("0.0", 'float("nan")', source.of(call.args[1])))
    named = "".join(f", {source.of(k)}" for k in call.keywords)
    more = f"{margin(source, one)}tl.store({source.of(call.args[0])}, {value}{named})\n"
    end = whole_lines(source, one)[1]
    place = random.choice((start, start, end))
    return source.edited([(place, place, more)])


def _group(name: str) -> str:
    return "barriers" if "barrier" in name else "order"


OPERATORS = (
    *(Operator(_group(name), name, _in(text)) for name, text in AROUND.items()),
    Operator("order", "a statement moved", _moved),
    Operator("order", "two statements exchanged", _exchanged),
    Operator("order", "branches exchanged or dropped", in_kernels(_branches)),
    Operator("order", "assigned otherwise", in_kernels(_assigned)),
    Operator("order", "stored twice", _stored_first),
    Operator("barriers", "a barrier made something else", _barrier),
    Operator("atomics", "another atomic operation", in_kernels(_atomic)),
)
