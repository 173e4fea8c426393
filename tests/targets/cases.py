"""The seed of a random case and a target in; the registers of its kernels printed."""

from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.targets.build import build
from dtpoly.targets.target import parse_target
from tests.codegen.cases import RandomCase, random_case
from tests.schedule.user_primitives import USER


def is_fit(case: RandomCase) -> bool:
    """Whether it has code, sizes above 0 and one dtype for all inputs that declare none."""
    verdict = judge(case.program, USER)
    return verdict.is_legal and not case.recipe.dtypes and all(case.sizes.values())


def main(seed: str, target: str) -> int:
    """Compile the kernels of a case."""
    case = random_case(int(seed))
    state = judge(case.program, USER).scheduled
    try:
        built = build(state, code_of(state), parse_target(target), case.sizes, case.recipe.dtype)
    except DtpolyError as error:
        print(error, *(note.text for d in error.diagnostics for note in d.notes), case, sep="\n")
        return 1
    print(*(f"{binary.kernel} {binary.registers}" for binary in built.binaries), sep="\n")
    return 0
