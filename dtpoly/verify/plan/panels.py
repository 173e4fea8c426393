"""Read a loop of a wrapper over panels of a size, as if its launches were for the whole size.

    for panel in range(0, n_size, 2048):
        n_part = min(2048, n_size - panel)
        x_part = dt_part(x, 1, panel, n_part)
        ...

What is proved of launches is proved for all sizes, so it also holds with n_part in place of n_size,
and with each x_part in place of its tensor. Hence each part of the result is what the algorithm
gives for the parts of its inputs. This module checks two more things. The first is that what the
algorithm gives for the parts is the part of what it gives for the whole. The second is that no
panel stores what another one touches: then it does not matter if launches for two panels run at the
same time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from dtpoly.algorithm.expressions import (
    Dot,
    Index,
    ProgramId,
    Read,
    Reduce,
    Size,
    walk,
)
from dtpoly.algorithm.program import Func
from dtpoly.verify.algebra.algorithm import Meaning
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import All, Truth, compare, name, names_of, number
from dtpoly.verify.plan.held import (
    Blocks,
    Bound,
    Held,
    Kind,
    Opaque,
    Panels,
    Product,
    TensorOf,
    Wrapper,
)
from dtpoly.verify.triton.access import Array, Ran

# A part has at most so many indices, so that the end of its last tile is far from 2^31.
MOST = 2**20

ReadStatement = Callable[[Wrapper, ast.stmt], bool]


def over_panels(wrapper: Wrapper, node: ast.For, read: ReadStatement) -> None:
    """Read the body of the loop once, as if for the whole size. Raises Unread."""
    match node:
        case ast.For(
            target=ast.Name(id=start),
            iter=ast.Call(
                func=ast.Name(id="range"),
                args=[
                    ast.Constant(value=0),
                    ast.Name(id=whole),
                    ast.Constant(value=int() as step),
                ],
                keywords=[],
            ),
            body=[ast.Assign(targets=[ast.Name(id=part)], value=least), *body],
            orelse=[],
        ) if (
            ast.unparse(least) == f"min({step}, {whole} - {start})"
            and 1 <= step <= MOST
            and not isinstance(step, bool)
        ):
            pass
        case _:
            raise Unread(node.lineno, "a loop of the wrapper")
    outside = dict(wrapper.names)
    size = wrapper.size(outside.get(whole, Opaque(whole)), node.iter)
    if size.plain is None or wrapper.panels is not None or wrapper.launches:
        raise Unread(node.lineno, "a loop of the wrapper")
    known = [*_apart(wrapper.facts)]
    parts = dict[str, int]()
    inside, alike = dict[str, Held](), {size.plain}
    while body and (made := _part(wrapper, body[0], start, part)) is not None:
        one, array, axis = made
        extent = array.shape[axis]
        is_size = extent == size or compare("==", extent, size) in known
        if extent.plain is None or not is_size or array.name in parts:
            raise Unread(body[0].lineno, f"'{ast.unparse(body[0])}'")
        parts[array.name], inside[one] = axis, TensorOf(array)
        alike.add(extent.plain)
        body = body[1:]
    _check_names(node, outside, [start, part, *inside])
    _check_axes(wrapper, node, parts, alike)
    # A fact about the whole size that need not hold of a part is forgotten.
    wrapper.facts[:] = [fact for fact in known if _holds_of_parts(fact, alike)]
    if len(wrapper.facts) < len(known):
        wrapper.skipped.append(node.lineno)
    lines, at = (node.lineno, node.end_lineno or node.lineno), name(f"panel, line {node.lineno}")
    wrapper.panels = Panels(lines, size, parts, at, frozenset(alike))
    wrapper.names.clear()
    wrapper.names |= {one: held for one, held in outside.items() if _is_the_same(held, alike)}
    wrapper.names |= {**inside, part: size, start: at}
    wrapper.is_set |= wrapper.names.keys()
    arrays = set(wrapper.arrays)
    for statement in body:
        read(wrapper, statement)
    if set(wrapper.arrays) != arrays:
        raise Unread(node.lineno, "memory that is made for each panel")
    wrapper.names.clear()
    wrapper.names |= outside
    wrapper.is_over = True
    wrapper.run.assume(Lemma.PANELS, size, step)


def _check_names(node: ast.For, outside: Mapping[str, Held], own: Sequence[str]) -> None:
    """Refuse a loop that binds again a name that the next round, or what follows, needs."""
    bound = [one.id for one in ast.walk(node) if _is_bound(one)]
    if not outside.keys().isdisjoint(bound) or any(bound.count(one) > 1 for one in own):
        raise Unread(node.lineno, "a loop of the wrapper that binds a name again")
    if any(isinstance(one, ast.Return) for one in ast.walk(node)):
        raise Unread(node.lineno, "a loop of the wrapper that ends the call")


def _check_axes(wrapper: Wrapper, node: ast.For, parts: Mapping[str, int], alike: set[str]) -> None:
    """Refuse a tensor that is cut along one axis and has another axis of the same size."""
    for one, axis in parts.items():
        shape = wrapper.arrays[one].shape
        if any(names_of(extent) & alike for extent in shape[:axis] + shape[axis + 1 :]):
            raise Unread(node.lineno, f"parts of '{one}', which has such an axis besides")


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _apart(facts: Iterable[Truth]) -> Iterator[Truth]:
    """Yield each fact; a conjunction is taken apart, and each of its parts is a fact of its own."""
    for fact in facts:
        if isinstance(fact, All):
            yield from _apart(fact.parts)
        else:
            yield fact


def _part(wrapper: Wrapper, node: ast.stmt, start: str, part: str) -> tuple[str, Array, int] | None:
    """Return the name, the tensor and the axis of a `dt_part`; None for another statement."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=one)],
            value=ast.Call(
                func=ast.Name(id="dt_part" as function),
                args=[
                    ast.Name(id=tensor),
                    ast.Constant(value=int() as axis),
                    ast.Name(id=first),
                    ast.Name(id=count),
                ],
                keywords=[],
            ),
        ) if (first, count) == (start, part):
            wrapper.must_know(function, node.lineno)
            array = wrapper.tensor(wrapper.names.get(tensor), node)
            if not 0 <= axis < len(array.shape):
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            return one, array, axis
        case _:
            return None


