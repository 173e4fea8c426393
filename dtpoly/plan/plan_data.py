"""Writes a plan as a literal of Python, as it stands in a generated file.

`data_of` gives dictionaries, tuples, strings and numbers. What a plan does not have is left out, so
that a reader sees only what matters. `literal` lays these out in lines.
"""

from collections.abc import Sequence
from typing import Any, assert_never, cast

from dtpoly.plan.formula import Formula, show, show_truth
from dtpoly.plan.plan import (
    Demand,
    HasSome,
    NumberInput,
    Plan,
    PlannedDescriptor,
    PlannedInput,
    PlannedLaunch,
    PlannedPanels,
    PlannedSize,
    PlannedTensor,
    PlannedType,
    SameShape,
    SameSize,
    StaysInside,
    TensorInput,
    Terms,
    UnreadInput,
)

WIDTH = 100
Data = dict[str, Any]


def data_of(plan: Plan) -> Data:
    """Return the plan as dictionaries, tuples, strings and numbers."""
    passed = {one.label: one.instead for one in plan.sizes if one.is_passed}
    return {
        "function": plan.function,
        **_some("names", dict(plan.names)),
        **_some("inputs", {name: _input(one) for name, one in plan.inputs.items()}),
        **_some("sizes", {one.label: _size(one) for one in plan.sizes}),
        **_some("passed", passed),
        **_some("limits", {one.label: one.most for one in plan.sizes if one.most is not None}),
        **_some("shown", {one.label: one.shown for one in plan.sizes if one.shown}),
        **_some("demands", [_demand(one) for one in plan.demands]),
        **_some("meet", [one for one in plan.meet]),
        **_some("types", {one.name: _type(one) for one in plan.types}),
        **_some("adds", [(one.func, one.reduction, _terms(one.dtype)) for one in plan.adds]),
        "results": {one.name: _tensor(one) for one in plan.results},
        **_some("between", {one.name: _tensor(one) for one in plan.between}),
        **_some("indices", _all(plan.indices)),
        **({} if plan.panels is None else {"panels": _panels(plan.panels)}),
        "launches": [_launch(one) for one in plan.launches],
    }


def _some(key: str, value: Any) -> Data:
    """Return the value under its key, if there is anything in it."""
    return {key: value} if value else {}


def _all(formulas: Sequence[Formula]) -> tuple[str, ...]:
    return tuple(map(show, formulas))


def _input(one: PlannedInput) -> Any:
    match one:
        case TensorInput(dtype=dtype, rank=rank):
            return (dtype, rank)
        case NumberInput(kind="int", least=least, most=most):
            return ("int", least, most)
        case NumberInput(kind=kind):
            return kind
        case UnreadInput():
            return "unread"
        case _:
            assert_never(one)


def _size(one: PlannedSize) -> str | None:
    return None if one.formula is None else show(one.formula)


def _terms(terms: Terms) -> str:
    """Write a dtype by what it is promoted from: `A`, or `promoted(A, B)`."""
    return terms[0] if len(terms) == 1 else f"promoted({', '.join(terms)})"


def _demand(one: Demand) -> Data:
    match one:
        case SameShape(tensor=tensor, labels=labels):
            return {"shape": tensor, "is": labels}
        case SameSize(label=label, formula=formula, seen=seen):
            return {"size": label, "is": show(formula), "seen": seen}
        case HasSome(reduction=reduction, label=label):
            return {"reduction": reduction, "over": label}
        case StaysInside():
            ends = {"low": one.low, "high": one.high}
            return {
                "inside": one.tensor,
                "axis": one.axis,
                "extent": show(one.extent),
                "index": one.index,
                **{word: show(end) for word, end in ends.items() if end is not None},
                **_some("where", one.labels),
                **_some("sizes", one.sizes),
            }
        case _:
            assert_never(one)


def _type(one: PlannedType) -> str:
    return f"{one.kind}({', '.join(one.terms)})" if one.terms else one.kind


def _tensor(one: PlannedTensor) -> Data:
    dtype = f"type({one.dtype})" if isinstance(one.dtype, str) else _terms(one.dtype)
    more = {**_some("pitched", one.is_pitched), **_some("into", one.into)}
    return {"shape": _all(one.shape), "dtype": dtype, **more}


