"""Hand-written kernels that are right: those of the verifier's tests, and others in `kernels/`.

`proved.txt` has the names of those that were PROVED at some commit: none of them may be lost.
"""

from functools import cache
from pathlib import Path

from dtpoly.checking import load
from dtpoly.frontend.reading import read_file
from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import SECONDS, verify
from tests.attack.mutants.subjects import Subject
from tests.verify import handwritten

HERE = Path(__file__).parent
FOLDERS = (handwritten.FOLDER, HERE / "kernels")
BEFORE = HERE / "proved.txt"
# Two files of the same name are told apart by their folder.
FILES = {
    f"{path.parent.name}/{path.stem}": path
    for folder in FOLDERS
    for path in sorted(folder.glob("*.dt"))
}


@cache
def subject(name: str) -> Subject:
    """Return a file, and the algorithm that it computes."""
    path = FILES[name]
    text = path.with_name(f"{path.stem}.py.txt").read_text()
    return Subject(name, load(read_file(str(path))), text, (), is_handwritten=True)


def report(name: str) -> Report:
    """Return the verdict of the verifier."""
    one = subject(name)
    return verify(one.program, one.text, SECONDS)


def proved_before() -> tuple[str, frozenset[str]]:
    """Return the commit at which the list was made, and the files that were PROVED there."""
    first, *names = BEFORE.read_text().splitlines()
    return first.removeprefix("# ").strip(), frozenset(names)
