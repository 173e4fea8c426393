"""Verifies kernels of other projects: `python -m tests.public_kernels FOLDER [WORD]`.

The folder has a folder for each project, `owner+name`. The file has a section for each kernel, with
the commit, the verdict that is expected, and an algorithm. Kernels of which the verdict is another
one are shown.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from dtpoly.algorithm.program import Program
from dtpoly.checking import check
from dtpoly.cli.taken_kernel import given_kernels
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.source import Source
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import ROOT

FILE = ROOT / "tests/data/public_kernels.txt"
SECONDS = 20.0
MARK = "=== "


@dataclass(frozen=True, slots=True)
class PublicKernel:
    """A kernel of a project at a commit: where it is, what is expected, and its algorithm."""

    project: str
    commit: str
    kernel: str
    verdict: str
    algorithm: str

    @property
    def source(self) -> Source:
        """Return the file with the algorithm and the lines."""
        return Source(f"{self.kernel.partition('::')[2]}.dt", self.algorithm)


def public_kernels() -> Iterator[PublicKernel]:
    """Yield all kernels of the file."""
    for section in FILE.read_text().split(f"\n{MARK}")[1:]:
        head, _, algorithm = section.partition("\n")
        project, commit, kernel, verdict = head.split()
        yield PublicKernel(project, commit, kernel, verdict, algorithm)


def program_of(kernel: PublicKernel) -> Program:
    """Return the algorithm of a kernel."""
    program = check(kernel.source).program
    assert program is not None, kernel.algorithm
    return program


def verdict_of(kernel: PublicKernel, folder: Path) -> str:
    """Return what is known of a kernel that lies in a folder of projects."""
    where = folder / kernel.project.replace("/", "+") / kernel.kernel
    try:
        given = given_kernels(str(where), kernel.source)
    except DtpolyError as error:
        return f"{error.diagnostics[0].code}: {error.diagnostics[0].title}"
    return verify(program_of(kernel), given.source.text, SECONDS).verdict.upper()


def main() -> int:
    """Verify all kernels, or those with a word in their names; return 1 if one differs."""
    folder, word = Path(sys.argv[1]), "".join(sys.argv[2:3])
    differs = False
    for one in public_kernels():
        if word in f"{one.project} {one.kernel}":
            began = time.monotonic()
            found = verdict_of(one, folder)
            told = "" if found == one.verdict else f", and not {one.verdict}"
            differs = differs or bool(told)
            print(f"{one.project} {one.kernel}: {found}{told} {time.monotonic() - began:.1f} s")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
