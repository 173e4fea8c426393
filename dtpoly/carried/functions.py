"""Makes a function of a plan and its kernels, and carries the plan out when it is called."""

import functools
import inspect
from typing import Any

from dtpoly.carried.again import dt_again, dt_keep
from dtpoly.carried.checks import (
    dt_check,
    dt_check_into,
    dt_check_memory,
    dt_check_outs,
    dt_device,
    dt_is_current,
    dt_number,
)
from dtpoly.carried.kept_texts import dt_note_text
from dtpoly.carried.launches import dt_launches, dt_shapes
from dtpoly.carried.launching import dt_hooks
from dtpoly.carried.libraries import torch
from dtpoly.carried.memory import dt_memory
from dtpoly.carried.operators import dt_is_traced, dt_operator
from dtpoly.carried.sizes import dt_demands, dt_passed, dt_require, dt_sizes
from dtpoly.carried.values import dt_dtype, dt_into, dt_places, dt_source, dt_terms, dt_types


def dt_function(plan: Any, *kernels: Any) -> Any:
    """Make the function that a plan describes: it checks a call, makes memory, launches kernels."""
    for kernel in kernels:
        dt_note_text(kernel)
    inputs, passed = plan.get("inputs", {}), plan.get("passed", ())
    by_name = {one: plan["sizes"][one] is not None for one in passed}  # whether it may be missing
    by_name |= {} if any(len(what) == 2 for what in inputs.values()) else {"device": True}
    calls, hooks = dict[Any, Any](), [dt_hooks(kernel) for kernel in kernels]
    count, bound = len(inputs), dt_binder(plan["function"], [*inputs], by_name)
    read = [at for at, what in enumerate(inputs.values()) if len(what) == 2]

    @functools.cache
    def carried_out() -> Any:
        return dt_carrier(plan, kernels, [*inputs, *by_name], calls)

    def anew(whole: Any, out: Any, call: Any = None) -> Any:
        words = dict(zip(by_name, whole[count:], strict=True))
        return (call or function)(*whole[:count], out=out, **words)

    def run(whole: Any, out: Any, key: Any = None) -> Any:
        if key is None and dt_is_traced([whole[at] for at in read]):
            return anew(whole, out, operator)
        return carried_out()(whole, out, key, anew)

    def plain(*given: Any, out: Any = None, **named: Any) -> Any:
        return run(bound(given, named), out)

    function: Any = plain
    gives, arguments = dt_places(plan, [*inputs, *by_name]), -1 if by_name else count
    if read and (call := dt_again(run, calls, hooks, bound, arguments, gives)) is not run:
        function, call.__wrapped__ = call, dt_named(plan, kernels[0].fn, by_name, plain)
    dt_named(plan, kernels[0].fn, by_name, function)
    operator = dt_operator(plan, kernels[0].fn, function, dt_like(plan), by_name)
    return function


def dt_several(plan: Any) -> int:
    """Count the results, if a function gives a tuple of them."""
    return len(plan["results"]) if len(plan["results"]) > 1 else 0


def dt_carrier(plan: Any, kernels: Any, names: list[str], calls: dict[Any, Any]) -> Any:
    """Return a function that carries a plan out, and keeps the launches."""
    inputs = plan.get("inputs", {})
    read = [(at, one) for at, one in enumerate(inputs) if len(inputs[one]) == 2]
    numbers = [one for one, what in inputs.items() if len(what) != 2 and what != "unread"]
    sources = {one: dt_source(plan, one) for one in inputs}
    checks = [(at, sources[one], *inputs[one]) for at, one in read]
    places = [at for at, _ in read]
    results, several = dt_shapes(plan["results"]), dt_several(plan)
    gives, into = dt_places(plan, names), [at for _, at in dt_into(plan)]
    note_passed = dt_passed(plan) if "passed" in plan else None
    note_sizes, demands = dt_sizes(plan), dt_demands(plan)
    types_of, dtype_of = dt_typing(plan, [one for _, one in read])
    launch = dt_launches(plan, kernels, names, dtype_of)

    def run(whole: Any, out: Any, key: Any, anew: Any) -> Any:
        known = dict(zip(names, whole, strict=True))
        device: Any = None if read else dt_device(known["device"], out)
        for at, source, kind, rank in checks:
            device = dt_check(source, whole[at], kind, rank, device)
            if key is None:  # else its memory was looked at
                dt_check_memory(source, whole[at])
        if not dt_is_current(device):
            with torch.cuda.device(device):
                return anew(whole, out)
        if note_passed:
            note_passed(known)
        note_sizes(known)
        dt_require(demands, known)
        for one in numbers:
            known[one] = dt_number(sources[one], known[one], inputs[one])
        if numbers and (own := dt_own(known, inputs, whole)) is not None:
            return anew(own, out)
        dtypes = [whole[at].dtype for at, *_ in checks]
        forms = [
            (tuple([compute(known) for compute in shape]), dtype_of(what["dtype"], *dtypes), device)
            for _, what, shape in results
        ]
        spans = None
        if is_new := out is None:
            outs = [
                whole[at] if at < len(names) else dt_memory(what, *form)
                for at, (_, what, _), form in zip(gives, results, forms, strict=True)
            ]
            if into:
                given = {source: whole[at] for at, source, *_ in checks}
                spans = dt_check_into(given, [(places.index(at), at) for at in into], places, key)
        else:
            if into:
                raise TypeError(f"'{sources[names[into[0]]]}' is written in place: leave out 'out'")
            given = {source: whole[at] for at, source, *_ in checks}
            outs, spans = dt_check_outs(out, forms, given, key)
            spans = dt_spans(places, len(whole), spans)
        if any([one.numel() for one in outs]):
            memory, started = launch(known, types_of(*dtypes), dtypes, outs, is_new)
            if key is not None and outs[0].is_cuda and None not in (*memory, *started):
                dt_keep(calls, key, (device, memory, started, spans))
        return tuple(outs) if several else outs[0]

    return run


