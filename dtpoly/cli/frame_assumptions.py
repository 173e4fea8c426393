"""Says what a verdict assumes because of how a kernel is launched.

A proof of a kernel that has no plan is a proof of the launches that the `# verify:` lines describe,
with the tensors that are declared. Callers may launch it in another way: with a tensor of another
size where a line has a number, with another constant, or with two tensors where a line has one
tensor twice. A verdict that does not say so looks like more than was proved.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from dtpoly.algorithm.program import Program
from dtpoly.cli.without_algorithm import F32, LOADED, SCALAR, DeclaredTensor
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.said import said_in

GUESSED = re.compile(r"#\s*guessed\s*:(.*)", re.IGNORECASE)
MARKER = "# guessed: "
FROM_LAUNCHES = "guessed from launches: "
BELOW = "#   "  # begins a comment in which the text above goes on
LAUNCH = "verify"
LAUNCHED = "each launch has this grid, these constants and these arguments"


def of_launches(text: str) -> tuple[str, ...]:
    """Return what is assumed of the launches that the lines of a text describe."""
    try:
        launches = [one for one in said_in(text) if one.word == LAUNCH]
    except Unread:
        return ()  # a text with such a line is not proved
    if not launches:
        return ()
    texts = dict.fromkeys(ast.unparse(one.what) for one in launches)
    twice = (said for one in launches for said in _given_twice(one.what))
    return (
        *(f"{LAUNCHED}: {text}" for text in texts),
        *dict.fromkeys(twice),
    )


def of_guesses(comments: Sequence[str]) -> tuple[str, ...]:
    """Return what `--init` guessed from launches, as the comments of a file say it."""
    found: list[str] = []
    is_open = False
    for line in comments:
        if (said := GUESSED.fullmatch(line)) is not None:
            found.append(said[1].strip())
            is_open = True
        elif is_open and line.startswith(BELOW):
            found[-1] = f"{found[-1]} {line.removeprefix(BELOW).strip()}".strip()
        else:
            is_open = False
    return tuple(dict.fromkeys(f"{FROM_LAUNCHES}{one}" for one in found))


def marked(guesses: Sequence[str]) -> list[str]:
    """Return guesses as comments of a file, for a text that is verified without the first file."""
    return [f"{MARKER}{one.removeprefix(FROM_LAUNCHES)}" for one in guesses]


def of_tensors(tensors: Sequence[DeclaredTensor]) -> tuple[str, ...]:
    """Return what is assumed of tensors that a line declares."""
    shown = ", ".join(map(_declared, tensors))
    return (f"callers pass {shown}; {_LAID_OUT}",) if tensors else ()


def of_inputs(program: Program) -> tuple[str, ...]:
    """Return what is assumed of the tensors of an algorithm."""
    typed = [f"{one.name}: {one.dtype or F32}" for one in program.inputs]
    typed += [f"{one.name}: {one.dtype}" for one in program.funcs if one.dtype is not None]
    sized = [f"len({label}) is always {size}" for label, size in program.fixed.items()]
    said = ", ".join([*typed, *sized])
    return (f"callers pass tensors as the file declares them ({said}); {_LAID_OUT}",)


_LAID_OUT = (
    "each stride that no argument passes is that of a contiguous tensor, no two tensors share"
    " memory, and no result overlaps itself"
)


def _declared(one: DeclaredTensor) -> str:
    if one.use == SCALAR:
        return f"{one.name}: {one.dtype}"
    inner = f"{one.name}[{', '.join(map(str, one.labels))}]: {one.dtype}"
    return inner if one.use == LOADED else f"{one.use}({inner})"


def _given_twice(launch: ast.expr) -> Iterator[str]:
    """Yield a sentence for each tensor or number that several parameters are given."""
    if not isinstance(launch, ast.Call):
        return
    given = [*launch.args, *(one.value for one in launch.keywords)]
    names = [one.id for one in given if isinstance(one, ast.Name)]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"{names.count(name)} parameters are always given one and the same '{name}'"
