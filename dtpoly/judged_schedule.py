"""The result of judging a program's schedule: all that can be said without generating a kernel."""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.asking.directive_answers import DirectiveAnswer, answered
from dtpoly.asking.offered_directives import Offered
from dtpoly.checking import Checked, prove
from dtpoly.diagnostics import has_errors
from dtpoly.frozen import dataclass
from dtpoly.notebook import Picture, as_html, as_map, as_text
from dtpoly.offers import offers
from dtpoly.python_errors import Messages, ShownText, error_of, told
from dtpoly.remarks import remarked_soon
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.explained_directives import explain
from dtpoly.schedule.tree_text import show_tree
from dtpoly.schedule.verdict import Verdict
from dtpoly.suggest import did_you_mean

if TYPE_CHECKING:  # it is loaded when somebody asks
    from dtpoly.estimated_cost import EstimatedCost


@dataclass(frozen=True, repr=False, eq=False)
class Judged:
    """A file in which nothing is wrong by itself; its schedule is judged when somebody asks."""

    checked: Checked
    program: Program

    @property
    def primitives(self) -> Primitives:
        """Return the primitives that directives may use."""
        return self.checked.primitives

    @property
    def name(self) -> str:
        """Return the file that it was read from."""
        return self.checked.file.source.name

    @cached_property
    def is_scheduled(self) -> bool:
        """Return whether a directive says how something is computed, and not only what is."""
        kinds = (one for one in self.primitives if one.is_of_result)
        of_result = (word for one in kinds for word in (one.name, *one.aliases))
        return not {one.name for one in self.program.directives} <= {*of_result}

    @cached_property
    def _remarks(self) -> Messages:
        with told():
            return Messages(remarked_soon(self._proved).diagnostics)

    @cached_property
    def _proved(self) -> Checked:
        with told():
            return prove(self.checked)

    @property
    def diagnostics(self) -> Messages:
        """Return all messages: warnings and notes, and why the schedule is refused."""
        return self._remarks

    @property
    def verdict(self) -> Verdict:
        """Say whether the schedule is legal for all sizes; if not, how it is violated, by examples.

        Raises DtpolyError where a primitive of one's own fails, ValueError if there is no Func.
        """
        if not self.program.funcs:
            raise ValueError(f"{self.name} has no Func, so there is nothing to schedule")
        if self._proved.verdict is None:
            raise error_of(self.diagnostics)
        return self._proved.verdict

    @property
    def is_legal(self) -> bool:
        """True if the schedule is legal for all sizes."""
        return not has_errors(self._proved.diagnostics)

    def check(self) -> Self:
        """Return the same if its schedule is legal for all sizes. Raises DtpolyError if not."""
        if not self.is_legal:
            raise error_of(self.diagnostics)
        return self

    def explain(self, **sizes: int) -> ShownText:
        """Say what each directive does, and which kernels come of them, as `dtpoly explain` does.

        With sizes of labels there are numbers beside the formulas.
        """
        verdict, size_of = self.verdict, self.verdict.scheduled.model.size_of
        for label in sizes.keys() - size_of.keys():
            raise ValueError(f"there is no label '{label}'{did_you_mean(label, size_of)}")
        found = explain(verdict.scheduled.sized, verdict, self.primitives)
        given = {size_of[label]: size for label, size in sizes.items()}
        known = {label: given[param] for label, param in size_of.items() if param in given}
        return ShownText(as_text(found, known))

    def why_not(self, directive: str) -> DirectiveAnswer:
        """Say whether a directive may be added, what it would change, or why not.

        It takes the place of directives that concern the same, as `instead` does. The answer is
        true if it may be added. Raises DtpolyError and ValueError for a text that is no directive.
        """
        with told():
            return answered(self._proved, directive)

    def legal(self, func: str) -> Offered:
        """Return directives that a Func could get next, and say of each whether it is legal.

        A few sizes, every label, some orders of loops and fusions are tried, as `dtpoly legal`
        does. Raises KeyError if there is no such Func, DtpolyError for a refused schedule.
        """
        known = [one.name for one in self.program.funcs]
        if func not in known:
            raise KeyError(f"there is no Func '{func}'{did_you_mean(func, known)}")
        self.check()
        with told():
            return Offered(offers(self.program, func, self.primitives))

    def map(self, **sizes: int) -> Picture:
        """Draw which program computes which element, in which iteration and lane.

        It is the picture of `dtpoly show --stage map`, with the blocks of the schedule as they are.
        A label whose size is not given has two blocks. Raises DtpolyError for a refused schedule,
        ValueError for sizes that are wrong or too large to draw.
        """
        state = self.check().verdict.scheduled
        for label in sizes.keys() - state.model.size_of.keys():
            raise ValueError(
                f"there is no label '{label}'{did_you_mean(label, state.model.size_of)}"
            )
        return as_map(state, sizes)

    def cost(
        self,
        sizes: Mapping[str, int],
        *,
        device: str = "h200",
        dtype: str = "f32",
        warm: bool = False,
    ) -> "EstimatedCost":
        """Estimate how long the kernels take on a GPU, without using it, as `dtpoly cost` does.

        Sizes that follow from others may be left out. The device is a name, or a file that `dtpoly
        device` wrote; the dtype is that of inputs that declare none. `warm` assumes warm caches and
        launches that wait in a queue. Raises DtpolyError for a refused schedule or sizes that do
        not fit, ValueError for a label, device or dtype that is not known.
        """
        state = self.check().verdict.scheduled
        answers: Any = import_module("dtpoly.estimated_cost")
        found: EstimatedCost = answers.estimated(state, sizes, device, dtype, warm)
        return found

    @property
    def tree(self) -> ShownText:
        """Show the schedule tree, one loop a line; of a refused schedule, what it asks for."""
        with told():
            bound = bind(self.program.directives, self.primitives)
            return ShownText(show_tree(resolve(self.program, bound.primitives).kernels))

    def __str__(self) -> str:
        return show(self.program)

    def _repr_html_(self) -> str:
        """Show a notebook the verdict, messages, tree, and a picture at small sizes."""
        return as_html(self.name, str(self), self._proved, self._remarks)
