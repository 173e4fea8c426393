"""Compares what kernels stored with the table, and says where entries differ.

`python -m tests.semantics.judged FOLDER` prints them, and enters the run into the record.
"""

from __future__ import annotations

import base64
import json
import sys
from collections import defaultdict
from pathlib import Path

from dtpoly.frozen import dataclass
from dtpoly.verify.semantics.record import FILE, CheckedEntries, Record, digest
from tests.semantics.expected import agrees, expected
from tests.semantics.in_types import Number, unpacked
from tests.semantics.prepared import Asked, given, groups, out_type
from tests.semantics.recorded import written

LEAST_NORMAL = 2.0**-126  # of f32, and of bf16


@dataclass(frozen=True, slots=True)
class Differs:
    """An entry that differs from the table: its numbers, and what came out; or an error."""

    asked: Asked
    of: tuple[Number, ...]
    wanted: Number
    found: Number | str


def is_flushed(asked: Asked, operands: tuple[Number, ...], found: Number, of: str) -> bool:
    """True if the value results from taking numbers near 0 for 0, as GPUs may do."""
    wanted = expected(asked.name, asked.operands, tuple(map(_flushed, operands)))
    return wanted is not None and agrees(asked.name, _flushed(wanted), found, of)


def _flushed(value: Number) -> Number:
    return 0.0 if isinstance(value, float) and abs(value) < LEAST_NORMAL else value


def judged(
    answers: dict[str, list[str]],
) -> tuple[list[Differs], dict[str, set[str]], int]:
    """The entries that differ, the compared ones by operation, and how many numbers they had."""
    differ: list[Differs] = []
    looked: dict[str, set[str]] = defaultdict(set)
    count = 0
    for number, (types, every) in enumerate(groups()):
        columns = given(types)
        for asked, answer in zip(every, answers.get(f"g{number}", []), strict=False):
            if answer.startswith("!"):
                differ.append(Differs(asked, (), 0, answer))
                continue
            of = out_type(asked)
            first: Differs | None = None
            known = 0
            for lane, value in enumerate(unpacked(base64.b64decode(answer), of)):
                row = [*(column[lane] if column else 0 for column in columns), 0][:2]
                numbers = (*row, 0)[: len(types)]
                inputs = (*numbers, *(0,) * (2 - len(numbers)), int(lane % 2 == 0))
                operands = tuple(inputs[place] for place in asked.places)
                wanted = expected(asked.name, asked.operands, operands)
                if wanted is None:
                    continue
                known += 1
                if first is None and not (
                    agrees(asked.name, wanted, value, of) or is_flushed(asked, operands, value, of)
                ):
                    first = Differs(asked, operands, wanted, value)
            count += known
            if first is not None:
                differ.append(first)
            if known:
                looked[asked.name].add(" ".join(asked.operands))
    return differ, looked, count


def main(folder: Path, *, enters: bool = True) -> None:
    """Judge a folder."""
    said = json.loads((folder / "answers.json").read_text())
    differ, looked, count = judged(said["answers"])
    for one in differ:
        print(one.asked.name, *one.asked.operands, one.of, "wanted", one.wanted, "found", one.found)
    total = sum(map(len, looked.values()))
    print(f"{total} entries, {count} numbers, {len(differ)} entries differ")
    if not enters:
        return
    record: Record = json.loads(FILE.read_text())
    checked: dict[str, CheckedEntries] = {}
    for name, seen in looked.items():
        # An entry that does not compile there cannot compute a wrong number.
        values = [one for one in differ if one.asked.name == name and one.of]
        other = sorted({" ".join(one.asked.operands) for one in values})
        checked[name] = {"digest": digest(name), "other": other, "count": len(seen)}
    record[f"{said['way'].split()[0]} {said['triton']}"] = checked
    FILE.write_text(written(record))


if __name__ == "__main__":
    main(Path(sys.argv[1]), enters="--only-look" not in sys.argv)
