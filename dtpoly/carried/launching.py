"""Chooses the variant of a kernel that a launch runs, and notes how to run it again."""

from typing import Any

from dtpoly.carried.interpreting import dt_interpret
from dtpoly.carried.libraries import tl, triton
from dtpoly.carried.memory import dt_allocate, dt_is_direct
from dtpoly.carried.values import dt_interpreted


def dt_chooser(kernel: Any, axes: Any, blocks: list[int]) -> Any:
    """Make what chooses how a kernel is called: at most eight variants for a type of inputs.

    Where tensors are contiguous along their last axes: one, one for lines at multiples of four
    numbers, one for aligned ones, and one for aligned ones of whole blocks. One for aligned ones
    with offsets of 64 bits. Two for the first that are contiguous along others, if they are large.
    One for all that is left, with offsets of 64 bits. A truth may be passed as False: kernels test
    then what they would have been spared. Where there are descriptors, they are passed all
    together, or None for each; lines that have them and are not aligned take the place of those at
    multiples of four.
    """
    names, axes = kernel.arg_names, [words.split() for words in axes]
    places = [at + sum(map(len, axes[:at])) for at in range(len(axes))]
    functions, others = kernel.__dict__.setdefault("dt_variants", ({}, {}))

    def with_facts(kept: tuple[int, ...], count: int) -> Any:
        if kept not in functions:
            rest = [at for at in range(count) if at not in kept]
            made = functions[kept] = triton.jit(kernel.fn, do_not_specialize=rest)
            made.pre_run_hooks = dt_hooks(kernel)
        return functions[kept]

    def choose(args: list[Any], constants: dict[str, Any]) -> Any:
        flags = [name for name, value in constants.items() if isinstance(value, bool)]
        is_whole = all(constants[name] for name in flags if name != "fours")
        is_wide = constants["offset"] == tl.int64
        lines, units, steps, is_flat, is_rows = dt_lines(names, axes, places, args)
        is_even = all(args[at].data_ptr() % 16 == 0 for at in places)  # where tensors begin
        is_aligned = is_even and all(args[at] % 16 == 0 for at in steps)
        if blocks:
            in_blocks = is_flat and is_rows and not is_wide
            in_blocks = in_blocks and all(args[at] is not None for at in blocks)
            is_aligned = is_aligned and (in_blocks or is_wide)
            if constants.get("specialized"):
                # Of four warps Triton makes more: as many again, and four that load.
                constants |= {"num_warps": 4} if in_blocks else {"specialized": 0}
            if not in_blocks or constants.get("specialized"):
                args = [None if at in blocks else value for at, value in enumerate(args)]
        is_four = is_flat and is_rows and is_even and not is_aligned
        is_four = is_four and constants.get("fours", False)
        kept = (*places, *units) if is_aligned or is_four else tuple(units)
        if is_flat and is_rows and (is_aligned or not is_wide):
            is_whole = is_whole and is_aligned and not is_wide
        elif is_flat and not is_wide and any(args[at].numel() >= 1 << 16 for at in places):
            types = [str(value) for value in constants.values() if not isinstance(value, bool)]
            types += [str(args[at].dtype) for at in places]
            met, one = others.setdefault(tuple(types), {}), (tuple(lines), is_aligned, is_whole)
            met[one] = None
            is_flat = [*met].index(one) <= 1
        else:
            is_flat = False
        kept += tuple(dict.fromkeys(steps)) if is_aligned else ()
        if not is_flat:
            kept, is_whole, is_four = (), False, False
            constants = {**constants, "offset": tl.int64}
        truths = {name: is_four if name == "fours" else is_whole for name in flags}
        return with_facts(kept, len(args)), args, {**constants, **truths}

    return choose


