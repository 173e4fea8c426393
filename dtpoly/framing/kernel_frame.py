"""A frame of a kernel as data, and its text: the tensors, the launch, the promises, the guesses."""

import re
from collections.abc import Iterable, Iterator, Sequence

from dtpoly.frozen import dataclass

WIDTH = 100
PROMISED = "callers keep these promises, as all launches did"
FINITE = "finite"
OF_VALUES = "values are finite, which no launch shows, because no element is looked at"
OF_DATA = "no launch shows it, because no element is looked at"
OF_PARTS = "callers need only those elements that the kernel stores, which no launch shows"
# Promises about elements of tensors.
OF_ELEMENTS = re.compile(r".*\[\.\.\.\].*|(?:distinct|ascending)\(.*\)")
PARTLY = "partly("
NAMED = "while the kernels ran, these names of the module were"
GUESSED = "# guessed: "
INDENT = "#     "
MOST_OTHERS = 3  # formulas that a comment names besides the one that is taken
KNOWN = "f32"  # the dtype of a tensor without one


@dataclass(frozen=True, slots=True)
class FrameTensor:
    """A tensor with the labels of its axes, as a `# tensors:` line declares it."""

    name: str
    axes: tuple[str, ...]
    dtype: str
    use: str


@dataclass(frozen=True, slots=True)
class FrameScalar:
    """A number that callers choose, as a `# tensors:` line declares it."""

    name: str
    dtype: str


@dataclass(frozen=True, slots=True)
class FrameGuess:
    """Something that launches do not show for sure: what was taken, and what else it may be."""

    about: str
    taken: str
    others: tuple[str, ...]
    further: str = ""


@dataclass(frozen=True, slots=True)
class KernelFrame:
    """Everything that a proof of a kernel needs besides its text."""

    kernel: str
    tensors: tuple[FrameTensor, ...]
    scalars: tuple[FrameScalar, ...]
    grid: tuple[str, ...]
    # What each parameter is given; those behind the first one by name are given by name.
    arguments: tuple[tuple[str, str], ...]
    by_name: tuple[str, ...]
    promises: tuple[str, ...] = ()
    guesses: tuple[FrameGuess, ...] = ()
    notes: tuple[str, ...] = ()
    # What else is taken for granted because all launches were like that.
    beyond: tuple[str, ...] = ()
    # What names of the module are that its text does not show.
    names: tuple[tuple[str, str], ...] = ()
    # Instead of the tensors, an algorithm.
    algorithm: str = ""


def text_of(frame: KernelFrame) -> str:
    """Return the frame as the text of a .dt file."""
    lines = [*_said(frame)]
    if frame.names:
        shown = ", ".join(f"'{name}' {meant}" for name, meant in frame.names)
        lines += _guessed(f"{NAMED}: {shown}")
    lines += [f"# name: {name} = {meant}" for name, meant in frame.names]
    if not frame.algorithm:
        lines += _tensor_lines(frame)
    lines += _launch_lines(frame)
    if frame.promises:
        lines += _promised(frame.promises)
    lines += _listed("# assume: ", frame.promises)
    lines += [frame.algorithm.rstrip()] if frame.algorithm else []
    return "\n".join([*lines, ""])


def _said(frame: KernelFrame) -> Iterator[str]:
    for note in frame.notes:
        yield from wrapped(note, "# ")
    for one in frame.guesses:
        shown = one.others[:MOST_OTHERS]
        others = f"; it may also be {' or '.join(shown)}" if shown else ""
        further = f"; {one.further}" if one.further else ""
        yield from _guessed(f"{one.about} is {one.taken}{others}{further}")
    for said in frame.beyond:
        yield from _guessed(said)
    if frame.notes or frame.guesses or frame.beyond:
        yield ""


def _promised(promises: Sequence[str]) -> Iterator[str]:
    elements = [one for one in promises if OF_ELEMENTS.fullmatch(one)]
    parts = [one for one in promises if one.startswith(PARTLY)]
    sizes = [one for one in promises if one != FINITE and one not in (*elements, *parts)]
    if sizes:
        yield from _guessed(f"{PROMISED}: {', '.join(sizes)}")
    if elements:
        yield from _guessed(f"{', '.join(elements)}: {OF_DATA}")
    if parts:
        yield from _guessed(f"{', '.join(parts)}: {OF_PARTS}")
    if FINITE in promises:
        yield from _guessed(OF_VALUES)


def _guessed(text: str) -> Iterator[str]:
    """Yield a guess in lines that the verifier reads, because its verdict repeats them."""
    yield from (
        line if at == 0 else f"{INDENT}{line.removeprefix(GUESSED)}"
        for at, line in enumerate(wrapped(text, GUESSED))
    )


def _tensor_lines(frame: KernelFrame) -> list[str]:
    shown = [_tensor(one) for one in frame.tensors]
    shown += [
        one.name if one.dtype == KNOWN else f"{one.name}.{one.dtype}" for one in frame.scalars
    ]
    return _listed("# tensors: ", shown)


def _tensor(one: FrameTensor) -> str:
    dtype = "" if one.dtype == KNOWN else f".{one.dtype}"
    inner = f"{one.name}[{', '.join(one.axes)}]{dtype}"
    return inner if one.use == "in" else f"{one.use}({inner})"


def _launch_lines(frame: KernelFrame) -> list[str]:
    """Return the launch; while its brackets are open, it goes on in the comment below."""
    comma = "," if len(frame.grid) == 1 else ""
    head = f"# verify: {frame.kernel}[({', '.join(frame.grid)}{comma})]("
    given, is_named = list[str](), False
    for name, text in frame.arguments:
        is_named = is_named or name in frame.by_name
        given.append(f"{name}={text}" if is_named else text)
    whole = f"{head}{', '.join(given)})"
    if len(whole) <= WIDTH:
        return [whole]
    lines = [head]
    for at, one in enumerate(given):
        part = f"{one}{',' if at + 1 < len(given) else ''}"
        if lines[-1] == head or len(f"{lines[-1]} {part}") > WIDTH:
            lines.append(f"{INDENT}{part}")
        else:
            lines[-1] += f" {part}"
    return [*lines, "# )"]


def _listed(head: str, parts: Iterable[str]) -> list[str]:
    """Return lines that each begin with a word and list parts."""
    lines: list[str] = []
    for one in parts:
        if lines and len(f"{lines[-1]}, {one}") <= WIDTH:
            lines[-1] += f", {one}"
        else:
            lines.append(f"{head}{one}")
    return lines


def wrapped(text: str, head: str) -> Iterator[str]:
    """Yield a text in lines that each begin with a head."""
    line = head
    for word in text.split():
        if line != head and len(line) + len(word) > WIDTH:
            yield line.rstrip()
            line = head
        line += f"{word} "
    yield line.rstrip()
