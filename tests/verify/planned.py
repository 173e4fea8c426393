"""Generated files that import the runtime: they are short, so that tests can change their plans."""

from functools import cache
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.codegen.module import module_text, plans_of
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.plan.plan import Plan
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State

RUNTIME = "from dtpoly.runtime import dt_function\n"


@cache
def planned_text(program: Program) -> str:
    """Return the file of a Program, which imports the runtime."""
    state = judge(program, DIRECTIVES).scheduled
    made = code_of(state).stages
    return module_text(state.sized, state.model, made, "", carries_runtime=False)


def plans(state: State, code: Code) -> tuple[Plan, ...]:
    """Return the plan of each function of a generated file."""
    return plans_of(state.sized, state.model, code.stages)


def with_data(text: str, name: str, data: dict[str, Any]) -> str:
    """Return a file with another plan for a function."""
    start = text.index(f"{name}_plan = ")
    end = text.index("\n}", start) + 2
    return f"{text[:start]}{name}_plan = {data!r}{text[end:]}"
