"""Runs the kernels of a legal schedule and compares the results with the reference.

It imports torch and triton.
"""

import importlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from math import isfinite
from typing import Any

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import Checked
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.saving import tell_error
from dtpoly.cli.summary import shown_shape
from dtpoly.generate import code_of
from dtpoly.render.text_table import table
from dtpoly.runtime.execute import RunRefused, RunRequest, execute
from dtpoly.runtime.tolerance import ComparedResult

VERSION = 1  # of the JSON document
HEAD = ("Func", "shape", "dtype", "first elements", "of the reference", "largest error", "allowed")
ELEMENTS = 3  # so many are shown
PLACES = {"cpu": "on the CPU, in Triton's interpreter", "cuda": "on the GPU"}

errors: Any = importlib.import_module("triton.errors")


def run(
    checked: Checked, sizes: dict[str, int], seed: int, dtype: DType, device: str, as_json: bool
) -> int:
    """Run each function and print its distance from the reference; return 1 if one is too far."""
    assert checked.verdict is not None
    state = checked.verdict.scheduled
    question = RunRequest(sizes, seed, dtype, device)
    try:
        found = execute(state, code_of(state), question, checked.primitives)
    except RunRefused as error:
        tell_error(f"it does not run at these sizes: {error}")
        return 1
    except torch.OutOfMemoryError:
        tell_error("the GPU has not enough memory for these sizes")
        return 1
    except OSError as error:
        tell_error(f"Triton cannot use its files, which TRITON_CACHE_DIR names: {error}")
        return 1
    except errors.TritonError as error:
        # Which code Triton compiles and launches depends on the sizes and on the GPU.
        tell_error(f"Triton cannot run it at these sizes: {error}")
        if device == "cuda":
            hint = "dtpoly compile with --target and --size says which directive to change"
            print(f"  = hint: {hint}", file=sys.stderr)
        return 1
    if as_json:
        document = {"version": VERSION, **asdict(question), "funcs": [_data(one) for one in found]}
        write(json.dumps(document, indent=2) + "\n")
    else:
        colour = wants_colour(sys.stdout, os.environ)
        write(table(HEAD, [_row(one) for one in found], terminal_width(sys.stdout), colour=colour))
        write("".join(f"{line}\n" for line in _sentences(found, device)))
    return 1 if any(one.wrong for one in found) else 0


def _row(one: ComparedResult) -> tuple[str, ...]:
    shape = shown_shape(one.labels, one.result.shape)
    first = ", ".join(_short(n) for n in _elements(one.result))
    expected = ", ".join(_short(n) for n in _elements(one.expected))
    allowed = f"{one.allowed:.2g}"
    return one.func, shape, str(one.dtype), first, expected, f"{one.error:.2g}", allowed


def _sentences(found: tuple[ComparedResult, ...], device: str) -> Iterator[str]:
    for one in found:
        if one.wrong:
            where = f"{one.func}[{', '.join(map(str, one.first or ()))}]"
            count = f"{one.wrong} of {one.result.numel()} elements"
            yield f"{one.func} is wrong: {count} differ by more than rounding, first {where}"
        else:
            off = f"within {one.error:.2g}" if one.error else "equal to it"
            yield f"{one.func} agrees with the reference: {off}, {PLACES[device]}"


def _elements(tensor: torch.Tensor) -> list[int | float | bool]:
    return [element.item() for element in tensor.flatten()[:ELEMENTS]]


def _short(number: int | float | bool) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number).lower()


def _data(one: ComparedResult) -> dict[str, object]:
    """Return a result as data for JSON, which has no word for nan and inf: they become strings."""
    return {
        "name": one.func,
        "labels": list(one.labels),
        "shape": list(one.result.shape),
        "dtype": str(one.dtype),
        "elements": [_speakable(n) for n in _elements(one.result)],
        "reference": [_speakable(n) for n in _elements(one.expected)],
        "error": _speakable(one.error),
        "allowed": one.allowed,
        "wrong": one.wrong,
        "first_wrong": None if one.first is None else list(one.first),
    }


def _speakable(number: int | float | bool) -> object:
    return str(number) if isinstance(number, float) and not isfinite(number) else number
