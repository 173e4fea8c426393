"""A folder of cases that one machine makes and another one checks: one small file for each case.

A file has a line of JSON, with the case and the names, types and shapes of arrays, and then the
numbers of these arrays. All of it is compressed. A case has a number, and the file is named for it.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from tests.attack.case import Case, case_of
from tests.attack.numbers import Array

# This variable tells workers which folder to use.
FOLDER = "ATTACK_FOLDER"
END = ".case"


def path_of(folder: Path, number: int) -> Path:
    """Return the file of a case."""
    return folder / f"{number:08}{END}"


def numbers_in(folder: Path) -> list[int]:
    """Return the numbers of all cases of a folder."""
    return sorted(int(one.name.removesuffix(END)) for one in folder.glob(f"[0-9]*{END}"))


def save(path: Path, case: Case, arrays: Mapping[str, Array]) -> None:
    """Write a case; its file is written completely or not at all."""
    # Most arrays of slack have only zeros, and then they are not written.
    there = {name: np.ascontiguousarray(one) for name, one in arrays.items() if np.any(one)}
    empty = {name: one for name, one in arrays.items() if name not in there}
    head = {
        "case": asdict(case),
        "arrays": [[name, one.dtype.str, one.shape] for name, one in there.items()],
        "zeros": [[name, one.dtype.str, one.shape] for name, one in empty.items()],
    }
    data = json.dumps(head).encode() + b"\n" + b"".join(one.tobytes() for one in there.values())
    being_written = path.with_suffix(".part")
    being_written.write_bytes(lzma.compress(data))
    os.replace(being_written, path)


def loaded(path: Path) -> tuple[Case, dict[str, Array]]:
    """Read a case that was saved."""
    line, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    head = json.loads(line)
    found: dict[str, Array] = {}
    for name, dtype, shape in head["zeros"]:
        found[name] = np.zeros(shape, dtype)
    at = 0
    for name, dtype, shape in head["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        found[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
        at += count * np.dtype(dtype).itemsize
    return case_of(head["case"]), found
