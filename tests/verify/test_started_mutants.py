"""No mistake in sums that begin with a Func is proved: what is proved still comes to the same."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
import torch

from dtpoly.plan.runtime_text import FIRST
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_started import FILES, MEANS, SIZES, made, program, results_alone, text
from tests.verify import added_mutants

SECONDS = 20
# Their proofs take longer, so only some of the mistakes in them are looked at.
EACH = {"bias": 3, "classes": 4, "combine": 5, "histogram": 1}
# A whole launch in a plan, and a store of what sums begin with.
LAUNCH = re.compile(r"^        \{\n(?:            .+\n)+        \},\n", re.MULTILINE)
STORE = re.compile(r"^( +)tl\.store\((\w+_ptr .+?), (.+?)((?:, mask=\w+.*)?)\)\n", re.MULTILINE)
WIDE = re.compile(r"^( +)tl\.store\(\n( +.+,\n)( +)(.+),\n( +mask=.+\n)? +\)\n", re.MULTILINE)


def started_mutants(of: str) -> Iterator[tuple[str, str]]:
    """Yield mistakes in what is stored before, and in the order of launches."""
    head, _, rest = of.partition(FIRST)

    def whole(changed: str) -> str:
        return FIRST.join((changed, rest))

    launches = list(LAUNCH.finditer(head))
    for at, one in enumerate(launches):
        yield "a launch is missing", whole(head[: one.start()] + head[one.end() :])
        yield "a launch is there twice", whole(head[: one.end()] + one[0] + head[one.end() :])
        if at:
            before = launches[at - 1]
            swapped = head[: before.start()] + one[0] + before[0] + head[one.end() :]
            yield "launches in another order", whole(swapped)
    for one in STORE.finditer(head):
        start, end = head[: one.start()], head[one.end() :]
        indent, place, value, mask = one[1], one[2], one[3], one[4]
        for word, line in {
            "nothing is stored": f"{indent}pass\n",
            "another value is stored": f"{indent}tl.store({place}, {value} + 1{mask})\n",
            "it is added and not stored": (
                f'{indent}tl.atomic_add({place}, {value}{mask}, sem="relaxed")\n'
            ),
            "the first programs store": f"{indent}if pid == 0:\n    {one[0]}",
            "the element before": f"{indent}tl.store({place} - 1, {value}{mask})\n",
            "without a mask": f"{indent}tl.store({place}, {value})\n",
            "twice": one[0] + one[0],
            "twice, with another value": one[0] + f"{indent}tl.store({place}, {value} + 1{mask})\n",
        }.items():
            yield word, whole(start + line + end)
    for one in WIDE.finditer(head):
        start, end = head[: one.start()], head[one.end() :]
        yield "nothing is stored", whole(start + f"{one[1]}pass\n" + end)
        wrong = one[0].replace(f"{one[4]},", f"{one[4]} + 1,", 1)
        yield "another value is stored", whole(start + wrong + end)
        yield "without a mask", whole(start + one[0].replace(one[5] or "", "", 1) + end)
    for pattern, new in (
        (r'"shape": \("(\w)"', '"shape": ("l"'),
        (r'"dtype": "(i32|f32)"', '"dtype": "i64"'),
        (r'("programs": \("[^"]+)"', r'\1 - 1"'),
        (r"tl\.full\(\(\), 0(\.0)?, ", "tl.full((), 1, "),
    ):
        for found in re.finditer(pattern, head):
            changed = head[: found.start()] + found.expand(new) + head[found.end() :]
            yield f"{pattern} is another", whole(changed)


def mutants(of: str) -> Iterator[tuple[str, str]]:
    """Yield the mistakes of a file: which, and the text of the whole file."""
    yield from started_mutants(of)
    yield from ((word, text) for word, _, text in added_mutants.mutants(of))


def left(of: str, name: str) -> list[tuple[torch.Tensor, ...] | None]:
    """Return what each call comes to, in memory that is full of other numbers before."""
    found: list[tuple[torch.Tensor, ...] | None] = []
    for seed, sizes in enumerate(SIZES):
        given = made(name, sizes, seed, torch.float64)
        wanted = MEANS[name](given)
        out = tuple(torch.full_like(one, 55) for one in wanted.values())
        function: Any = getattr(imported(of), next(iter(wanted)))
        try:
            function(**given, out=out if len(out) > 1 else results_alone(out))
            found.append(out)
        except (ValueError, TypeError):
            found.append(None)
    return found


def test_there_are_many_mistakes() -> None:
    found = Counter(word for name in FILES for word, _ in mutants(text(program(name))))
    assert found.total() >= 150
    assert len(found) >= 30


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["histogram"])
def test_what_sums_begin_with_is_stored_before(name: str) -> None:
    right = text(program(name))
    for word, wrong in started_mutants(right):
        if wrong != right and word != "twice":
            verdict = verify(program(name), wrong, seconds=SECONDS).verdict
            assert verdict is not LayerVerdict.PROVED, word


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_a_mistake_is_not_proved(name: str) -> None:
    right = text(program(name))
    wanted = left(right, name)
    found = Counter[LayerVerdict]()
    for word, wrong in islice(mutants(right), 0, None, EACH[name]):
        verdict = verify(program(name), wrong, seconds=SECONDS).verdict
        found[verdict] += 1
        if verdict is LayerVerdict.PROVED:
            # It is another text for the same, or it refuses more calls.
            for one, other in zip(left(wrong, name), wanted, strict=True):
                assert other is not None
                assert one is None or all(map(torch.equal, one, other)), word
    assert found.total() - found[LayerVerdict.PROVED] >= 10
