"""Makes an operator of torch of a function, so that torch can trace it."""

import threading
from typing import Any

from dtpoly.carried.checks import dt_is_special, dt_outs
from dtpoly.carried.kept_texts import dt_digest
from dtpoly.carried.libraries import torch
from dtpoly.carried.values import dt_into, dt_places

dt_inside = threading.local()  # whether this thread is in what torch runs for the operator


def dt_is_traced(tensors: Any) -> bool:
    """Return whether torch must see one operator: it compiles, records or transforms."""
    if getattr(dt_inside, "operator", False):
        return False  # it was seen, and what it saw is set still
    if torch.compiler.is_compiling():
        return True
    if torch.autograd.forward_ad._current_level >= 0:
        unpack, given = torch.autograd.forward_ad.unpack_dual, torch.Tensor
        if any(isinstance(one, given) and unpack(one).tangent is not None for one in tensors):
            raise RuntimeError("an input has a tangent, and this function has no derivative")
    if torch._C._functorch.maybe_current_level() is not None:
        needs_grad = any(getattr(tensor, "requires_grad", False) for tensor in tensors)
        return not (needs_grad and torch.is_grad_enabled())  # that is refused below
    is_under = torch._C._dispatch_tls_is_dispatch_key_included
    if torch._C._len_torch_dispatch_stack() or is_under(torch._C.DispatchKey.PreDispatch):
        return True
    if torch._C._get_tracing_state() is not None:
        return True
    if any([type(one) is not torch.Tensor and dt_is_special(one) for one in tensors]):
        return True
    return bool(tensors) and all(getattr(one, "is_meta", False) for one in tensors)


def dt_is_overridden() -> bool:
    """Return whether a mode may change functions of torch. One that sets a device does not."""
    modes = map(torch._C._get_function_stack_at, range(torch._C._len_torch_function_stack()))
    return any(type(mode).__module__ != "torch.utils._device" for mode in modes)


def dt_batched(operator: Any) -> Any:
    """Return a rule for torch.vmap: one call for each element of the batch.

    No kernel has an axis for a batch that its algorithm does not name. Without this rule, torch
    does the same, and asks the user to file an issue.
    """

    def rule(info: Any, dims: Any, *given: Any, **named: Any) -> Any:
        def part(one: Any, dim: Any, at: int) -> Any:
            if dim is None or info.batch_size:
                return one if dim is None else one.select(dim, at)
            return one.new_zeros(one.movedim(dim, 0).shape[1:])  # a result is wanted for its shape

        results = [
            operator(*(part(*pair, at) for pair in zip(given, dims, strict=True)), **named)
            for at in range(info.batch_size or 1)
        ]
        if isinstance(results[0], torch.Tensor):
            return torch.stack(results)[: info.batch_size], 0
        stacks = tuple(torch.stack(row)[: info.batch_size] for row in zip(*results, strict=True))
        return stacks, (0,) * len(stacks)

    return rule


def dt_not_batched(info: Any, dims: Any, *given: Any, **named: Any) -> Any:
    """Refuse torch.vmap for an operator that writes into `out`."""
    words = "call without out=, or call without torch.vmap"
    raise RuntimeError(f"torch.vmap makes the result itself: {words}")


def dt_not_in_place(info: Any, dims: Any, *given: Any, **named: Any) -> Any:
    """Refuse torch.vmap for an operator that writes into an input."""
    raise RuntimeError("torch.vmap makes new results, and this writes in place: call without it")


def dt_operator(plan: Any, kernel: Any, function: Any, like: Any, words: dict[str, bool]) -> Any:
    """Return a function that calls the operator. Numbers in tensors stay tensors in a graph."""
    inputs, name = plan.get("inputs", {}), f"{plan['function']}_{dt_digest(kernel)}"
    numbers = [at for at, what in enumerate(inputs.values()) if len(what) != 2 and what != "unread"]
    count, into = len(plan["results"]), dict(dt_into(plan))
    gives = dt_places(plan, [*inputs, *words])

    def registered(kind: str, number: str) -> Any:
        parts = list[str]()
        for one, what in inputs.items():
            tensor = "Tensor?" if what == "unread" else "Tensor" if len(what) == 2 else number
            tensor = f"Tensor(w{into[one]}!)" if one in into else tensor
            parts.append(f"{tensor or (what if isinstance(what, str) else 'int')} {one}")
        parts += ["*"] if words else []
        for one, may_miss in words.items():
            word = "Device" if one == "device" else "SymInt"
            parts.append(f"{word}? {one}=None" if may_miss else f"{word} {one}")
        if into:
            new = [at for at, which in enumerate(gives) if which >= len(inputs)]
            return dt_in_place(name + kind, ", ".join(parts), kernel, function, like, (into, new))
        return dt_registered(name + kind, ", ".join(parts), kernel, function, like, count)

    made = registered("", ""), *((registered("_tensors", "Tensor"),) if numbers else ())

    def call(*given: Any, out: Any = None, **named: Any) -> Any:
        (new, old), values = made[0], [*given]
        if not all(isinstance(values[at], (int, float)) for at in numbers):
            new, old = made[1]
            for at in numbers:
                dtype = torch.float64 if isinstance(values[at], float) else None
                values[at] = torch.as_tensor(values[at], dtype=dtype)
        if out is None and into:
            found = new.default(*values, **named)
            own = iter((found,) if isinstance(found, torch.Tensor) else found or ())
            whole = tuple([given[at] if at < len(inputs) else next(own) for at in gives])
            return whole if count > 1 else whole[0]
        if out is None:
            return new.default(*values, **named)
        if into:
            raise TypeError(f"'{next(iter(into))}' is written in place: leave out 'out'")
        old.default(*dt_outs(out, count), *values, **named)
        return out

    return call


