# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Chooses the variant of a kernel that a launch runs, and notes how to run it again."""

import functools
from typing import Any

from dtpoly.carried.interpreting import dt_interpret
from dtpoly.carried.kept_texts import dt_keep_parts, dt_keep_text
from dtpoly.carried.libraries import tl, triton
from dtpoly.carried.memory import dt_allocate, dt_is_direct
from dtpoly.carried.values import dt_interpreted


def dt_chooser(kernel: Any, axes: Any, blocks: list[int]) -> Any:
    """Return a function that chooses a variant of a kernel, of at most ten for a type of inputs.

    Of tensors that are contiguous along their last axes: all, lines at multiples of four numbers,
    aligned ones, also of whole blocks, or with offsets of 64 bits; and two for the first large ones
    of which some are aligned. Two for the first large ones of which some are contiguous along other
    axes, or along none, and one for what is left, with offsets of 64 bits. A truth may be passed as
    False: then kernels test what they would have been spared. Descriptors are passed all together,
    or None for each.
    """
    places, lines_of = dt_lines(kernel.arg_names, [words.split() for words in axes])
    functions, others, _ = kernel.__dict__.setdefault("dt_variants", ({}, {}, {}))

    def with_facts(kept: tuple[int, ...], count: int) -> Any:
        if kept not in functions:
            dt_keep_text(kernel)
            rest = [at for at in range(count) if at not in kept]
            made = functions[kept] = triton.jit(kernel.fn, do_not_specialize=rest)
            made.pre_run_hooks = dt_hooks(kernel)
        return functions[kept]

    def choose(args: list[Any], constants: dict[str, Any]) -> Any:
        flags = [name for name, value in constants.items() if isinstance(value, bool)]
        is_whole = all([constants[name] for name in flags if name != "fours"])
        is_wide = constants["offset"] == tl.int64
        lines, units, steps, is_rows = lines_of(args)
        is_even = not any([args[at].data_ptr() % 16 for at in places])  # where tensors begin
        told: Any = [at for at in steps if is_even and args[at] % 16 == 0]  # divisible by 16
        is_aligned = is_even and len(told) == len(steps)
        if blocks:
            has_all = all(args[at] is not None for at in blocks)
            in_blocks = is_rows and not is_wide and has_all
            is_aligned = is_aligned and (in_blocks or is_wide)
            if constants.get("specialized"):
                # Triton makes more of four warps: as many again, and four that load.
                constants |= {"num_warps": 4} if in_blocks else {"specialized": 0}
            if not in_blocks or constants.get("specialized"):
                args = [None if at in blocks else value for at, value in enumerate(args)]
        is_four = is_rows and is_even and not is_aligned and constants.get("fours", False)
        told = tuple(told) if is_aligned or not (is_wide or is_four or blocks) else ()
        is_known = is_rows and (is_aligned or not is_wide)
        is_whole = is_whole and not (is_known and (is_wide or not is_aligned))
        if not is_known or (told and not is_aligned):
            is_first = not is_wide and any(args[at].numel() >= 1 << 16 for at in places)
            if is_first:
                types = [str(value) for value in constants.values() if not isinstance(value, bool)]
                types += [str(args[at].dtype) for at in places]
                met = others.setdefault((is_rows, *types), {})
                one = met.setdefault((lines, told, is_whole), len(met))
                is_first = one <= 1
            is_known, told = is_known or is_first, told if is_first else ()
        kept = (*places, *units, *told) if told or is_four or is_aligned else units
        if not is_known:
            kept, is_whole, is_four = (), False, False
            constants = {**constants, "offset": tl.int64}
        truths = {name: is_four if name == "fours" else is_whole for name in flags}
        return with_facts(kept, len(args)), args, {**constants, **truths}

    return choose


def dt_lines(names: Any, axes: Any) -> Any:
    """Return where a kernel takes tensors, and a function that finds how they are stored.

    That is along which axis each is contiguous, if there is one; where the kernel takes the strides
    of these axes, and others with the lengths of lines; and whether that is the last axis of all.
    """
    places = [at + sum(map(len, axes[:at])) for at in range(len(axes))]
    strides = [at for at in range(places[-1] + len(axes[-1]) + 1) if at not in places]
    several = any(len(words) > 1 for words in axes)

    @functools.cache
    def found(*truths: bool) -> Any:
        is_one, is_rows = dict(zip(strides, truths, strict=True)), True
        lines, units, steps = list[Any](), list[int](), dict[int, None]()
        for at, words in zip(places, axes, strict=True):
            ones = [axis for axis in range(len(words)) if is_one[at + 1 + axis]]
            line = ones[-1] if ones else None
            lines.append(line)
            is_rows = is_rows and (line == len(words) - 1 or not words)
            for axis, word in enumerate(words):
                if axis == line:
                    units.append(at + 1 + axis)
                    if word in names and len(words) > several:
                        steps[names.index(word)] = None
                elif word != "-":
                    steps[at + 1 + axis] = None
        return tuple(lines), tuple(units), tuple(steps), is_rows

    return places, lambda args: found(*[args[at] == 1 for at in strides])


