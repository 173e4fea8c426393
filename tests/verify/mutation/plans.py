"""Mistakes in plans: grids, launches and what they are given, sizes, memory, types."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from tests.verify.mutation.edits import Edit, Splice, Text, nodes, short

RAGGED = re.compile(r"cdiv\((.+), (\d+)\)")


def _tables(plan: ast.AST, *keys: str) -> Iterator[tuple[ast.Dict, dict[str, ast.expr]]]:
    """Every table that has one of these keys, and its entries."""
    for node in nodes(plan):
        if isinstance(node, ast.Dict):
            named = zip(node.keys, node.values, strict=True)
            found = {key.value: value for key, value in named if isinstance(key, ast.Constant)}
            if not keys or not found.keys().isdisjoint(keys):
                yield node, {str(key): value for key, value in found.items()}


def _entries(plan: ast.AST, *keys: str) -> Iterator[ast.expr]:
    """Yield what stands behind one of these keys."""
    for _, found in _tables(plan, *keys):
        yield from (found[key] for key in keys if key in found)


def _texts(plan: ast.AST, *keys: str) -> Iterator[tuple[ast.Constant, str]]:
    """The formulas behind one of these keys: in a tuple, in a table, or alone."""
    for entry in _entries(plan, *keys):
        for node in (entry, *nodes(entry)):
            match node:
                case ast.Constant(value=str() as formula) if not _is_key(entry, node):
                    yield node, formula
                case _:
                    pass


def _is_key(entry: ast.expr, node: ast.Constant) -> bool:
    tables = [one for one in (entry, *nodes(entry)) if isinstance(one, ast.Dict)]
    return any(key is node for table in tables for key in table.keys)


def _launches(plan: ast.AST) -> list[tuple[ast.Dict, dict[str, ast.expr]]]:
    return list(_tables(plan, "kernel"))


def grid_small(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A ragged block has no program."""
    for node, formula in _texts(plan, "programs", "before"):
        if found := RAGGED.fullmatch(formula):
            yield text.put(node, f'"({found[1]}) // {found[2]}"')


