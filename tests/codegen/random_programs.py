"""Runs random programs of one kind: their results are right, and none of them is refuted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of, outputs
from dtpoly.schedule.legality import judge
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.running import compared, imported
from tests.oracle.cases import Case


@dataclass(frozen=True, slots=True)
class Tried:
    """How many programs were proved, unknown or refuted, and for how many there is no code."""

    verdicts: Counter[LayerVerdict]
    refused: int


def tried(seeds: Iterable[int], case_of: Callable[[int], Case]) -> Tried:
    """Run the legal programs of some seeds at two sizes of each label, and verify their texts."""
    verdicts, refused = Counter[LayerVerdict](), 0
    for seed in seeds:
        case = case_of(seed)
        of = case.program
        if not is_legal(of):
            continue
        text = text_or_none(of)
        if text is None:
            refused += 1
            continue
        verdicts.update([verify(of, text, seconds=10).verdict])
        for more in (0, 1):
            sizes = possible(of, {label: size + more for label, size in case.sizes.items()})
            if sizes is not None:
                given = Recipe(seed=seed).inputs(of, sizes)
                compared(imported(text), of, outputs(of), given, sizes, layout=Layout.SLICED)
    return Tried(verdicts, refused)


def is_legal(of: Program) -> bool:
    """Return whether a schedule is legal; one with a primitive of a user's counts as none."""
    return not has_errors(check_schedule(of, DIRECTIVES)) and judge(of, DIRECTIVES).is_legal


def possible(of: Program, wanted: Mapping[str, int]) -> dict[str, int] | None:
    """Return sizes near those that are wanted, if tensors can give such sizes."""
    passed = {rule.label: wanted[rule.label] for rule in size_rules(of) if rule.is_passed}
    try:
        return {**wanted, **sizes_of(of, input_shapes(of, wanted), passed)}
    except DtpolyError:
        return None


def text_or_none(of: Program) -> str | None:
    """Return the code of a legal schedule, or None if there is none.

    The lanes of a copy that is read at a remainder have holes, which cannot always be left out.
    """
    try:
        return code_of(judge(of, DIRECTIVES).scheduled).text
    except DtpolyError as error:
        if [one.code for one in error.diagnostics] == ["DT300"]:
            return None
        raise
