"""Changes wrappers and their launches.

In hand-written files, also the lines that describe launches.
"""

import ast
import re
from collections.abc import Iterator
from random import Random

from tests.attack.mutants.source import Operator, Source, called, in_kernels, in_wrappers, pick


def _launches(source: Source) -> list[ast.Call]:
    """Return the calls that launch kernels."""
    return [
        node
        for node in source.wrapper_nodes
        if isinstance(node, ast.Call) and source.of(node.func).endswith("_launch")
    ]


def _arguments(source: Source, random: Random) -> str | None:
    """Reorder, drop or repeat the arguments of a launch."""
    call = pick(random, _launches(source))
    if call is None:
        return None
    given = [*call.args, *call.keywords]
    one, other = random.sample(given, 2)
    texts = source.of(one), source.of(other)
    return random.choice(
        (
            source.put((one, texts[1]), (other, texts[0])),
            source.put((one, texts[1])),
            source.put((one, f"{texts[0]}, {texts[0]}")),
            source.put((one, f"*[{texts[0]}]")),
            _named_otherwise(source, call, random),
        )
    )


def _named_otherwise(source: Source, call: ast.Call, random: Random) -> str:
    """Exchange the values of constants of a launch."""
    named = call.keywords
    if len(named) < 2:
        return source.text
    one, other = random.sample(named, 2)
    return source.put((one.value, source.of(other.value)), (other.value, source.of(one.value)))


def _option(source: Source, random: Random) -> str | None:
    """Change the number of warps or stages, or add an option."""
    call = pick(random, _launches(source))
    if call is None:
        return None
    options = [one for one in call.keywords if one.arg in ("num_warps", "num_stages")]
    one = pick(random, options)
    number = random.choice((1, 2, 4, 8, 16, 32, 3))
    if one is not None and random.random() < 0.5:
        return source.put((one.value, str(number)))
    more = random.choice(
        ("num_ctas=2", "maxnreg=64", "num_stages=5", "extern_libs={}", "grid=(1,)")
    )
    return source.put((call, f"{source.of(call)[:-1].rstrip().rstrip(',')}, {more})"))


def _again(source: Source, random: Random) -> str | None:
    """Do a launch twice, or launch something else."""
    call = pick(random, _launches(source))
    if call is None:
        return None
    text = source.of(call)
    return source.put(
        (
            call,
            random.choice(
                (
                    f"({text}, {text})",
                    f"[{text} for _ in range(2)]",
                    f"even and {text}",
                    f"{text} if out.numel() > 1 else None",
                    f"out.zero_(); {text}",
                    f"{text}; out.add_(0)",
                    f"{text}; out = out.clone()",
                    f"{text}; A.zero_()",
                    f"(lambda: {text})",
                )
            ),
        )
    )