def dt_hooks(kernel: Any) -> list[Any]:
    """Find what is to be called before each launch: the same list for all variants."""
    return getattr(kernel, "pre_run_hooks", [])


def dt_is_watched() -> Any:
    """Return whether a hook or a setting of Triton watches launches, or changes kernels."""
    runtime = triton.knobs.runtime
    first, last = runtime.launch_enter_hook, runtime.launch_exit_hook
    return (
        getattr(first, "calls", first)
        or getattr(last, "calls", last)
        or runtime.debug
        or runtime.add_stages_inspection_hook
        or triton.knobs.compilation.instrumentation_mode
    )


def dt_start(kernel: Any, choose: Any, blocks: Any, programs: int, args: Any, how: Any) -> Any:
    """Launch a kernel. Give what launches it again for like tensors, or None if nothing may.

    What Triton compiles depends on the variant, on types, and on whether numbers have 32 bits:
    where these are as before, it is not asked again, unless it was told to forget.
    """
    if dt_interpreted:
        return dt_interpret(kernel, programs, args, how)
    if how.get("specialized"):
        dt_allocate()
    chosen, args, constants = choose(args, how)
    if not dt_is_direct or dt_hooks(kernel) or dt_is_watched():
        dt_keep_parts(kernel)
        chosen[(programs,)](*args, **constants)
        return None
    numbers = [one for one in args if one.__class__ is int]
    is_usual = -(1 << 31) <= min(numbers, default=0) <= max(numbers, default=0) < 1 << 31
    is_usual = is_usual and all(args[at] is None for at in blocks)
    known, kinds = kernel.dt_variants[2], [getattr(one, "dtype", one.__class__) for one in args]
    key = choose, id(chosen), args[0].device, *kinds, *constants.values()
    found = known.get(key) if is_usual and chosen.device_caches else None
    if found is not None:
        run, compiled, rest, parts, asks = found
        stream = triton.runtime.driver.active.get_current_stream(args[0].device.index)
        handles = compiled.function, compiled.packed_metadata, None, None, None
        run(programs, 1, 1, stream, *handles, *args, *rest)
    else:
        dt_keep_parts(kernel)
        compiled = chosen[(programs,)](*args, **constants)
        if not isinstance(compiled, triton.compiler.CompiledKernel):
            return None
        run, parts = dt_in_parts(compiled.run, [(at, args[at]) for at in blocks])
        asks = getattr(run, "global_scratch_size", 0)
        if getattr(run, "profile_scratch_size", 0) or (asks and not how.get("specialized")):
            return None  # each call asks for that memory itself
        rest = [constants[name] for name in kernel.arg_names[len(args) :]]
        if is_usual:
            known[key] = run, compiled, rest, parts, asks
    return run, compiled, [*args, *rest], parts, asks


def dt_in_parts(run: Any, descriptors: Any) -> Any:
    """Find a function that runs a kernel for like tensors, and what it needs for each descriptor.

    Where Triton takes descriptors apart in Python, which is slow, they are passed in parts.
    """
    launch: Any = getattr(run, "launch", None)
    names: Any = getattr(getattr(launch, "__code__", None), "co_freevars", ())
    if not descriptors or "tensordesc_indices" not in names:
        return run, [(at, dt_replaced(one)) for at, one in reversed(descriptors)]
    inner = dict(zip(names, [cell.cell_contents for cell in launch.__closure__], strict=True))
    make, direct = launch.__globals__["make_tensordesc_arg"], object.__new__(run.__class__)
    direct.__dict__.update(run.__dict__, launch=inner["launcher"])
    pairs = [*zip(descriptors, inner["tensordesc_meta"], strict=False)]
    return direct, [(at, dt_replaced(one, make, what)) for (at, one), what in reversed(pairs)]


def dt_replaced(descriptor: Any, make: Any = None, what: Any = None) -> Any:
    """Return a function that makes, for a tensor, the arguments that stand for its descriptor."""
    if descriptor is None:
        return lambda _: (None,)
    kind, kept = descriptor.__class__, {**descriptor.__dict__, "base": None}
    known = dict[int, Any]()

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
