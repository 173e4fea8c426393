"""Cases that a seed draws: their texts, their peers, their parts; and how they are measured."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from benchmarks.__main__ import main
from benchmarks.gpu.manifest import Prepared
from benchmarks.gpu.results import OURS, Timed
from benchmarks.unseen import expected, measuring
from benchmarks.unseen.asked import results
from benchmarks.unseen.cases import FAMILIES, Case, case_of, cases, program_of
from benchmarks.unseen.drawing import Draw, Family
from benchmarks.unseen.fillings import Inputs, inputs_of, sizes_of
from benchmarks.unseen.kinds import EAGER, LIBRARY
from benchmarks.unseen.picture import plot
from benchmarks.unseen.preparing import Preparing, prepared_case
from benchmarks.unseen.ready import Runnable, apart, checked, ours, peers, ready, wanted
from benchmarks.unseen.records import (
    MEASURED,
    PREPARED,
    Choice,
    MeasuredCase,
    PreparedCase,
    add,
    measured_cases,
    prepared_cases,
)
from benchmarks.unseen.rivals import translated
from benchmarks.unseen.summary import lines, share, told, worst
from dtpoly.algorithm.expressions import Dot, Read, Reduce, walk
from dtpoly.explore.devices.devices import DEFAULT, find_device
from dtpoly.reference.run import run
from dtpoly.timing.failures import WrongResult

SEEDS = (11, 12)  # of the tests, and of nothing else


def drawn(seed: int) -> list[Case]:
    """Return a case of each family."""
    return [case_of(family, seed, 0) for family in FAMILIES]


def test_the_list() -> None:
    """There are many families, some of which are only reported; a seed always draws the same."""
    assert len(FAMILIES) >= 40
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    assert sum(family.is_held_out for family in FAMILIES) >= 10
    first = [*cases(5, 70)]
    assert {one.family for one in first} == {family.name for family in FAMILIES}
    assert len({one.name for one in first}) == 70
    some = {one.family for one in first[:5]}
    again = [*cases(5, 70, lambda family: family.name in some)]
    assert again == [one for one in first if one.family in some]
    others = [*cases(6, 70, lambda family: family.name in some)]
    assert not {one.drawn.text for one in others} >= {one.drawn.text for one in again}


def test_sizes_are_shared_among_labels() -> None:
    """Whatever is drawn, about as many elements come out as were asked for."""
    for seed in range(200):
        found = Draw(Random(seed)).sizes(("a", "b", "c"), 1 << 20)
        count = found["a"] * found["b"] * found["c"]
        assert 1 << 17 < count < 1 << 23, (seed, found)


def test_every_construct_is_drawn() -> None:
    """Reductions, products, scans, lists, data, ranges, quotients, padding, places and packed.

    A text with an error would be no case, but a mistake of its family.
    """
    found: set[str] = set()
    for one in (case for seed in SEEDS for case in drawn(seed)):
        program = program_of(one)  # raises for an error
        for func in program.funcs:
            found |= {"into"} if func.into is not None else set()
            found |= {"at"} if func.into is not None and func.into.at is not None else set()
            for node in walk(func.body):
                match node:
                    case Reduce(operation=operation, scan=scan, when=when):
                        found |= {operation, "scan" if scan else "", "when" if when else ""}
                    case Dot():
                        found.add("rdot")
                    case Read(indices=indices, padding=padding):
                        found |= {"pad"} if padding is not None else set()
                        found |= {"data"} if any(i.data is not None for i in indices) else set()
                    case _:
                        found.add(getattr(node, "operation", type(node).__name__))
        found |= {word for word in ("packed", "within", "//", "%", "SIn") if word in one.drawn.text}
        found |= {*one.layouts.values()}
    wanted_words = {"rsum", "rmax", "rmin", "rargmax", "rlist", "rany", "rdot"}
    wanted_words |= {"scan", "raffine", "when", "pad", "data", "into", "at", "packed", "within"}
    wanted_words |= {"//", "%", "SIn", "random", "where", "shr", "bitand", "Cast", "Reshape"}
    assert wanted_words | {"sliced", "turned"} <= found


def at_tiny_sizes(case: Case) -> tuple[Inputs, dict[str, torch.Tensor], dict[str, int]]:
    program = program_of(case)
    sizes = sizes_of(case, program, is_tiny=True)
    inputs = inputs_of(case, program, sizes, "cpu")
    return inputs, run(program, inputs, sizes=sizes, wanted=results(program)), sizes


def copies(inputs: Inputs) -> Inputs:
    return {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in inputs.items()}


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [*SEEDS, 13])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.name)
def test_peers_compute_what_the_reference_does(family: Family, seed: int) -> None:
    """Both torch's operations, which are made from the algorithm, and calls of its libraries."""
    case = case_of(family, seed, 0)
    given = ready(case, "cpu", is_tiny=True)
    want = wanted(given)
    names = set[str]()
    for name, make in peers(given, (EAGER, LIBRARY)):
        checked(given, make(), want)
        names.add(name)
    assert names == {"torch", *(["library"] if case.drawn.library else [])}


