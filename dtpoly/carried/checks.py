"""Checks the arguments of a call, and refuses those that the kernels are not for."""

import operator
from typing import Any

from dtpoly.carried.libraries import torch
from dtpoly.carried.values import dt_dtypes, dt_interpreted, dt_triton

dt_numbers = {
    "float": ((float, int), "a number"),
    "bool": ((bool,), "True or False"),
    "int": ((int,), "a whole number"),
}


def dt_check(name: str, tensor: Any, kind: str, rank: int, device: Any) -> Any:
    """Refuse a tensor that the kernels are not for; its device is where they run."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"'{name}' must be a tensor, not {type(tensor).__name__}")
    dtype, place, shape = tensor.dtype, tensor.device, tensor.shape
    if tensor.layout != torch.strided:
        raise TypeError(f"'{name}' is {tensor.layout}: pass {name}.to_dense()")
    if len(shape) != rank:
        raise ValueError(f"'{name}' must have {rank} dimensions, but its shape is {tuple(shape)}")
    if kind == "float" and dtype not in dt_triton:
        raise TypeError(
            f"'{name}' is {dtype}, and without a declared dtype it must be a float: "
            f"declare one, as in `In {name}: i32;`, and generate this file again"
        )
    if kind != "float" and dtype != dt_dtypes[kind]:
        raise TypeError(f"'{name}' is {dtype}, but is declared {dt_dtypes[kind]}")
    if device is not None and place != device:
        raise ValueError(f"'{name}' is on {place}, but others are on {device}")
    if not tensor.is_cuda and not (dt_interpreted and tensor.is_cpu):
        raise ValueError(
            f"'{name}' is on {place}: move it to a GPU, or start Python with "
            "TRITON_INTERPRET=1, and kernels run on the CPU in Triton's interpreter"
        )
    return place


def dt_check_memory(name: str, tensor: Any) -> None:
    """Refuse a tensor whose memory has other values, or whose gradient would be lost."""
    if tensor.is_neg():
        raise TypeError(f"'{name}' is stored with its sign flipped: pass {name}.resolve_neg()")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise dt_no_backward(name, "detach")
    if not tensor.data_ptr() and tensor.numel():
        raise ValueError(f"'{name}' has no memory: it was freed, or torch does not store its zeros")


def dt_no_backward(name: str, without: str) -> Exception:
    """Refuse to lose a gradient."""
    return RuntimeError(
        f"'{name}' requires a gradient, and there is no backward of this function: "
        f"call it under torch.no_grad(), or pass {name}.{without}()"
    )


def dt_device(device: Any, out: Any = None) -> Any:
    """Find the device that was asked for, with its number."""
    first: Any = out if out.__class__ is not tuple else out[0] if out else None
    if device is None and isinstance(first, torch.Tensor):
        device = first.device
    device = torch.device(device or ("cpu" if dt_interpreted else "cuda"))
    if device.type != "cuda" and not (dt_interpreted and device.type == "cpu"):
        raise ValueError(f"kernels do not run on {device}: pass device='cuda'")
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device


def dt_is_current(device: Any) -> Any:
    """Tell whether kernels are launched on this device now."""
    return dt_interpreted or device.index == torch._C._cuda_getDevice()


def dt_number(name: str, number: Any, kind: Any) -> Any:
    """Return a number as one of Python's; it may be in a tensor or an array without axes."""
    if getattr(number, "shape", None) == ():
        if getattr(number, "requires_grad", False) and torch.is_grad_enabled():
            raise dt_no_backward(name, "item")
        number = number.item()
    kind, *limits = (kind,) if isinstance(kind, str) else kind
    types, words = dt_numbers[kind]
    if not isinstance(number, types):
        raise TypeError(f"'{name}' must be {words}, not {number!r}")
    if limits and not limits[0] <= number <= limits[1]:
        raise ValueError(f"'{name}' is {number}, but must be from {limits[0]} to {limits[1]}")
    return types[0](number)


def dt_check_outs(out: Any, forms: Any, inputs: dict[str, Any], key: Any) -> Any:
    """Refuse a wrong `out`. Give its tensors, and for each how many bytes it and others have."""
    outs, others = dt_outs(out, len(forms)), dict(inputs)
    spans = list[Any]()
    for at, (one, like) in enumerate(zip(outs, forms, strict=True)):
        name = "out" if len(forms) == 1 else f"out[{at}]"
        spans.append(dt_check_out(name, one, like, others, key))
        others[name] = one
    for one in outs:
        if not one.is_inference():
            torch.autograd.graph.increment_version(one)
    return outs, spans


