"""Describe where a finding goes wrong: a call, and the program, iterations and lane in it.

`verify` calls it with a finding and an example, which has a number for each name of the finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dtpoly.verify.algebra.whole import Whole, name, names_of, number, put_whole
from dtpoly.verify.proof.findings import OUTPUT, Finding, Proof
from dtpoly.verify.proof.report import CallWitness, LineRun
from dtpoly.verify.triton.access import KernelAccess, Ran
from dtpoly.verify.triton.gathering import ATOMIC

VERBS = {"load": "loads", "store": "stores", **dict.fromkeys(ATOMIC, "adds to")}


def witness_of(proof: Proof, finding: Finding, example: Mapping[str, int]) -> CallWitness:
    """Return the witness of a finding: the sizes, the program, iterations, lane and element."""
    sizes = {label: _at(size, example) for label, size in proof.meaning.sizes.items()}
    known = tuple((label, size) for label, size in sizes.items() if size is not None)
    ran = next((one for one in proof.runs if finding.access in one.accesses), None)
    access = finding.access
    if ran is None or access is None:
        return CallWitness(known, LineRun(), _output(proof, example))
    own = (*ran.programs, *ran.numbers, *access.loops, *access.lanes)
    at = LineRun(
        _numbers(ran.programs, example),
        tuple((_word(one), example[one]) for one in access.loops if one in example),
        _numbers(access.lanes, example),
    )
    bound = [one for one in example if one not in own and _is_of_kernel(one)]
    other = _instance(sorted(bound, key=_count), ran, example) if bound else None
    if any(one.startswith(OUTPUT) for one in example):
        return CallWitness(known, at, f"{_verb(access)} {_output(proof, example)}".strip(), other)
    return CallWitness(known, at, _accessed(access, example), other)


def _at(value: Whole, example: Mapping[str, int]) -> int | None:
    """Return the number that a value is in the example, or None if the example does not say."""
    if not names_of(value) <= example.keys():
        return None
    return put_whole(value, {one: number(of) for one, of in example.items()}).constant


def _numbers(names: Iterable[str], example: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(example[one] for one in names if one in example)


def _word(one: str) -> str:
    """Return the kernel's own word for a name, without the number that makes the name unique."""
    return one.partition(".")[0]


def _count(one: str) -> int:
    return int(one.rpartition(".")[2])


def _is_of_kernel(one: str) -> bool:
    """True for the names of iterations and lanes, also in reductions, but not for sizes."""
    return one.rpartition(".")[2].isdigit()


def _instance(names: Iterable[str], ran: Ran, example: Mapping[str, int]) -> LineRun:
    programs = {_word(one) for one in ran.programs}
    program, loops, lane = list[int](), list[tuple[str, int]](), list[int]()
    for one in names:
        word = _word(one)
        if word in programs:
            program.append(example[one])
        elif word == "lane":
            lane.append(example[one])
        else:
            loops.append((word, example[one]))
    return LineRun(tuple(program), tuple(loops), tuple(lane))


def _verb(access: KernelAccess) -> str:
    return VERBS.get(access.kind, access.kind)


def _accessed(access: KernelAccess, example: Mapping[str, int]) -> str:
    values = [_at(index, example) for index in access.indices]
    shown = ", ".join("?" if value is None else str(value) for value in values)
    return f"{_verb(access)} {access.tensor}[{shown}]"


def _output(proof: Proof, example: Mapping[str, int]) -> str:
    """Return the element of the output that the finding is about, as it is shown."""
    values = [_at(name(one), example) for one in proof.outputs]
    if None in values:
        return ""
    return f"{proof.result}[{', '.join(map(str, values))}]"
