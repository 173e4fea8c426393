"""Everything that there is to say of a file, up to the code that would be written for it.

`check` and `compile` say the same, because both ask here.
"""

from collections.abc import Sequence

from dtpoly.checking import Checked
from dtpoly.diagnostics import Diagnostic, DtpolyError, in_source_order
from dtpoly.frozen import dataclass
from dtpoly.generate import Code, Test, code_of
from dtpoly.one_pass_offers import with_one_pass
from dtpoly.useless_directives import vain

# Generating a kernel takes 5 to 80 ms. `check`, which is to answer at once, takes no more than
# these; `compile` takes all.
MOST_KERNELS = 12


@dataclass(frozen=True, slots=True)
class Remarked:
    """The code of a file, if there is any, and everything that was found on the way to it."""

    diagnostics: tuple[Diagnostic, ...]
    code: Code | None = None
    is_partial: bool = False  # whether the code was not looked at, for there is much of it


def remarked_soon(checked: Checked) -> Remarked:
    """Return the same as `remarked`, but of a file with very many kernels what needs no code."""
    verdict = checked.verdict
    if verdict is not None and len(verdict.scheduled.kernels) > MOST_KERNELS:
        return Remarked(in_source_order(checked.diagnostics), is_partial=True)
    return remarked(checked)


def remarked(
    checked: Checked,
    header: str = "",
    test: Test = None,
    wanted: Sequence[str] | None = None,
    *,
    carries_runtime: bool = True,
) -> Remarked:
    """Generate the code of a file that was checked, and add what only the code can show.

    That is a schedule for which there is no code (DT300), and directives that the code is the same
    without (DT198). Of a file that is refused nothing is generated.
    """
    if checked.verdict is None:
        return Remarked(in_source_order(checked.diagnostics))
    if checked.program is None:
        program = checked.verdict.scheduled.program
        offering = with_one_pass(checked.diagnostics, program, checked.primitives)
        return Remarked(in_source_order(offering))
    state = checked.verdict.scheduled
    try:
        code = code_of(state, header, test, wanted, carries_runtime=carries_runtime)
    except DtpolyError as error:
        return Remarked(in_source_order((*checked.diagnostics, *error.diagnostics)))
    more = vain(state, code.stages, checked.primitives)
    return Remarked(in_source_order((*checked.diagnostics, *more)), code)