def test_peers_that_are_wrong_are_found() -> None:
    """Where a translated algorithm computed something else, it would be no peer."""
    case = case_of(next(one for one in FAMILIES if one.name == "rows"), 11, 0)
    given = ready(case, "cpu", is_tiny=True)
    run_it = translated(case, given.program, given.sizes, "cpu")
    right = run_it(*given.inputs.values())[0]
    for value in (right + 1, right * float("nan"), right[:0]):
        wrong = Runnable("torch", "peer", partial(tuple, [value]), lambda: None)
        with pytest.raises(WrongResult):
            checked(given, wrong, wanted(given))


def test_parts_are_parts_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the inputs gives that part of the results, wherever the list says so."""
    monkeypatch.setattr(expected, "ENOUGH", 40)
    count = 0
    for case in drawn(SEEDS[0])[::2]:
        program = program_of(case)
        names = results(program)
        inputs, whole, sizes = at_tiny_sizes(case)
        for part in expected.parts(program, names, sizes):
            count += bool(part.cut)
            for name, one in expected.expected(
                program, names, inputs, part, False, case.dtype
            ).items():
                mine = part.of(whole[name], one.labels)
                assert torch.allclose(mine.double(), one.exact.double(), equal_nan=True), case
    assert count > 10  # else nothing is cut


# The interpreter takes twelve minutes for the kernel of its first schedule.
SLOW = ("grouped convolution",)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "family",
    [pytest.param(one, marks=[pytest.mark.long] * (one.name in SLOW)) for one in FAMILIES],
    ids=lambda one: one.name,
)
def test_schedules_are_proved_and_right(family: Family, tmp_path: Path) -> None:
    """The first schedule for the large sizes is run at tiny ones, into tensors full of NaN."""
    case = case_of(family, 12, 0)
    made = prepared_case(Preparing(tmp_path, find_device(DEFAULT), 1), case)
    assert not made.failure
    (choice,) = made.choices
    assert choice.predicted > 0
    assert made.floor > 0
    assert not choice.text.failure
    assert "refuted" not in choice.text.layers.values()
    given = ready(case, "cpu", is_tiny=True)
    for _, make in ours(given, made, tmp_path):
        checked(given, make(), wanted(given))


def test_a_list_is_prepared_measured_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command goes on where it was: what has a line is not done again."""
    given = ["unseen", str(tmp_path), "--seed", "3", "--cases", "61", "--choices", "1"]
    given += ["--only", "rows", "--only", "gated", "--place", "cpu", "--tiny"]
    assert main([*given, "--prepare"]) == 0
    folder = tmp_path / "seed_3"
    before = (folder / PREPARED).read_text()
    assert len(before.splitlines()) == 2
    more = ["--peers", "torch", "--each", "0.001"]
    assert main([*given, *more, "--here"]) == 0
    measured = (folder / MEASURED).read_text()
    assert len(measured.splitlines()) == 2
    assert main([*given, *more, "--here"]) == 0
    assert main([*given, "--summary", "--plot", str(tmp_path / "one.png")]) == 0
    assert (folder / PREPARED).read_text() == before
    assert (folder / MEASURED).read_text() == measured
    out = capsys.readouterr().out
    assert "2 cases prepared, 2 measured, 2 with a peer" in out
    assert "2 of 2 texts PROVED" in out
    assert "without a schedule: none" in out
    assert main([*given, "--only", "nothing"]) == 2


