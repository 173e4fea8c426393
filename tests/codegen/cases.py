"""Makes, from a seed, a scheduled Program of any kind, with sizes and a recipe for inputs.

`python -m tests.codegen.cases 0 1000` runs the cases of these seeds and prints their outcomes.
"""

import signal
import sys
import traceback
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import permutations
from math import prod
from random import Random

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import ProgramId, walk
from dtpoly.algorithm.inference import check_types
from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.algorithm.program import Argument, Directive, Program
from dtpoly.algorithm.show import show
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.generate import code_of
from dtpoly.reference.inputs import with_dtypes
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.legality import judge_state
from dtpoly.schedule.state import State
from dtpoly.schedule.static_checks import check_schedule, view_of
from dtpoly.schedule.tree import launch_of, leaves
from dtpoly.schedule.verdict import Verdict
from tests.codegen.expert import expert
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import Checked, Wrong, compared, imported, nothing_to_run
from tests.generation import extents, schedules
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.oracle import cases
from tests.schedule.user_primitives import USER

LIMIT_S = 10
# The interpreter takes a millisecond for each step of a loop.
MOST_STEPS = 150
NOTHING_CHECKED = Checked()


class Kind(StrEnum):
    """The generator that a Program comes from."""

    ORDINARY = "ordinary"  # fusions, blocks and tiles as one writes them
    FULL = "full"  # every operation and every directive
    STRANGE = "strange"  # any directives, and users' primitives
    EXPERT = "expert"  # products in tiles, reductions in parts, blocks in groups


# Most strange schedules are refused, so there are few of them.
SHARES = {Kind.ORDINARY: 0.42, Kind.FULL: 0.42, Kind.STRANGE: 0.06, Kind.EXPERT: 0.1}
DTYPES = (
    *(DType.F32,) * 6,
    *(DType.F16, DType.F16, DType.BF16, DType.BF16, DType.F64, DType.F64),
    *(DType.F8E4M3, DType.F8E5M2),
)


@dataclass(frozen=True, slots=True)
class RandomCase:
    """A Program with its sizes, and with the recipe for its inputs."""

    seed: int
    kind: Kind
    program: Program
    sizes: Mapping[str, int]
    recipe: Recipe
    out: Layout = Layout.PLAIN

    def __str__(self) -> str:
        """Return all that is needed to repeat the case."""
        sizes = ", ".join(f"{label}={size}" for label, size in self.sizes.items())
        return (
            f"# case {self.seed} ({self.kind}): {sizes}; {self.recipe}, out {self.out}\n"
            f"{show(self.program)}"
        )


def random_case(seed: int) -> RandomCase:
    """Return the case of a seed; it is not known yet whether its schedule is legal."""
    random = Random(f"codegen {seed}")
    kind = random.choices(tuple(SHARES), tuple(SHARES.values()))[0]
    program, sizes = _program(kind, random, seed)
    data = random.choices(tuple(Data), (6, 2, 1, 1))[0]
    dtype, dtypes = _dtypes(random, program) or (DType.F32, {})
    layout = random.choices(tuple(Layout), (4, 2, 2, 1))[0]
    out = random.choices((Layout.PLAIN, Layout.TRANSPOSED, Layout.SLICED), (3, 1, 1))[0]
    recipe = Recipe(seed, dtype, layout, data, dtypes)
    return RandomCase(seed, kind, program, sizes, recipe, out)


def launched_otherwise(case: RandomCase) -> RandomCase:
    """Return a legal case with random directives for launches, loads and stores.

    Its kernels may begin early, keep rows aligned, store through descriptors, load tensors that
    leave the cache first, or swap the sides of products.
    """
    random = Random(f"otherwise {case.seed}")
    named = {func.name for func in case.program.funcs}  # a kernel that clears has a name of its own
    funcs = sorted(named & {kernel.func for kernel in verdict(case).scheduled.kernels})
    known = view_of(case.program, bind(case.program.directives, USER)).kernels
    specialized = _specialized(case)
    reads = {func: sorted(known[func].inputs | known[func].stored) for func in funcs}
    more = [
        Directive(func, name, arguments)
        for func in funcs
        for name, arguments in (
            ("early", ()),
            ("pitch", ()),
            *([] if func in specialized else [("swap", ())]),
            ("descriptor", (Argument(func),)),
            *(("stream", (Argument(tensor),)) for tensor in reads[func]),
        )
        if random.random() < 0.7
    ]
    for directive in [one for one in more if one.name == "descriptor"]:
        boxes = tuple(_boxes(case, directive.func, random))
        if boxes:
            more.append(Directive(directive.func, "store", boxes))
    directives = (*case.program.directives, *more)
    return replace(case, program=replace(case.program, directives=directives))


