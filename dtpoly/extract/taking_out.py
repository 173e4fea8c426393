"""Takes a kernel out of a module: a text that has the kernel, and what it uses, and nothing else.

The text has each function of the module on the lines on which it stands there, so that messages
about one are right for the other; functions of other modules of the project stand below. What a
kernel uses must be understood: its functions of Triton are taken along, words that were imported
are written as the verifier knows them, and constants stand where they are used. What cannot be seen
in the text is an assumption.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.extract.broken_lines import Rewriting, in_brackets, rewritten
from dtpoly.extract.class_methods import bases_of
from dtpoly.extract.comments import lines_for_verifier, unprinted
from dtpoly.extract.meanings import (
    BUILTINS,
    Constant,
    Helper,
    Imported,
    Meaning,
    TritonWord,
    Unclear,
    changed,
    imported_from,
    is_builtin,
    is_jit,
    meaning,
    meaning_of_kernel,
    meaning_of_path,
    root_of_triton,
)
from dtpoly.extract.module_effects import assumed_effects, check_effects
from dtpoly.extract.python_modules import Module
from dtpoly.extract.words_of_triton import of_math
from dtpoly.frozen import dataclass
from dtpoly.source import Span

# A word of Triton, as the verifier writes it.
WORD = re.compile(r"tl(\.[a-z_]\w*)+")
JIT = "@triton.jit"
IMPORTS = ("import triton", "import triton.language as tl")
# What these decorators do is done at a launch, which a `# verify:` line describes.
AT_LAUNCH = ("autotune", "heuristics")
# Annotations of parameters that change nothing, and how others are written for the verifier.
PLAIN = (
    *("tl.tensor", "triton.language.tensor", "tl.const", "triton.language.const"),
    "torch.Tensor",
)
TYPES = {"int": "tl.int32", "float": "tl.float32", "bool": "tl.int1"}


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A text with one kernel, and what must be true of the module besides."""

    text: str
    functions: tuple[str, ...]
    # The name of the kernel in the text: that of a method has no dot there.
    kernel: str
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A function that is taken along, under a name of its own in the text."""

    helper: Helper
    name: str
    edits: tuple[Rewriting, ...]


@dataclass(frozen=True, slots=True)
class _Taking:
    """The functions, names and assumptions that have been taken so far."""

    module: Module
    taken: dict[tuple[str, str], Taken] = field(default_factory=dict[tuple[str, str], Taken])
    names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    assumed: list[str] = field(default_factory=list[str])
    # What the user says that names are, and the names for which that was needed.
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    needed: set[str] = field(default_factory=set[str])
    # The names that are used, by the module that binds them.
    used: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    # Other modules from which words and numbers come.
    others: dict[str, Module] = field(default_factory=dict[str, Module])

    def name_of(self, helper: Helper) -> str:
        """Return the name of a function in the text."""
        key = (helper.module.source.name, helper.name)
        if key not in self.names:
            name = helper.name.replace(".", "_")
            if helper.module is not self.module or name != helper.name:
                used = {*self.names.values(), *self.module.names, *BUILTINS}
                while name in used:
                    name = f"{helper.module.path.stem}_{name}"
            self.names[key] = name
        return self.names[key]


def take_out(module: Module, kernel: str, named: Mapping[str, str] | None = None) -> TakenOut:
    """Return the text of a kernel, and of what it uses. Raises DtpolyError if that is not clear.

    `named` says what names are that cannot be understood from the text.
    """
    found = meaning_of_kernel(module, kernel)
    if not isinstance(found, Helper):
        line = found.line if isinstance(found, Unclear) and found.line else 1
        why = found.why if isinstance(found, Unclear) else "it is something else"
        raise module.refused(line, f"there is no kernel '{kernel}'", why)
    taking = _Taking(module, named=named or {})
    waiting = [found]
    while waiting:
        one = waiting.pop()
        key = (one.module.source.name, one.name)
        if key in taking.taken:
            continue
        taking.assumed.extend(_of_decorators(one, is_kernel=one is found))
        edits = [*_of_annotations(one, is_kernel=one is found), *_of_docstring(one)]
        edits += _of_comments(one)
        strings = _annotations_as_strings(one) if one is found else set[int]()
        for place, text, helper in _written(taking, one):
            if helper is not None:
                waiting.append(helper)
            if text != ast.unparse(place):
                if id(place) in strings and not _is_constexpr(text, ast.unparse(place)):
                    title = f"'{ast.unparse(place)}' is a string for Triton, which it does not know"
                    way = "leave out 'from __future__ import annotations'"
                    raise one.module.refused(place.lineno, title, "no type", way)
                assert place.end_col_offset is not None
                if place.end_lineno != place.lineno:
                    title = f"'{ast.unparse(place)}' goes over several lines"
                    raise one.module.refused(place.lineno, title, "write it in one line")
                edits.append(Rewriting(place.lineno, place.col_offset, place.end_col_offset, text))
        # These come last, because a bracket stands before the word that is rewritten behind it.
        edits += in_brackets(one.module.lines, one.function)
        taking.taken[key] = Taken(one, taking.name_of(one), tuple(edits))
    for name in taking.named.keys() - taking.needed:
        title = f"'# name: {name} = {taking.named[name]}' is about nothing that has to be said"
        why = "this kernel does not use the name, or it is clear what it is"
        raise module.refused(found.function.lineno, title, why)
    return _text(taking, taking.name_of(found))


def unlaunched(module: Module, kernel: str, algorithm: str) -> Diagnostic:
    """Return the message that nothing says how a kernel is launched, with a line to begin with."""
    found = meaning_of_kernel(module, kernel)
    assert isinstance(found, Helper)
    words = ", ".join(one.arg for one in found.function.args.args)
    start = module.source.line_starts[found.function.lineno - 1]
    span = Span(module.source, start, start + len(module.source.line(found.function.lineno)))
    return Diagnostic(
        "DT314",
        Severity.ERROR,
        f"nothing says how '{kernel}' is launched",
        span,
        "no '# verify:' line has its grid and its arguments",
        hint=(
            f"write a comment in '{algorithm}', with what is passed for each parameter: "
            f"# verify: {kernel}[(cdiv(len(x), 1024),)]({words})"
        ),
    )


def _of_decorators(helper: Helper, *, is_kernel: bool) -> Iterator[str]:
    """Yield what is assumed of the decorators that are left out, and of the bases of a class."""
    if helper.assumed:
        yield helper.assumed
    name = helper.name.partition(".")[0]
    if name != helper.name:
        for base in bases_of(helper.module.names[name][0]):
            yield f"'{base}', of which '{name}' is a class, leaves '{helper.name}' as it is"
    for one in helper.around:
        if is_jit(helper.module, one):
            yield from _of_jit(helper.module, one)
            continue
        word = ast.unparse(one.func if isinstance(one, ast.Call) else one)
        if not is_kernel:
            yield f"'@{word}' leaves '{helper.name}' as it is"
        elif word.rpartition(".")[2] in AT_LAUNCH:
            yield f"'@{word}' of '{helper.name}' passes what the '# verify:' line says"
        else:
            yield f"'@{word}' of '{helper.name}' launches the kernel as it is called"


def _of_jit(module: Module, decorator: ast.expr) -> Iterator[str]:
    """Yield what is assumed of the name of Triton in `@triton.jit`."""
    of = decorator.func if isinstance(decorator, ast.Call) else decorator
    root = _root(of) if isinstance(of, ast.Attribute) else of
    assert isinstance(root, ast.Name), "is_jit knows no others"
    name = root.id
    found = root_of_triton(module, name)
    other = imported_from(module, name)
    if other is not None and found is not None:
        yield f"'{name}' of '{module.path.name}' is '{found.text}' of '{other.source.name}'"
    if found is not None and found.assumed:
        yield found.assumed


def _of_annotations(helper: Helper, *, is_kernel: bool) -> Iterator[Rewriting]:
    """Yield how annotations are written. Triton looks at those of kernels, but not of helpers."""
    arguments = helper.function.args
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        annotation = one.annotation
        if annotation is None or annotation.end_lineno != one.lineno:
            continue
        word = _plain(helper.module, annotation)
        assert annotation.end_col_offset is not None
        after = one.col_offset + len(one.arg.encode())
        _check_written(helper, one.lineno, one.col_offset, one.arg)
        if _is_text_of_constexpr(annotation):
            yield Rewriting(one.lineno, after, annotation.end_col_offset, ": tl.constexpr")
        elif word in PLAIN or (word in TYPES and not is_kernel):
            yield Rewriting(one.lineno, after, annotation.end_col_offset, "")
        elif word in TYPES:
            yield Rewriting(one.lineno, after, annotation.end_col_offset, f": {TYPES[word]}")
    returns = helper.function.returns
    if returns is not None and _plain(helper.module, returns):
        start = helper.module.lines[returns.lineno - 1].encode().rfind(b"->", 0, returns.col_offset)
        if start >= 0:
            assert returns.end_col_offset is not None
            yield Rewriting(returns.lineno, start, returns.end_col_offset, "")


def _is_text_of_constexpr(annotation: ast.expr) -> bool:
    """Return whether an annotation is the text of `tl.constexpr`, which Triton takes as the word.

    It looks for "constexpr" in the text, whatever `tl` is.
    """
    texts = ("tl.constexpr", "triton.language.constexpr")
    return isinstance(annotation, ast.Constant) and annotation.value in texts


def _of_docstring(helper: Helper) -> Iterator[Rewriting]:
    """Yield how a docstring is left out: it may have any letters, and computes nothing."""
    first, module = helper.function.body[0], helper.module
    match first:
        case ast.Expr(value=ast.Constant(value=str()), end_lineno=int() as end) if (
            first.lineno > helper.function.lineno
        ):
            pass
        case _:
            return
    assert first.end_col_offset is not None
    after = module.lines[end - 1].encode()[first.end_col_offset :].decode().strip()
    if after and not after.startswith("#"):
        return
    for line in range(first.lineno, end + 1):
        start = first.col_offset if line == first.lineno else 0
        length = first.end_col_offset if line == end else len(module.lines[line - 1].encode())
        yield Rewriting(line, start, length, "pass" if line == first.lineno else "")


def _of_comments(helper: Helper) -> Iterator[Rewriting]:
    """Yield how comments are left out that have signs without a width, or other hidden ones."""
    first, last = helper.function.lineno, helper.function.end_lineno or 0
    for line, start, end in unprinted(helper.module, first, last):
        yield Rewriting(line, start, end, "#")


def _plain(module: Module, annotation: ast.expr) -> str:
    """Return an annotation that is a type of Python or a tensor of Triton; empty for others."""
    word = ast.unparse(annotation)
    if word in TYPES and word not in module.names:
        return word
    of = meaning(module, word.partition(".")[0]) if word in PLAIN else None
    return word if isinstance(of, TritonWord) and of.text in ("tl", "triton", "torch") else ""


def _annotations_as_strings(kernel: Helper) -> set[int]:
    """Return the annotations of a kernel that its module leaves as they are written."""
    names = kernel.module.names.get("annotations", ())
    arguments = kernel.function.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    is_future = any(one.module == "__future__" for one in names)
    return {id(one.annotation) for one in parameters} if is_future else set()


def _is_constexpr(text: str, said: str) -> bool:
    """Return whether Triton takes an annotation for `tl.constexpr`, also if it is a string."""
    return text == "tl.constexpr" and "constexpr" in said


def _check_written(helper: Helper, line: int, column: int, word: str) -> None:
    """Refuse a name that is written with other letters than those that Python makes of them."""
    written = helper.module.lines[line - 1].encode()[column:]
    if not written.startswith(word.encode()):
        why = "write it with letters that Python leaves as they are"
        raise helper.module.refused(line, f"'{word}' is written in another way", why)


def _written(
    taking: _Taking, helper: Helper
) -> Iterator[tuple[ast.Name | ast.Attribute, str, Helper | None]]:
    """Yield what a function uses of its module, how it is written, and the helper that it is."""
    function, module = helper.function, helper.module
    for place in _free(module, function):
        name = place.id if isinstance(place, ast.Name) else _root(place).id
        if is_builtin(module, name):
            continue
        found, said = _meaning(module, place)
        if isinstance(found, Unclear) and said in taking.named:
            found = _named(taking, said)
            of = f"'{said}' of '{module.path.name}'"
            taking.assumed.append(f"{of} is '{found.text}', as the file says")
        taking.used.setdefault(module.path.name, set()).add(name)
        other = imported_from(module, name)
        if other is not None:
            taking.others[other.source.name] = other
        if other is not None and isinstance(found, TritonWord | Constant):
            taking.assumed.append(_handed_on(module, place, found, other))
            found = changed(other, found.text) or found
        if isinstance(found, Helper):
            if found.module is not module:
                of = f"'{said}' of '{module.path.name}'"
                taking.assumed.append(f"{of} is '{found.name}' of '{found.module.source.name}'")
            yield place, taking.name_of(found), found
            continue
        if isinstance(found, TritonWord):
            if found.assumed:
                taking.assumed.append(found.assumed)
            if found.text.startswith(("tl.math", "tl.extra")):
                taking.assumed.append(f"'{said}' of '{module.path.name}' is '{found.text}'")
            yield place, found.text, None
            continue
        if isinstance(found, Constant):
            if not found.is_constexpr:
                taking.assumed.append(f"'{said}' of '{module.path.name}' stays {found.text}")
            yield place, found.text, None
            continue
        why = found.why if isinstance(found, Unclear) else "it is a module"
        title = f"'{said}' in '{function.name}' is not understood"
        way = "copy what it is into this module, or the kernel into a file of its own"
        raise module.refused(place.lineno, title, why, way)


def _handed_on(
    module: Module, place: ast.Name | ast.Attribute, found: TritonWord | Constant, other: Module
) -> str:
    """Return what is assumed of a name that another module of the project binds."""
    text, said = found.text, ast.unparse(place)
    if isinstance(place, ast.Attribute):
        root = meaning(module, _root(place).id)
        # A module of Triton that is handed on is named once, and not with each of its words.
        if isinstance(root, TritonWord):
            text, said = root.text, _root(place).id
    return f"'{said}' of '{module.path.name}' is '{text}' of '{other.source.name}'"


def _named(taking: _Taking, said: str) -> TritonWord | Constant:
    """Return what the user says that a name is. Raises DtpolyError for what is not understood."""
    taking.needed.add(said)
    text = taking.named[said]
    if WORD.fullmatch(text):
        return TritonWord(text)
    try:
        if isinstance(ast.literal_eval(text), bool | int | float):
            return Constant(f"({text})", is_constexpr=True)
    except (ValueError, SyntaxError):
        pass
    why = "it must be a word of Triton, such as tl.exp, or a number"
    raise taking.module.refused(1, f"'# name: {said} = {text}' is not understood", why)


def _meaning(module: Module, place: ast.Name | ast.Attribute) -> tuple[Meaning, str]:
    """Return what a name is, or a word of a module that is called by a name; and its text."""
    said = ast.unparse(place)
    if isinstance(place, ast.Name):
        return meaning(module, place.id), said
    of = meaning(module, _root(place).id)
    if isinstance(of, Imported | TritonWord) and (why := changed(module, said)) is not None:
        return why, said
    if isinstance(of, Imported):
        return meaning_of_path(of.module, said.partition(".")[2]), said
    if isinstance(of, Unclear) and isinstance(place.value, ast.Name):
        method = meaning(module, said)
        return (method if isinstance(method, Helper) else of), said
    if isinstance(of, TritonWord) and of.text == "tl.math":
        word = of_math(place.attr) if isinstance(place.value, ast.Name) else None
        return Unclear("it has no law") if word is None else TritonWord(word), said
    if isinstance(of, TritonWord):
        return TritonWord(said.replace(_root(place).id, of.text, 1), of.assumed), said
    if isinstance(of, Helper | Constant):
        return Unclear(f"'{_root(place).id}' is no module"), said
    return of, said


def _root(place: ast.Attribute) -> ast.Name:
    of = place.value
    while isinstance(of, ast.Attribute):
        of = of.value
    assert isinstance(of, ast.Name)
    return of


def _free(module: Module, function: ast.FunctionDef) -> Iterator[ast.Name | ast.Attribute]:
    """Yield where a function reads names that it does not bind, with the words that follow."""
    parts: list[ast.AST] = [function.args, *function.body]
    nodes = [node for part in parts for node in ast.walk(part)]
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    inner = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute)
    }
    annotations = {id(node.annotation) for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if id(node) in inner or not isinstance(node, ast.Name | ast.Attribute):
            continue
        if id(node) in annotations and _plain(module, node):
            continue
        of = node
        while isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name | ast.Attribute):
            of = of.value
        if isinstance(of, ast.Name) and isinstance(of.ctx, ast.Load) and of.id not in bound:
            yield node


def _text(taking: _Taking, kernel: str) -> TakenOut:
    """Return the text: functions of the module on their lines, and those of others below."""
    module, others = taking.module, list[str]()
    text = [""] * len(module.lines)
    for one in taking.taken.values():
        function = one.helper.function
        lines = _lines(one)
        if one.helper.module is module:
            text[function.lineno - 1 : function.end_lineno] = lines
            if function.lineno < 2 or text[function.lineno - 2]:
                title = f"no line is left for '{JIT}' above '{function.name}'"
                raise module.refused(function.lineno, title, "leave a line free above it")
            text[function.lineno - 2] = JIT
        else:
            others += ["", JIT, *lines]
    for at, line in enumerate(IMPORTS):
        if text[at]:
            first = min(t.helper.function.lineno for t in taking.taken.values())
            why = f"the first lines are needed for '{'; '.join(IMPORTS)}'"
            raise module.refused(first, "the kernel begins too early", why)
        text[at] = line
    for one in taking.taken.values():
        own = one.helper.name.partition(".")[0]
        taking.used.setdefault(one.helper.module.path.name, set()).add(own)
    modules = {one.helper.module.source.name: one.helper.module for one in taking.taken.values()}
    read = [*{**modules, **taking.others}.values()]
    check_effects(read, taking.used)
    for of in read:
        taking.assumed.extend(assumed_effects(of, taking.used.get(of.path.name, set())))
    taking.assumed.extend(
        f"'from {star.module} import *' of '{one.path.name}' imports no other meaning of its names"
        for one in modules.values()
        for star in one.names.get("*", ())
    )
    only = [
        f"'{of}' gives {_listed(names)} no meaning that its own lines do not show"
        for of, names in taking.used.items()
    ]
    functions = tuple(one.name for one in taking.taken.values())
    assumed = tuple(dict.fromkeys([*only, *taking.assumed]))
    return TakenOut("\n".join([*text, *others]), functions, kernel, assumed)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{one}'" for one in sorted(names))


def _lines(one: Taken) -> list[str]:
    """Return the lines of a function with its edits, without the decorators and the indentation."""
    function = one.helper.function
    assert function.end_lineno is not None
    lines = list(one.helper.module.lines)
    edits = list(one.edits)
    for line, start in lines_for_verifier(one.helper.module):
        # These are about other launches, or stand below the text again.
        at = len(lines[line - 1][:start].encode())
        edits.append(Rewriting(line, at, len(lines[line - 1].encode()), "#"))
    if one.name != function.name:
        found = re.match(r"\s*def\s+", lines[function.lineno - 1])
        assert found is not None
        start = len(found[0])
        _check_written(one.helper, function.lineno, start, function.name)
        edits.append(
            Rewriting(function.lineno, start, start + len(function.name.encode()), one.name)
        )
    lines = rewritten(lines, edits)
    depth = function.col_offset
    body = lines[function.lineno - 1 : function.end_lineno]
    return [line[depth:] if not line[:depth].strip() else line.lstrip() for line in body]