def dt_is_ours(known: Any, kernel: Any) -> bool:
    """Return whether an operator's kernel is known, and has the same text as this one."""
    try:
        return known is not None and dt_digest(known) == dt_digest(kernel)
    except RuntimeError:
        return False


def dt_free(name: str, kernel: Any) -> tuple[str, Any]:
    """Find a name for an operator, and the kernels of all that are registered.

    It contains a number of the file's text. So no other file's operator has the same name; if
    something else took the name all the same, this one becomes longer.
    """
    known: dict[str, Any] = torch.ops.dtpoly.__dict__.setdefault("ours", {})
    while hasattr(torch.ops.dtpoly, name) and not dt_is_ours(known.get(name), kernel):
        name = f"{name}_other"
    return name, known


def dt_seen(function: Any) -> Any:
    """Make what calls a function where torch has seen the operator already."""

    def run(*given: Any, **named: Any) -> Any:
        before = getattr(dt_inside, "operator", False)
        try:
            dt_inside.operator = True
            return function(*given, **named)
        finally:
            dt_inside.operator = before

    return run


def dt_in_place(name: str, schema: str, kernel: Any, function: Any, like: Any, what: Any) -> Any:
    """Register a function that writes into inputs: the operator gives those results that are new.

    An operator must not give its arguments back, so who calls it does.
    """
    (name, known), run, (into, new) = dt_free(name, kernel), dt_seen(function), what

    def run_new(*given: Any, **named: Any) -> Any:
        found: Any = run(*given, **named)
        whole: list[Any] = [found] if isinstance(found, torch.Tensor) else [*found]
        own = [whole[at] for at in new]
        return own[0] if len(own) == 1 else tuple(own) or None

    if name not in known:
        made = "Tensor" if len(new) == 1 else f"({', '.join(['Tensor'] * len(new))})"
        make, schema = torch.library.custom_op, f"({schema}) -> {made}"
        one = make(f"dtpoly::{name}", run_new, mutates_args=[*into], schema=schema)
        one.register_fake(like)
        one.register_vmap(dt_not_in_place)
        known[name] = kernel
    return getattr(torch.ops.dtpoly, name), None


def dt_registered(name: str, schema: str, kernel: Any, function: Any, like: Any, count: int) -> Any:
    """Register a function of so many results as two operators; the one for `out=` gives nothing."""
    (name, known), run = dt_free(name, kernel), dt_seen(function)

    def run_into(*given: Any, **named: Any) -> None:
        run(*given[count:], out=given[0] if count == 1 else given[:count], **named)

    def like_into(*given: Any, **named: Any) -> None:
        """Return nothing: what is traced has `out` already."""

    make = torch.library.custom_op
    if name not in known:
        made = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
        new = make(f"dtpoly::{name}", run, mutates_args=(), schema=f"({schema}) -> {made}")
        outs = ("out",) if count == 1 else tuple(f"dt_out_{at}" for at in range(count))
        into = ", ".join(f"Tensor(a{at}!) {one}" for at, one in enumerate(outs))
        schema = f"({into}, {schema}) -> ()"
        old = make(f"dtpoly::{name}_out", run_into, mutates_args=outs, schema=schema)
        new.register_fake(like)
        old.register_fake(like_into)
        new.register_vmap(dt_batched(new))
        old.register_vmap(dt_not_batched)
        known[name] = kernel
    return getattr(torch.ops.dtpoly, name), getattr(torch.ops.dtpoly, f"{name}_out")