def in_one_launch(case: RandomCase) -> RandomCase | None:
    """Return a legal case in which one launch computes two kernels, or None."""
    kernels = verdict(case).scheduled.kernels
    named = {func.name for func in case.program.funcs}
    funcs = [kernel.func for kernel in kernels if kernel.name == kernel.func in named]
    pairs = list(permutations(funcs, 2))
    Random(f"pair {case.seed}").shuffle(pairs)
    for func, other in pairs:
        directive = Directive(func, "beside", (Argument(other),))
        program = replace(case.program, directives=(*case.program.directives, directive))
        mine = replace(case, program=program)
        if check_schedule(program, USER):
            continue
        found = verdict(mine)
        if found.is_legal and has_code(found.scheduled, "launch"):
            assert any(launch_of(kernel).beside for kernel in found.scheduled.kernels)
            return mine
    return None


def _specialized(case: RandomCase) -> set[str]:
    """Return the Funcs whose sides cannot be swapped.

    Their groups of warps have rows of their own.
    """
    return {one.func for one in case.program.directives if one.name == "warp_specialize"}


def swapped(case: RandomCase) -> RandomCase | None:
    """Return a legal case whose kernels swap the sides of products; None without products."""
    found = verdict(case).scheduled
    if not any("tl.dot" in line for line in code_of(found).text.splitlines()):
        return None
    named = {func.name for func in case.program.funcs}  # a kernel that clears has a name of its own
    funcs = sorted(({kernel.func for kernel in found.kernels} & named) - _specialized(case))
    more = [Directive(func, "swap", ()) for func in funcs]
    directives = (*case.program.directives, *more)
    return replace(case, program=replace(case.program, directives=directives))


def in_panels(case: RandomCase) -> RandomCase | None:
    """Return a legal case in which a Func is computed in panels, or None if no Func can be."""
    random = Random(f"panels {case.seed}")
    compiled = {
        d.func for d in case.program.directives if d.name in ("compile", "compile_to_kernel")
    }
    for func in [func for func in case.program.funcs if func.name in compiled]:
        for label in random.sample(func.labels, len(func.labels)):
            panel = Argument(label, random.choice((1, 2, 3, 5)))
            directive = Directive(func.name, "panels", (panel,))
            program = replace(case.program, directives=(*case.program.directives, directive))
            if not check_schedule(program, USER):
                mine = replace(case, program=program)
                found = verdict(mine)
                assert found.is_legal
                if has_code(found.scheduled, "panel"):
                    return mine
    return None


def has_code(state: State, word: str) -> bool:
    """True if there is code for the schedule; False if it is refused with a note that has `word`.

    Two kernels share a launch only if both need the same one and none of their own. Kernels of
    panels have no memory for each program.
    """
    try:
        code_of(state)
    except DtpolyError as error:
        notes = [note.text for one in error.diagnostics for note in one.notes]
        if any(word in note for note in notes):
            return False
        raise
    return True