def _panels(one: PlannedPanels) -> Data:
    return {"labels": one.labels, "size": one.size, "cut": dict(one.cut)}


def _descriptor(one: PlannedDescriptor) -> Data:
    step = {} if one.step is None else {"step": one.step}
    return {"of": one.tensor, "block": one.block, "axes": one.axes, **step}


def _launch(one: PlannedLaunch) -> Data:
    return {
        "kernel": one.kernel,
        "func": one.func,
        **({} if one.programs is None else {"programs": _all(one.programs)}),
        **({} if one.before is None else {"before": _all(one.before)}),
        "tensors": {name: " ".join(words) for name, words in one.axes.items()},
        **_some("scratch", {each.name: _tensor(each) for each in one.scratch}),
        **_some("numbers", {name: show(each) for name, each in one.numbers.items()}),
        **_some("descriptors", {each.name: _descriptor(each) for each in one.descriptors}),
        **_some("lanes", {name: show(each) for name, each in one.lanes.items()}),
        **_some("flags", {name: show_truth(each) for name, each in one.flags.items()}),
        **_some("types", one.types),
        **_some("fours", _all(one.fours)),
        **_some("counts", _all(one.counts)),
        **_some("near", _all(one.near)),
        **_some("tiles", [(o.func, show(o.elements), o.advice) for o in one.tiles]),
        **({} if one.num_warps is None else {"num_warps": one.num_warps}),
        **({} if one.num_stages is None else {"num_stages": one.num_stages}),
        **_some("turns", one.turns),
        **_some("panel", one.panel),
        **_some("early", one.is_early),
        **({} if one.specialized is None else {"specialized": one.specialized}),
    }


def literal(name: str, plan: Plan) -> list[str]:
    """Write the statement that gives a plan its name."""
    return _laid_out(f"{name} = ", data_of(plan), "  # fmt: skip", 0)


def _laid_out(head: str, value: Any, tail: str, indent: int) -> list[str]:
    """Write a value on one line if it fits there, and else a line or more for each of its parts."""
    before = " " * indent
    line = f"{before}{head}{_on_a_line(value)}{tail}"
    if len(line) <= WIDTH and not _has_launches(value):
        return [line]
    if isinstance(value, str):
        texts = [f"{before}    {_quoted(one)}" for one in _pieces(value, WIDTH - indent - 6)]
        return [f"{before}{head}(", *texts, f"{before}){tail}"]
    start, end = _brackets(value)
    inside = (_laid_out(word, part, ",", indent + 4) for word, part in _parts(value))
    return [
        f"{before}{head}{start}",
        *(one for made in inside for one in made),
        before + end + tail,
    ]


def _has_launches(value: Any) -> bool:
    """Return whether a value is a launch or has some: then each of its entries has its own line."""
    if isinstance(value, dict):
        return "kernel" in value or "launches" in value
    return isinstance(value, list) and any(_has_launches(part) for _, part in _parts(value))


def _brackets(value: Any) -> tuple[str, str]:
    if isinstance(value, list):
        return "[", "]"
    return ("{", "}") if isinstance(value, dict) else ("(", ")")


def _pieces(text: str, width: int) -> list[str]:
    """Cut a long text into pieces that Python joins; all but the first begin with a space."""
    made = [""]
    for word in text.split(" "):
        if made[-1] and len(made[-1]) + 1 + len(word) > width:
            made.append(f" {word}")
        else:
            made[-1] = f"{made[-1]} {word}" if made[-1] else word
    return made


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        entries = cast("Data", value)
        return [(f"{_on_a_line(key)}: ", part) for key, part in entries.items()]
    parts = cast("Sequence[Any]", value) if isinstance(value, tuple | list) else ()
    return [("", part) for part in parts]


def _on_a_line(value: Any) -> str:
    parts = [f"{head}{_on_a_line(part)}" for head, part in _parts(value)]
    match value:
        case dict():
            return f"{{{', '.join(parts)}}}"
        case tuple():
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        case list():
            return f"[{', '.join(parts)}]"
        case str():
            return _quoted(value)
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    """Return a string as formatters write it: with double quotes, if it has none itself."""
    made = repr(text)
    return made if '"' in text or "'" in text else f'"{made[1:-1]}"'
