"""Makes a function of a plan and its kernels, and carries the plan out when it is called."""

from typing import Any

from dtpoly.carried.again import dt_again, dt_keep
from dtpoly.carried.checks import (
    dt_check,
    dt_check_out,
    dt_device,
    dt_is_current,
    dt_number,
    dt_span,
)
from dtpoly.carried.launches import dt_launched, dt_launches
from dtpoly.carried.launching import dt_hooks
from dtpoly.carried.libraries import torch
from dtpoly.carried.memory import dt_memory
from dtpoly.carried.operators import dt_is_traced, dt_operator
from dtpoly.carried.sizes import dt_demands, dt_passed, dt_require, dt_sizes, dt_truths
from dtpoly.carried.values import dt_dtype, dt_source, dt_terms, dt_tuple, dt_types, dt_value


def dt_function(plan: Any, *kernels: Any) -> Any:
    """Make the function that a plan describes: it checks a call, makes memory, launches kernels."""
    inputs, demands = plan.get("inputs", {}), [*dt_demands(plan)]
    read = {one: what for one, what in inputs.items() if len(what) == 2}
    unread = [one for one, what in inputs.items() if what == "unread"]
    numbers, passed = [o for o in inputs if o not in (*read, *unread)], [*plan.get("passed", ())]
    by_name = {one: plan["sizes"][one] is not None for one in passed}  # whether it may be missing
    by_name |= {} if read else {"device": True}
    groups = [*read], [*numbers, *passed], [*unread, *([] if read else ["device"])]
    names = [name for group in groups for name in group]
    sources = {one: dt_source(plan, one) for one in (*inputs, *plan.get("sizes", ()))}
    ((result, made),) = plan["results"].items()
    sizes, truths, dtype = dt_sizes(plan), dt_truths(demands), dt_dtype(plan, made["dtype"])
    types_and_result = f"({dt_types(plan)}, {dtype}, {dt_tuple(made['shape'])})"
    work, calls = dt_launches(plan, kernels, numbers), dict[Any, Any]()

    def run(tensors: Any, given: Any, others: Any, out: Any, key: Any = None) -> Any:
        known = dict(zip(names, (*tensors, *given, *others), strict=True))

        def otherwise(call: Any) -> Any:
            words = {one: known[one] for one in by_name}
            return call(*(known[one] for one in inputs), out=out, **words)

        if dt_is_traced(tensors):
            return otherwise(operator)
        device = None if read else dt_device(known["device"], out)
        for one, (kind, rank) in read.items():
            device = dt_check(sources[one], known[one], kind, rank, device)
        if not dt_is_current(device):
            with torch.cuda.device(device):
                return otherwise(function)
        known |= dt_passed(plan, known) if passed else {}
        dt_value(sizes, known)
        dt_require(demands, truths, known)
        for one in numbers:
            known[one] = dt_number(sources[one], known[one], inputs[one])
        if any(type(known[one]) is not type(o) for one, o in zip(numbers, given, strict=False)):
            return otherwise(function)  # with numbers of Python's own
        _, known["dt_types"], _, dtype, extents = dt_value(types_and_result, known)
        is_new = out is None
        if is_new:
            out = dt_memory(made, extents, dtype, device)
        else:
            dt_check_out(out, extents, dtype, device, {sources[one]: known[one] for one in read})
        if out.numel():
            known[result] = out
            memory, started = dt_launched(plan, work, known, (*read, result), is_new)
            if key is not None and out.is_cuda and None not in memory and None not in started:
                spans = () if is_new else [*map(dt_span, (*tensors, out))]
                hooks = [*map(dt_hooks, kernels)]
                dt_keep(calls, key, (device, memory, hooks, started, spans))
        return out

    make = dt_maker(plan, kernels[0].fn, by_name, groups)
    function = make(dt_again(run, calls))
    function.__wrapped__ = make(run)  # which keeps nothing
    operator = dt_operator(plan, kernels[0].fn, function, dt_like(plan, [*read], passed), by_name)
    return function


def dt_like(plan: Any, read: list[str], passed: list[str]) -> Any:
    """Make what makes a result without values, for which it computes no other sizes."""
    (made,) = plan["results"].values()
    shape = dt_tuple(made["shape"])
    needed, like_this = {*dt_terms(shape)}, f"({dt_dtype(plan, made['dtype'])}, {shape})"
    for label, formula in reversed(plan.get("sizes", {}).items()):
        needed.update(dt_terms(formula or "") if label in needed else ())
    sizes = dt_sizes(plan, needed)

    def like(*given: Any, **words: Any) -> Any:
        known: Any = dict.fromkeys(passed) | dict(zip(plan.get("inputs", ()), given, strict=True))
        known |= words
        dt_value(sizes, known)
        dtype, extents = dt_value(like_this, known)
        device = known[read[0]].device if read else dt_device(words.get("device"))
        return dt_memory(made, extents, dtype, device)

    return like


def dt_maker(plan: Any, kernel: Any, by_name: dict[str, bool], groups: Any) -> Any:
    """Make what makes functions with the parameters of a plan, which they give on in groups."""
    name, made = plan["function"], dict[str, Any]()
    words = [f"{one}=None" if may_miss else one for one, may_miss in by_name.items()]
    parameters = ", ".join((*plan.get("inputs", ()), "*", "out=None", *words))
    passed = ", ".join(map(dt_tuple, groups))
    body = f"def {name}({parameters}):\n  return dt_call({passed}, out)\n return {name}"
    exec(f"def dt_make(dt_call):\n {body}", made)
    (result,), func = plan["results"].values(), plan["launches"][-1]["func"]
    labels = ", ".join(dt_source(plan, one) for one in result["shape"])

    def make(call: Any) -> Any:
        function = made["dt_make"](call)
        function.__doc__ = f"`{func}[{labels}]`; into `out`, if one is given."
        function.__module__, function.__qualname__ = kernel.__module__, name
        return function

    return make
