"""Files of results of parts of the rows become one, or are refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.gpu.merged import Apart, best, merged
from benchmarks.gpu.results import Broken, Ceilings, HostTime, Results, read, write
from benchmarks.gpu.rows import rows
from tests.benchmarks.made_up import results, row, timed

# Of the table, the last row first; and one that it does not have.
NAMES = [one.name for one in rows()][::-1]
OTHER = row("attention 4 f32", timed("attention", 3.0, ours=True))
BROKEN = Broken("sum 4 f32", "a", "", "it crashed")


def part(names: list[str], median: float = 1.0) -> Results:
    """A file with these rows, all of one text."""
    return results(*(row(name, timed("softmax", median, ours=True)) for name in names))


def refused(a: Results, b: Results) -> str:
    with pytest.raises(Apart) as error:
        merged({"a.json": a, "b.json": b})
    return str(error.value)


def test_rows_are_in_the_order_of_the_table() -> None:
    first, second, third = part(NAMES[::2]), part(NAMES[1::2]), results(OTHER)
    found = merged({"a": third, "b": second, "c": first})
    assert [one.name for one in found.rows] == [*NAMES[::-1], OTHER.name]
    assert merged({"b": first}).rows == first.rows[::-1]


def test_everything_is_there_once() -> None:
    one = replace(
        part(NAMES[:2]),
        command="run a",
        date="2026-01-02T03:04:05+00:00",
        missing=("dyt", "tvd"),
        absent={"liger": "it is not installed"},
        broken=(BROKEN,),
    )
    other = replace(
        part(NAMES[1:3]),
        command="run b",
        date="2026-01-02T03:04:04+00:00",
        missing=("tvd", "sum"),
        absent={"helion": "it is too old", "liger": "it is not installed"},
        broken=(BROKEN, replace(BROKEN, candidate="b")),
    )
    other = replace(other, texts=(*other.texts, replace(other.texts[0], text_hash="another")))
    found = merged({"a": one, "b": other, "c": one})
    assert [row.name for row in found.rows] == NAMES[:3][::-1]
    assert (found.command, found.date) == ("run a\nrun b", one.date)
    assert found.texts == other.texts
    assert found.missing == ("dyt", "tvd", "sum")
    assert found.absent == {"liger": "it is not installed", "helion": "it is too old"}
    assert found.broken == other.broken
    assert found.machine == one.machine


def test_of_ceilings_the_best_is_taken() -> None:
    one = Ceilings(4e12, {"f16": 7e14, "tf32": 3e14}, 0.003)
    other = Ceilings(3e12, {"f16": 8e14, "bf16": 6e14}, 0.002)
    expected = Ceilings(4e12, {"f16": 8e14, "tf32": 3e14, "bf16": 6e14}, 0.002)
    assert best([one, other, Ceilings()]) == best([other, one]) == expected
    assert merged({"a": replace(results(), ceilings=one)}).ceilings == one


def test_the_host_times_of_a_kernel_are_of_one_file() -> None:
    def times(kernel: str, median: float) -> tuple[HostTime, ...]:
        return tuple(HostTime(kernel, name, median=median) for name in ("ours", "torch"))

    one = replace(results(), host=times("softmax", 1.0))
    other = replace(results(), host=(*times("softmax", 2.0), *times("dyt", 3.0)))
    found = merged({"a": one, "b": other})
    assert found.host == (*times("dyt", 3.0), *times("softmax", 1.0))  # as in the table


def test_other_machines_and_other_times_are_refused() -> None:
    a = part(NAMES[:2])
    machine = {"device": "another", "torch": "2.11"}
    elsewhere = replace(part(NAMES[2:]), machine=machine)
    assert refused(a, elsewhere) == (
        "a.json and b.json were measured elsewhere: device, torch differ"
    )
    again = refused(a, part(NAMES[1:], median=1.01))
    assert again == f"a.json and b.json differ in the row '{NAMES[1]}': take it from one"
    doubted = replace(a.texts[0], layers={"stores": "unknown"})
    assert "differ in the text 'softmax'" in refused(a, replace(part(NAMES[2:]), texts=(doubted,)))
    lacks = [replace(part([]), absent={"liger": why}) for why in ("not installed", "too old")]
    assert "lack liger for other reasons: 'not installed' and 'too old'" in refused(*lacks)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, c = (str(tmp_path / f"{name}.json") for name in "abc")
    write(Path(a), part(NAMES[:2]))
    write(Path(b), part(NAMES[2:5]))
    assert main(["merge", a, b, "-o", c]) == 0
    assert f"5 of {len(NAMES)} rows" in " ".join(capsys.readouterr().out.split())
    assert read(Path(c)) == merged({a: part(NAMES[:2]), b: part(NAMES[2:5])})
    assert main(["report", c]) == 0
    write(Path(b), part(NAMES[1:5], median=2.0))
    before = Path(c).read_text()
    capsys.readouterr()
    assert main(["merge", a, b, "-o", c]) == 1
    assert "differ in the row" in capsys.readouterr().err
    assert Path(c).read_text() == before
    assert main(["merge", "-o", c]) == 2


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "{}", '{"texts": [], "rows": 3}'])
@pytest.mark.parametrize("command", ["report", "compare", "merge", "scheduled"])
def test_another_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, text: str
) -> None:
    path, output = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text(text)
    more = {"compare": [str(path)], "merge": ["-o", str(output)]}.get(command, [])
    assert main([command, str(path), *more]) == 1
    assert f"{path} is no file of results" in capsys.readouterr().err
    assert not output.exists()
