"""Texts of the functions with which a wrapper checks its arguments and refuses wrong ones.

`prelude` copies those that a generated file uses into that file.
"""

CHECKS = {
    "dt_check": '''\
def dt_check(name, tensor, rank, dtypes, device=None):
    """Refuse a tensor that the kernels are not for; its device is where they run."""
    if (
        isinstance(tensor, torch.Tensor)
        and tensor.dim() == rank
        and tensor.dtype in dtypes
        and tensor.layout == torch.strided
        and not tensor.is_neg()
        and not (tensor.requires_grad and torch.is_grad_enabled())
        and (tensor.is_cuda or (dt_interpreted and tensor.is_cpu))
        and (device is None or tensor.device == device)
        and (tensor.data_ptr() or not tensor.numel())
    ):
        return tensor.device
    raise dt_wrong(name, tensor, rank, dtypes, device)
''',
    "dt_wrong": '''\
def dt_wrong(name, tensor, rank, dtypes, device):
    """What is wrong with a tensor."""
    if not isinstance(tensor, torch.Tensor):
        return TypeError(f"'{name}' must be a tensor, not {type(tensor).__name__}")
    if tensor.layout != torch.strided:
        return TypeError(f"'{name}' is {tensor.layout}: pass {name}.to_dense()")
    if tensor.dim() != rank:
        shape = tuple(tensor.shape)
        return ValueError(f"'{name}' must have {rank} dimensions, but its shape is {shape}")
    if dtypes is dt_floats and tensor.dtype not in dtypes:
        return TypeError(
            f"'{name}' is {tensor.dtype}, and without a declared dtype it must be a float: "
            f"declare one, as in `In {name}: i32;`, and generate this file again"
        )
    if tensor.dtype not in dtypes:
        return TypeError(f"'{name}' is {tensor.dtype}, but is declared {dtypes[0]}")
    if device is not None and tensor.device != device:
        return ValueError(f"'{name}' is on {tensor.device}, but others are on {device}")
    if not tensor.is_cuda and not (dt_interpreted and tensor.is_cpu):
        return ValueError(
            f"'{name}' is on {tensor.device}: move it to a GPU, or start Python with "
            "TRITON_INTERPRET=1, and kernels run on the CPU in Triton's interpreter"
        )
    if tensor.is_neg():
        return TypeError(f"'{name}' is stored with its sign flipped: pass {name}.resolve_neg()")
    if tensor.requires_grad and torch.is_grad_enabled():
        return RuntimeError(
            f"'{name}' requires a gradient, and there is no backward of this function: "
            f"call it under torch.no_grad(), or pass {name}.detach()"
        )
    return ValueError(f"'{name}' has no memory: it was freed, or torch does not store its zeros")
''',
    "dt_device": '''\
def dt_device(device, out=None):
    """The device that was asked for, with its number."""
    if device is None and isinstance(out, torch.Tensor):
        device = out.device
    device = torch.device(device or ("cpu" if dt_interpreted else "cuda"))
    if device.type != "cuda" and not (dt_interpreted and device.type == "cpu"):
        raise ValueError(f"kernels do not run on {device}: pass device='cuda'")
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device
''',
    "dt_is_current": '''\
def dt_is_current(device):
    """Whether this is the device that kernels are launched on."""
    return dt_interpreted or device.index == torch._C._cuda_getDevice()
''',
    "dt_float": '''\
def dt_float(name, number):
    """A number as a float."""
    if type(number) is float:
        return number
    number = dt_number(name, number)
    if not isinstance(number, (int, float)):
        raise TypeError(f"'{name}' must be a number, not {number!r}")
    return float(number)
''',
    "dt_int": '''\
def dt_int(name, number, least, most):
    """A whole number that is not out of range."""
    number = dt_number(name, number)
    if not isinstance(number, int):
        raise TypeError(f"'{name}' must be a whole number, not {number!r}")
    if not least <= number <= most:
        raise ValueError(f"'{name}' is {number}, but must be from {least} to {most}")
    return int(number)
''',
    "dt_given": '''\
def dt_given(name, size, most):
    """A size that is passed, as a whole number; None, if it is left out."""
    return None if size is None else dt_int(name, size, 0, most)
''',
    "dt_not_passed": '''\
def dt_not_passed(name, *others):
    """Nothing says the size of a label."""
    passed = " and ".join(f"{other}=..." for other in others)
    return TypeError(f"the size of '{name}' must be passed, as {name}=...; or pass {passed}")
''',
    "dt_bool": '''\
def dt_bool(name, number):
    """True or False."""
    number = dt_number(name, number)
    if not isinstance(number, bool):
        raise TypeError(f"'{name}' must be True or False, not {number!r}")
    return number
''',
    "dt_number": '''\
def dt_number(name, number):
    """A number as Python's own, also out of a tensor or an array without axes."""
    if getattr(number, "shape", None) != ():
        return number
    if getattr(number, "requires_grad", False) and torch.is_grad_enabled():
        raise RuntimeError(
            f"'{name}' requires a gradient, and there is no backward of this function: "
            f"call it under torch.no_grad(), or pass {name}.item()"
        )
    return number.item()
''',
    "dt_fit": '''\
def dt_fit(extent, low, high, coefficient):
    """The largest size of a label for which an index stays inside of an axis.

    From low to high is what the index is where that label is 0.
    """
    if low < 0 or high >= extent:
        return 0
    if coefficient > 0:
        return (extent - 1 - high) // coefficient + 1
    return low // -coefficient + 1
''',
    "dt_disagree": '''\
def dt_disagree(label, size, source, other, other_source):
    """The tensors disagree on a size."""
    return ValueError(
        f"the tensors disagree on the size of '{label}': "
        f"it is {size} {source}, but {other} {other_source}"
    )
''',
    "dt_other_shape": '''\
def dt_other_shape(name, tensor, *axes):
    """A tensor disagrees with others on the size of a label."""
    for axis, (label, size, source) in enumerate(axes):
        if tensor.shape[axis] != size:
            seen = f"by {name}.shape[{axis}]"
            return dt_disagree(label, size, source, tensor.shape[axis], seen)
''',
    "dt_outside": '''\
def dt_outside(name, axis, extent, index, reached, sizes=""):
    """A tensor is read outside."""
    return ValueError(
        f"'{name}' is read outside of axis {axis}: {name}.shape[{axis}] is {extent}, "
        f"and {index} reaches {reached}{' for sizes ' if sizes else ''}{sizes}"
    )
''',
    "dt_nothing": '''\
def dt_nothing(reduction, label):
    """Of nothing there is no index of an extreme."""
    return ValueError(f"'{reduction}' has nothing to choose from: the size of '{label}' is 0")
''',
    "dt_promoted": '''\
def dt_promoted(names, *dtypes):
    """The dtype that holds the values of several."""
    total = dtypes[0]
    for dtype in dtypes[1:]:
        if dtype != total:
            if 1 in (dtype.itemsize, total.itemsize):
                raise TypeError(f"no dtype holds both {total} and {dtype}, of {names}: convert one")
            total = torch.promote_types(total, dtype)
    return total
''',
    "dt_real": '''\
def dt_real(*dtypes):
    """The type in which floats are computed; a GPU converts none of 8 bits to one of 64."""
    if torch.float64 not in dtypes:
        return tl.float32
    for dtype in dtypes:
        if dtype.itemsize == 1:
            raise TypeError(f"{dtype} and {torch.float64} have no common type: convert an input")
    return tl.float64
''',
    "dt_operand": '''\
def dt_operand(dtype, real):
    """The type in which the operands of a product meet: f16 holds every value of 8 bits."""
    if real is tl.float64:
        return real
    return tl.float16 if dtype.itemsize == 1 else dt_triton[dtype]
''',
    "dt_check_atomic": '''\
def dt_check_atomic(name, operation, dtype):
    """Refuse a type in which memory cannot combine partial results."""
    if dtype.itemsize < (2 if operation == "rsum" else 4):
        raise TypeError(
            f"'{name}' would be {dtype}, and '{operation}' has no atomic form in that: "
            f"declare Func {name}: f32, or take the atomic out, and generate this file again"
        )
''',
    "dt_check_out": '''\
def dt_check_out(out, shape, dtype, device, inputs):
    """Refuse an `out` that is not as the result is, or that shares memory with itself or inputs."""
    if not isinstance(out, torch.Tensor):
        raise TypeError(f"'out' must be a tensor, not {type(out).__name__}")
    if type(out) is not torch.Tensor and dt_is_special(out):
        raise TypeError(f"'out' is a {type(out).__name__}, and no input is")
    if (out.shape, out.dtype, out.device, out.layout) != (shape, dtype, device, torch.strided):
        raise ValueError(
            f"'out' is {out.dtype} {tuple(out.shape)} on {out.device}, "
            f"but the result is {dtype} {shape} on {device}"
        )
    is_missing = out.numel() and not out.data_ptr()
    if out.is_neg() or is_missing or (out.requires_grad and torch.is_grad_enabled()):
        raise dt_wrong("out", out, out.dim(), (dtype,), device)
    reach = 0
    for stride, size in () if out.is_contiguous() else sorted(zip(out.stride(), shape)):
        if size > 1 and stride <= reach:
            raise ValueError(f"'out' overlaps itself: shape {shape}, strides {out.stride()}")
        reach += (size - 1) * stride
    for name, tensor in inputs.items():
        if dt_overlap(out, tensor):
            raise ValueError(f"'out' overlaps '{name}': pass a tensor with memory of its own")
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)
''',
    "dt_overlap": '''\
def dt_overlap(one, two):
    """Whether some byte belongs to both; also if that takes too long to find out."""
    first, second = one.untyped_storage(), two.untyped_storage()
    start, other_start = first.data_ptr(), second.data_ptr()
    if start + first.nbytes() <= other_start or other_start + second.nbytes() <= start:
        return False
    if not one.numel() or not two.numel():
        return False
    steps = {1: [1 - two.element_size(), one.element_size() - 1]}
    for tensor, sign in ((one, 1), (two, -1)):
        for size, stride in zip(tensor.shape, tensor.stride()):
            bounds = steps.setdefault(stride * tensor.element_size(), [0, 0])
            bounds[sign > 0] += sign * (size - 1)
    distance = two.data_ptr() - one.data_ptr()
    return dt_reaches(distance, sorted(steps.items(), reverse=True), [10_000])
''',
    "dt_reaches": '''\
def dt_reaches(distance, steps, tries):
    """Whether strides, the largest first, times numbers between bounds can add up to a distance.

    After so many tries also where it is not known: what is not tried may.
    """
    tries[0] -= 1
    (stride, (least, most)), rest = steps[0], steps[1:]
    if stride == 0:
        return distance == 0
    low = distance - sum(s * bounds[1] for s, bounds in rest)
    high = distance - sum(s * bounds[0] for s, bounds in rest)
    first, last = max(least, -(-low // stride)), min(most, high // stride)
    if not rest or last - first > 100 or tries[0] < 0:
        return first <= last
    return any(dt_reaches(distance - stride * n, rest, tries) for n in range(first, last + 1))
''',
}