def dt_check_into(inputs: dict[str, Any], written: list[Any], places: list[int], key: Any) -> Any:
    """Refuse a tensor to write that overlaps itself or another input. Give places and bytes."""
    names: list[str] = [*inputs]
    spans = list[Any]()
    for which, at in written:
        name = names[int(which)]
        one = inputs[name]
        others = {other: tensor for other, tensor in inputs.items() if other != name}
        own, bytes_of = dt_check_out(name, one, (one.shape, one.dtype, one.device), others, key)
        spans.append((at, own, [*zip([p for p in places if p != at], bytes_of, strict=True)]))
    for which, _ in written:
        if not inputs[names[which]].is_inference():
            torch.autograd.graph.increment_version(inputs[names[which]])
    return spans


def dt_outs(out: Any, count: int) -> Any:
    """List the tensors of an `out`: it is a tuple, if there are several results."""
    if count == 1:
        return (out,)
    if out.__class__ is not tuple or len(out) != count:
        raise TypeError(f"'out' must be a tuple of {count} tensors, one for each result")
    return out


def dt_check_out(name: str, out: Any, like: Any, others: dict[str, Any], key: Any) -> Any:
    """Refuse a tensor that is not as its result is, or that overlaps itself or others."""
    if not isinstance(out, torch.Tensor):
        raise TypeError(f"'{name}' must be a tensor, not {type(out).__name__}")
    if type(out) is not torch.Tensor and dt_is_special(out):
        raise TypeError(f"'{name}' is a {type(out).__name__}, and no input is")
    shape, dtype, device = like
    if (out.shape, out.dtype, out.device, out.layout) != (*like, torch.strided):
        raise ValueError(
            f"'{name}' is {out.dtype} {tuple(out.shape)} on {out.device}, "
            f"but the result is {dtype} {shape} on {device}"
        )
    if key is None:
        dt_check_memory(name, out)
    reach = 0
    for stride, size in (
        () if out.is_contiguous() else sorted(zip(out.stride(), shape, strict=True))
    ):
        if size > 1 and stride <= reach:
            raise ValueError(f"'{name}' overlaps itself: shape {shape}, strides {out.stride()}")
        reach += (size - 1) * stride
    own, spans = dt_span(out), [dt_span(tensor) for tensor in others.values()]
    for (other, tensor), span in zip(others.items(), spans, strict=True):
        if dt_overlap(out, tensor, tensor.data_ptr() - out.data_ptr(), own, span):
            raise ValueError(f"'{name}' overlaps '{other}': pass a tensor with memory of its own")
    return own, spans


def dt_is_special(tensor: Any) -> bool:
    """Return whether a tensor's class changes what operators do, as that of a DTensor does."""
    if getattr(tensor, "is_nested", False):
        raise TypeError(
            "a nested tensor has no size that its rows share: "
            "pass its values(), or its to_padded_tensor(...)"
        )
    own: Any = getattr(tensor.__class__, "__torch_dispatch__", None)
    return own is not None and own is not torch.Tensor.__torch_dispatch__


def dt_span(tensor: Any) -> Any:
    """Count the bytes from the first element of a tensor to the end of its last one."""
    if tensor.is_contiguous() or not tensor.numel():
        return tensor.nbytes
    steps = tensor.stride()
    return (sum(map(operator.mul, tensor.shape, steps)) - sum(steps) + 1) * tensor.element_size()


def dt_overlap(one: Any, two: Any, distance: int, span: int, other_span: int) -> Any:
    """Tell whether some byte may belong to both tensors; the other begins `distance` after one."""
    if not -other_span < distance < span:
        return False
    steps = {1: [1 - two.element_size(), one.element_size() - 1]}
    for tensor, sign in ((one, 1), (two, -1)):
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            bounds = steps.setdefault(stride * tensor.element_size(), [0, 0])
            bounds[sign > 0] += sign * (size - 1)
    return dt_reaches(distance, sorted(steps.items(), reverse=True), [10_000])


def dt_reaches(distance: int, steps: Any, tries: list[int]) -> Any:
    """Return whether strides, the largest first, times numbers between bounds can make a distance.

    After so many tries the bounds alone decide, so that a call may be refused for nothing.
    """
    tries[0] -= 1
    (stride, (least, most)), *rest = steps
    if stride == 0:
        return distance == 0
    low = distance - sum(s * bounds[1] for s, bounds in rest)
    high = distance - sum(s * bounds[0] for s, bounds in rest)
    first, last = max(least, -(-low // stride)), min(most, high // stride)
    if not rest or last - first > 100 or tries[0] < 0:
        return first <= last
    return any(dt_reaches(distance - stride * n, rest, tries) for n in range(first, last + 1))
