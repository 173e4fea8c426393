"""The page on performance says of each file what the kept results say, and names every file."""

from dataclasses import replace

from benchmarks.by_file import PAGE, bound, microseconds, of_files, told
from benchmarks.evaluation import MARK, MISSING, filled
from benchmarks.gpu.results import Ceilings, RowResult
from benchmarks.gpu.rows import FLUSHED, REPEATED, UNMEASURED, rows

CEILINGS = Ceilings(copy=1e12, products={"f16": 1e15}, launch=0.003)


def test_the_page_is_what_the_command_writes() -> None:
    text = PAGE.read_text()
    assert {found[1] for found in MARK.findall(text)} == told().keys()
    assert filled(text, told()) == text


def test_all_rows_of_the_table_are_there() -> None:
    assert MISSING not in of_files().values()
    measured = [row for row in rows() if row.family not in UNMEASURED]
    assert sum(part.count("\n| ") - 2 for part in of_files().values()) == len(measured)


def test_what_bounds_a_kernel() -> None:
    row = RowResult("f 1 f16", "f", "", "1", "f16", FLUSHED, "f", 10**9, 10**12, 0.0, 0.0, ())
    assert bound(row, CEILINGS) == "tensor cores"
    assert bound(replace(row, size=10**10), CEILINGS) == "memory"
    assert bound(replace(row, flops=0), CEILINGS) == "memory"
    assert bound(replace(row, way=REPEATED), CEILINGS) == "a launch"


def test_times_have_four_digits() -> None:
    assert [microseconds(one) for one in (0.0021189, 0.0737, 1.2345, 12.54112)] == [
        "2.119",
        "73.7",
        "1,234",
        "12,541",
    ]
