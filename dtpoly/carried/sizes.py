"""The sizes of a call, and what a plan demands of them."""

import re
from typing import Any

from dtpoly.carried.checks import dt_number
from dtpoly.carried.values import dt_source, dt_tuple, dt_value


def dt_sizes(plan: Any, only: Any = None) -> str:
    """Write sizes as one formula, which keeps each under its name, unless a call passes it."""
    passed, parts = plan.get("passed", {}), list[str]()
    for label, formula in plan.get("sizes", {}).items():
        if formula is not None and (only is None or label in only):
            unless = f" if {label} is None else {label}" if label in passed else ""
            parts.append(f"({label} := {formula}{unless})")
    return dt_tuple(parts)


def dt_passed(plan: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Check the sizes that a call passes by name; None stands for one that it leaves out."""
    sizes, passed = plan["sizes"], plan["passed"]

    def checked(label: str) -> Any:
        kind = "int", 0, plan.get("limits", {}).get(label, 2**63 - 1)
        return dt_number(dt_source(plan, label), given[label], kind)

    optional = [label for label in passed if sizes[label] is not None]
    found = {one: None if given[one] is None else checked(one) for one in optional}
    for label, others in passed.items():
        if sizes[label] is None:
            found[label] = checked(label)
        elif found[label] is None and any(found[one] is None for one in others):
            name, *rest = (dt_source(plan, one) for one in (label, *others))
            instead = " and ".join(f"{one}=..." for one in rest)
            raise TypeError(
                f"the size of '{name}' must be passed, as {name}=...; or pass {instead}"
            )
    return found


def dt_demands(plan: Any) -> Any:
    """Write limits and demands as truths, and in which words calls are refused that break them."""

    def disagree(label: str, other: str, seen: str) -> tuple[str, str]:
        formula = str(plan["sizes"][label])
        axis = re.fullmatch(r"(\w+)(\.shape\[\d+\])", formula)
        source = "as the file says" if formula.isdigit() else "as passed"
        source = f"by {dt_source(plan, axis[1])}{axis[2]}" if axis else source
        source = plan.get("shown", {}).get(label, source)
        words = f"it is {{{label}}} {source}, but {{{other}}} {seen}"
        name = dt_source(plan, label)
        return f"{label} == ({other})", f"the tensors disagree on the size of '{name}': {words}"

    for label, most in plan.get("limits", {}).items():
        words = f"'{dt_source(plan, label)}' is {{{label}}}, but must be from 0 to {most}"
        yield f"0 <= {label} <= {most}", words
    for one in plan.get("demands", ()):
        if "shape" in one:
            name = dt_source(plan, one["shape"])
            for axis, label in enumerate(one["is"]):
                yield disagree(label, f"{one['shape']}.shape[{axis}]", f"by {name}.shape[{axis}]")
        elif "size" in one:
            yield disagree(one["size"], one["is"], one["seen"])
        elif "over" in one:
            words = f"the size of '{dt_source(plan, one['over'])}' is 0"
            words = f"'{one['reduction']}' has nothing to choose from: {words}"
            yield f"{one['over']} != 0", words
        else:
            name, axis, extent = one["inside"], one["axis"], one["extent"]
            read = f"'{name}' is read outside of axis {axis}: {name}.shape[{axis}] is {{{extent}}}"
            sizes = f" for sizes {one['sizes']}" if "sizes" in one else ""
            nowhere = f"0 in {dt_tuple(one.get('where', ()))}"
            for end, inside in (("low", ">= 0"), ("high", f"< ({extent})")):
                if end in one:
                    words = f"{read}, and {one['index']} reaches {{{one[end]}}}{sizes}"
                    yield f"({nowhere} or ({one[end]}) {inside})", words


def dt_require(demands: Any, truths: str, known: dict[str, Any]) -> None:
    """Refuse a call in which the truths of demands do not all hold."""
    if not dt_value(truths, known):
        words = next(words for truth, words in demands if not dt_value(truth, known))
        pattern = r"\{(.*?)\}"  # formulas
        raise ValueError(re.sub(pattern, lambda found: str(dt_value(found[1], known)), words))


def dt_truths(demands: Any) -> str:
    """Write all demands as one truth."""
    return " and ".join(("True", *(truth for truth, _ in demands)))
