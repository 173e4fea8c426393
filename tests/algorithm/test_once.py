"""What is found of an algorithm is found once, for all Programs that share it."""

from dataclasses import replace

from dtpoly.algorithm.once import LATEST, once_for_each_algorithm
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.source import Source


def program_of(name: str) -> Program:
    return load(Source("f.dt", f"Func {name}; In A; Var x; {name}[x] = A[x]; {name}.compile();"))


def test_schedules_of_an_algorithm_share_an_answer() -> None:
    asked = list[Program]()

    @once_for_each_algorithm
    def names(program: Program) -> tuple[str, ...]:
        asked.append(program)
        return tuple(func.name for func in program.funcs)

    first, second = program_of("f"), program_of("g")
    assert names(first) == names(replace(first, directives=(), returned=("f",))) == ("f",)
    assert names(second) == ("g",)
    assert asked == [first, second]
    # An algorithm that looks the same may have other places in its text.
    assert names(program_of("f")) == ("f",)
    assert len(asked) == 3


def test_only_the_latest_answers_are_kept() -> None:
    asked = list[Program]()

    @once_for_each_algorithm
    def count(program: Program) -> int:
        asked.append(program)
        return len(asked)

    programs = [program_of(f"f{at}") for at in range(LATEST + 1)]
    assert [count(one) for one in programs] == [*range(1, LATEST + 2)]
    assert count(programs[-1]) == LATEST + 1
    assert count(programs[0]) == LATEST + 2
