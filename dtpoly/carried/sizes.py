"""Finds the sizes of a call, and checks what a plan demands of them."""

import re
from typing import Any

from dtpoly.carried.checks import dt_number
from dtpoly.carried.values import dt_formula, dt_source, dt_value


def dt_sizes(plan: Any, only: Any = None) -> Any:
    """Return a function that notes the size of each label, unless a call passes it."""
    sizes = plan.get("sizes", {}).items() if only is None else only.items()
    sizes = [(label, formula) for label, formula in sizes if formula is not None]
    formulas = [(one, dt_formula(text), one in plan.get("passed", ())) for one, text in sizes]

    def note(known: dict[str, Any]) -> None:
        for label, compute, may_be_passed in formulas:
            if not may_be_passed or known[label] is None:
                known[label] = compute(known)

    return note


def dt_passed(plan: Any) -> Any:
    """Return a function that checks the sizes passed by name; None stands for one left out."""
    sizes, passed, limits = plan.get("sizes", {}), plan.get("passed", {}), plan.get("limits", {})
    in_order = sorted(passed, key=lambda label: sizes[label] is None)  # those that may be missing
    most = [(label, limits.get(label, 2**63 - 1), sizes[label] is None) for label in in_order]

    def note(known: dict[str, Any]) -> None:
        for label, limit, is_needed in most:
            size = known[label]
            if (type(size) is not int or not 0 <= size <= limit) and (
                size is not None or is_needed
            ):
                known[label] = dt_number(dt_source(plan, label), size, ("int", 0, limit))
        for label, others in passed.items():
            if known[label] is None and None in [known[one] for one in others]:
                name, *rest = (dt_source(plan, one) for one in (label, *others))
                instead = " and ".join(f"{one}=..." for one in rest)
                raise TypeError(
                    f"the size of '{name}' must be passed, as {name}=...; or pass {instead}"
                )

    return note


def dt_demands(plan: Any) -> list[Any]:
    """List limits and demands: sizes of which one is 0 if nothing is demanded, truth, message."""

    def disagree(label: str, other: str, seen: str) -> Any:
        formula = str(plan["sizes"][label])
        axis = re.fullmatch(r"(\w+)(\.shape\[\d+\])", formula)
        source = "as the file says" if formula.isdigit() else "as passed"
        source = f"by {dt_source(plan, axis[1])}{axis[2]}" if axis else source
        source = plan.get("shown", {}).get(label, source)
        words = f"it is {{{label}}} {source}, but {{{other}}} {seen}"
        words = f"the tensors disagree on the size of '{dt_source(plan, label)}': {words}"
        return (), f"{label} == {other}", words

    def found() -> Any:
        for label, most in plan.get("limits", {}).items():
            words = f"'{dt_source(plan, label)}' is {{{label}}}, but must be from 0 to {most}"
            yield (), f"{label} <= {most} and {label} >= 0", words
        for one in plan.get("demands", ()):
            if "shape" in one:
                name = dt_source(plan, one["shape"])
                for axis, label in enumerate(one["is"]):
                    size = f"shape[{axis}]"
                    yield disagree(label, f"{one['shape']}.{size}", f"by {name}.{size}")
            elif "size" in one:
                yield disagree(one["size"], one["is"], one["seen"])
            elif "over" in one:
                words = f"the size of '{dt_source(plan, one['over'])}' is 0"
                words = f"'{one['reduction']}' has nothing to choose from: {words}"
                yield (), f"{one['over']} != 0", words
            else:
                name, axis, extent = one["inside"], one["axis"], one["extent"]
                read = (
                    f"'{name}' is read outside of axis {axis}: {name}.shape[{axis}] is {{{extent}}}"
                )
                sizes = f" for sizes {one['sizes']}" if "sizes" in one else ""
                for end, inside in (("low", ">= 0"), ("high", f"< {extent}")):
                    if end in one:
                        words = f"{read}, and {one['index']} reaches {{{one[end]}}}{sizes}"
                        yield one.get("where", ()), f"{one[end]} {inside}", words

    return dt_truths(found())


def dt_truths(demands: Any) -> list[Any]:
    """Return demands with functions that find out whether they hold."""
    return [(where, dt_formula(truth), words) for where, truth, words in demands]


def dt_require(demands: Any, known: dict[str, Any]) -> None:
    """Refuse a call in which a demand does not hold."""
    for where, holds, words in demands:
        if where and 0 in [known[label] for label in where]:
            continue
        if not holds(known):
            pattern = r"\{(.*?)\}"  # formulas
            raise ValueError(re.sub(pattern, lambda found: str(dt_value(found[1], known)), words))
