"""`python -m tests.verify.mutation.squares`: mistakes in square tiles, and what is said of each."""

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

from dtpoly.diagnostics import DtpolyError
from dtpoly.writing import write_atomically
from tests.verify.mutation.recording import versions
from tests.verify.mutation.square_edits import CLASSES
from tests.verify.mutation.square_judging import is_proved_unchanged, judged_square, mistakes
from tests.verify.mutation.square_subjects import ROOT, texts

RESULTS = ROOT / "benchmarks" / "results" / "verify_squares.json"


def rows_of(path: Path) -> list[dict[str, object]]:
    """Return the rows that earlier runs have kept; a last line that was cut off is none."""
    found: list[dict[str, object]] = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def numbers_of(subject: str, classes: list[str], word: str) -> list[int]:
    """Return the numbers of mistakes of these classes, in lines of the text that have a word."""
    return [
        number
        for number, (name, line, _, text) in enumerate(mistakes(subject))
        if name in classes and word in text.splitlines()[line - 1]
    ]


def counted(rows: list[dict[str, object]]) -> dict[str, object]:
    """Return what a record says of rows: counts by class and by subject, and each finding."""

    def counts(key: str) -> dict[str, dict[str, int]]:
        found: dict[str, Counter[str]] = {}
        for row in rows:
            found.setdefault(str(row[key]), Counter())[_outcome(row)] += 1
        return {name: dict(sorted(one.items())) for name, one in sorted(found.items())}

    findings = [row for row in rows if _outcome(row) == "proved and wrong"]
    return {
        "versions": versions(),
        "mistakes": len(rows),
        "by class": counts("word"),
        "by subject": counts("subject"),
        "findings": findings,
    }


def _outcome(row: dict[str, object]) -> str:
    if row["verdict"] != "proved":
        return str(row["verdict"])
    ran = str(row["ran"])
    if ran == "right":
        return "proved and right"
    return "proved and wrong"


def main() -> None:
    """Judge mistakes until the time is over, and write the record."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.mutation.squares")
    parser.add_argument("--subjects", nargs="*", default=list(texts()))
    parser.add_argument("--classes", nargs="*", default=list(CLASSES), choices=list(CLASSES))
    parser.add_argument("--naming", default="", help="only mistakes whose lines have this word")
    parser.add_argument("--each", type=int, default=1000, help="mistakes of each subject")
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long")
    parser.add_argument("--rows", type=Path, default=ROOT / "build" / "squares.jsonl")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    if os.environ.get("TRITON_INTERPRET") != "1":  # Triton was imported, and has looked at it
        words = [sys.executable, "-m", "tests.verify.mutation.squares", *sys.argv[1:]]
        os.execve(sys.executable, words, {**os.environ, "TRITON_INTERPRET": "1"})
    end = time.monotonic() + chosen.seconds
    chosen.rows.parent.mkdir(parents=True, exist_ok=True)
    rows = rows_of(chosen.rows)
    known = {(row["subject"], row["number"]) for row in rows}
    for subject in chosen.subjects:
        if time.monotonic() > end:
            break
        try:
            every = numbers_of(subject, chosen.classes, chosen.naming)
        except DtpolyError as error:
            print(f"{subject}: {type(error).__name__}", file=sys.stderr)
            continue
        if not is_proved_unchanged(subject):
            print(f"{subject}: left out, since it is not proved as it is", file=sys.stderr)
            continue
        random.Random(subject).shuffle(every)
        for number in every[: chosen.each]:
            if (subject, number) in known:
                continue
            if time.monotonic() > end:
                break
            row = judged_square(subject, number).row()
            rows.append(row)
            with chosen.rows.open("a") as kept:
                kept.write(f"{json.dumps(row)}\n")
            if _outcome(row) not in ("refuted", "unknown"):
                print(json.dumps(row), flush=True)
    record = counted(rows)
    write_atomically(chosen.output, f"{json.dumps(record, indent=1)}\n".encode())
    print(json.dumps(record["by class"], indent=1))
    sys.exit(1 if record["findings"] else 0)


if __name__ == "__main__":
    main()
