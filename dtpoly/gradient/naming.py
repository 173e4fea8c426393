"""Chooses names that a file does not have yet."""

from collections.abc import Iterable

from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.algorithm.program import Program

WORDS = ("Func", "In", "SIn", "Var", "RVar", "and", "or", "not", "inf", "nan", *CALL_NAMES)


class FreeNames:
    """The names that are taken: those of a program, and those that were chosen for it."""

    def __init__(self, program: Program) -> None:
        every: list[Iterable[str]] = [
            WORDS,
            (one.name for one in program.funcs),
            (one.name for one in program.inputs),
            (one.name for one in program.labels),
        ]
        self.taken = {name for names in every for name in names}

    def new(self, wanted: str) -> str:
        """Return the wanted name, with a number behind it if it is taken."""
        name, count = wanted, 1
        while name in self.taken:
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name
