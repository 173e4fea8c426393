"""Texts of the functions that make a wrapper an operator of torch, which is what tracing sees.

`prelude` copies them into a generated file.
"""

# Functions that find out whether torch traces a call.
TRACED = {
    "dt_inside": """\
dt_inside = threading.local()  # whether this thread is in what torch runs for the operator
""",
    "dt_is_traced": '''\
def dt_is_traced(*tensors):
    """Whether torch is to see one operator: it compiles, records, transforms, wants shapes."""
    if getattr(dt_inside, "operator", False):
        return False  # it was seen, and what it saw is set still
    if torch.compiler.is_compiling():
        return True
    if torch.autograd.forward_ad._current_level >= 0:
        dt_refuse_tangents(tensors)
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
''',
    "dt_is_special": '''\
def dt_is_special(tensor):
    """Whether it is of a class that says itself what operators do, such as a DTensor."""
    if getattr(tensor, "is_nested", False):
        raise TypeError(
            "a nested tensor has no size that its rows share: "
            "pass its values(), or its to_padded_tensor(...)"
        )
    own = getattr(type(tensor), "__torch_dispatch__", None)
    return own is not None and own is not torch.Tensor.__torch_dispatch__
''',
    "dt_refuse_tangents": '''\
def dt_refuse_tangents(tensors):
    """No derivative is lost in forward mode either."""
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            if torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None:
                raise RuntimeError("an input has a tangent, and this function has no derivative")
''',
}

# Functions that make the operator which torch then sees.
OPERATORS = {
    "dt_digest": '''\
def dt_digest(function):
    """A number of the text of a function's file, without the comments at its top.

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
''',
    "dt_is_ours": '''\
def dt_is_ours(name, digest):
    """Whether an operator of that name runs the same text, which was imported before."""
    try:
        return dt_digest(vars(torch.ops.dtpoly)["runs"][name]) == digest
    except (AttributeError, KeyError, RuntimeError):
        return False
''',
    "dt_batched": '''\
def dt_batched(operator):
    """What torch.vmap does with an operator: one call for each element of the batch.

    No kernel has an axis for a batch that its algorithm does not name. Without this rule, torch
    does the same, and asks the user to file an issue.
    """

    def rule(info, dims, *given, **named):
        def result(of):
            pairs = zip(given, dims)
            return operator(*(one if dim is None else of(one, dim) for one, dim in pairs), **named)

        if not info.batch_size:
            # Only the shape and the dtype of one result are wanted.
            one = result(lambda batch, dim: batch.new_zeros(batch.movedim(dim, 0).shape[1:]))
            return one.new_empty((0, *one.shape)), 0
        places = range(info.batch_size)
        return torch.stack([result(lambda o, dim: o.select(dim, at)) for at in places]), 0

    return rule
''',
    "dt_not_batched": '''\
def dt_not_batched(info, dims, *given, **named):
    """What torch.vmap does with an operator that writes into `out`."""
    raise RuntimeError(
        "torch.vmap makes the result itself: call without out=, or call without torch.vmap"
    )
''',
    "dt_operator": '''\
def dt_operator(name, run, like, arguments, kind=""):
    """The wrapper as operators of torch, for torch.compile; the one for `out=` returns nothing.

    Their names contain a number of this text. So no other file's operator has the same name; if
    something else took the name all the same, this one becomes longer.
    """
    digest, known = dt_digest(run), vars(torch.ops.dtpoly).setdefault("runs", {})
    name = f"{name}_{digest}{kind}"
    while hasattr(torch.ops.dtpoly, name) and not dt_is_ours(name, digest):
        name = f"{name}_other"

    def run_new(*given, **named):
        before = getattr(dt_inside, "operator", False)
        try:
            dt_inside.operator = True
            return run(*given, **named)
        finally:
            dt_inside.operator = before

    def run_into(out, *given, **named):
        run_new(*given, out=out, **named)

    def like_into(out, *given, **named):
        pass

    if not hasattr(torch.ops.dtpoly, name):
        into = f"(Tensor(a!) out, {arguments}) -> ()"
        new = torch.library.custom_op(
            f"dtpoly::{name}", run_new, mutates_args=(), schema=f"({arguments}) -> Tensor"
        )
        new.register_fake(like)
        old = torch.library.custom_op(
            f"dtpoly::{name}_out", run_into, mutates_args=("out",), schema=into
        )
        old.register_fake(like_into)
        new.register_vmap(dt_batched(new))
        old.register_vmap(dt_not_batched)
        known[name] = run
    new, old = getattr(torch.ops.dtpoly, name), getattr(torch.ops.dtpoly, f"{name}_out")

    def call(out, *given, **named):
        if out is None:
            return new.default(*given, **named)
        old.default(out, *given, **named)
        return out

    return call
''',
    "dt_operator_with_numbers": '''\
def dt_operator_with_numbers(name, run, like, arguments, with_tensors):
    """The same where there are numbers: of one in a tensor, nobody knows the value in a graph."""
    call = dt_operator(name, run, like, arguments)
    call_with_tensors = dt_operator(name, run, like, with_tensors, "_tensors")
    both = zip(arguments.split(", "), with_tensors.split(", "))
    numbers = [at for at, (one, other) in enumerate(both) if one != other]

    def choose(out, *given, **named):
        if all(isinstance(given[at], (int, float)) for at in numbers):
            return call(out, *given, **named)
        given = list(given)
        for at in numbers:
            dtype = torch.float64 if isinstance(given[at], float) else None
            given[at] = torch.as_tensor(given[at], dtype=dtype)
        return call_with_tensors(out, *given, **named)

    return choose
''',
}