def dt_own(known: dict[str, Any], inputs: Any, whole: Any) -> tuple[Any, ...] | None:
    """Return the arguments with numbers of Python's own; None if they are so already."""
    own = (*[known[one] for one in inputs], *whole[len(inputs) :])
    same = all(type(one) is type(other) for one, other in zip(own, whole, strict=True))
    return None if same else own


def dt_typing(plan: Any, read: list[str]) -> Any:
    """Return functions that find types of kernels, and of memory, for types of inputs."""

    def found(dtypes: Any) -> dict[str, Any]:
        return dict(zip(read, dtypes, strict=True))

    @functools.cache
    def types_of(*dtypes: Any) -> Any:
        return dt_types(plan, found(dtypes))

    @functools.cache
    def dtype_of(text: str, *dtypes: Any) -> Any:
        return dt_dtype(plan, text, found(dtypes), types_of(*dtypes))

    return types_of, dtype_of


def dt_spans(places: list[int], first: int, spans: Any) -> Any:
    """List place and bytes of each tensor of `out`, and those of what it must not overlap."""
    before = [*places, *range(first, first + len(spans))]
    return [
        (first + at, own, [*zip(before, others, strict=False)])
        for at, (own, others) in enumerate(spans)
    ]


def dt_like(plan: Any) -> Any:
    """Return a function that makes results without values, and computes no size but theirs."""
    results, inputs = dt_shapes(plan["results"]), plan.get("inputs", {})
    shapes, only = [what["shape"] for _, what, _ in results], dict[str, Any]()
    needed = {one for shape in shapes for text in shape for one in dt_terms(text)}
    for label, formula in reversed(plan.get("sizes", {}).items()):
        if label in needed:
            needed.update(dt_terms(formula or ""))
            only = {label: formula, **only}

    def like(*given: Any, **words: Any) -> Any:
        known: Any = dict.fromkeys(plan.get("passed", ())) | dict(zip(inputs, given, strict=True))
        known |= words
        dt_sizes(plan, only)(known)
        found = {one: known[one].dtype for one, what in inputs.items() if len(what) == 2}
        devices = [known[one].device for one in found] or [dt_device(words.get("device"))]
        made = list[Any]()
        for _, what, shape in (one for one in results if "into" not in one[1]):
            extents, dtype = (
                [compute(known) for compute in shape],
                dt_dtype(plan, what["dtype"], found),
            )
            made.append(dt_memory(what, extents, dtype, devices[0]))
        return made[0] if len(made) == 1 else tuple(made) or None

    return like


def dt_named(plan: Any, kernel: Any, by_name: dict[str, bool], function: Any) -> Any:
    """Give a function the name, the words and the parameters of a plan's."""
    name, kinds = plan["function"], inspect.Parameter
    parameters = [kinds(one, kinds.POSITIONAL_OR_KEYWORD) for one in plan.get("inputs", ())]
    parameters += [
        kinds(one, kinds.KEYWORD_ONLY, default=None if may_miss else kinds.empty)
        for one, may_miss in {**({} if dt_into(plan) else {"out": True}), **by_name}.items()
    ]
    rows = plan["results"].items()
    said = [
        f"`{one if dt_several(plan) else plan['launches'][-1]['func']}"
        f"[{', '.join(dt_source(plan, label) for label in what['shape'])}]`"
        for one, what in rows
    ]
    into = "those of `out`, if they are given" if dt_several(plan) else "`out`, if one is given"
    if taken := [f"`{dt_source(plan, one)}`" for one, _ in dt_into(plan)]:
        into = f"{', '.join(taken)}, where results go that are in place"
    function.__doc__ = f"{', '.join(said)}; into {into}."
    function.__module__, function.__name__, function.__qualname__ = kernel.__module__, name, name
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    return function


def dt_binder(name: str, inputs: Any, by_name: dict[str, bool]) -> Any:
    """Return a function that puts arguments in order, and refuses wrong ones in Python's words."""
    count, needed = len(inputs), [one for one, may_miss in by_name.items() if not may_miss]

    def bound(given: Any, named: dict[str, Any]) -> Any:
        if len(given) == count and not (named or by_name):
            return given
        is_known = all([one in by_name for one in named]) and all([one in named for one in needed])
        if len(given) == count and is_known:
            return (*given, *[named.get(one) for one in by_name])
        if len(given) > count:
            takes = f"takes {count} positional argument{'s' * (count != 1)}"
            raise TypeError(f"{name}() {takes} but {len(given)} were given")
        known = dict(zip(inputs, given, strict=False))
        for one, value in named.items():
            if one in known:
                raise TypeError(f"{name}() got multiple values for argument '{one}'")
            if one not in inputs and one not in by_name:
                raise TypeError(f"{name}() got an unexpected keyword argument '{one}'")
            known[one] = value
        for one in (*inputs, *by_name):
            if one not in known and not by_name.get(one):
                kind = "keyword-only" if one in by_name else "positional"
                raise TypeError(f"{name}() missing 1 required {kind} argument: '{one}'")
        return (*map(known.get, inputs), *map(known.get, by_name))

    return bound
