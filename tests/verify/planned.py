"""Generated files in the form that has plans: kernels, plans, the import of the runtime."""

import ast
from functools import cache
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.codegen.module import plans_of
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.plan.plan import Plan
from dtpoly.plan.plan_data import literal
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"
RUNTIME = "from dtpoly.runtime import dt_function\n"


@cache
def planned_text(program: Program) -> str:
    """The file of a Program with plans."""
    state = judge(program, DIRECTIVES).scheduled
    code = code_of(state)
    return with_plans(code.text, plans(state, code))


def plans(state: State, code: Code) -> tuple[Plan, ...]:
    """The plan of each function of a generated file."""
    return plans_of(state.sized, state.model, code.stages)


def with_plans(text: str, made: tuple[Plan, ...]) -> str:
    """The kernels of a file, and plans in place of its wrappers."""
    lines = text.splitlines()
    kernels = [
        "\n".join(lines[one.decorator_list[0].lineno - 1 : one.end_lineno])
        for one in ast.parse(text).body
        if isinstance(one, ast.FunctionDef) and one.decorator_list
    ]
    literals = ["\n".join(literal(f"{one.function}_plan", one)) for one in made]
    return "\n\n\n".join([IMPORTS + RUNTIME, *kernels, *literals, *map(_function, made)]) + "\n"


def _function(plan: Plan) -> str:
    kernels = dict.fromkeys(one.kernel for one in plan.launches)
    return f"{plan.function} = dt_function({', '.join((f'{plan.function}_plan', *kernels))})"


def with_data(text: str, name: str, data: dict[str, Any]) -> str:
    """A file with another plan for a function."""
    start = text.index(f"{name}_plan = ")
    end = text.index("\n}", start) + 2
    return f"{text[:start]}{name}_plan = {data!r}{text[end:]}"
