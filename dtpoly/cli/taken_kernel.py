"""Reads the kernels of `--kernel`: those of a file, or `FILE::NAME`, one kernel of any module."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from dtpoly.cli.frame_assumptions import marked, of_guesses, of_launches
from dtpoly.diagnostics import DtpolyError
from dtpoly.extract.comments import comments_outside
from dtpoly.extract.python_modules import Module, read_module
from dtpoly.extract.taking_out import TakenOut, take_out, unlaunched
from dtpoly.frontend.reading import read_file
from dtpoly.frozen import dataclass
from dtpoly.source import Source
from dtpoly.verify.proof.report import Report
from dtpoly.verify.triton.said import LINE, is_by_hand

SEPARATOR = "::"
ASSUME = "assume"
NAME = re.compile(r"#\s*name\s*:(.*)")


@dataclass(frozen=True, slots=True)
class GivenKernels:
    """The text to verify, and what is assumed because of how it was found and is launched."""

    source: Source
    assumed: tuple[str, ...] = ()

    @property
    def is_launched(self) -> bool:
        """Return whether the text says itself how its kernels are launched, as it has no plans."""
        return is_by_hand(self.source.text)

    def assuming(self, report: Report) -> Report:
        """Return a report that says what was assumed of the kernel and its launches."""
        functions = (replace(f, assumed=(*f.assumed, *self.assumed)) for f in report.functions)
        return Report(tuple(functions)) if self.assumed else report


def path_of(kernel: str) -> str:
    """Return the path of a file or of a module."""
    return kernel.partition(SEPARATOR)[0]


def given_kernels(kernel: str, algorithm: Source) -> GivenKernels:
    """Read the kernels of a file, or take one out of a module. Raises DtpolyError.

    How a kernel of a module is launched is said in the module or, because that may be somebody
    else's, in comments of the file with the algorithm.
    """
    path, separator, name = kernel.partition(SEPARATOR)
    source = read_file(path)
    if separator:
        return TakenKernel(read_module(source), name).given(algorithm)
    both = (*_comments(algorithm.text), *_comments(source.text))
    guessed = of_guesses([line for _, line in both])
    return GivenKernels(source, (*of_launches(source.text), *guessed))


@dataclass(slots=True)
class TakenKernel:
    """A kernel of a module, which is taken out once for many files that say how it is launched.

    To take it out looks at the whole module, and so takes longer than most proofs.
    """

    module: Module
    name: str
    # By what names of the module are said to be.
    texts: dict[tuple[tuple[str, str], ...], TakenOut] = field(
        default_factory=dict[tuple[tuple[str, str], ...], TakenOut]
    )
    comments: list[tuple[tuple[int, str], ...]] = field(
        default_factory=list[tuple[tuple[int, str], ...]]
    )

    def given(self, algorithm: Source) -> GivenKernels:
        """Return its text with the lines of a file. Raises DtpolyError."""
        own = self._own()
        named = tuple(_named(_comments(algorithm.text)))
        if named not in self.texts:
            self.texts[named] = take_out(self.module, self.name, dict(named))
        taken = self.texts[named]
        said = (*_said(_comments(algorithm.text), self.name), *_said(own, self.name))
        if not any(_launches(line, self.name) for line in said):
            raise DtpolyError((unlaunched(self.module, self.name, algorithm.name),))
        guessed = of_guesses([line for _, line in (*_comments(algorithm.text), *own)])
        # What was guessed goes along with the text, as that may be verified without the file.
        lines = [_about(line, self.name, taken.kernel) for line in said]
        text = "\n".join([taken.text, "", *marked(guessed), "", *lines, ""])
        launched = of_launches("\n".join(said))
        source = Source(self.module.source.name, text)
        return GivenKernels(source, (*taken.assumed, *launched, *guessed))

    def _own(self) -> tuple[tuple[int, str], ...]:
        """Return the comments of the module that may say something of the kernel."""
        if not self.comments:
            self.comments.append(comments_outside(self.module, self.name))
        return self.comments[0]


def comments_about(kernel: str, algorithm: Source) -> tuple[tuple[Source, str], ...]:
    """Return the comments that may say something of a kernel, each with its file.

    Raises DtpolyError.
    """
    path, separator, name = kernel.partition(SEPARATOR)
    module = read_module(read_file(path))
    own = comments_outside(module, name) if separator else _comments(module.source.text)
    others = ((algorithm, line) for _, line in _comments(algorithm.text))
    return (*others, *((module.source, line) for _, line in own))


def _comments(algorithm: str) -> tuple[tuple[int, str], ...]:
    """Return the lines of an algorithm that are comments, with their numbers."""
    lines = enumerate(map(str.strip, algorithm.splitlines()), start=1)
    return tuple((at, line) for at, line in lines if line.startswith("#"))


def _named(comments: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield what the file says that names of the module are, as in `# name: exp = tl.exp`."""
    for _, line in comments:
        found = NAME.fullmatch(line)
        for one in () if found is None else found[1].split(","):
            name, separator, text = one.partition("=")
            if separator:
                yield name.strip(), text.strip()


def _said(comments: Sequence[tuple[int, str]], kernel: str) -> Iterator[str]:
    """Yield the comments that say how a kernel is launched, and what its callers promise.

    A promise belongs to the launches beside it, with no other line than comments between. One that
    stands alone belongs to all kernels of the file.
    """
    for block in _blocks(comments):
        launched = [
            line for line in block if (found := LINE.fullmatch(line)) and found[1] != ASSUME
        ]
        is_of_others = any(not _launches(line, kernel) for line in launched)
        is_open, is_after = False, False
        for line in block:
            found = LINE.fullmatch(line)
            if found is not None and found[1] == ASSUME:
                is_open = is_after or not is_of_others
            elif found is not None:
                is_open = is_after = _launches(line, kernel)
            if is_open:
                yield line


def _blocks(comments: Sequence[tuple[int, str]]) -> Iterator[list[str]]:
    """Yield the comments of lines that follow one another."""
    block, last = list[str](), 0
    for at, line in comments:
        if block and at != last + 1:
            yield block
            block = []
        block.append(line)
        last = at
    if block:
        yield block


def _about(line: str, kernel: str, name: str) -> str:
    """Return a line about a kernel with the name that it has in the text."""
    return line.replace(f"{kernel}[", f"{name}[", 1) if _launches(line, kernel) else line


def _launches(line: str, kernel: str) -> bool:
    """Return whether a comment says how a kernel is launched."""
    found = LINE.fullmatch(line)
    return found is not None and found[1] != ASSUME and found[2].strip().startswith(f"{kernel}[")
