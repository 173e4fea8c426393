"""`python3 tasks.py same`: what the compiler does is what it was when it was frozen.

A tenth is compared here; the command compares all.
"""

import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from dtpoly.ir.check import Complaint
from dtpoly.ir.kernel import TileKernel
from tests.cli.process import ended, python_path
from tests.same import asking
from tests.same.asking import outcome_of
from tests.same.candidates import SOURCES, candidate
from tests.same.choosing import OF_EACH, REFUSALS, TEXTS, all_directives, first_code
from tests.same.command import INTERRUPTED, is_quick, main, now_of
from tests.same.comparing import Aspect, changes
from tests.same.outcome import Entry, Kind, Message, Outcome, Part
from tests.same.pieces import pieces_of
from tests.same.record import FROZEN, read_record, write_record
from tests.same.telling import Compared, told
from tests.same.working import worked

ROOT = Path(__file__).parents[2]
SEED, SHARDS = 0, 6
RUNTIME = "the runtime"
SUM = "Func f; In A; Var x; RVar k;\nf[x] = rsum(A[x, k], k);\nf.block(x:4);\nf.compile();\n"
WRONG = "Func f; In A; Var x;\nf[x] = A[x] + B[x];\nf.compile();\n"
# The first column, computed again for each column.
RACES = (
    "Func f, g; In A; Var x, y;\ng[x] = A[x, 0];\nf[x, y] = reshape(g[x], x, 1) + A[x, y];\n"
    "g.fuse_at(f, y);\nf.compile();\n"
)


@cache
def frozen() -> tuple[Entry, ...]:
    if not FROZEN.exists():
        pytest.skip("nothing is frozen: python3 tasks.py same --freeze --choose")
    return tuple(read_record())


@cache
def made(text: str) -> Outcome:
    return outcome_of(text, asks_proof=True)


def entry(text: str = SUM) -> Entry:
    """Return a text with what comes of it today."""
    return Entry("one", text, True, made(text))


def aspects(before: Entry, now: Outcome) -> list[Aspect]:
    return [change.aspect for change in changes(before, now)]


@pytest.mark.long
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_tenth_is_the_same(shard: int) -> None:
    chosen = [one for one in frozen() if is_quick(one.name, SEED)][shard::SHARDS]
    compared = Compared()
    for one in chosen:
        compared.add(one, now_of(one))
    assert compared.entries > len(frozen()) // 10 // SHARDS // 2
    assert compared.is_same, "\n".join(told(compared, 3))


def test_each_directive_is_in_many_texts() -> None:
    emitted = [one for one in frozen() if one.outcome.kind is Kind.EMITTED]
    counts = Counter(word for one in emitted for word in one.outcome.directives)
    assert len(emitted) >= TEXTS
    assert counts.keys() == set(all_directives())
    assert [word for word, count in counts.items() if count < OF_EACH] == []


def test_there_are_many_refusals_of_many_kinds() -> None:
    refused = [one.outcome for one in frozen() if one.outcome.kind is Kind.REFUSED]
    codes = Counter(map(first_code, refused))
    assert len(refused) >= REFUSALS
    assert len(codes) >= 60
    # Schedules that are judged, and refused with an example.
    with_example = [
        one
        for one in refused
        if any(message.code.startswith("DT20") and message.numbers for message in one.messages)
    ]
    assert len(with_example) >= REFUSALS // 10


def test_some_verdicts_are_frozen() -> None:
    asked = [one.outcome for one in frozen() if one.asks_proof]
    assert len(asked) >= TEXTS // 4
    assert all(one.verdicts for one in asked)
    assert not any(line.endswith("refuted") for one in asked for line in one.verdicts)


def test_names_and_texts_are_there_once() -> None:
    assert len({one.name for one in frozen()}) == len(frozen())
    assert len({one.text for one in frozen()}) == len(frozen())


def test_pieces_are_the_file() -> None:
    pieces = made(SUM).pieces
    text = "".join(piece.text for piece in pieces)
    assert pieces_of(text) == pieces
    named = {piece.name: piece.part for piece in pieces}
    assert named["f_kernel"] is Part.KERNEL
    assert named["f"] is Part.FUNCTION
    assert named[RUNTIME] is Part.SHARED
    assert text.startswith("import ")


def test_the_same_text_is_the_same() -> None:
    assert changes(entry(), outcome_of(SUM, asks_proof=True)) == ()
    assert changes(entry(WRONG), outcome_of(WRONG, asks_proof=True)) == ()


def test_a_kernel_that_is_not_valid_is_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(kernel: TileKernel) -> list[Complaint]:
        return [Complaint(kernel.name, None, "odd")]

    monkeypatch.setattr(asking, "complaints", odd)
    now = outcome_of(SUM, asks_proof=False)
    assert (now.kind, now.why) == (Kind.BROKEN, "no valid kernel: f: odd")


def test_a_changed_kernel_is_shown_by_its_lines() -> None:
    pieces = tuple(
        replace(piece, text=piece.text.replace("pid * 4", "pid * 5")) for piece in made(SUM).pieces
    )
    (change,) = changes(entry(), replace(made(SUM), pieces=pieces))
    assert (change.aspect, change.name) == (Aspect.KERNELS, "f_kernel")
    lines = change.lines()
    assert "-    x_start = pid * 4" in lines
    assert "+    x_start = pid * 5" in lines


def test_a_plan_and_a_shared_function_are_told_apart() -> None:
    pieces = tuple(
        replace(piece, text=piece.text + "# more\n") if piece.name in ("f", RUNTIME) else piece
        for piece in made(SUM).pieces
    )
    found = aspects(entry(), replace(made(SUM), pieces=pieces))
    assert found == [Aspect.FUNCTIONS, Aspect.SHARED]