def _holds_of_parts(fact: Truth, alike: set[str]) -> bool:
    """Whether a fact also holds if sizes are those of a part, which has at least one index."""
    if all(_is_fixed(one, alike) for one in names_of(fact)):
        return True
    sizes = [name(one) for one in sorted(alike)]
    least = (compare(">=", one, number(low)) for one in sizes for low in (0, 1))
    same = (compare("==", one, other) for one in sizes for other in sizes)
    return fact in (*least, *same)


def _is_fixed(one: str, alike: set[str]) -> bool:
    """Whether a name means the same for each part: it is a stride, or an extent that is not cut."""
    is_given = ".stride(" in one or ".shape[" in one or (one.endswith("_size") and "(" not in one)
    return is_given and one not in alike


def _is_the_same(held: Held, alike: set[str]) -> bool:
    """Whether the value that a name holds is the same for each part."""
    match held:
        case TensorOf(array=array):
            names = frozenset[str]().union(*(names_of(extent) for extent in array.shape))
            return all(_is_fixed(one, alike) for one in names)
        case Product(factors=parts) | Bound(parts=parts):
            return all(_is_the_same(one, alike) for one in parts)
        case tuple():
            return all(_is_the_same(one, alike) for one in held)
        case Kind() | Given() | Opaque():
            return True
        case Blocks():
            return False
        case _:
            return all(_is_fixed(one, alike) for one in names_of(held))


def check_panels(wrapper: Wrapper, runs: Sequence[Ran], meaning: Meaning, func: str) -> None:
    """Refuse panels that need one another, in what kernels do or in what the algorithm says."""
    panels = wrapper.panels
    if panels is None:
        return
    line, last = panels.lines
    for ran in runs:
        if not line <= ran.launch.line <= last:
            raise Unread(ran.launch.line, "a launch besides those for panels")
        for one in ran.accesses:
            if one.kind != "load" and one.tensor not in panels.parts:
                raise Unread(one.line, f"'{one.tensor}', which each panel stores")
    labels = [one for one, size in meaning.sizes.items() if names_of(size) & panels.alike]
    if len(labels) != 1:
        raise Unread(line, "panels of a size that those of several labels come of")
    (label,) = labels
    funcs = {one.name: one for one in meaning.program.funcs}
    needed = dict[str, Func]()
    pending = [func]
    while pending:
        of = funcs[pending.pop()]
        needed[of.name] = of
        read = (node.tensor for node in walk(of.body) if isinstance(node, Read))
        pending += [tensor for tensor in read if tensor in funcs and tensor not in needed]
    places = {one: of.labels.index(label) for one, of in needed.items() if label in of.labels}
    if panels.parts.get(str(wrapper.result)) != places.get(func, -1):
        raise Unread(line, f"panels of another axis than that of '{label}'")
    places |= {one: axis for one, axis in panels.parts.items() if one in wrapper.inputs}
    for of in needed.values():
        if label not in of.labels or any(_crosses(of, label, places)):
            raise Unread(line, f"panels of '{label}', which '{of.name}' needs more of")


def _crosses(func: Func, label: str, places: Mapping[str, int]) -> Iterator[bool]:
    """Yield for each node of a Func's body whether it needs more than one index of the label."""
    for node in walk(func.body):
        match node:
            case Index(label=one) | Size(label=one):
                yield one == label
            case Reduce(labels=labels) | Dot(labels=labels):
                yield label in labels
            case ProgramId():
                yield True
            case Read(tensor=tensor, indices=indices, within=within):
                at = places.get(tensor)
                for axis, index in enumerate(indices):
                    yield index.plain != label if axis == at else label in index.labels
                yield bool(within)
            case _:
                pass