OWN = """# sizes: x=7 k=11
# dtype: f16
# filling: B positive
# library: F.relu(A @ B.T)
Func f; In A, B; Var x, y; RVar k; f[x, y] = maximum(rdot(A[x, k], B[y, k], k), 0);
"""


def test_operators_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each file is a case of its name, beside torch and what the file says of a library."""
    own = tmp_path / "mine"
    own.mkdir()
    (own / "product.dt").write_text(OWN.replace("k=11", "k=11 y=5"))
    given = ["unseen", str(tmp_path), "--of", str(own), "--choices", "1", "--place", "cpu"]
    more = ["--peers", "torch,library", "--each", "0.001", "--here"]
    assert main([*given, "--prepare"]) == 0
    assert main([*given, *more]) == 0
    (found,) = measured_cases(tmp_path / "of_mine").values()
    assert found.name == "product"
    assert {one.name for one in found.times} == {"product__01", "torch", "library"}
    assert not any(one.failure for one in found.times)
    assert main([*given, "--summary", "--record", str(tmp_path / "record.json")]) == 0
    assert "unseen --of mine" in (tmp_path / "record.json").read_text()
    assert "1 of 1 texts PROVED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Func f; In A; Var x; f[x] = A[x];", "says no sizes"),
        ("# sizes: x=a\nFunc f; In A; Var x; f[x] = A[x];", "is no size"),
        ("# sizes: x=3\n# dtype: f99\nFunc f; In A; Var x; f[x] = A[x];", "is no dtype"),
        ("# sizes: x=3\n# filling: A\nFunc f; In A; Var x; f[x] = A[x];", "how A is filled"),
        ("# sizes: x=3\n# shorter: A z\nFunc f; In A; Var x; f[x] = A[x];", "for each axis"),
        ("# sizes: x=3\nFunc f; In A; Var x; f[x] = A[;", "DT107"),
        ("", "has no .dt files"),
    ],
)
def test_what_a_folder_may_not_have(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text:
        (tmp_path / "one.dt").write_text(text)
    assert main(["unseen", str(tmp_path / "to"), "--of", str(tmp_path), "--prepare"]) != 0
    assert why in capsys.readouterr().err


def test_a_list_or_a_folder_is_named(tmp_path: Path) -> None:
    assert main(["unseen", str(tmp_path)]) == 2
    assert main(["unseen", str(tmp_path), "--of", str(tmp_path), "--seed", "1"]) == 2
    assert main(["unseen", str(tmp_path), "--of", str(tmp_path), "--only", "rows"]) == 2


def test_held_out_families_can_be_left_out(tmp_path: Path) -> None:
    """Or only they take part."""
    given = ["unseen", str(tmp_path), "--seed", "3", "--cases", "61", "--choices", "1"]
    both = ["--only", "gated", "--only", "shuffled", "--prepare"]
    main([*given, *both, "--held-out", "none"])
    assert [one.family for one in prepared_cases(tmp_path / "seed_3").values()] == ["gated"]
    main([*given, *both, "--held-out", "only"])
    found = {one.family for one in prepared_cases(tmp_path / "seed_3").values()}
    assert found == {"gated", "shuffled"}


def test_what_broke_the_process_is_not_tried_again(tmp_path: Path) -> None:
    """Who began and never ended is written down as a failure, and the others go on."""
    case = case_of(next(one for one in FAMILIES if one.name == "gated"), 3, 0)
    made = prepared_case(Preparing(tmp_path, find_device(DEFAULT), 1), case)
    (tmp_path / measuring.BEGAN).write_text(
        json.dumps({"case": case.name, "name": made.choices[0].text.name})
    )
    plan = measuring.Measuring(tmp_path, "cpu", 60.0, 0.001, ("torch",), is_tiny=True)
    assert measuring.measure([(case, made)], plan, lambda _: None)
    found = measured_cases(tmp_path)[case.name]
    failures = {one.name: one.failure for one in found.times}
    assert failures == {"torch": "", made.choices[0].text.name: "it ended the process"}
    assert not (tmp_path / measuring.BEGAN).exists()


def case_with(name: str, predicted: list[float], **more: object) -> PreparedCase:
    choices = tuple(
        Choice(ms, Prepared(f"{name}__{at}", "", layers={"a": "proved"}))
        for at, ms in enumerate(predicted)
    )
    found = PreparedCase(name, "rows", False, "", "f32", {}, 0.5, 1.5, choices, {"DT1": 2})
    return replace(found, **more)  # type: ignore[arg-type]


def test_the_summary() -> None:
    """Failures count as below each line, and are not in the mean; only right peers are compared."""
    made = {
        "good": case_with("good", [1.0, 2.0, 3.0]),
        "bad": case_with("bad", [1.0]),
        "alone": case_with("alone", [1.0]),
        "nothing": case_with("nothing", [], failure="DT9: no"),
    }
    peer = (Timed("torch", median=2.0), Timed("compile", failure="wrong: 1"))
    found = {
        "good": MeasuredCase(
            "good",
            (*(Timed(f"good__{x}", OURS, median=x + 1.0) for x in range(3)), *peer),
            1.0,
        ),
        "bad": MeasuredCase("bad", (Timed("bad__0", OURS, failure="wrong: 2"), *peer), 1.0),
        "alone": MeasuredCase("alone", (Timed("alone__0", OURS, median=1.0),), 1.0),
    }
    known = [*lines(made, found)]
    assert [one.ratio for one in known] == [2.0, 0.0, 0.0]
    assert known[0].rank == 1.0
    assert [one.name for one in worst(known)] == ["bad", "good"]
    ratios = share([one.ratio for one in known if one.peer])
    assert (ratios.cases, ratios.failed, ratios.mean) == (2, 1, 2.0)
    assert ratios.at_least == (0.5,) * 5
    said = [*told(made, known)]
    assert said[0] == "4 cases prepared, 3 measured, 2 with a peer"
    assert said[2] == "without a schedule: nothing"
    assert said[3] == "whose first schedule failed: bad"
    assert "candidates given up, by code: DT1 8" in said
    assert plot([], Path("none.png"), "") == "no picture: nothing was compared"


def test_lines_that_were_cut_off_are_no_lines(tmp_path: Path) -> None:
    """Whoever is stopped while a line is written loses that case alone."""
    add(tmp_path / MEASURED, MeasuredCase("a", (), 1.0))
    with (tmp_path / MEASURED).open("a") as file:
        file.write('{"name": "b", "ti')
    assert [*measured_cases(tmp_path)] == ["a"]
    add(tmp_path / MEASURED, MeasuredCase("c", (), 1.0))
    assert [*measured_cases(tmp_path)] == ["a", "c"]


def test_whole_results_are_compared_with_a_peer() -> None:
    """A nan, or a value far off, is found outside of the part that is checked exactly, too."""
    case = case_of(next(one for one in FAMILIES if one.name == "gated"), 3, 0)
    given = ready(case, "cpu", is_tiny=True)
    one = Runnable("torch", "peer", lambda: (), lambda: None)
    right = (torch.ones(3, 4),)
    apart(given, one, right, right)
    for wrong in (float("nan"), 2.0):
        changed = right[0].clone()
        changed[-1, -1] = wrong
        with pytest.raises(WrongResult):
            apart(given, one, (changed,), right)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_torch_compiles_each_peer_as_a_whole() -> None:
    """Where torch's compiler gave up in the middle, its time would be that of worse code."""
    every: Any = torch  # parts of it have no types
    for case in drawn(SEEDS[0]):
        given = ready(case, "cpu", is_tiny=True)
        run_it = translated(case, given.program, given.sizes, "cpu")
        every.compiler.reset()
        with torch.no_grad():
            whole = every.compile(run_it, backend="eager", fullgraph=True, dynamic=False)
            whole(*given.own().values())