def dt_lines(names: Any, axes: Any, places: Any, args: Any) -> Any:
    """Find of each tensor the axis along which it is contiguous, and where a kernel takes strides.

    Those of such axes come first, then those between lines, with the lengths of lines; last,
    whether all tensors are contiguous along some axis, and along their last ones.
    """
    several = any(len(words) > 1 for words in axes)
    is_flat = is_rows = True
    lines: list[Any] = []
    units: list[int] = []
    steps: list[int] = []
    for at, words in zip(places, axes, strict=True):
        ones = [axis for axis in range(len(words)) if args[at + 1 + axis] == 1]
        line = ones[-1] if ones else None
        lines.append(line)
        is_flat = is_flat and (line is not None or not words)
        is_rows = is_rows and (line == len(words) - 1 or not words)
        for axis, word in enumerate(words):
            if axis == line:
                units.append(at + 1 + axis)
                steps += [names.index(word)] if word in names and len(words) > several else []
            elif word != "-":
                steps.append(at + 1 + axis)
    return lines, units, steps, is_flat, is_rows


def dt_hooks(kernel: Any) -> list[Any]:
    """Find what is to be called before each launch: the same list for all variants."""
    return getattr(kernel, "pre_run_hooks", [])


def dt_is_watched() -> bool:
    """Tell whether something that was set in Triton is to see launches, or to change kernels."""
    runtime = triton.knobs.runtime
    first, last = runtime.launch_enter_hook, runtime.launch_exit_hook
    return bool(
        getattr(first, "calls", first)
        or getattr(last, "calls", last)
        or runtime.debug
        or runtime.add_stages_inspection_hook
        or triton.knobs.compilation.instrumentation_mode
    )


def dt_start(
    kernel: Any, choose: Any, blocks: list[int], programs: int, args: Any, how: Any
) -> Any:
    """Launch a kernel. Give what launches it again for like tensors, or None if nothing may."""
    if dt_interpreted:
        return dt_interpret(kernel, programs, args, how)
    if how.get("specialized"):
        dt_allocate()
    chosen, args, constants = choose(args, how)
    compiled = chosen[(programs,)](*args, **constants)
    is_kept = dt_is_direct and isinstance(compiled, triton.compiler.CompiledKernel)
    if not is_kept or dt_hooks(kernel) or dt_is_watched():
        return None
    run, parts = dt_in_parts(compiled.run, [(at, args[at]) for at in blocks])
    asks = getattr(run, "global_scratch_size", 0)
    if getattr(run, "profile_scratch_size", 0) or (asks and not how.get("specialized")):
        return None  # each call asks for that memory itself
    passed = [*args, *(constants[name] for name in kernel.arg_names[len(args) :])]
    return run, compiled, passed, parts, asks


def dt_in_parts(run: Any, descriptors: Any) -> Any:
    """Find what runs a kernel for other tensors like those of descriptors, and what it is passed.

    Triton takes descriptors apart in each launch, in some versions in Python, which is slow: there
    they are passed in parts.
    """
    launch: Any = getattr(run, "launch", None)
    names = getattr(getattr(launch, "__code__", None), "co_freevars", ())
    if not descriptors or "tensordesc_indices" not in names:
        return run, [(at, dt_replaced(one)) for at, one in reversed(descriptors)]
    cells: Any = (cell.cell_contents for cell in launch.__closure__)
    inner: dict[str, Any] = dict(zip(names, cells, strict=True))
    make, direct = launch.__globals__["make_tensordesc_arg"], object.__new__(run.__class__)
    direct.__dict__.update(run.__dict__, launch=inner["launcher"])
    pairs = [*zip(descriptors, inner["tensordesc_meta"], strict=False)]
    return direct, [(at, dt_replaced(one, make, what)) for (at, one), what in reversed(pairs)]


def dt_without(_: Any) -> tuple[None]:
    """Give a kernel nothing in place of a descriptor."""
    return (None,)


def dt_replaced(descriptor: Any, make: Any = None, what: Any = None) -> Any:
    """Make what gives a kernel, for a tensor, what it takes in place of a like one's descriptor."""
    if descriptor is None:
        return dt_without
    kind, kept, known = (
        descriptor.__class__,
        {**descriptor.__dict__, "base": None},
        dict[int, Any](),
    )

    def passed(tensor: Any) -> Any:
        found = known.get(tensor.data_ptr())
        if found is None:
            one = object.__new__(kind)
            one.__dict__.update(kept, base=tensor)
            if make is None:
                return (one,)
            if len(known) >= 64:
                known.clear()
            known[tensor.data_ptr()] = found = make(one, what)
        return found

    return passed
