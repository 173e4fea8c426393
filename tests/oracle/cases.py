"""Makes, from a seed, small scheduled Programs and sizes, to compare legality checks.

All pass the checks that come before legality, and some tensors have their sizes. `python -m
tests.oracle.cases 2000` prints how often each verdict occurs.
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass
from random import Random

from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.algorithm.program import Program, reduced_labels, scanned_labels
from dtpoly.algorithm.show import show
from dtpoly.checking import load, understand
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.parse import parse
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.source import Source
from tests.oracle.algorithms import Algorithm
from tests.oracle.data_tables import Contents, DataEnds, with_data_ranges
from tests.oracle.divided_reads import HALVED, is_divided, with_quotients
from tests.oracle.elementwise import with_elementwise
from tests.oracle.indirect_reads import is_indirect, with_data
from tests.oracle.kernels import plan
from tests.oracle.placed_results import (
    is_placed,
    with_places,
    with_starts,
    without_directives_on_starts,
)
from tests.oracle.ranged import ranged
from tests.oracle.run import Illegal, Verdict, judge_schedule
from tests.oracle.said import Unclear
from tests.oracle.scanned import with_names_of_parts, with_scans
from tests.oracle.schedules import returning, scheduled, sensible
from tests.oracle.stored_along import along_text
from tests.oracle.with_lists import with_lists
from tests.schedule.user_primitives import USER


@dataclass(frozen=True, slots=True)
class Case:
    """A scheduled Program at some sizes.

    The steps of the reductions of `ordered` Funcs must keep their order. In ordinary Programs no
    instance depends on another one of the same statement.
    """

    program: Program
    sizes: dict[str, int]
    ordered: frozenset[str] = frozenset()
    ends: DataEnds | None = None  # of a label whose range comes from tables

    def judged(self) -> Verdict:
        """Return the verdict of the oracle."""
        return judge_schedule(self.program, self.sizes, ordered=self.ordered)

    def judged_at(self, number: int) -> Verdict:
        """Return the verdict of the oracle where tables hold certain numbers."""
        size = max(self.sizes.values(), default=0)
        seed = f"{number} {sorted(self.sizes.items())}"
        contents = Contents(self.program, seed, size, self.ends)
        return judge_schedule(self.program, self.sizes, contents=contents)


def case(seed: int) -> Case:
    """Return the case of a seed."""
    for attempt in range(1000):
        random = Random(f"{seed} {attempt}")
        algorithm = Algorithm(random)
        program = scheduled(random, algorithm.program())
        # Few schedules without a fusion are refused.
        is_dull = all(directive.name != "fuse_at" for directive in program.directives)
        if is_dull and random.random() < 0.7:
            continue
        if has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        reducing = [func.name for func in program.funcs if reduced_labels(func)]
        ordered = frozenset(name for name in reducing if random.random() < 0.15)
        return Case(program, {label.name: sizes[label.name] for label in program.labels}, ordered)
    raise AssertionError(seed)


def ordinary_case(seed: int) -> Case:
    """Return a case with nothing strange in it, scheduled as a sensible user would."""
    for attempt in range(1000):
        random = Random(f"ordinary {seed} {attempt}")
        algorithm = Algorithm(random, is_plain=True)
        program = sensible(random, algorithm.program())
        if not has_errors(check_schedule(program, DIRECTIVES)):
            sizes = algorithm.sizes()
            return Case(program, {label.name: sizes[label.name] for label in program.labels})
    raise AssertionError(seed)


def returning_case(seed: int) -> Case:
    """Return a case in which a function has several results, some of which it stores elsewhere."""
    for attempt in range(1000):
        random = Random(f"returning {seed} {attempt}")
        algorithm = Algorithm(random)
        program = scheduled(random, algorithm.program())
        if all(directive.name != "compile" for directive in program.directives):
            continue
        program = returning(random, program)
        if _is_unclear(program) or not any(plan(program).stores.values()):
            continue
        if has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        return Case(program, {label.name: sizes[label.name] for label in program.labels})
    raise AssertionError(seed)


def ranged_case(seed: int) -> Case:
    """Return a case in which labels have ranges that depend on other labels and on sizes."""
    for attempt in range(1000):
        random = Random(f"ranged {seed} {attempt}")
        algorithm = Algorithm(random)
        made = ranged(random, algorithm.program())
        if made is None:
            continue
        program = scheduled(random, made)
        if has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        known = {label.name: sizes[label.name] for label in program.labels}
        return Case(program, known)
    raise AssertionError(seed)


def listing_case(seed: int) -> Case:
    """Return a case in which some reductions are lists, whose length the file says."""
    for attempt in range(1000):
        random = Random(f"listing {seed} {attempt}")
        algorithm = Algorithm(random)
        count, kind = random.choice((1, 2, 3, 3, 4, 5)), random.choice("xykl")
        places = {label for label, own in algorithm.kind.items() if own == kind}
        if "w" in places or (algorithm.has_stencil and kind == "x"):
            continue
        made = with_lists(random, algorithm.program(), places, count)
        if made is None:
            continue
        if random.random() < 0.2:
            made = ranged(random, made) or made
        program = (scheduled if random.random() < 0.5 else sensible)(random, made)
        if has_errors(check_schedule(program, USER)):
            continue
        sizes = {**algorithm.sizes(), **dict.fromkeys(places, count)}
        return Case(program, {label.name: sizes[label.name] for label in program.labels})
    raise AssertionError(seed)


def in_place_case(seed: int) -> Case:
    """Return a case in which some results replace the elements of inputs."""
    for attempt in range(2000):
        random = Random(f"in place {seed} {attempt}")
        algorithm = Algorithm(random)
        program = scheduled(random, algorithm.program(in_place=True))
        if all(directive.name != "compile" for directive in program.directives):
            continue
        if random.random() < 0.6:
            program = returning(random, program)
        if _is_unclear(program) or has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        return Case(program, {label.name: sizes[label.name] for label in program.labels})
    raise AssertionError(seed)


def placed_case(seed: int) -> Case:
    """Return a case in which results go to places in inputs."""
    for attempt in range(2000):
        random = Random(f"placed {seed} {attempt}")
        made = in_place_case(random.randrange(10**6))
        program = with_places(random, made.program)
        if not is_placed(program) or has_errors(check_schedule(program, USER)):
            continue
        passed = {r.label: made.sizes[r.label] for r in size_rules(program) if r.may_be_passed}
        try:
            found = sizes_of(program, input_shapes(program, made.sizes), passed)
        except DtpolyError:
            continue
        if all(found[label] == size for label, size in made.sizes.items() if label in found):
            return Case(program, made.sizes)
    raise AssertionError(seed)


def started_case(seed: int) -> Case:
    """Return a case in which sums at places begin with Funcs."""
    for attempt in range(2000):
        random = Random(f"started {seed} {attempt}")
        algorithm = Algorithm(random, is_plain=random.random() < 0.4)
        made = with_starts(random, algorithm.program(in_place=True))
        if not made.starts:
            continue
        program = (scheduled if random.random() < 0.6 else sensible)(random, made)
        if all(directive.name != "compile" for directive in program.directives):
            continue
        if random.random() < 0.4:
            program = returning(random, program)
        program = without_directives_on_starts(program)
        if all(directive.name != "compile" for directive in program.directives):
            continue
        if _is_unclear(program) or not _is_sound(made):
            continue
        if has_errors(check_schedule(program, USER)):
            continue
        sizes = {**algorithm.sizes(), **program.fixed}
        found = _possible(program, {one.name: sizes[one.name] for one in program.labels})
        if found is not None:
            return Case(program, found)
    raise AssertionError(seed)


def dividing_case(seed: int) -> Case:
    """Return a case in which indices are divided by numbers."""
    for attempt in range(1000):
        random = Random(f"dividing {seed} {attempt}")
        algorithm = Algorithm(random)
        made, label, divisor = with_quotients(random, algorithm.program())
        if not is_divided(made):
            continue
        program = (scheduled if random.random() < 0.6 else sensible)(random, made)
        is_dull = all(directive.name != "fuse_at" for directive in program.directives)
        if is_dull and random.random() < 0.5:
            continue
        if not _is_sound(made) or has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        if label is not None:
            sizes |= {HALVED: -(-sizes[label] // divisor)}
        wanted = {one.name: sizes[one.name] for one in program.labels if one.name in sizes}
        found = _possible(program, wanted)
        if found is not None:
            return Case(program, found)
    raise AssertionError(seed)


def elementwise_case(seed: int) -> Case:
    """Return a case with whole numbers and bits, with packed inputs or with random numbers."""
    for attempt in range(1000):
        random = Random(f"elementwise {seed} {attempt}")
        algorithm = Algorithm(random, is_plain=random.random() < 0.5)
        made = with_elementwise(random, algorithm.program(), _read)
        if made is None:
            continue
        program = (scheduled if random.random() < 0.6 else sensible)(random, made)
        if has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        found = _possible(program, {one.name: sizes[one.name] for one in program.labels})
        if found is not None:
            return Case(program, found)
    raise AssertionError(seed)


def indirect_case(seed: int) -> Case:
    """Return a case in which inputs are read at data; in some of them results are in place."""
    for attempt in range(1000):
        random = Random(f"indirect {seed} {attempt}")
        algorithm = Algorithm(random)
        in_place = random.random() < 0.4
        made = with_data(random, algorithm.program(in_place=in_place))
        if not is_indirect(made):
            continue
        program = (scheduled if random.random() < 0.6 else sensible)(random, made)
        if in_place and all(directive.name != "compile" for directive in program.directives):
            continue
        if not _is_sound(made) or has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        found = _possible(program, {one.name: sizes[one.name] for one in program.labels})
        if found is not None:
            return Case(program, found)
    raise AssertionError(seed)


def data_case(seed: int) -> Case:
    """Return a case with a range from tables, with results at places, or with both."""
    has_ends, in_place = Random(f"data {seed}").choice(((True, False), (False, True), (True, True)))
    for attempt in range(4000):
        random = Random(f"data {seed} {attempt}")
        algorithm = Algorithm(random, is_plain=random.random() < 0.4)
        made = algorithm.program(in_place=in_place)
        made = with_places(random, made) if in_place else made
        if random.random() < 0.3:
            made = with_data(random, made)
        ranged = with_data_ranges(random, made, _read) if has_ends else None
        if (has_ends and ranged is None) or (in_place and not is_placed(made)):
            continue
        made, ends = ranged or (made, None)
        program = (scheduled if random.random() < 0.6 else sensible)(random, made)
        if in_place and all(directive.name != "compile" for directive in program.directives):
            continue
        if _is_unclear(program) or not _is_sound(made) or has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        found = _possible(program, {one.name: sizes[one.name] for one in program.labels})
        if found is not None:
            return Case(program, found, ends=ends)
    raise AssertionError(seed)


def scanning_case(seed: int, *, has_parts: bool = False) -> Case:
    """Return a case with scans; if they have parts, a block cuts at least one of them."""
    for attempt in range(1000):
        random = Random(f"scanning {seed} {attempt}")
        algorithm = Algorithm(random, is_plain=random.random() < 0.5)
        made, scanned = with_scans(random, algorithm.program())
        if not scanned:
            continue
        program = (scheduled if random.random() < 0.6 else sensible)(random, made)
        is_dull = all(directive.name != "fuse_at" for directive in program.directives)
        if is_dull and random.random() < 0.5:
            continue
        if not _is_sound(made) or has_errors(check_schedule(program, DIRECTIVES)):
            continue
        if has_parts != _cuts_scans(program):
            continue
        if has_parts:
            program = with_names_of_parts(random, program)
            if has_errors(check_schedule(program, DIRECTIVES)) or _is_unclear(program):
                continue
        sizes = algorithm.sizes()
        sizes |= {label: sizes[at] for label, at in scanned.items()}
        found = _possible(program, {one.name: sizes[one.name] for one in program.labels})
        if found is not None:
            return Case(program, found)
    raise AssertionError(seed)


def _cuts_scans(program: Program) -> bool:
    """Return whether a block cuts the label along which a Func scans."""
    return any(
        argument.target in scanned_labels(program.func(directive.func))
        for directive in program.directives
        if directive.name == "block"
        for argument in directive.arguments
    )


def parted_scan_case(seed: int) -> Case:
    """Return a case in which a block cuts a scan into parts."""
    return scanning_case(seed, has_parts=True)


def _is_unclear(program: Program) -> bool:
    """Return whether the specification does not explain a schedule."""
    try:
        plan(program)
    except Unclear:
        return True
    return False


def along_case(seed: int) -> Case:
    """Return a case in which a result may be stored in the loop of another one's reduction.

    Some of the reductions are in parts.
    """
    for attempt in range(2000):
        random = Random(f"along {seed} {attempt}")
        program = understood(along_text(random))
        if program is None or _is_unclear(program):
            continue
        sizes = {label.name: random.choice((0, 1, 2, 3, 4, 5)) for label in program.labels}
        if "k" in sizes and "y" in sizes:
            sizes["k"] = sizes["y"]  # both go along one axis of A
        if "z" in sizes:
            sizes["z"] = sizes["y"]
        return Case(program, sizes)
    raise AssertionError(seed)


def _read(text: str) -> Program | None:
    """Return what a file says; None if it has a mistake."""
    try:
        return load(Source("case.dt", text))
    except DtpolyError:
        return None


def understood(text: str) -> Program | None:
    """Return what a file says, whether its schedule is legal or not; None if it has a mistake."""
    parsed = parse(Source("case.dt", text))
    return understand(parsed.file, parsed.found).program


def _is_sound(program: Program) -> bool:
    """True if a file with this algorithm has no mistake; it is then read back as it was."""
    try:
        again = load(Source("case.dt", show(program)))
    except DtpolyError:
        return False
    assert again == program, show(program)
    return True


def _possible(program: Program, wanted: dict[str, int]) -> dict[str, int] | None:
    """Return sizes that tensors can give, as near as possible to some that are wanted."""
    passed = {rule.label: wanted[rule.label] for rule in size_rules(program) if rule.is_passed}
    for more in range(7):
        try:
            shapes = input_shapes(program, {label: n + more for label, n in wanted.items()})
            return {**wanted, **sizes_of(program, shapes, passed)}
        except DtpolyError:
            continue
    return None


def verdicts(count: int) -> Counter[str]:
    """Return how often each verdict occurs in the first cases."""
    return Counter(kind_of(case(seed).judged()) for seed in range(count))


def kind_of(verdict: Verdict) -> str:
    """Return `legal`, or the kind of the violation."""
    return verdict.kind if isinstance(verdict, Illegal) else "legal"


if __name__ == "__main__":
    start = time.perf_counter()
    for kind, number in verdicts(int(sys.argv[1])).most_common():
        print(f"{number:6} {kind}")
    print(f"{time.perf_counter() - start:.1f} s")
