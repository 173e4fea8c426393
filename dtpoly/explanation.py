"""Lays out what directives do: headings and rows for `explain`, or data for JSON."""

from collections.abc import Iterable, Iterator

from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.render.as_json import Data, place
from dtpoly.render.outline import Heading, Item, outline
from dtpoly.render.snippet import Line
from dtpoly.schedule.changes import Change
from dtpoly.schedule.counts import Factor, SizeProduct, show_number
from dtpoly.schedule.explained_directives import Explained, Explanation
from dtpoly.schedule.kept_dependences import Kept
from dtpoly.schedule.masked_ranges import MaskedRange
from dtpoly.schedule.panelled import Panelled, sizes_in
from dtpoly.schedule.parallelism import KernelSummary, LaneCount, LoopLeft
from dtpoly.schedule.recomputed import Recomputed

HEAD = ("kernel", "computes", "programs", "lanes", "sequential loops", "statements")
MOST = 12  # lines under one word
WITHOUT = "without it"


def lines(explained: Iterable[Explained], sizes: Sizes, width: int | None) -> Iterator[Line]:
    """Yield the lines that explain each directive."""
    return outline((heading(one, sizes) for one in explained), width)


def heading(one: Explained, sizes: Sizes, before: str = WITHOUT) -> Heading:
    """Lay out a directive with all remarks on it; `before` names what it is compared with."""
    line = "" if one.span is None else str(one.span).rpartition(":")[0]
    return Heading(one.directive, line, one.meaning, tuple(_items(one, sizes, before)))


def _items(one: Explained, sizes: Sizes, before: str) -> Iterator[Item]:
    if one.needed:
        yield Item("needed", (f"without it: {one.needed}",))
        return
    changes = [change.words(before) for change in one.changes]
    yield Item("changes", _first(changes) or ("nothing",))
    yield Item("keeps", _first([str(each) for each in one.kept]) or (one.order,))
    if one.recomputed is not None:
        again = tuple(show_recomputed(each, one.panels, sizes) for each in one.recomputed)
        yield Item("recomputes", again or ("nothing",))


def _first(lines: list[str]) -> tuple[str, ...]:
    """Return the first of many."""
    if len(lines) <= MOST:
        return tuple(lines)
    return (*lines[:MOST], f"and {len(lines) - MOST} more; --json lists all")


def show_recomputed(one: Recomputed, panels: Iterable[Panelled], sizes: Sizes) -> str:
    """`'mm' is computed ceil(n / 64) = 4 times in '_2mm'`; in each panel, if there are panels."""
    sizes = sizes_in(one.kernel, panels, sizes)
    if one.count is None:
        return f"some elements of {one.what} are computed again in '{one.kernel}'"
    return f"{one.what} is computed {show_count(one.count, sizes)} times in '{one.kernel}'"


def show_count(count: SizeProduct | Factor, sizes: Sizes) -> str:
    """Return a formula, and its value if the sizes are known."""
    value = count.at(sizes)
    text = str(count)
    if value is None or show_number(value) == text:
        return text
    return f"{text} = {show_number(value)}"


def rows(kernel: KernelSummary, sizes: Sizes) -> Iterator[tuple[str, ...]]:
    """Yield a kernel as rows of a table, one for each of its sequential loops."""
    sizes = kernel.panels.of_one(sizes) if kernel.panels else sizes
    loops = [_show_loop(loop, sizes) for loop in kernel.loops] or ["-"]
    lanes = " * ".join(map(str, kernel.lanes)) or "1"
    total = kernel.lane_count.at(sizes)
    if len(kernel.lanes) and total is not None and show_number(total) != lanes:
        lanes += f" = {show_number(total)}"
    funcs = ", ".join(kernel.funcs[:MOST])
    if len(kernel.funcs) > MOST:
        funcs += f", and {len(kernel.funcs) - MOST} more"
    programs = show_count(kernel.programs, sizes)
    yield kernel.name, funcs, programs, lanes, loops[0], str(kernel.statements)
    for loop in loops[1:]:
        yield "", "", "", "", loop, ""


def launches(kernels: Iterable[KernelSummary], sizes: Sizes) -> tuple[str, ...]:
    """Return what the table leaves out: kernels that share a launch, or have many launches."""
    kernels = tuple(kernels)
    shared = [f"'{one.name}' is launched with '{one.beside}'" for one in kernels if one.beside]
    parts = dict.fromkeys(one.panels for one in kernels if one.panels is not None)
    return (*shared, *(_show_panels(one, sizes) for one in parts))


