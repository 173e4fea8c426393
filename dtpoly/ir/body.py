"""The body of a kernel as it was lowered: what directives may rewrite before all passes."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Load, Step
from dtpoly.ir.rewriting import rewritten


@dataclass(frozen=True, slots=True)
class Body:
    """The steps of a kernel as they were lowered, and the variables of its tensors by name."""

    steps: tuple[Step, ...]
    variables: Mapping[str, str]

    def with_loads(self, change: Callable[[Load], Load]) -> tuple[Step, ...]:
        """Return the steps with each load changed."""

        def one(step: Step) -> tuple[Step, ...]:
            load = step.instruction
            if not isinstance(load, Load):
                return (step,)
            return (replace(step, instruction=change(load)),)

        return rewritten(self.steps, one)
