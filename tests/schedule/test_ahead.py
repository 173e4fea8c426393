"""`num_stages` where loads must not run ahead: refused, and what emitted code does there."""

from collections.abc import Container, Iterator

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.codegen.module import Generated, generate
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.num_stages import NumStages
from dtpoly.generate import launches, outputs
from dtpoly.ir.kernel import ForLoop, If, Step, Store
from dtpoly.ir.parts import inside
from dtpoly.ir.tiled import flat
from dtpoly.poly.order import ViolationKind
from dtpoly.poly.pipelined_reads import run_ahead
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.schedule.tree import paths
from dtpoly.source import Source
from tests.codegen.cases import random_case
from tests.oracle.pairs import met
from tests.schedule.test_refusal import FOLDER, NAMES, first, named, program
from tests.schedule.told import ATTENTION, SUM, TWO, TWO_PRODUCTS, read
from tests.schedule.user_primitives import USER
from tests.test_thesis import DATA

STAGES = [name for name in NAMES if name.startswith("stages_")]
SPILLED = "it is needed where its tile cannot be seen"

PAIR = """
Func f, g; In A; Var x, u;
g[u] = A[u]; f[x] = g[x] + g[x + 1];
f.compile(); g.fuse_at(f, x, recompute); f.num_stages(4);
"""
TILES = PAIR + "f.tensorize(u:2);"