def test_pieces_in_another_order() -> None:
    found = changes(entry(), replace(made(SUM), pieces=made(SUM).pieces[::-1]))
    assert (Aspect.SHARED, "their order") in [(change.aspect, change.name) for change in found]


def test_a_refusal_has_its_place_and_the_numbers_of_its_example() -> None:
    (message,) = made(RACES).messages
    assert (message.code, message.place.split("+")[0]) == ("DT203", "4:1")
    assert "at x = 1, y = 2" in message.words
    assert message.numbers[:2] == ("1", "2")


def test_words_are_told_apart_from_facts() -> None:
    (message,) = made(WRONG).messages
    other_words = replace(message, words=message.words + " indeed")
    assert aspects(entry(WRONG), replace(made(WRONG), messages=(other_words,))) == [Aspect.WORDS]
    other_facts = replace(message, place="9:9+1")
    assert aspects(entry(WRONG), replace(made(WRONG), messages=(other_facts,))) == [Aspect.FACTS]
    facts_only = Compared()
    facts_only.add(entry(WRONG), replace(made(WRONG), messages=(other_words,)), facts_only=True)
    assert facts_only.is_same


def test_emitted_is_not_refused() -> None:
    assert aspects(entry(), made(WRONG)) == [Aspect.ENDING]
    assert aspects(entry(WRONG), made(SUM)) == [Aspect.ENDING]


def test_a_verdict_that_changed() -> None:
    assert len(made(SUM).verdicts) == 7
    worse = tuple(line.replace("proved", "unknown") for line in made(SUM).verdicts)
    assert aspects(entry(), replace(made(SUM), verdicts=worse)) == [Aspect.VERDICTS]
    late = tuple(line.replace("proved", "undecided") for line in made(SUM).verdicts)
    assert aspects(entry(), replace(made(SUM), verdicts=late)) == []


def test_what_is_undecided_is_not_compared_unless_it_is_much() -> None:
    late = Outcome(Kind.UNDECIDED, why="DT208")
    assert aspects(entry(), late) == []
    compared = Compared()
    for _ in range(2):
        compared.add(entry(), late)
    assert compared.is_same
    compared.add(entry(), late)
    assert not compared.is_same
    assert "too much is undecided" in list(told(compared, 3))[-1]


def test_an_exception_is_a_difference() -> None:
    assert aspects(entry(), Outcome(Kind.BROKEN, why="KeyError: 'x'")) == [Aspect.BROKEN]


def test_one_change_of_many_texts_is_told_once() -> None:
    compared = Compared()
    pieces = tuple(
        replace(piece, text=piece.text + "# more\n") if piece.name == RUNTIME else piece
        for piece in made(SUM).pieces
    )
    for name in ("one", "two", "three"):
        compared.add(replace(entry(), name=name), replace(made(SUM), pieces=pieces))
    lines = list(told(compared, 3))
    assert lines[0] == "shared functions: 3 texts, 1 distinct change"
    assert lines[2] == f"  {RUNTIME}, in one, three, two"
    assert lines[-1] == "not the same, in more than words: 3 of 3 texts"


@pytest.mark.long
def test_the_command_compares_and_freezes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.xz"
    (message,) = made(WRONG).messages
    other = replace(made(WRONG), messages=(Message("DT999", *_rest(message)),))
    write_record([replace(entry(), name="a"), Entry("b", WRONG, False, other)], record)
    base = ["--record", str(record), "--workers", "1"]
    assert main([*base, "--only", "a"]) == 0
    assert main(base) == 1
    told_lines = capsys.readouterr().out
    assert "codes, places and numbers of messages: 1 text, 1 distinct change" in told_lines
    assert "-DT999 2:15+1" in told_lines
    assert "+DT120 2:15+1" in told_lines
    assert main([*base, "--freeze"]) == 0
    assert "1 of 2 entries changed" in capsys.readouterr().out
    assert main(base) == 0


def _rest(message: Message) -> tuple[str, tuple[str, ...], str]:
    return message.place, message.numbers, message.words


@pytest.mark.long
def test_shards_are_all_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.xz"
    write_record([Entry(str(n), f"{WRONG}# {n}\n", False, made(WRONG)) for n in range(3)], record)
    base = ["--record", str(record), "--workers", "1"]
    assert [main([*base, "--shard", f"{n}/2"]) for n in (1, 2)] == [0, 0]
    out = capsys.readouterr().out
    assert "the same: 2 texts" in out
    assert "the same: 1 text\n" in out
    with pytest.raises(SystemExit):
        main([*base, "--shard", "3/2"])


@pytest.mark.long
def test_an_interruption_ends_it_soon() -> None:
    """As Ctrl-C does: it says how much was not compared."""
    frozen()
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.same", "--workers", "1"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": python_path(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with ended(started) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("comparing "), first
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, out
    assert "texts were not compared" in out


def ends_the_process(job: int) -> int:
    if job == 2:
        os._exit(1)
    return job


@pytest.mark.long
def test_a_process_that_dies_takes_nothing_else_with_it() -> None:
    assert dict(worked(ends_the_process, [1, 2, 3], 1)) == {1: 1, 2: None, 3: 3}


def hangs(job: int) -> int:
    while job == 2:
        pass
    return job


@pytest.mark.long
def test_a_job_that_hangs_is_ended() -> None:
    assert dict(worked(hangs, [1, 2], 1, seconds=0.5)) == {1: 1, 2: None}


@pytest.mark.parametrize("source", SOURCES)
def test_a_seed_makes_one_text(source: str) -> None:
    assert candidate(source, 3) == candidate(source, 3)
