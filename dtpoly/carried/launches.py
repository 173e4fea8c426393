"""Carries out the launches of a plan, and notes how to do the same for like tensors."""

from typing import Any

from dtpoly.carried.launching import dt_chooser, dt_start
from dtpoly.carried.memory import (
    dt_descriptor,
    dt_gpu,
    dt_memory,
    dt_offset,
    dt_programs,
    dt_specialized,
)
from dtpoly.carried.sizes import dt_require, dt_truths
from dtpoly.carried.values import dt_formula, dt_interpreted


def dt_launches(plan: Any, kernels: Any, names: list[str], dtype_of: Any) -> Any:
    """Return a function that makes memory for a call, and launches all kernels of a plan.

    It gives what is made, and what launches the same again; None among it says that nothing may.
    """
    by_name = dict.fromkeys(one["kernel"] for one in plan["launches"])
    by_name = dict(zip(by_name, kernels, strict=True))
    launchers = [dt_launcher(plan, one, by_name[one["kernel"]]) for one in plan["launches"]]
    panels, between = plan.get("panels"), dt_shapes(plan.get("between", {}))
    tiles = dt_tiles(plan)
    results = [*plan["results"]]
    into = {one: what["into"] for one, what in plan["results"].items() if "into" in what}
    new = [one for one in results if one not in into]
    slots = {name: at for at, name in enumerate((*names, *new))}
    slots |= {one: slots[tensor] for one, tensor in into.items()}

    def launched(known: dict[str, Any], types: Any, dtypes: Any, outs: Any, is_new: bool) -> Any:
        at, device = slots.copy(), outs[0].device
        known |= zip(results, outs, strict=True)
        first = len(names) + (0 if is_new else len(results))
        made: list[Any] = []
        started: list[Any] = []

        def note(name: str, tensor: Any, how: Any) -> None:
            known[name], at[name] = tensor, first + len(made)
            made.append(how)

        def make(memory: Any, *before: int) -> None:
            for name, what, shape in memory:
                extents = (*before, *[compute(known) for compute in shape])
                tensor = dt_memory(what, extents, dtype_of(what["dtype"], *dtypes), device)
                note(name, tensor, dt_made(tensor))

        if is_new:
            made += [dt_made(known[one]) for one in new]
        make(between)
        call = known, types, at, make, started
        if not panels:
            if tiles:
                dt_require(tiles, known)
            for launch in launchers:
                launch(call, 0, True)
            return made, started
        total, size = known[panels["labels"][0]], panels["size"]
        whole = {name: (at[name], known[name]) for name in panels["cut"]}
        for panel in range(0, total, size):
            part = min(size, total - panel)
            known |= dict.fromkeys(panels["labels"], part)
            for name, axis in panels["cut"].items():
                which, tensor = whole[name]
                if part < tensor.shape[axis]:
                    note(name, tensor.narrow(axis, panel, part), (which, axis, panel, part))
            dt_require(tiles, known)
            for launch in launchers:
                launch(call, panel, panel + part == total)
        return made, started

    return launched


def dt_tiles(plan: Any) -> Any:
    """Return truths about how large tiles are, with what a call is told where one is too large."""
    words = "a tile of '{}' would have {{{}}} elements, and Triton's limit is 1048576: write {}"
    return dt_truths(
        ((), f"{of[1]} <= 1048576", f"{words.format(*of)} and generate this file again")
        for one in plan["launches"]
        for of in one.get("tiles", ())
    )


def dt_shapes(memory: Any) -> list[Any]:
    """List memory: name, entry in the plan, and functions that compute the shape."""
    return [(name, what, [*map(dt_formula, what["shape"])]) for name, what in memory.items()]


def dt_made(tensor: Any) -> Any:
    """Find how memory like this is made, or None if it is not aligned."""
    how = None, tuple(tensor.shape), tensor.stride(), tensor.dtype
    return None if tensor.data_ptr() & 15 else how


