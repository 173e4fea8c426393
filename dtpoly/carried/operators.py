"""Makes a function an operator of torch, which is what tracing sees."""

import hashlib
import linecache
import threading
from typing import Any

from dtpoly.carried.checks import dt_is_special
from dtpoly.carried.libraries import torch

dt_inside = threading.local()  # whether this thread is in what torch runs for the operator


def dt_is_traced(tensors: Any) -> bool:
    """Tell whether torch is to see one operator: it compiles, records, transforms, wants shapes."""
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
    if torch._C._len_torch_dispatch_stack() or torch._C._get_tracing_state() is not None:
        return True
    if torch._C._dispatch_tls_is_dispatch_key_included(torch._C.DispatchKey.PreDispatch):
        return True
    for tensor in tensors:
        if type(tensor) is not torch.Tensor and dt_is_special(tensor):
            return True
    if tensors and getattr(tensors[0], "is_meta", False):
        return all(getattr(tensor, "is_meta", False) for tensor in tensors)
    return False


def dt_is_overridden() -> bool:
    """Tell whether a mode may change what functions of torch do, as a default device does not."""
    modes = map(torch._C._get_function_stack_at, range(torch._C._len_torch_function_stack()))
    return any(type(mode).__module__ != "torch.utils._device" for mode in modes)


def dt_digest(function: Any) -> str:
    """Compute a number of the text of a kernel's file, without the comments at its top.

    The text is read as Triton reads that of kernels, so it is what runs, also if somebody edited
    it. Any other text has another number.
    """
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        raise RuntimeError(f"'{file}' cannot be read, and Triton needs the text of kernels")
    while lines and lines[0].startswith("#"):
        lines = lines[1:]
    return hashlib.sha256("".join(lines).encode(errors="surrogatepass")).hexdigest()[:32]


def dt_batched(operator: Any) -> Any:
    """Make what torch.vmap does with an operator: one call for each element of the batch.

    No kernel has an axis for a batch that its algorithm does not name. Without this rule, torch
    does the same, and asks the user to file an issue.
    """

    def rule(info: Any, dims: Any, *given: Any, **named: Any) -> Any:
        def part(one: Any, dim: Any, at: int) -> Any:
            if dim is None or info.batch_size:
                return one if dim is None else one.select(dim, at)
            return one.new_zeros(
                one.movedim(dim, 0).shape[1:]
            )  # one result is wanted for its shape

        results = [
            operator(*(part(*pair, at) for pair in zip(given, dims, strict=True)), **named)
            for at in range(info.batch_size or 1)
        ]
        return torch.stack(results)[: info.batch_size], 0

    return rule


def dt_not_batched(info: Any, dims: Any, *given: Any, **named: Any) -> Any:
    """Refuse torch.vmap for an operator that writes into `out`."""
    raise RuntimeError(
        "torch.vmap makes the result itself: call without out=, or call without torch.vmap"
    )


def dt_operator(plan: Any, kernel: Any, function: Any, like: Any, words: dict[str, bool]) -> Any:
    """Make what calls a function as an operator. A graph does not know a number in a tensor."""
    inputs, name = plan.get("inputs", {}), f"{plan['function']}_{dt_digest(kernel)}"
    numbers = [at for at, what in enumerate(inputs.values()) if len(what) != 2 and what != "unread"]

    def registered(kind: str, number: str) -> Any:
        parts = list[str]()
        for one, what in inputs.items():
            tensor = "Tensor?" if what == "unread" else "Tensor" if len(what) == 2 else number
            parts.append(f"{tensor or (what if isinstance(what, str) else 'int')} {one}")
        parts += ["*"] if words else []
        for one, may_miss in words.items():
            word = "Device" if one == "device" else "SymInt"
            parts.append(f"{word}? {one}=None" if may_miss else f"{word} {one}")
        return dt_registered(name + kind, ", ".join(parts), function, like)

    made = registered("", ""), *((registered("_tensors", "Tensor"),) if numbers else ())

    def call(*given: Any, out: Any = None, **named: Any) -> Any:
        (new, old), values = made[0], [*given]
        if not all(isinstance(values[at], (int, float)) for at in numbers):
            new, old = made[1]
            for at in numbers:
                dtype = torch.float64 if isinstance(values[at], float) else None
                values[at] = torch.as_tensor(values[at], dtype=dtype)
        if out is None:
            return new.default(*values, **named)
        old.default(out, *values, **named)
        return out

    return call


def dt_registered(name: str, schema: str, function: Any, like: Any) -> Any:
    """Register a function as two operators of torch; the one for `out=` returns nothing.

    Their names contain a number of the file's text. So no other file's operator has the same name;
    if something else took the name all the same, this one becomes longer.
    """
    known: set[str] = torch.ops.dtpoly.__dict__.setdefault("ours", set[str]())
    while hasattr(torch.ops.dtpoly, name) and name not in known:
        name = f"{name}_other"

    def run(*given: Any, **named: Any) -> Any:
        before = getattr(dt_inside, "operator", False)
        try:
            dt_inside.operator = True
            return function(*given, **named)
        finally:
            dt_inside.operator = before

    def run_into(out: Any, *given: Any, **named: Any) -> None:
        run(*given, out=out, **named)

    def like_into(out: Any, *given: Any, **named: Any) -> None:
        """Return nothing: what is traced has `out` already."""

    make = torch.library.custom_op
    if name not in known:
        new = make(f"dtpoly::{name}", run, mutates_args=(), schema=f"({schema}) -> Tensor")
        schema = f"(Tensor(a!) out, {schema}) -> ()"
        old = make(f"dtpoly::{name}_out", run_into, mutates_args=("out",), schema=schema)
        new.register_fake(like)
        old.register_fake(like_into)
        new.register_vmap(dt_batched(new))
        old.register_vmap(dt_not_batched)
        known.add(name)
    return getattr(torch.ops.dtpoly, name), getattr(torch.ops.dtpoly, f"{name}_out")