def _boxes(case: RandomCase, func: str, random: Random) -> Iterator[Argument]:
    """Yield boxes in which the tile of a Func may be stored, at most eight."""
    directives = (one for one in case.program.directives if one.func == func)
    if any(one.name == "warp_specialize" for one in directives):
        return
    lanes = [
        (lane.label, lane.extent)
        for kernel in verdict(case).scheduled.kernels
        if kernel.func == func
        for leaf, _ in leaves(kernel.body)
        for lane in leaf.lanes
        if lane.extent is not None
    ]
    left = 8
    for label in case.program.func(func).labels:
        largest = max((extent for name, extent in lanes if name == label), default=0)
        parts = random.choice([n for n in (1, 2, 4) if n <= left])
        if largest >= 2 * parts:
            left //= parts
            yield Argument(label, largest // parts)


def _program(kind: Kind, random: Random, seed: int) -> tuple[Program, dict[str, int]]:
    match kind:
        case Kind.ORDINARY:
            case = cases.ordinary_case(seed)
            return case.program, case.sizes
        case Kind.STRANGE:
            case = cases.case(seed)
            return case.program, case.sizes
        case Kind.FULL:
            return _full(random)
        case Kind.EXPERT:
            return expert(random)


def _full(random: Random) -> tuple[Program, dict[str, int]]:
    """Return a Program with every operation, and sizes that its tensors can have."""
    while True:
        choose = seeded(random.randrange(2**40))
        limits = Limits(
            labels=4, tensors=3, scalars=2, funcs=3, rank=3, depth=random.choice((1, 2, 3))
        )
        program = schedules.program(choose, limits)
        if any(isinstance(node, ProgramId) for f in program.funcs for node in walk(f.body)):
            continue
        if _dtypes(random, program) is None:
            continue
        least = random.choice((0, 1, 1, 1))
        wanted = extents.label_sizes(choose, program, least, random.choice((4, 7, 20)))
        passed = {rule.label: wanted[rule.label] for rule in size_rules(program) if rule.is_passed}
        try:
            sizes = sizes_of(program, input_shapes(program, wanted), passed)
        except DtpolyError:
            continue  # rare shifts leave no sizes at all
        if prod(max(size, 1) for size in sizes.values()) <= MOST_STEPS:
            return program, sizes


def _dtypes(random: Random, program: Program) -> tuple[DType, dict[str, DType]] | None:
    """Return the dtype of inputs that declare none, and other dtypes for some of them."""
    free = [tensor.name for tensor in program.tensors if tensor.dtype is None]
    for _ in range(20):
        dtype = random.choice(DTYPES)
        other = random.choice(DTYPES[:-2])
        is_mixed = len(free) > 1 and random.random() < 0.2
        dtypes = {free[0]: other} if is_mixed else {}
        if _promotes(program, dtype, dtypes):
            return dtype, dtypes
    return None


def _promotes(program: Program, dtype: DType, dtypes: Mapping[str, DType]) -> bool:
    chosen = {t.name: dtype for t in program.tensors} | dict(dtypes)
    sizes = {label.name: 0 for label in program.labels}
    try:
        inputs = random_inputs(program, sizes, 0, chosen)
    except DtpolyError:
        return True  # no sizes at all
    return not has_errors(check_types(with_dtypes(program, inputs)))


class SlowError(BaseException):
    """A case takes too long. The interpreter does not catch this exception."""


@contextmanager
def limited(seconds: int = LIMIT_S) -> Generator[None]:
    """Raise SlowError inside when this much of the processor's time is over.

    On a busy machine, the time on the wall would call quick cases slow.
    """

    def ring(*_: object) -> None:
        raise SlowError(f"over {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Outcome(StrEnum):
    """The kinds of outcomes of a case."""

    RIGHT = "right"
    REFUSED = "refused"  # its schedule is not legal
    NOTHING = "nothing to run"  # `rargmax` of nothing, or a dtype that is not combined atomically
    WRONG = "wrong"
    FAILED = "failed"
    SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a case, and the reason."""

    outcome: Outcome
    why: str = ""
    checked: Checked = NOTHING_CHECKED
    text: str = ""  # of the generated file, if it was right


def verdict(case: RandomCase) -> Verdict:
    """Return whether the schedule is legal.

    It does not find whom to blame, which would take most of the time.
    """
    return judge_state(resolve(case.program, bind(case.program.directives, USER).primitives))


def outcome(case: RandomCase) -> Result:
    """Run a case in the interpreter."""
    try:
        with limited():
            return _outcome(case)
    except SlowError as error:
        return Result(Outcome.SLOW, str(error))
    except Wrong as error:
        return Result(Outcome.WRONG, str(error))
    except Exception as error:  # whatever it is, it is told
        return Result(Outcome.FAILED, _told(error))


def _told(error: BaseException) -> str:
    """Return the first error, and where it was raised."""
    while error.__cause__ is not None:
        error = error.__cause__
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
    return f"{type(error).__name__} at {where}: {error}"[:600]


def _outcome(case: RandomCase) -> Result:
    judged = verdict(case)
    if not judged.is_legal:
        return Result(Outcome.REFUSED, judged.violations[0].kind)
    made_of = code_of(judged.scheduled)
    try:
        checked = compared(
            imported(made_of.text),
            case.program,
            made_of.stages.outputs,
            case.recipe.inputs(case.program, case.sizes),
            case.sizes,
            layout=case.out,
        )
    except (DtpolyError, TypeError) as error:
        if reason := nothing_to_run(error):
            return Result(Outcome.NOTHING, reason)
        raise
    return Result(Outcome.RIGHT, "", checked, made_of.text)


def main() -> None:
    """Run the cases of a range of seeds."""
    counts: Counter[Outcome] = Counter()
    total = Checked()
    kinds: Counter[str] = Counter()
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        case = random_case(seed)
        result = outcome(case)
        counts[result.outcome] += 1
        kinds[f"{case.kind}: {result.outcome}"] += 1
        total += result.checked
        if result.outcome in (Outcome.WRONG, Outcome.FAILED, Outcome.SLOW):
            print(f"{seed} {case.kind} {result.outcome}: {result.why}", flush=True)
    for name, count in sorted(kinds.items()):
        print(f"{count:6} {name}")
    print(dict(counts), total)


if __name__ == "__main__":
    main()
