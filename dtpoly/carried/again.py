# pyright: reportUnknownVariableType=false
"""Repeats launches: a call like an earlier one launches the same kernels, without the plan."""

from typing import Any

from dtpoly.carried.checks import dt_is_current, dt_overlap
from dtpoly.carried.launching import dt_is_watched
from dtpoly.carried.libraries import torch, triton
from dtpoly.carried.memory import dt_allocate, dt_empty, dt_is_direct
from dtpoly.carried.operators import dt_is_overridden
from dtpoly.carried.values import dt_interpreted

dt_plain, dt_parameter, dt_strided = torch.Tensor, torch.nn.Parameter, torch.strided


def dt_again(run: Any, known: Any, hooks: Any, bound: Any, count: int, gives: list[int]) -> Any:
    """Return a function that repeats, for a call like an earlier one, the launches of that call.

    Like calls have tensors of the same shapes, strides and types, on one device, whose addresses
    have the same last bits; and the same sizes and numbers, but for floats. The function looks at
    nothing else: the plan would launch the same kernels again, for these tensors and new memory.
    The function takes so many arguments; it gives what stands at a place, or a tuple of several.
    """
    several = len(gives) if len(gives) > 1 else 0
    if dt_interpreted or not dt_is_direct:
        return run
    forward_ad, functorch = torch.autograd.forward_ad, torch._C._functorch
    is_compiling, has_modes = torch.compiler.is_compiling, torch._C._len_torch_dispatch_stack
    transform, has_functions = functorch.maybe_current_level, torch._C._len_torch_function_stack
    traced, is_under = torch._C._get_tracing_state, torch._C._dispatch_tls_is_dispatch_key_included
    recorded, driver = torch._C.DispatchKey.PreDispatch, triton.runtime.driver

    def call(*given: Any, out: Any = None, **named: Any) -> Any:
        whole = bound(given, named) if named or len(given) != count else given
        if is_compiling() or has_modes() or is_under(recorded) or transform() is not None:
            return run(whole, out)
        is_function = has_functions() and dt_is_overridden()
        if traced() is not None or forward_ad._current_level >= 0 or is_function:
            return run(whole, out)
        tensors = [*whole]
        if out is not None:
            if several and (out.__class__ is not tuple or len(out) != several):
                return run(whole, out)
            tensors += out if several else (out,)
        key, handed = dt_key(tensors)
        found = known.get(key)
        if found is None or dt_is_watched():
            return run(whole, out, key)
        device, made, launches, spans = found
        if not dt_is_current(device) or any(hooks):
            return run(whole, out)
        if spans and not dt_is_free(spans, tensors, handed):
            return run(whole, out)
        for which, one, two, three in made:
            if which is None:
                tensor = dt_empty(one, two, three)
                if tensor.data_ptr() & 15:
                    return run(whole, out)
            else:
                tensor = tensors[which].narrow(one, two, three)
            tensors.append(tensor)
            handed.append(tensor.data_ptr())
        stream = driver.active.get_current_stream(device.index)
        for start, kernel, metadata, programs, passed, places, parts, asks, _ in launches:
            passed = passed.copy()
            for at, which in places:
                passed[at] = handed[which]
            for at, part, which in parts:
                passed[at : at + 1] = part(tensors[which])
            if asks:
                dt_allocate()
            start(programs, 1, 1, stream, kernel, metadata, None, None, None, *passed)
        return tuple([tensors[at] for at in gives]) if several else tensors[gives[0]]

    return call


def dt_is_free(spans: Any, tensors: Any, handed: Any) -> bool:
    """Return whether the tensors of `out` overlap nothing; if so, tell torch that they change."""
    for at, own, others in spans:
        begin, out = handed[at], tensors[at]
        for which, span in others:
            if dt_overlap(out, tensors[which], handed[which] - begin, own, span):
                return False
    for at, *_ in spans:
        if not tensors[at].is_inference():
            torch.autograd.graph.increment_version(tensors[at])
    return True


def dt_key(given: Any) -> Any:
    """Return a key that like calls share, or None, and the addresses and numbers that kernels get.

    Without a key, the plan is carried out. Floats are not in the key: only kernels look at them.
    """
    key: list[Any] = []
    handed: list[Any] = []
    for one in given:
        kind = type(one)
        if kind is dt_plain or kind is dt_parameter:
            if one.layout is not dt_strided or one.is_neg():
                return None, None
            if one.requires_grad and torch.is_grad_enabled():
                return None, None
            address = one.data_ptr()
            if not address:  # there is nothing in it, or no memory
                return None, None
            handed.append(address)
            key += one.shape, one.stride(), one.dtype, one.device, address & 15
        else:
            handed.append(one)
            if kind is float:
                key.append(kind)  # nothing but the kernel looks at it
            elif kind is int or kind is bool or one is None:
                key += kind, one
            else:
                return None, None
    return tuple(key), handed


def dt_keep(known: dict[Any, Any], key: Any, kept: Any) -> None:
    """Keep the launches of a call, for calls like it. If there are very many, forget all others."""
    if len(known) >= 4096:
        known.clear()
    known[key] = kept
