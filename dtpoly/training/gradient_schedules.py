"""Finds the schedule that computes gradients: a file of the user's, or one that is derived.

Nothing here needs torch.
"""

from collections.abc import Iterable, Mapping

from dtpoly.algorithm.label_sizes import size_rules, sizes_of, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.api import Scheduled, parse
from dtpoly.directives.built_in import COMPILING, DIRECTIVES
from dtpoly.frozen import dataclass
from dtpoly.generate import outputs, results_of
from dtpoly.gradient.activity import active_names
from dtpoly.gradient.chosen import of_floats
from dtpoly.gradient.differentiate import differentiated
from dtpoly.gradient.text import gradient_text
from dtpoly.gradient.whole_axes import whole_axes
from dtpoly.python_errors import told
from dtpoly.training.operator_messages import unfit_gradient

PREFIX = "d_"  # begins the names of gradients in a file


@dataclass(frozen=True, eq=False)
class Backward:
    """A schedule that computes gradients.

    `given` has the input that takes the gradient of each result, and `results` the Func that is the
    gradient by each input, in the order in which the schedule returns them. `sizes` says for each
    label whose size a call may pass where this size is seen; the sizes of `computed` follow from
    several axes.
    """

    schedule: Scheduled
    given: Mapping[str, str]
    results: Mapping[str, str]
    sizes: Mapping[str, tuple[str, int]]
    computed: tuple[str, ...]

    @property
    def read(self) -> tuple[str, ...]:
        """Return the inputs and results of the algorithm that it reads."""
        gifts = set(self.given.values())
        return tuple(one.name for one in self.schedule.program.inputs if one.name not in gifts)

    @property
    def gifts(self) -> tuple[str, ...]:
        """Return the results whose gradients it reads."""
        names = {one.name for one in self.schedule.program.inputs}
        return tuple(one for one, gift in self.given.items() if gift in names)


def depended_on(program: Program, of: Iterable[str], by: Iterable[str]) -> tuple[str, ...]:
    """Return the inputs through which a gradient flows to some results."""
    results = set(of)
    floats = of_floats(program, by)
    return tuple(one for one in floats if not active_names(program, (one,)).isdisjoint(results))


def depending(program: Program, of: Iterable[str], by: Iterable[str]) -> tuple[str, ...]:
    """Return the results of floats that depend on some inputs by derivatives."""
    active = active_names(program, tuple(by))
    return tuple(one for one in of_floats(program, of) if one in active)


def derived(
    forward: Scheduled, of: tuple[str, ...], by: tuple[str, ...], saved: tuple[str, ...]
) -> Backward:
    """Derive the gradient of results by inputs, without a schedule. Raises DtpolyError."""
    with told():
        gradient = differentiated(forward.algorithm.program, of, by, saved)
    text = gradient_text(gradient, forward.name)
    made = like(forward, text, f"the gradient of {forward.name}")
    return backward_of(forward.program, made, gradient.given, gradient.results)


def like(known: Scheduled, text: str, name: str) -> Scheduled:
    """Read a text as another schedule was read."""
    return parse(
        text,
        [one for one in known.primitives if one not in DIRECTIVES],
        name,
        verify=known.verifies,
        runtime="carry" if known.carries_runtime else "import",
        check_data=False,
    )


def written(forward: Scheduled, schedule: Scheduled, results: Iterable[str]) -> Backward:
    """Return what a file says that somebody wrote: d_X is the gradient by X. Raises DtpolyError."""
    program, names = schedule.program, {one.name for one in forward.program.inputs}
    compiled = outputs(program)
    if len(compiled) != 1:
        title = f"{schedule.name} must compile one Func, which returns all gradients"
        raise unfit_gradient(title, "say d_X.compile(d_W); once, with all of them")
    made = results_of(program, compiled)[compiled[0]]
    gradients = {one.removeprefix(PREFIX): one for one in made}
    given = {one: f"{PREFIX}{one}" for one in results}
    for one, func in gradients.items():
        if not func.startswith(PREFIX) or one not in names:
            title = (
                f"{schedule.name} returns '{func}', which is no gradient of an input of "
                f"{forward.name}"
            )
            raise unfit_gradient(title, f"call it {PREFIX} and the input's name")
    for read in program.inputs:
        if read.name not in {*names, *results, *given.values()}:
            title = (
                f"{schedule.name} reads '{read.name}', which is no input of {forward.name}, and "
                f"neither one of its results ({', '.join(results)}) nor a gradient of them"
            )
            raise unfit_gradient(title, f"compute it, or name it in save= of {forward.name}")
    return backward_of(forward.program, schedule, given, gradients)


def backward_of(
    forward: Program, schedule: Scheduled, given: Mapping[str, str], results: Mapping[str, str]
) -> Backward:
    """Return a schedule of gradients, with the places where the sizes of its labels are seen."""
    program = schedule.program
    func = outputs(program)[0]
    order = results_of(program, (func,))[func]
    by_func = {made: one for one, made in results.items()}
    ordered = {by_func[made]: made for made in order}
    used = used_labels(program)
    rules = [one.label for one in size_rules(program) if one.may_be_passed and one.label in used]
    seen = _seen(forward, program, ordered)
    sizes = {label: seen[label] for label in rules if label in seen}
    computed = tuple(label for label in rules if label not in seen)
    return Backward(schedule, given, ordered, sizes, computed)


def _seen(
    forward: Program, program: Program, results: Mapping[str, str]
) -> dict[str, tuple[str, int]]:
    """Return an axis of an input that shows the size of a label, for each label that has one."""
    inputs = {one.name for one in forward.tensors}
    found: dict[str, tuple[str, int]] = {}
    for one, result in results.items():
        func = program.func(result)
        func = func if func.into is None else program.func(func.into.tensor)
        for axis, label in enumerate(func.labels):
            found.setdefault(label, (one, axis))
    for tensor, axis, label in sorted(whole_axes(forward)):
        if tensor in inputs:
            found[label] = (tensor, axis)
    return found


def sizes_at(
    forward: Program,
    backward: Backward,
    shapes: Mapping[str, tuple[int, ...]],
    passed: Mapping[str, int],
) -> dict[str, int]:
    """Return the sizes that a call of a backward passes, from the shapes of the inputs."""
    found = {label: shapes[one][axis] for label, (one, axis) in backward.sizes.items()}
    if backward.computed:
        every = sizes_of(forward, shapes, passed)
        found |= {label: every[label] for label in backward.computed if label in every}
    return found


def compiling(func: str, results: Iterable[str]) -> str:
    """Return the directive that asks for a function with some results."""
    others = ", ".join(one for one in results if one != func)
    return f"{func}.{COMPILING[0]}({others});"