def grid_large(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """There is a program too many."""
    for node, formula in _texts(plan, "programs"):
        yield text.put(node, f'"{formula} + 1"')


def grid_short(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """There is a program too few."""
    for node, formula in _texts(plan, "programs"):
        yield text.put(node, f'"max({formula} - 1, 0)"')


def grid_axis_missing(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """Programs are counted along fewer axes."""
    for entry in _entries(plan, "programs"):
        if isinstance(entry, ast.Tuple) and len(entry.elts) > 1:
            yield from (text.put(one, '"1"') for one in entry.elts)


def grid_constant(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """Blocks are counted as larger than they are."""
    for node, formula in _texts(plan, "programs"):
        if found := RAGGED.fullmatch(formula):
            yield text.put(node, f'"cdiv({found[1]}, {2 * int(found[2])})"')


def launch_dropped(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A kernel is not launched."""
    for launch, found in _launches(plan):
        if "programs" in found:
            yield text.put(found["programs"], '("0",)')
        else:
            yield text.put(launch, f'{{"programs": ("0",), {text.of(launch)[1:]}')


def launch_again(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A kernel is launched twice."""
    for launch, _ in _launches(plan):
        yield text.put(launch, f"{text.of(launch)}, {text.of(launch)}")


def launches_swapped(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """Kernels are launched in another order."""
    made = [node for node in nodes(plan) if isinstance(node, ast.Call)]
    given = {text.of(kernel): kernel for call in made for kernel in call.args[1:]}
    for (one, mine), (other, theirs) in pairwise(_launches(plan)):
        kernels = [ast.literal_eval(found["kernel"]) for found in (mine, theirs)]
        first, second = (given[kernel] for kernel in kernels)
        edit, more = text.swap(one, other), text.swap(first, second)
        yield Edit(edit.line, edit.what, (*edit.splices, *more.splices))


def launched_never(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A kernel is launched if there are two blocks at least."""
    for node, formula in _texts(plan, "programs"):
        yield text.put(node, f'"{formula}", "min(max({formula} - 1, 0), 1)"')


def scratch_small(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """There is too little room for what passes between statements."""
    for entry in _entries(plan, "between", "scratch"):
        for node, formula in _texts(entry, "shape"):
            yield text.put(node, f'"max({formula} - 1, 0)"')


def result_shape(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """The result has other extents."""
    for entry in _entries(plan, "results"):
        for shape in _entries(entry, "shape"):
            if isinstance(shape, ast.Tuple) and len(shape.elts) > 1:
                yield text.swap(shape.elts[0], shape.elts[1])


def arguments_swapped(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """Two numbers of a launch change places."""
    for entry in _entries(plan, "numbers"):
        if isinstance(entry, ast.Dict):
            yield from (text.swap(one, other) for one, other in pairwise(entry.values))


def tensors_swapped(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A kernel is given two tensors in each other's place."""
    for entry in _entries(plan, "tensors"):
        if isinstance(entry, ast.Dict):
            named = [key for key in entry.keys if key is not None]
            for (one, mine), (other, theirs) in pairwise(zip(named, entry.values, strict=True)):
                if text.of(mine).count(" ") == text.of(theirs).count(" "):
                    edit = text.swap(one, other)
                    words = text.swap(mine, theirs)
                    yield Edit(edit.line, edit.what, (*edit.splices, *words.splices))


def shape_swapped(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """Sizes are those of other axes."""
    for node, formula in _texts(plan, "sizes"):
        if found := re.fullmatch(r"(\w+\.shape)\[(\d)\]", formula):
            yield text.put(node, f'"{found[1]}[{1 - int(found[2]) if found[2] < "2" else 0}]"')


def size_wrong(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A size that is given to a kernel is one less."""
    for entry in _entries(plan, "numbers"):
        if isinstance(entry, ast.Dict):
            for key, value in zip(entry.keys, entry.values, strict=True):
                if key is not None and text.of(key).endswith('_size"'):
                    yield text.put(value, f'"{ast.literal_eval(value)} - 1"')


def flag_set(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A tile counts as full."""
    for node, _ in _texts(plan, "even"):
        yield text.put(node, '"0 == 0"')


def flag_of_half(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A tile counts as full where half of it is."""
    for node, formula in _texts(plan, "even"):
        for found in re.finditer(r"% (\d+)", formula):
            half = f"{formula[: found.start(1)]}{int(found[1]) // 2}{formula[found.end() :]}"
            yield text.put(node, f'"{half}"')


def lanes_wrong(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """There are fewer lanes than elements."""
    for node, formula in _texts(plan, "lanes"):
        if found := re.fullmatch(r"lanes\((.+)\)", formula):
            yield text.put(node, f'"lanes(({found[1]}) // 2)"')


def result_type(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """The result has another type."""
    for entry in _entries(plan, "results"):
        yield from (text.put(dtype, '"f16"') for dtype in _entries(entry, "dtype"))


def real_of_fewer(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """A type does not depend on all that it should."""
    for node, formula in _texts(plan, "types", "dtype"):
        if found := re.fullmatch(r"(\w+\(.+), \w+\)", formula):
            yield text.put(node, f'"{found[1]})"')


def small_offsets(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """Offsets have 32 bits whatever the sizes are."""
    yield from (text.put(entry, "()") for entry in _entries(plan, "indices"))


def check_dropped(text: Text, plan: ast.AST) -> Iterator[Edit]:
    """Tensors that disagree are let through."""
    for entry in _entries(plan, "demands"):
        if isinstance(entry, ast.List):
            for one in entry.elts:
                left = ", ".join(text.of(other) for other in entry.elts if other is not one)
                splice = Splice(text.start(entry), text.end(entry), f"[{left}]")
                yield Edit(one.lineno, f"'{short(text.of(one))}' is left out", (splice,))
