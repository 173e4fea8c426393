"""Keeps results in a file that survives a killed process and a full disk.

It is an SQLite file with a rollback journal, and a write counts only when it is on the disk. So it
is one file that may be copied, also on file systems without shared memory. `schema` defines its
tables.
"""

import json
import os
import socket
import sqlite3
import time
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dtpoly.explore.store import rows as rows_of
from dtpoly.explore.store.database import opened, told, transaction, well_formed
from dtpoly.explore.store.measured_question import Question
from dtpoly.explore.store.results import (
    EmittedText,
    Fit,
    Outcome,
    Proven,
    RefusedPoint,
    Result,
    TextProof,
)
from dtpoly.frozen import dataclass
from dtpoly.system.processes import is_alive

# The reason why a time does not count yet if its proof is not finished.
WAITING = "its proof was not awaited"


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A result with its point."""

    point: str
    parameters: Mapping[str, str]
    result: Result


@dataclass(frozen=True, slots=True)
class ResultStore:
    """An open file. Each method is one transaction, and raises StoreError if it fails."""

    path: Path
    connection: sqlite3.Connection

    def close(self) -> None:
        """Close the file; nothing is lost if it is not closed."""
        self.connection.close()

    def ask(self, question: Question) -> int:
        """Return the number of a question in this file; a new question is added."""
        asked, facts = question.asked, question.facts
        values = (
            *(question.key, asked.name, asked.program, asked.program_hash, asked.func),
            *(_json(asked.sizes), asked.dtype, asked.seed, facts.device, _json(facts.versions)),
            _now(),
        )
        with self._writing() as write:
            write.execute(
                "insert into question (key, name, program, program_hash, func, sizes, dtype, seed,"
                f" device, versions, began) values ({_marks(values)}) on conflict do nothing",
                values,
            )
            found = write.execute("select id from question where key = ?", (question.key,))
            return int(found.fetchone()[0])

    def questions(self) -> dict[int, Question]:
        """Return all questions of the file, by their numbers."""
        rows = self._read(
            "select id, name, program, func, sizes, dtype, seed, device, versions from question"
            " order by id"
        )
        with well_formed(self.path):
            return {row[0]: rows_of.question(row[1:]) for row in rows}

    def keep(
        self, question: int, point: str, parameters: Mapping[str, str], result: Result
    ) -> bool:
        """Keep the result of a point; return false, and change nothing, if it has a result already.

        Only a result that waits for its proof is replaced later.
        """
        values = (
            *(question, point, _json(parameters), result.outcome, result.kind, result.reason),
            *(result.median, result.quarter, result.three_quarters, result.samples),
            *(_number(result.error), _number(result.allowed), _json(result.baselines)),
            *(result.text_hash, result.seconds, _now()),
        )
        with self._writing() as write:
            write.execute(
                "delete from result where question = ? and point = ? and outcome = ? and kind = ?",
                (question, point, Outcome.UNPROVED, WAITING),
            )
            done = write.execute(
                f"insert into result values ({_marks(values)}) on conflict do nothing", values
            )
            write.execute("delete from claim where question = ? and point = ?", (question, point))
            return done.rowcount == 1

    def result(self, question: int, point: str) -> Result | None:
        """Return the result of a point, or None."""
        found = self._rows("question = ? and point = ?", (question, point))
        return next((row.result for row in found), None)

    def results(self, question: int) -> list[StoredRow]:
        """Return all results, in the order in which they were found."""
        return list(self._rows("question = ?", (question,)))

    def forget(self, question: int, outcomes: Iterable[Outcome]) -> int:
        """Drop results with these outcomes, so that they are measured again.

        Return their number.
        """
        with self._writing() as write:
            return sum(
                write.execute(
                    "delete from result where question = ? and outcome = ?", (question, outcome)
                ).rowcount
                for outcome in outcomes
            )

    def emit(self, program: str, made: Mapping[str, EmittedText | RefusedPoint]) -> None:
        """Keep emitted texts of an algorithm, by point; later ones replace earlier ones."""
        with self._writing() as write:
            write.executemany(
                "insert or replace into emitted values (?, ?, ?, ?, ?, ?)",
                [(program, point, *_columns(one)) for point, one in made.items()],
            )

    def emitted(self, program: str, point: str) -> EmittedText | RefusedPoint | None:
        """Return the emitted text of a point, or why there is none.

        None if it was not emitted yet.
        """
        rows = self._read(
            "select text, call, kind, reason from emitted where program_hash = ? and point = ?",
            (program, point),
        )
        with well_formed(self.path):
            return next(map(rows_of.emitted, rows), None)

    def distrust(self, program: str) -> None:
        """Drop all refusals of an algorithm: one of them was wrong, and others depend on it."""
        with self._writing() as write:
            write.execute("delete from emitted where program_hash = ? and text is null", (program,))
            write.execute(
                "delete from result where outcome = ?"
                " and question in (select id from question where program_hash = ?)",
                (Outcome.REFUSED, program),
            )

    def fit(self, key: str, target: str, point: str) -> Fit | None:
        """Return the compiler's answer about a point, or None."""
        rows = self._read(
            "select kind, reason, kernels from compiled"
            " where asked = ? and target = ? and point = ?",
            (key, target, point),
        )
        with well_formed(self.path):
            return next(map(rows_of.fit, rows), None)

    def keep_fit(self, key: str, target: str, point: str, fit: Fit) -> None:
        """Keep a compiler's answer; later answers replace earlier ones."""
        values = (key, target, point, fit.kind, fit.reason, json.dumps([*fit.kernels]))
        with self._writing() as write:
            write.execute(f"insert or replace into compiled values ({_marks(values)})", values)

    def proof(self, program: str, text: str) -> TextProof | None:
        """Return the proof of a text, by its hash, or None if none was tried."""
        rows = self._read(
            "select verdict, layer, reason from proof where program_hash = ? and text_hash = ?",
            (program, text),
        )
        with well_formed(self.path):
            return next(map(rows_of.proof, rows), None)

    def keep_proof(self, program: str, text: str, proof: TextProof) -> None:
        """Keep a proof; later ones replace earlier ones."""
        values = (program, text, proof.verdict, proof.layer, proof.reason)
        with self._writing() as write:
            write.execute(f"insert or replace into proof values ({_marks(values)})", values)

    def forget_proofs(self, program: str) -> None:
        """Drop the proofs that failed, so that they are tried again."""
        with self._writing() as write:
            write.execute(
                "delete from proof where program_hash = ? and verdict != ?",
                (program, Proven.PROVED),
            )

    def predict(self, key: str, expected: Mapping[str, float]) -> None:
        """Keep the predicted times of points, in milliseconds; later ones replace earlier ones."""
        with self._writing() as write:
            write.executemany(
                "insert or replace into prediction values (?, ?, ?)",
                [(key, point, median) for point, median in expected.items()],
            )

    def predictions(self, key: str) -> dict[str, float]:
        """Return all predicted times of points, by the key of the request."""
        rows = self._read("select point, median from prediction where asked = ?", (key,))
        with well_formed(self.path):
            return {rows_of.text(point): rows_of.finite(median) for point, median in rows}

    def expected(self, key: str, point: str) -> float | None:
        """Return the predicted time of a point, or None."""
        rows = self._read(
            "select median from prediction where asked = ? and point = ?", (key, point)
        )
        with well_formed(self.path):
            return next((rows_of.finite(median) for (median,) in rows), None)

    def claim(self, question: int, point: str, seconds: float) -> bool:
        """Claim a point for this process.

        Return false if another one measures or has measured it.
        """
        now = time.time()
        mine = (socket.gethostname(), os.getpid())
        with self._writing() as write:
            if write.execute(
                "select 1 from result where question = ? and point = ?", (question, point)
            ).fetchone():
                return False
            held = write.execute(
                "select host, process, until from claim where question = ? and point = ?",
                (question, point),
            ).fetchone()
            if held is not None and held[:2] != mine and held[2] > now and _is_alive(*held[:2]):
                return False
            write.execute(
                "insert or replace into claim values (?, ?, ?, ?, ?)",
                (question, point, *mine, now + seconds),
            )
            return True

    def release(self, question: int) -> None:
        """Release all claims of this process."""
        mine = (socket.gethostname(), os.getpid())
        with self._writing() as write:
            write.execute(
                "delete from claim where question = ? and host = ? and process = ?",
                (question, *mine),
            )

    def begin(self, question: int, command: str, strategy: str, seed: int, points: int) -> int:
        """Note that an exploration begins, and return its number."""
        # SQLite's largest number stands for all larger ones.
        values = (question, command, strategy, seed, min(points, 2**63 - 1), _now())
        with self._writing() as write:
            done = write.execute(
                "insert into run (question, command, strategy, seed, points, began)"
                f" values ({_marks(values)})",
                values,
            )
            return int(done.lastrowid or 0)

    def end(self, run: int) -> None:
        """Note that an exploration is over."""
        with self._writing() as write:
            write.execute("update run set ended = ? where id = ?", (_now(), run))

    def points(self, question: int) -> int:
        """Return how many points the space had that was explored last."""
        rows = self._read(
            "select points from run where question = ? order by id desc limit 1", (question,)
        )
        with well_formed(self.path):
            return max(rows_of.whole(rows[0][0]), 0) if rows else 0

    def _rows(self, where: str, values: tuple[object, ...]) -> Iterator[StoredRow]:
        rows = self._read(
            "select point, parameters, outcome, kind, reason, median, quarter, three_quarters,"
            " samples, error, allowed, baselines, text_hash, seconds from result"
            f" where {where} order by rowid",
            values,
        )
        with well_formed(self.path):
            found = [rows_of.result(row) for row in rows]
        yield from (StoredRow(*one) for one in found)

    def _read(self, question: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with told(self.path):
            return self.connection.execute(question, values).fetchall()

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with told(self.path), transaction(self.connection):
            yield self.connection


def open_store(path: Path, is_new: bool = True) -> ResultStore:
    """Open the file at a path; it is created if it does not exist, unless `is_new` is false."""
    return ResultStore(path, opened(path, is_new))


def _columns(one: EmittedText | RefusedPoint) -> tuple[bytes | None, str, str, str]:
    if isinstance(one, RefusedPoint):
        return None, "{}", one.kind, one.reason
    return zlib.compress(one.text.encode()), _json(asdict(one.call)), "", ""


def _is_alive(host: str, process: int) -> bool:
    """True if a process may still run; nothing is known about other hosts."""
    if host != socket.gethostname():
        return True
    return is_alive(process)


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value))


def _number(value: float | None) -> float | None:
    """Replace NaN by infinity, because SQLite would store NaN as a missing value."""
    return None if value is None else value if value == value else float("inf")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