# Where a value stays in registers, or where it is not an innermost loop that passes it on.
LEGAL = {
    "registers": TWO + "g.fuse_at(f, x); f.tensorize(y:0); f.num_stages(4);",
    "an accumulator": SUM + "total.tensorize(x:16, k:32); total.num_stages(8);",
    "two products": TWO_PRODUCTS
    + "mm.fuse_at(_2mm, l); _2mm.block(m:32); _2mm.tensorize(m:0, n:0, l:16, k:32);"
    + "_2mm.num_stages(3);",
    "a loop inside": PAIR,
    "one stage": TILES.replace("num_stages(4)", "num_stages(1)"),
    "nothing written": TILES.replace("f.num_stages(4);", ""),
    "a kernel of its own": TILES.replace("g.fuse_at(f, x, recompute);", "g.compile();"),
    "another kernel's": TILES.replace("f.num_stages", "g.num_stages").replace("f.compile();", "")
    + "f.compile(); g.compile();",
}
REFUSED = {
    "padding": TWO.replace("= g[", "= pad(g, 0)[")
    + "g.fuse_at(f, y); f.tensorize(y:4); f.num_stages(2);",
    "other indices": TILES,
    "other tiles": PAIR + "f.tensorize(x:8, u:16);",
    "an accumulator of several tiles": ATTENTION
    + "attention.tensorize(m:16, l:16, n:16); attention.reorder(l, n); attention.num_stages(2);",
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_runs_ahead_of_nothing(name: str) -> None:
    verdict = judge(read(LEGAL[name]), DIRECTIVES)
    assert verdict.is_legal, [str(violation) for violation in verdict.violations]


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_run_ahead(name: str) -> None:
    chosen = read(REFUSED[name])
    verdict = judge(chosen, DIRECTIVES)
    assert {violation.kind for violation in verdict.violations} == {ViolationKind.AHEAD}
    assert isinstance(verdict.blame, NumStages)
    assert verdict.accomplices == ()


def test_a_loop_of_one_iteration_is_none() -> None:
    """A loop over 3 indices divides one index: what is around it is an innermost loop."""
    text = "Func f, g; In A; Var x, y; g[x, y] = A[x, y]; f[x] = pad(g, 0)[x + 1, x]; f.compile();"
    chosen = read(text + "g.fuse_at(f, x); f.split(y:yi/3); f.num_stages(2);")
    assert [violation.kind for violation in judge(chosen, DIRECTIVES).violations] == [
        ViolationKind.AHEAD
    ]


def test_attention_runs_ahead() -> None:
    """Its values stay in registers (listing 4.4)."""
    text = (DATA / "listing_4_04_attention.dt").read_text()
    assert "num_stages(8)" in text
    assert judge(load(Source("attention.dt", text)), DIRECTIVES).is_legal


@pytest.mark.parametrize("name", STAGES)
def test_the_pair_meets_in_one_program(name: str) -> None:
    """The oracle's places: the source is before the target, and they meet on a cell."""
    witness = first(name).witness
    chosen, source, target = program(name), named(witness.source), named(witness.target)
    assert met(chosen, witness.sizes, source, target)
    assert not met(chosen, witness.sizes, target, source)


@pytest.mark.parametrize("name", STAGES)
def test_emitted_code_keeps_such_a_loop_in_order(name: str) -> None:
    chosen = program(name)
    left = without_stages(chosen)
    assert len(left.directives) == len(chosen.directives) - 1
    verdict = judge(left, DIRECTIVES)
    assert verdict.is_legal
    made = emitted(verdict.scheduled)
    assert any(not loop.is_pipelined for one in made.kernels for loop in innermost(one.body))


def without_stages(chosen: Program) -> Program:
    text = (line for line in source_of(chosen).splitlines() if ".num_stages(" not in line)
    return read("\n".join(text))


def source_of(chosen: Program) -> str:
    span = chosen.funcs[0].span
    assert span is not None
    return span.source.text


def test_examples_are_the_files() -> None:
    assert all(source_of(program(n)) == (FOLDER / f"{n}.dt").read_text() for n in STAGES)


def agrees(seed: int) -> int:
    """Check that what is accepted is done, and what is refused is not; return how much is refused.

    Emitted code may keep a value in memory that registers could hold, where isl's loops come out
    apart: then it goes in order though it need not. Nor need it where isl has put the store in
    front of the loop.
    """
    chosen = random_case(seed).program
    if has_errors(check_schedule(chosen, USER)):
        return 0
    verdict = judge(chosen, USER)
    if not verdict.is_legal:
        return 0
    made = emitted(verdict.scheduled)
    spilled = SPILLED in made.storage.why.values()
    refused = ahead(verdict.scheduled)
    for is_refused, kernel in zip(refused, made.kernels, strict=True):
        in_order = any(not loop.is_pipelined for loop in innermost(kernel.body))
        if in_order and not spilled:
            assert is_refused, f"{seed}: {kernel.name} goes in order"
        if is_refused and passed_on(kernel.body, made.storage.scratch):
            assert any(not loop.is_pipelined for loop in loops(kernel.body)), (seed, kernel.name)
    return sum(refused)


def emitted(state: State) -> Generated:
    return generate(state.program, state.model, launches(state), outputs(state.program))


def ahead(state: State) -> list[bool]:
    ways = paths(state.kernels)
    return [
        any(run_ahead(state.model, {way.statement: way for way in ways if way.kernel == at}))
        for at in range(len(state.kernels))
    ]


def loops(body: tuple[Step, ...]) -> Iterator[ForLoop]:
    for step in flat(body):
        match step.instruction:
            case ForLoop(body=inner) as loop:
                yield loop
                yield from loops(inner)
            case If(body=inner):
                yield from loops(inner)
            case _:
                pass


def passed_on(body: tuple[Step, ...], scratch: Container[str]) -> bool:
    """Return whether a loop stores what kernels pass on to themselves."""
    return any(
        isinstance(one, Store) and one.tensor in scratch
        for loop in loops(body)
        for one in inside(loop.body)
    )


def innermost(body: tuple[Step, ...]) -> Iterator[ForLoop]:
    return (loop for loop in loops(body) if not any(loops(loop.body)))


@pytest.mark.long
def test_emitted_code_of_random_cases() -> None:
    assert sum(map(agrees, range(40))) >= 1


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_emitted_code_of_many_random_cases(part: int) -> None:
    assert sum(map(agrees, range(1000 + 100 * part, 1100 + 100 * part))) >= 3