def _grid(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Change the number of programs."""
    call = called(node, "dt_grid")
    if call is not None and len(call.args) == 2:
        name, number = source.of(call.args[0]), source.inside(call.args[1])
        more = (f"{number} + 1", f"{number} - 1", f"{number} * 2", f"-(-{number} // 2)", "1")
        yield from (f"dt_grid({name}, {one})" for one in more)
        yield from (f"({number},)", f"({number}, 1)", f"({number}, 2)", f"(1, {number})", number)
        yield f"dt_grid({name}, min({number}, 65535))"
        yield f"dt_grid({name}, max({number}, 1))"


def _program(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    call = called(node, "tl.program_id")
    if call is not None:
        yield from ("tl.program_id(1)", "tl.num_programs(0)", "tl.program_id(axis=0)")
        yield from ("(tl.num_programs(0) - 1 - tl.program_id(0))", "(tl.program_id(0) + 1)")
        yield from ("(tl.program_id(0) // 2)", "(tl.program_id(0) ^ 1)", "(tl.program_id(0) * 2)")
        yield "(tl.program_id(0) % tl.num_programs(0))"


def _tensor(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Take another view, shape or stride of a tensor."""
    match node:
        case ast.Attribute(value=ast.Name() as of, attr="shape"):
            one = source.of(of)
            yield from (f"{one}.stride()", f"{one}.size()", f"{one}.T.shape", f"{one}.shape[::-1]")
        case ast.Call(func=ast.Attribute(value=ast.Name() as of, attr="stride"), args=args):
            one, inside = source.of(of), ", ".join(source.of(arg) for arg in args)
            yield from (f"{one}.shape[{inside or ':'}]", f"{one}.size({inside})")
            yield from (f"{one}.contiguous().stride({inside})", f"{one}.T.stride({inside})")
            yield f"out.stride({inside})"
            if not args:
                yield from (f"reversed({one}.stride())", f"sorted({one}.stride())")
        case ast.Name(id=one, ctx=ast.Load()) if one == "out" or one[:1].isupper():
            yield from (f"{one}.contiguous()", f"{one}.T", f"{one}.clone()", f"{one}.detach()")
            yield from (f"{one}.float()", f"{one}[:]", f"{one}.view(-1)", f"{one}.data", f"+{one}")
            yield from (f"{one}.half()", f"{one}.flip(0)", f"torch.empty_like({one})", f"{one}[0]")
        case _:
            pass


def _made(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Make memory in another way."""
    call = called(node, "torch.empty")
    if call is not None:
        inside = ", ".join(source.of(one) for one in (*call.args, *call.keywords))
        yield from (f"torch.{one}({inside})" for one in ("zeros", "ones", "rand"))
        shape = source.of(call.args[0])
        rest = ", ".join(source.of(one) for one in call.keywords)
        yield f"torch.empty({shape}[::-1], {rest})"
        yield f"torch.empty({shape}, {rest}, requires_grad=False)"
        yield f"torch.empty({shape}, {rest}, pin_memory=False)"
        yield f"torch.empty(tuple(n + 1 for n in {shape}), {rest})[tuple(map(slice, {shape}))]"
        yield "torch.empty_like(A)"


def _given_back(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if isinstance(node, ast.Return) and node.value is not None:
        text = source.of(node.value)
        yield from (f"return {text} + 0", f"return {text}.clone()", "return", f"return ({text},)")
        yield from (
            f"return {text}.T",
            f"return {text}.to(torch.float32)",
            "return A",
            "return out",
        )


def _flag(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Decide in another way if tiles are whole, divisible by four, or need 64 bits."""
    if isinstance(node, ast.keyword) and node.arg in ("even", "fours", "offset", "real"):
        text = source.of(node.value)
        values = {
            "even": ("True", "False", f"not ({text})", "1", "0", f"bool({text})", "x_size"),
            "fours": ("True", "False", f"not ({text})", "1", "2", f"bool({text})"),
            "offset": ("tl.int32", "tl.int64", "tl.int16", "tl.uint32", "dt_offset(0)"),
            "real": ("tl.float32", "tl.float64", "tl.float16", "tl.bfloat16", "dt_real()"),
        }
        yield from (f"{node.arg}={one}" for one in values[node.arg])
        if " and " in text:
            parts = text.split(" and ")
            parts.remove(random.choice(parts))
            yield f"{node.arg}={' and '.join(parts)}"
            yield f"{node.arg}={text.replace(' and ', ' or ', 1)}"
        yield f"{node.arg}={text.replace('% 4 ', '% 2 ', 1)}"


def _check(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Change what is checked of tensors before the launch."""
    call = called(node, "dt_check", "dt_check_out", "dt_is_traced", "dt_is_current", "dt_offset")
    if call is not None and call.args:
        args = [source.of(one) for one in call.args]
        at = random.randrange(len(args))
        name = source.of(call.func)
        yield f"{name}({', '.join((*args[:at], *args[at + 1 :]))})"
        other = random.choice(("A", "1", "2", "3", "dt_floats", "(torch.float16,)", '"B"', "{}"))
        yield f"{name}({', '.join((*args[:at], other, *args[at + 1 :]))})"
        yield from ("A.device", "False", "True", "tl.int32", "None")


def _made_operator(source: Source, random: Random) -> str | None:
    """Change what is made of a function when the file is loaded."""
    found = [
        node
        for node in source.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    ]
    one = pick(random, found)
    if one is None or not isinstance(one.value, ast.Call):
        return None
    args, text = one.value.args, source.of(one)
    if args and random.random() < 0.6:
        arg = random.choice(args)
        names = [node.name for node in source.functions]
        new = random.choice((*names, '"Tensor A"', '"x"', "[]", "1", '["x_size"]', "None", '["y"]'))
        return source.put((arg, new))
    return source.put(
        (one, random.choice(("pass", f"{text}\n\n\n{text}", f"if True:\n    {text}")))
    )


SAID = re.compile(r"^# (?:    .*|\)|verify:.*)$", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_][\w.]*(?:\([^()]*\))?|\d+|[-+*/]+")


def _said(source: Source, random: Random) -> str | None:
    """Change how a hand-written file says that its kernels are launched."""
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
    Operator("launch", "arguments of a launch", _arguments),
    Operator("launch", "options of a launch", _option),
    Operator("launch", "a launch otherwise", _again),
    Operator("launch", "another grid", in_wrappers(_grid)),
    Operator("launch", "another program", in_kernels(_program)),
    Operator("launch", "a launch that is said otherwise", _said),
    Operator("wrapper", "another view of a tensor", in_wrappers(_tensor)),
    Operator("wrapper", "memory made otherwise", in_wrappers(_made)),
    Operator("wrapper", "another result", in_wrappers(_given_back)),
    Operator("wrapper", "a flag decided otherwise", in_wrappers(_flag)),
    Operator("wrapper", "other checks", in_wrappers(_check)),
    Operator("wrapper", "other operators and launchers", _made_operator),
)
