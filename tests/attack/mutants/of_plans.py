"""Changes of plans, and of what is made of them; of hand-written files, of how they say that."""

import ast
import re
from collections.abc import Iterator
from functools import cache, partial
from random import Random
from typing import Any

from tests.attack.mutants.source import Change, Operator, Source, called, in_kernels, pick
from tests.verify.plan_mutants import mutants

RUNTIME = "# The runtime of dtpoly"
# The parts of a plan, and of its launches: changes are told apart by these.
OF_PLANS = (
    *("inputs", "sizes", "passed", "demands", "types", "results", "between", "indices"),
    *("panels", "limits"),
)
OF_LAUNCHES = (
    *("kernel", "programs", "before", "tensors", "scratch", "numbers", "descriptors", "lanes"),
    *("flags", "fours", "counts", "near", "tiles", "num_warps", "num_stages", "turns", "panel"),
    *("early", "specialized"),
)


@cache
def _changed(literal: str) -> dict[str, list[Any]]:
    """Return each plan with one mistake, by the part that has it."""
    found = dict[str, list[Any]]()
    for what, data in mutants(ast.literal_eval(literal)):
        path = what.split(":")[0].split(".")
        quoted = re.findall(r"(?:'|with )(\w+)", what)
        inside = [*path[2:], *quoted] if path[0] == "launches" else [*path, *quoted]
        known = OF_LAUNCHES if path[0] == "launches" and len(path) > 1 else OF_PLANS
        part = next((one for one in inside if one in known), "order")
        part = "launches" if path == ["launches"] else part
        found.setdefault(part, []).append(data)
    return found


def _part(part: str, source: Source, random: Random) -> str | None:
    """Return another value of one part of a plan, or of one of its launches."""
    for plan in random.sample(source.plans, len(source.plans)):
        data = pick(random, _changed(source.of(plan.value)).get(part, []))
        if data is not None:
            return source.put((plan.value, repr(data)))
    return None


def _spelled(source: Source, random: Random) -> str | None:
    """Return a part of a plan that is no literal, or another one than it seems."""
    plan = pick(random, source.plans)
    if plan is None:
        return None
    parts = [node for node in ast.walk(plan.value) if isinstance(node, ast.expr)]
    one = random.choice([node for node in parts if not isinstance(node, ast.expr_context)])
    text = source.of(one)
    more = (f"({text})", f"({text},)", f"[{text}]", f"{text} or 0", f"str({text})", f"{text}[:]")
    mapped = f"{{**{text}}}" if isinstance(one, ast.Dict) else f"{text} {text}"
    return source.put((one, random.choice((*more, mapped, f"f{text}", f"r{text}", f"b{text}"))))


def _key(source: Source, random: Random) -> str | None:
    """Return a key that is there twice, or is another."""
    plan = pick(random, source.plans)
    tables = [one for one in ast.walk(plan.value) if isinstance(one, ast.Dict)] if plan else []
    table = pick(random, [one for one in tables if one.keys])
    if table is None:
        return None
    at = random.randrange(len(table.keys))
    key, value = table.keys[at], table.values[at]
    assert key is not None
    other = random.choice(table.values)
    new = (f"{source.of(key)}: {source.of(other)}, {source.of(key)}", '"more"', '""', "1", "None")
    chosen = random.choice((*new, f"{source.of(key)}: {source.of(value)}, {source.of(key)}"))
    return source.put((key, chosen))


def _made(source: Source, random: Random) -> str | None:
    """Return a function that is made of something else, twice, or not at all."""
    one = pick(random, source.made)
    if one is None or not isinstance(one.value, ast.Call):
        return None
    text, call = source.of(one), source.of(one.value)
    args = [source.of(arg) for arg in one.value.args]
    names = [node.name for node in source.kernels]
    random.shuffle(args)
    more = (
        f"{text}\n{text}",
        f"if True:\n    {text}",
        f"{text}; {text}",
        text.replace("dt_function(", "print("),
        text.replace(call, f"dt_function({', '.join(args)})"),
        text.replace(call, f"dt_function({', '.join(args[:-1])})"),
        text.replace(call, f"{call[:-1]}, {random.choice(names)})"),
        text.replace(call, f"{call[:-1]}, out=None)"),
        text.replace(call, f"(lambda f: f)({call})"),
        f"{text}\n{source.of(one.targets[0])}.more = 1",
        f"other = {call}\n{text}",
    )
    return source.put((one, random.choice(more)))


WORD = re.compile(r"\b(?:\d+|True|False|not|and|or|is|dt_\w+)\b")


def _runtime(source: Source, random: Random) -> str | None:
    """Return another runtime: a word is another, or a line is missing, or there twice."""
    start = source.text.find(RUNTIME)
    if start < 0:
        return None
    found = [one for one in WORD.finditer(source.text, start)]
    one = random.choice(found)
    if random.random() < 0.5:
        new = random.choice(found)[0]
        return source.edited([(one.start(), one.end(), new)])
    first = source.text.rindex("\n", 0, one.start()) + 1
    last = source.text.index("\n", one.start()) + 1
    line = source.text[first:last]
    return source.edited([(first, last, random.choice(("", line * 2, f"# {line}", line.strip())))])


def _for(part: str) -> Change:
    return partial(_part, part)


def _program(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    call = called(node, "tl.program_id")
    if call is not None:
        yield from ("tl.program_id(1)", "tl.num_programs(0)", "tl.program_id(axis=0)")
        yield from ("(tl.num_programs(0) - 1 - tl.program_id(0))", "(tl.program_id(0) + 1)")
        yield from ("(tl.program_id(0) // 2)", "(tl.program_id(0) ^ 1)", "(tl.program_id(0) * 2)")
        yield "(tl.program_id(0) % tl.num_programs(0))"


SAID = re.compile(r"^# (?:    .*|\)|verify:.*)$", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_][\w.]*(?:\([^()]*\))?|\d+|[-+*/]+")


def _said(source: Source, random: Random) -> str | None:
    """Return how a hand-written file says that its kernels are launched."""
    lines = [one for one in SAID.finditer(source.text) if "verify" in source.text]
    line = pick(random, lines)
    found = [*TOKEN.finditer(line[0])] if line is not None else []
    found = [one for one in found if one[0] != "verify"]
    if line is None or len(found) < 2:
        return None
    one, other = random.sample(found, 2)
    new = random.choice((other[0], "1", f"{one[0]} + 1", f"{one[0]} * 2", "64", "2", "128"))
    start = line.start() + one.start()
    return source.edited([(start, start + len(one[0]), new)])


OPERATORS = (
    *(Operator("plan", f"other {part} in a plan", _for(part)) for part in (*OF_PLANS, "order")),
    *(Operator("launch", f"other {part} of a launch", _for(part)) for part in OF_LAUNCHES),
    Operator("launch", "other launches", _for("launches")),
    Operator("plan", "a plan that is no literal", _spelled),
    Operator("plan", "a key of a plan", _key),
    Operator("plan", "a function made otherwise", _made),
    Operator("runtime", "another runtime", _runtime),
    Operator("launch", "another program", in_kernels(_program)),
    Operator("launch", "a launch that is said otherwise", _said),
)