def _show_panels(one: Panelled, sizes: Sizes) -> str:
    """`'f' and 'g' are computed in panels of 7 of n, of which there are ceil(n / 7) = 10; ...`."""
    many = show_count(one.count, sizes)
    return f"{one}, of which there are {many}; in all formulas of them, {one.label} is of a panel"


def _show_loop(loop: LoopLeft, sizes: Sizes) -> str:
    return f"{loop.label} of {loop.func}: {show_count(loop.steps, sizes)} steps, {loop.why}"


def explanation_data(one: Explanation, sizes: Sizes) -> Data:
    """Return the explanation as data for JSON."""
    return {
        "sizes": dict(sizes),
        "directives": [explained_data(each, sizes) for each in one.directives],
        "kernels": [_kernel_data(kernel, sizes) for kernel in one.kernels],
        "recomputes": [_recomputed_data(each, one.panels, sizes) for each in one.recomputed],
        "ranges": [_range_data(each) for each in one.ranges],
    }


def _range_data(one: MaskedRange) -> Data:
    return {
        "func": one.func,
        "reduction": one.reduction,
        "labels": list(one.labels),
        "condition": one.condition,
        "is_range": one.is_range,
        "why": one.why,
    }


def explained_data(one: Explained, sizes: Sizes) -> Data:
    """Return one directive for JSON; `recomputes` is null where it copies nothing."""
    again = None
    if one.recomputed is not None:
        again = [_recomputed_data(each, one.panels, sizes) for each in one.recomputed]
    return {
        "directive": one.directive,
        "place": place(one.span),
        "meaning": one.meaning,
        "needed": one.needed or None,
        "changes": [_change_data(change) for change in one.changes],
        "keeps": [_kept_data(each) for each in one.kept],
        "recomputes": again,
    }


def _change_data(one: Change) -> Data:
    return {
        "topic": one.topic,
        "of": list(one.names),
        "label": one.label or None,
        "kernel": one.kernel or None,
        "before": one.before,
        "after": one.after,
    }


def _kept_data(one: Kept) -> Data:
    return {
        "what": one.what,
        "source": one.source,
        "target": one.target,
        "kernel": one.kernel,
        "how": one.how,
        "is_kept": one.broken is None,
        "distance": {each.label: [each.least, each.most] for each in one.distances},
        "carried_by": list(one.carriers),
    }


def _recomputed_data(one: Recomputed, panels: Iterable[Panelled], sizes: Sizes) -> Data:
    sizes = sizes_in(one.kernel, panels, sizes)
    times = None if one.count is None else _count_data(one.count, sizes)
    reduction = one.is_reduction
    return {"func": one.func, "kernel": one.kernel, "is_reduction": reduction, "times": times}


def _kernel_data(kernel: KernelSummary, sizes: Sizes) -> Data:
    """Return a kernel as data; if there are panels, the numbers are those of one panel."""
    panels = None if kernel.panels is None else _panels_data(kernel.panels, sizes)
    sizes = kernel.panels.of_one(sizes) if kernel.panels else sizes
    return {
        "name": kernel.name,
        "computes": list(kernel.funcs),
        "programs": _count_data(kernel.programs, sizes),
        "lanes": [_lanes_data(one, sizes) for one in kernel.lanes],
        "loops": [_loop_data(loop, sizes) for loop in kernel.loops],
        "statements": kernel.statements,
        "beside": kernel.beside or None,
        "panels": panels,
    }


def _panels_data(one: Panelled, sizes: Sizes) -> Data:
    return {"label": one.label, "size": one.size, "count": _count_data(one.count, sizes)}


def _lanes_data(one: LaneCount, sizes: Sizes) -> Data:
    return {"label": one.label, **_count_data(one.count, sizes)}


def _loop_data(loop: LoopLeft, sizes: Sizes) -> Data:
    steps = _count_data(loop.steps, sizes)
    return {"func": loop.func, "label": loop.label, "steps": steps, "why": str(loop.why)}


def _count_data(count: SizeProduct | Factor, sizes: Sizes) -> Data:
    """Return the value is null where the sizes do not tell it."""
    return {"formula": str(count), "value": count.at(sizes)}
