"""Reads the plans of a generated file as what they are: literals."""

import ast
from typing import Any

Plan = dict[str, Any]


def plans_in(text: str) -> dict[str, Plan]:
    """Find the plan of each function, by the function's name, in the order of the file."""
    assigned = [one for one in ast.parse(text).body if isinstance(one, ast.Assign)]
    values = {ast.unparse(one.targets[0]): one.value for one in assigned}
    return {
        name: ast.literal_eval(values[ast.unparse(made.args[0])])
        for name, made in values.items()
        if isinstance(made, ast.Call) and ast.unparse(made.func) == "dt_function"
    }


def launches_in(text: str) -> list[Plan]:
    """Find the launches of all plans, in order."""
    return [launch for plan in plans_in(text).values() for launch in plan["launches"]]
