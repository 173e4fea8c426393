"""Learns the verdicts of classes as points come in, and says which points still must be asked.

A point whose class is known takes the verdict of its class. Of such points a sample is asked all
the same, among them the very first one, so that every run tries the lemma of docs/explore.md; a
disagreement ends the run.
"""

from collections.abc import Hashable
from dataclasses import field

from dtpoly.algorithm.program import Directive, Program
from dtpoly.diagnostics import Severity
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.legality.classes import class_of, is_aligned
from dtpoly.explore.legality.large_tiles import MOST_ELEMENTS, Tiled, largest_tile, tiled
from dtpoly.explore.legality.shared_verdicts import Disagreement, KnownVerdict, Look
from dtpoly.explore.legality.verdicts import TOO_LARGE
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.primitive import Primitive

EVERY = 20  # one in so many points that share a verdict is asked by itself


@dataclass(slots=True)
class Learned:
    """The verdicts of the classes of one algorithm that are known so far."""

    primitives: Primitives
    is_aligned: bool
    tiled: Tiled
    verdicts: dict[Hashable, KnownVerdict] = field(default_factory=dict[Hashable, KnownVerdict])
    bound: dict[Directive, Primitive | None] = field(
        default_factory=dict[Directive, "Primitive | None"]
    )
    shared: int = 0
    again: int = 0

    def look(self, program: Program) -> Look:
        """Find the class of a point, and its verdict if that is known.

        A point has no class where a directive is wrong, or not one of dtpoly's own.
        """
        chosen = [self._bound(directive) for directive in program.directives]
        known = [one for one in chosen if one is not None]
        if len(known) < len(chosen):
            return Look()
        largest = largest_tile(self.tiled, known)
        if largest > MOST_ELEMENTS:
            why = f"a tile has {largest:,} elements; Triton allows {MOST_ELEMENTS:,}"
            return Look(known=KnownVerdict("", f"tile too large: {TOO_LARGE}", why))
        mine = class_of(known, aligned=self.is_aligned)
        # Whether loads run ahead is asked last, and is the same for all that do.
        key = (mine.key, mine.runs_ahead)
        verdict = self.verdicts.get(key)
        if verdict is None:
            return Look(key)
        self.shared += 1
        is_sample = self.shared % EVERY == 1
        self.again += is_sample
        return Look(key, verdict, is_sample)

    def learn(self, look: Look, mine: KnownVerdict) -> None:
        """Note the verdict of a point that was asked by itself. Raises Disagreement."""
        before = look.known or self.verdicts.setdefault(look.key, mine)
        if before.kind != mine.kind:
            raise Disagreement(
                f"'{mine.point}' is {_said(mine)}, but '{before.point}', which is in its class, is"
                f" {_said(before)}; one of the two verdicts is wrong: please report it"
            )

    def _bound(self, directive: Directive) -> Primitive | None:
        if directive not in self.bound:
            found = bind((directive,), self.primitives)
            is_wrong = any(one.severity is Severity.ERROR for one in found.found)
            self.bound[directive] = None if is_wrong else found.primitives[0]
        return self.bound[directive]


def _said(known: KnownVerdict) -> str:
    return "legal" if known.is_legal else f"refused ({known.kind}: {known.reason})"


def learned(program: Program) -> Learned:
    """Begin to learn about an algorithm: no verdict is known yet."""
    return Learned(DIRECTIVES, is_aligned(program), tiled(program))
