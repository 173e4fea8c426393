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
from dtpoly.carried.values import dt_dtype, dt_interpreted, dt_names, dt_tuple, dt_value

dt_names["dt_descriptor"] = dt_descriptor


def dt_launches(plan: Any, kernels: Any, numbers: list[str]) -> Any:
    """Write for each launch what it computes from a call, and where it takes tensors and floats."""
    by_name = dict.fromkeys(one["kernel"] for one in plan["launches"])
    by_name, found = dict(zip(by_name, kernels, strict=True)), list[Any]()
    for one in plan["launches"]:
        kernel, tensors, given = by_name[one["kernel"]], one["tensors"], one.get("numbers", {})
        index, blocks = kernel.arg_names.index, one.get("descriptors", {})
        programs, before = (
            " * ".join(("1", *(f"({factor})" for factor in one.get(key, otherwise))))
            for key, otherwise in (("programs", ()), ("before", ("0",)))
        )
        args = [*(f"{name}, *{name}.stride()" for name in tensors), *given.values()]
        args += ([before] if "before" in one else []) + ["dt_panel"] * (one.get("panel") == "first")
        for block in blocks.values():
            form = block["block"], block["axes"], block.get("step", 0)
            args.append(f"dt_descriptor({block['of']}, *{form})")
        how = one.get("lanes", {}) | one.get("flags", {})
        how |= {name: f"dt_types[{name!r}]" for name in one.get("types", ())}
        if "fours" in one:
            how["fours"] = " and ".join(f"({row}) % 4 == 0" for row in one["fours"])
        how |= {name: one[name] for name in ("num_warps", "num_stages") if name in one}
        how = "".join(f"{name!r}: {value}, " for name, value in how.items())
        largest = ", ".join(("0", "0", *plan.get("indices", ()), *one.get("counts", ())))
        text = f"({dt_tuple(args)}, {{{how}}}, max({largest}), {dt_tuple(one.get('near', ()))})"
        places, at = list[Any](), 0
        for name, words in tensors.items():
            places.append((at, name))
            at += 1 + len(words.split())
        inputs = plan.get("inputs", {})
        floats = [(index(o), x) for o, x in given.items() if inputs.get(x) == "float"]
        floats = [(which, numbers.index(number)) for which, number in floats]
        parts = {index(name): block["of"] for name, block in blocks.items()}
        choose = dt_chooser(kernel, tensors.values(), [*parts])
        scratch = dt_made(plan, one.get("scratch", {}))
        counts = f"({programs}, {before})"
        found.append((one, kernel, choose, counts, text, places, floats, parts, scratch))
    words = "a tile of '{}' would have {{{}}} elements, and Triton's limit is 1048576: write {}"
    tiles = [
        (f"({of[1]}) <= 1048576", f"{words.format(*of)} and generate this file again")
        for one in plan["launches"]
        for of in one.get("tiles", ())
    ]
    return found, dt_made(plan, plan.get("between", {})), tiles, dt_truths(tiles)


def dt_made(plan: Any, memory: Any) -> list[Any]:
    """Write how the dtype and the shape of each memory are computed."""
    texts = ((dt_dtype(plan, one["dtype"]), dt_tuple(one["shape"])) for one in memory.values())
    return [
        (*one, f"({dtype}, {shape})")
        for one, (dtype, shape) in zip(memory.items(), texts, strict=True)
    ]


def dt_launched(plan: Any, work: Any, known: dict[str, Any], names: Any, is_new: bool) -> Any:
    """Make memory and launch all kernels for the tensors of these names, the result last.

    Give what is made, and what launches the same again; None among it says that nothing may.
    """
    launches, between, tiles, truths = work
    at = {name: which for which, name in enumerate(names)}
    made: Any = []
    started: Any = []
    out, first = known[names[-1]], len(names) - is_new

    def add(name: str, tensor: Any) -> None:
        known[name], at[name] = tensor, first + len(made)
        new = None, tuple(tensor.shape), tensor.stride(), tensor.dtype
        made.append(None if tensor.data_ptr() & 15 else new)

    def make(name: str, what: Any, text: str, *before: int) -> None:
        dtype, shape = dt_value(text, known)
        add(name, dt_memory(what, (*before, *shape), dtype, out.device))

    if is_new:
        add(names[-1], out)
    for name, what, text in between:
        make(name, what, text)
    panels = plan.get("panels", {"labels": (), "size": 1, "cut": {}})
    total = known[panels["labels"][0]] if panels["labels"] else 1
    whole = {name: (at[name], known[name]) for name in panels["cut"]}
    for panel in range(0, total, panels["size"]):
        part = min(panels["size"], total - panel)
        known |= {"dt_panel": panel, **dict.fromkeys(panels["labels"], part)}
        for name, axis in panels["cut"].items():
            which, tensor = whole[name]
            if part < tensor.shape[axis]:
                known[name], at[name] = tensor.narrow(axis, panel, part), first + len(made)
                made.append((which, axis, panel, part))
        dt_require(tiles, truths, known)
        for launch in launches:
            started += dt_launch(launch, known, at, make, panel, panel + part == total)
    return made, started


def dt_launch(launch: Any, known: Any, at: Any, make: Any, panel: int, is_last: bool) -> list[Any]:
    """Launch a kernel, if it has programs. Give what launches it again, or None if nothing may."""
    one, kernel, choose, counts, text, places, floats, parts, scratch = launch
    programs, before = dt_value(counts, known)
    if not programs + before:
        return []
    for name, what, memory in scratch:
        make(name, what, memory, programs)
    args, how, largest, near = dt_value(text, known)
    tensors = [args[which] for which, _ in places]
    device = tensors[0].device
    programs = dt_programs(one, programs + before, device, panel, is_last)
    how["offset"] = dt_offset(largest, tensors, near)
    if "specialized" in one:
        most, sides = one["specialized"]
        sides = [args[kernel.arg_names.index(name)] for name in sides]
        how["specialized"] = dt_specialized(most, sides)
    if one.get("early"):  # its programs take the place of those before that have ended
        is_early = not dt_interpreted and dt_gpu(device)[0] >= 9
        how |= {"early": 1, "launch_pdl": 1} if is_early else {"early": 0}
    started = dt_start(kernel, choose, [*parts], programs, [*args], how)
    if started is None:
        return [None]
    run, compiled, passed, changing, asks = started
    places = [(which, at[name]) for which, name in places]
    changing = [(which, part, at[parts[which]]) for which, part in changing]
    for which, *_ in (*places, *changing):
        passed[which] = None  # for each call another tensor
    function, metadata = compiled.function, compiled.packed_metadata
    return [(run, function, metadata, programs, passed, places, floats, changing, asks, compiled)]
