"""No mistake in what is read or written without a test is proved, and no test may be missing."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from dtpoly.algorithm.expressions import Bound, Expr, Read, at_data, map_children
from dtpoly.algorithm.program import Into, Program, Tensor
from dtpoly.plan.runtime_text import FIRST
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_promised import FILES, SIZES, copied, made, program, text
from tests.verify import placed_mutants

SECONDS = 20
Change = Callable[[re.Match[str]], str]
# A table that is loaded, with its mask, and its tile times a stride in an address.
LOADED = r"^( +)(\w+) = tl\.load\((\w+_ptr \+ .+|\w+_at_\w+), mask=(\w+), other=0\)(\.to\(.+\))?$"
PLACE = r"\b(T|U|slot|token|pages|expert|W)_(tile|value|at)((?:\[[^\]]*\])?) \* (\w+)_stride_(\d)"


def _at(text: str) -> Change:
    return lambda m: text.format(at=f"{m[1]}_{m[2]}{m[3]}", name=m[4], axis=m[5])


OWN: dict[str, tuple[str, Change]] = {
    "the table is not masked": (
        LOADED,
        lambda m: f"{m[1]}{m[2]} = tl.load({m[3]}){m[5] or ''}",
    ),
    "another number where there is no element": (
        LOADED,
        lambda m: f"{m[1]}{m[2]} = tl.load({m[3]}, mask={m[4]}, other=7){m[5] or ''}",
    ),
    "the table is replaced before": (
        LOADED,
        lambda m: f"{m[1]}tl.store({m[3]}, 200, mask={m[4]})\n{m[0]}",
    ),
    "the table is replaced behind": (
        LOADED,
        lambda m: f"{m[0]}\n{m[1]}tl.store({m[3]}, {m[2]} + 200, mask={m[4]})",
    ),
    "one more than the table says": (PLACE, _at("({at} + 1) * {name}_stride_{axis}")),
    "one less than the table says": (PLACE, _at("({at} - 1) * {name}_stride_{axis}")),
    "the size less the index": (PLACE, _at("-{at} * {name}_stride_{axis}")),
    "twice the index": (PLACE, _at("2 * {at} * {name}_stride_{axis}")),
    "an index of 8 bits": (PLACE, _at("{at}.to(tl.int8) * {name}_stride_{axis}")),
    "the index of the lane": (PLACE, _at("({at} - {at}) * {name}_stride_{axis}")),
    "no index is 0": (PLACE, _at("tl.maximum({at}, 1) * {name}_stride_{axis}")),
    "the mask of a label is missing": (r"mask=\w+_mask\[:, None\] & ", lambda _: "mask="),
    "the mask of rows alone": (r" & \w+_mask\[None, :\]", lambda _: ""),
    "an axis is not compared": (r'"is": \("(\w)", ', lambda _: '"is": ("_", '),
    "a smaller end": (r'"index": "99", "high": "99"', lambda _: '"index": "98", "high": "98"'),
    "no demand": (r'^    "demands": \[.+\],$', lambda _: ""),
    "the size comes of another axis": (
        r'"([vtpsen])": "(\w+)\.shape\[0\]"',
        lambda m: f'"{m[1]}": "{m[2]}.shape[1]"',
    ),
}


def mutants(of: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a file: which, in which line, and the text of the whole file."""
    yield from placed_mutants.mutants(of)
    head, _, rest = of.partition(FIRST)
    lines = head.split("\n")
    for at, line in enumerate(lines):
        if line.strip().startswith("#"):
            continue
        for word, (pattern, change) in OWN.items():
            found = re.search(pattern, line)
            new = line[: found.start()] + change(found) + line[found.end() :] if found else line
            if new != line:
                whole = "\n".join([*lines[:at], new, *lines[at + 1 :]])
                yield word, at + 1, FIRST.join((whole, rest))


def left(of: str, name: str) -> list[list[torch.Tensor] | None]:
    """Return what each call returns and leaves in the inputs; None for one that is refused."""
    found: list[list[torch.Tensor] | None] = []
    for seed, sizes in enumerate(SIZES):
        given = copied(made(name, sizes, seed, torch.float64))
        function: Any = imported(of).result
        try:
            found.append([function(**given), *given.values()])  # type: ignore[list-item]
        except (ValueError, TypeError):
            found.append(None)
    return found


def test_there_are_mistakes_of_each_kind() -> None:
    found = Counter(word for name in FILES for word, *_ in mutants(text(program(name))))
    assert found.keys() >= OWN.keys()
    assert found.total() >= 150


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_a_mistake_is_not_proved(name: str) -> None:
    right = text(program(name))
    wanted = left(right, name)
    found = Counter[LayerVerdict]()
    for word, line, wrong in mutants(right):
        verdict = verify(program(name), wrong, seconds=SECONDS).verdict
        found[verdict] += 1
        if verdict is LayerVerdict.PROVED:
            # It is another text for the same, or it refuses more calls.
            for one, other in zip(left(wrong, name), wanted, strict=True):
                assert other is not None
                assert one is None or all(map(torch.equal, one, other)), (word, line)
    assert found.total() - found[LayerVerdict.PROVED] >= 10


def promising(of: Program, tensor: str, bound: Bound | None) -> Program:
    """Return the Program with another promise about a tensor, or with none."""

    def read(one: Read) -> Read:
        indices = tuple(
            at_data(i.data, bound) if isinstance(i.data, Read) and i.data.tensor == tensor else i
            for i in one.indices
        )
        return replace(one, indices=indices)

    def changed(expr: Expr) -> Expr:
        expr = map_children(expr, changed)
        return read(expr) if isinstance(expr, Read) else expr

    def into(one: Into | None) -> Into | None:
        return one if one is None or one.at is None else replace(one, at=read(one.at))

    funcs = tuple(replace(f, body=changed(f.body), into=into(f.into)) for f in of.funcs)
    inputs = tuple(
        replace(one, within=bound) if isinstance(one, Tensor) and one.name == tensor else one
        for one in of.inputs
    )
    return replace(of, funcs=funcs, inputs=inputs)


def of_bounds(of: Program, emitted: str) -> LayerVerdict:
    (found,) = verify(of, emitted, seconds=SECONDS).functions
    assert found.verdict is not LayerVerdict.PROVED
    return next(layer.verdict for layer in found.layers if layer.name == "bounds")


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
def test_without_the_promise_a_test_is_missing(name: str) -> None:
    of = program(name)
    emitted = text(of)
    for tensor in of.tensors:
        if tensor.within is not None:
            wanted = {LayerVerdict.REFUTED, LayerVerdict.UNKNOWN}
            assert of_bounds(promising(of, tensor.name, None), emitted) in wanted


def test_a_larger_range_than_the_tensor_is_not_proved() -> None:
    """The text accepts calls with fewer rows than the promise allows the table to name."""
    classes = program("classes")
    emitted = text(classes)
    assert of_bounds(promising(classes, "T", 101), emitted) is LayerVerdict.REFUTED
    assert verify(promising(classes, "T", 99), emitted).verdict is LayerVerdict.PROVED
    # The size of the columns says nothing of the rows.
    embedding = program("embedding")
    assert of_bounds(promising(embedding, "T", "k"), text(embedding)) is not LayerVerdict.PROVED
