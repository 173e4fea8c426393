"""Dependences in words: each sentence says exactly which instances need which element."""

import re
from collections.abc import Iterator
from itertools import product

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.model import Role
from dtpoly.schedule.links import Graph, Link, graph, needed_by, sentences
from tests.generation.algorithms import Limits, algorithm
from tests.generation.choice import seeded
from tests.generation.extents import label_sizes
from tests.poly.test_distances import pairs
from tests.schedule.told import ATTENTION, SUM, read

HEAD = "Func f, g; In A; Var x, y; RVar k; g[x, y] = exp(A[x, y]);"
NEED = re.compile(r"\S+?\[(.*?)\](?: for all (.*?))?(?: (?:with|if) (.*))?")


def words(text: str, array: str) -> list[str]:
    """The sentences of the direct links of an array."""
    found = graph(read(text))
    links = [link for link in found.links if link.array == array and link.is_direct]
    return [sentence for link in links for sentence in sentences(link, {})]


@pytest.mark.parametrize(
    ("body", "need"),
    [
        ("g[x, y]", "f[x, y] (distance x 0, y 0)"),
        ("pad(g, 0)[x + 2, y]", "f[x - 2, y] (distance x -2, y 0)"),
        ("A[x, y] * g[x, x]", "f[x, y'] for all y' with y = x (distance x 0)"),
        ("g[0, y] * A[x, y]", "f[x', y] for all x' with x = 0 (distance y 0)"),
        ("g[y, x]", "f[y, x]"),
        ("pad(g, 0)[2 * x, y]", "f[x', y] for all x' with x = 2 * x' (distance y 0)"),
        ("g[x, y] + pad(g, 0)[x - 1, y]", "f[x, y] and f[x + 1, y] (distance x 0 to 1, y 0)"),
    ],
)
def test_who_needs_an_element(body: str, need: str) -> None:
    said = words(f"{HEAD} f[x, y] = {body}; f.compile();", "g")
    assert said[1:] == [f"  each g[x, y] is needed by {need}"]


def test_a_reduction_needs_an_element_for_all_of_the_other_labels() -> None:
    body = "rdot(g[x, k], A[k, y], k)"
    assert words(f"{HEAD} f[x, y] = {body}; f.compile();", "g") == [
        "flow: 'f.k.update' reads g[x, k], which 'g' writes",
        "  each g[x, y] is needed by f.k.update[x, y', y] for all y' (distance x 0)",
    ]


def test_the_statements_of_a_reduction() -> None:
    assert words(SUM, "total.k") == [
        "flow, output: 'total.k.update' reads and overwrites total.k[x], "
        "which 'total.k.init' writes",
        "  each total.k[x] is needed by total.k.update[x, k] for all k (distance x 0)",
        "reduction: the steps of 'total.k.update' into total.k[x] may come in any order",
        "flow, anti, output: 'total.k.combine' reads and overwrites total.k[x], "
        "which 'total.k.update' writes",
        "  each total.k[x] is needed by total.k.combine[x] (distance x 0)",
        "flow: 'total' reads total.k[x], which 'total.k.combine' writes",
        "  each total.k[x] is needed by total[x] (distance x 0)",
    ]


def test_lines_are_those_of_the_reduction_and_of_the_definition() -> None:
    text = "Func f; In A; Var x; RVar k;\nf[x] = 1 +\n  rsum(A[x, k], k) +\n  rmax(A[x, k], k);"
    lines = graph(read(text)).lines
    assert lines == {
        "f.k.init": 3,
        "f.k.update": 3,
        "f.k.combine": 3,
        "f.k.2.init": 4,
        "f.k.2.update": 4,
        "f.k.2.combine": 4,
        "f": 2,
    }


def test_what_is_not_direct_follows_from_what_is() -> None:
    found = graph(read(ATTENTION))
    direct = {(k.source.name, k.target.name) for k in found.links if k.is_direct}
    for link in found.links:
        if not link.is_direct:
            assert _reaches(direct, link.source.name, link.target.name)
            assert link.source.role in (Role.INIT, Role.UPDATE)


def _reaches(edges: set[tuple[str, str]], start: str, end: str) -> bool:
    pending, seen = [start], {start}
    while pending:
        here = pending.pop()
        for one, two in edges:
            if one == here and two not in seen:
                seen.add(two)
                pending.append(two)
    return end in seen


def needs(link: Link, sizes: dict[str, int]) -> Iterator[tuple[int, ...]]:
    """Yield what the sentences of a link say in numbers: source element, then target instance."""
    dims = link.source.writes.indices
    names = [dim.plain or "" for dim in dims]
    for read_ in link.target.reads:
        if read_.array != link.array:
            continue
        match = NEED.fullmatch(needed_by(link.source, link.target, read_))
        assert match is not None
        targets, free, conditions = (
            part.replace("'", "_") if part else "" for part in match.groups()
        )
        every = free.split(", ") if free else []
        ranges = [range(sizes[name]) for name in names]
        ranges += [range(sizes[name.rstrip("_")]) for name in every]
        for values in product(*ranges):
            at = dict(zip((*names, *every), values, strict=True))
            if all(_holds(one, at) for one in conditions.split(" and ") if one):
                target = [int(eval(one, {}, at)) for one in targets.split(", ") if one]
                labels = zip(link.target.labels, target, strict=True)
                if all(0 <= index < sizes[label] for label, index in labels):
                    yield (*values[: len(names)], *target)


def _holds(condition: str, at: dict[str, int]) -> bool:
    left, right = condition.split(" = ")
    return bool(eval(left, {}, at) == eval(right, {}, at))


def flows(found: Graph) -> Iterator[Link]:
    """Links whose source writes each element once."""
    for link in found.links:
        if link.source.role is not Role.UPDATE and DependenceKind.FLOW in link.kinds:
            yield link


def check(program: Program, sizes: dict[str, int]) -> int:
    found = graph(program)
    count = 0
    for link in flows(found):
        flow = link.dependences[0].relation
        assert set(needs(link, sizes)) == set(pairs(found.model, flow, sizes))
        count += 1
    return count


@pytest.mark.parametrize("seed", range(40))
def test_the_sentences_are_the_relation(seed: int) -> None:
    choose = seeded(seed)
    made = algorithm(choose, Limits(funcs=3, rank=2))
    check(made, label_sizes(choose, made, 2, 3))


def test_the_sentences_of_attention_are_the_relation() -> None:
    assert check(read(ATTENTION), {"m": 2, "n": 3, "k": 2, "l": 3}) == 17