def dt_launcher(plan: Any, one: Any, kernel: Any) -> Any:
    """Return a function that does one launch, and notes how to repeat it, or None."""
    tensors, numbers, blocks = one["tensors"], one.get("numbers", {}), one.get("descriptors", {})
    programs, before = (
        dt_formula(" * ".join(["1", *(f"({factor})" for factor in one.get(key, (otherwise,)))]))
        for key, otherwise in (("programs", "1"), ("before", "0"))
    )
    given, scratch = [*map(dt_formula, numbers.values())], dt_shapes(one.get("scratch", {}))
    forms = [(o["of"], o["block"], o["axes"], o.get("step", 0)) for o in blocks.values()]
    index, inputs, handed = kernel.arg_names.index, plan.get("inputs", {}), list[Any]()
    for name in tensors:
        handed.append((sum(1 + len(tensors[other].split()) for _, other in handed), name))
    handed += [(index(to), name) for to, name in numbers.items() if inputs.get(name) == "float"]
    parts = {index(name): block["of"] for name, block in blocks.items()}
    choose, constants = (
        dt_chooser(kernel, tensors.values(), [*parts]),
        dt_constants(plan, one, index),
    )

    def launch(call: Any, panel: int, is_last: bool) -> None:
        known, types, at, make, started = call
        count, first = programs(known), before(known)
        if not count + first:
            return
        make(scratch, count)
        places: list[Any] = [known[name] for name in tensors]
        args: list[Any] = []
        for tensor in places:
            args.append(tensor)
            args += tensor.stride()
        args += [compute(known) for compute in given]
        if "before" in one:
            args.append(first)
        if one.get("panel") == "first":
            args.append(panel)
        args += [dt_descriptor(known[of], *form) for of, *form in forms]
        count = dt_programs(one, count + first, places[0].device, panel, is_last)
        how = constants(known, types, places, args)
        noted = dt_start(kernel, choose, [*parts], count, args, how)
        if noted is not None:
            run, compiled, passed, changing, asks = noted
            slots = [(which, at[name]) for which, name in handed]
            changing = [(which, part, at[parts[which]]) for which, part in changing]
            for which, *_ in (*slots, *changing):
                passed[which] = None  # for each call another tensor, or number
            run = run, compiled.function, compiled.packed_metadata
            noted = *run, count, passed, slots, changing, asks, compiled
        started.append(noted)

    return launch


def dt_constants(plan: Any, one: Any, index: Any) -> Any:
    """Return a function that computes the constants that a kernel is compiled with."""
    counts, truths = one.get("counts", ()), one.get("lanes", {}) | one.get("flags", {})
    largest, fours, near = (
        [*map(dt_formula, texts)]
        for texts in (
            (*plan.get("indices", ()), *counts),
            one.get("fours", ()),
            one.get("near", ()),
        )
    )
    truths = [(name, dt_formula(text)) for name, text in truths.items()]
    options = {name: one[name] for name in ("num_warps", "num_stages") if name in one}

    def constants(known: Any, types: Any, tensors: Any, args: Any) -> dict[str, Any]:
        how = options | {name: types[name] for name in one.get("types", ())}
        for name, compute in truths:
            how[name] = compute(known)
        if fours:
            how["fours"] = not any([compute(known) % 4 for compute in fours])
        most = max([compute(known) for compute in largest], default=0)
        how["offset"] = dt_offset(most, tensors, [compute(known) for compute in near])
        if "specialized" in one:
            size, sides = one["specialized"]
            how["specialized"] = dt_specialized(size, [args[index(name)] for name in sides])
        if one.get("early"):  # its programs take the place of those before that have ended
            is_early = not dt_interpreted and dt_gpu(tensors[0].device)[0] >= 9
            how |= {"early": 1, "launch_pdl": 1} if is_early else {"early": 0}
        return how

    return constants
