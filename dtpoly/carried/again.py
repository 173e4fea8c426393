"""Launches for a call like one before what was launched for that, and looks at no plan."""

from typing import Any

from dtpoly.carried.checks import dt_is_current, dt_overlap
from dtpoly.carried.launching import dt_is_watched
from dtpoly.carried.libraries import torch, triton
from dtpoly.carried.memory import dt_allocate, dt_empty, dt_is_direct
from dtpoly.carried.operators import dt_is_overridden
from dtpoly.carried.values import dt_interpreted

dt_classes, dt_strided = (torch.Tensor, torch.nn.Parameter), torch.strided


def dt_again(run: Any, known: dict[Any, Any]) -> Any:
    """Make a function that does for a call like one before what was launched for that.

    Like calls have tensors of the same shapes, strides and types, on one device, whose addresses
    have the same last bits; and the same sizes and numbers, but for floats. The function looks at
    nothing else: the plan would launch the same kernels again, for these tensors and new memory.
    """
    if dt_interpreted or not dt_is_direct:
        return run
    forward_ad, functorch = torch.autograd.forward_ad, torch._C._functorch
    is_compiling, has_modes = torch.compiler.is_compiling, torch._C._len_torch_dispatch_stack
    transform, has_functions = functorch.maybe_current_level, torch._C._len_torch_function_stack
    traced, is_under = torch._C._get_tracing_state, torch._C._dispatch_tls_is_dispatch_key_included
    recorded = torch._C.DispatchKey.PreDispatch

    def call(tensors: Any, numbers: Any, others: Any, out: Any) -> Any:
        whole = tensors, numbers, others, out
        if not tensors or is_compiling() or has_modes() or is_under(recorded):
            return run(*whole)
        if transform() is not None or traced() is not None or forward_ad._current_level >= 0:
            return run(*whole)
        if has_functions() and dt_is_overridden():
            return run(*whole)
        given = [*tensors] if out is None else [*tensors, out]
        addresses: list[int] = []
        key = dt_key(given, numbers, addresses)
        found = known.get(key)
        if found is None or dt_is_watched():
            return run(*whole, key)
        device, _, hooks, _, spans = found
        if not dt_is_current(device) or any(hooks):
            return run(*whole)
        if out is not None:
            begin, end = addresses[-1], addresses[-1] + spans[-1]
            for tensor, address, span in zip(tensors, addresses, spans, strict=False):
                if address < end and begin < address + span and dt_overlap(out, tensor):
                    return run(*whole)
            if not out.is_inference():
                torch.autograd.graph.increment_version(out)
        if not dt_repeat(found, given, addresses, numbers):
            return run(*whole)
        return given[len(tensors)]

    return call


def dt_key(tensors: Any, numbers: Any, addresses: list[int]) -> Any:
    """Find what is the same for like calls, and note addresses; None if the plan must look."""
    key: list[Any] = []
    for tensor in tensors:
        if type(tensor) not in dt_classes or tensor.layout is not dt_strided or tensor.is_neg():
            return None
        if tensor.requires_grad and torch.is_grad_enabled():
            return None
        address = tensor.data_ptr()
        if not address:  # there is nothing in it, or no memory
            return None
        addresses.append(address)
        key += tensor.shape, tensor.stride(), tensor.dtype, tensor.device, address & 15
    for number in numbers:
        kind = number.__class__
        if kind is float:
            key.append(kind)  # nothing but the kernel looks at it
        elif kind is int or kind is bool or number is None:
            key += kind, number
        else:
            return None
    return tuple(key)


def dt_repeat(found: Any, given: Any, addresses: Any, numbers: Any) -> bool:
    """Make memory and launch for these tensors what was launched, unless memory is not aligned."""
    device, made, _, launches, _ = found
    for which, one, two, three in made:
        if which is None:
            tensor = dt_empty(one, two, three)
            if tensor.data_ptr() & 15:
                return False
        else:
            tensor = given[which].narrow(one, two, three)
        given.append(tensor)
        addresses.append(tensor.data_ptr())
    stream = triton.runtime.driver.active.get_current_stream(device.index)
    for start, kernel, metadata, programs, passed, places, floats, parts, asks, _ in launches:
        passed = passed.copy()
        for at, which in places:
            passed[at] = addresses[which]
        for at, which in floats:
            passed[at] = numbers[which]
        for at, part, which in parts:
            passed[at : at + 1] = part(given[which])
        if asks:
            dt_allocate()
        start(programs, 1, 1, stream, kernel, metadata, None, None, None, *passed)
    return True


def dt_keep(known: dict[Any, Any], key: Any, kept: Any) -> None:
    """Keep what a call launched, for calls like it, and forget others if there are very many."""
    if len(known) >= 4096:
        known.clear()
    known[key] = kept
