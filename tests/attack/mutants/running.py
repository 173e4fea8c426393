"""Runs a text that may be wrong with calls, in a process of its own."""

import faulthandler
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.inference import types_of
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.ring.ring_memory import OutsideError, RaceError, RingMemory
from dtpoly.ring.watching import watched
from dtpoly.verify.plan.callers import typed
from dtpoly.verify.triton.said import said_in
from tests.attack.mutants.calls import MOST_CALLS, Call, calls, strided
from tests.attack.mutants.subjects import Subject
from tests.codegen.cases import SlowError
from tests.codegen.interpreter import interpreted
from tests.codegen.running import Wrong, compared, empty, within

triton: Any = import_module("triton")
interpreter: Any = import_module("triton.runtime.interpreter")
# The limits of a call of a subject, so that a busy machine does not make its mutants slow, of a
# call of a mutant, and of all calls of a mutant.
QUICK_S, CALL_S, CHILD_S = 1.0, 4, 40
# These limits count the processor's time, so that they mean the same on a busy machine; the next
# one does not.
WAIT_S = 150.0
MOST_SLOW = 1
MEMORY = 12 * 2**30
PROGRAMS = 3
WRONG = (Wrong, OutsideError, RaceError)


class World(StrEnum):
    """The interpreter that runs a call."""

    USERS = "users"  # as it is, with its memory watched
    MENDED = "mended"  # its own faults are mended: products of bf16, rounding, reductions


AROUND: dict[World, Callable[[RingMemory], AbstractContextManager[None]]] = {
    World.USERS: watched,
    World.MENDED: interpreted,
}


class Shown(StrEnum):
    """The outcome of running a text."""

    RIGHT = "right"
    WRONG = "wrong"
    RAISES = "raises"
    LACKING = "lacking"  # this version's interpreter has not what Triton's compiler has
    REFUSES = "refuses"  # the file itself says that it does not take the call
    CRASHES = "crashes"  # the process ended
    SLOW = "slow"


@dataclass(frozen=True)
class Ran:
    """The outcome of running, the reason, and the call."""

    shown: Shown
    why: str = ""
    call: str = ""


Prepared = tuple[Call, World]


@cache
def prepared(subject: Subject) -> tuple[Prepared, ...]:
    """Return calls for which the subject's text is right.

    Each comes with the interpreter that shows this.
    """
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "original.py"
        path.write_text(subject.text)
        module = _imported(path)
        return tuple(islice(_right(subject, module), MOST_CALLS))


def _right(subject: Subject, module: ModuleType) -> Any:
    slow = 0
    for call in calls(subject):
        for world in World:
            began = time.thread_time()
            ran = _called(subject, subject.text, module, call, world)
            is_quick = time.thread_time() - began < QUICK_S
            if ran.shown is Shown.RIGHT and is_quick:
                yield call, world
            slow += not is_quick
            if slow > MOST_SLOW:
                return
            if ran.shown is Shown.RIGHT:
                break


def _imported(path: Path) -> ModuleType:
    """Import a file as a module, as Python imports it."""
    name = f"attacked_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _limited(seconds: float) -> Generator[None]:
    """Raise SlowError inside when this much of the processor's time is over."""

    def ring(*_: object) -> None:
        raise SlowError(f"over {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _called(subject: Subject, text: str, module: ModuleType, call: Call, world: World) -> Ran:
    """Return the outcome of one call."""
    told = f"{call.told} ({world})"
    try:
        with _limited(CALL_S), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if subject.is_handwritten:
                _launched(subject, text, module, call, world)
            else:
                compared(
                    *(module, subject.program, subject.funcs, call.inputs, call.sizes),
                    layout=call.out,
                    known=call.known,
                    around=AROUND[world],
                )
    except SlowError:
        return Ran(Shown.SLOW, f"over {CALL_S} s", told)
    except Exception as error:  # a text with a mistake may raise anything
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        if "'InterpreterBuilder' object has no attribute" in str(first):
            return Ran(Shown.LACKING, f"{type(first).__name__}: {first}"[:400], told)
        if _is_refusal(module, first):
            return Ran(Shown.REFUSES, f"{type(first).__name__}: {first}"[:400], told)
        shown = Shown.WRONG if isinstance(first, WRONG) else Shown.RAISES
        return Ran(shown, f"{type(first).__name__}: {first}"[:400], told)
    return Ran(Shown.RIGHT, "", told)


def _is_refusal(module: ModuleType, error: BaseException) -> bool:
    """Return whether a statement of the runtime raises this to refuse a call."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    if last is None or last.filename != module.__file__:
        return False
    is_kernel = isinstance(vars(module).get(last.name), interpreter.InterpretedFunction)
    return not is_kernel and (last.line or "").startswith(("raise ", "assert "))


def _launched(subject: Subject, text: str, module: ModuleType, call: Call, world: World) -> None:
    """Launch hand-written kernels as their file says. Raises Wrong."""
    lines = [one for one in said_in(text) if one.word == "verify"]
    original = " ".join(one.text for one in said_in(subject.text) if one.word == "verify")
    words = original.replace("(", " ").replace(")", " ").replace(",", " ").split()
    types = types_of(typed(subject.program))
    memory = RingMemory()
    given: dict[str, Any] = {}
    for name, value in call.inputs.items():
        given[name] = value
        if isinstance(value, torch.Tensor):
            memory.add(value, is_output=False)
    outputs = [func.name for func in subject.program.funcs if func.name in words]
    for name in outputs:
        shape = call.known.reference[name].shape
        blank = empty(*shape, dtype=TORCH_DTYPE[types[name].dtype or DType.F32])
        given[name] = strided(name, blank, original)
        memory.add(given[name], is_output=True)
    labels = {label: range(size) for label, size in call.sizes.items()}
    tools = {"cdiv": triton.cdiv, "next_power_of_2": triton.next_power_of_2, "any": PROGRAMS}
    with AROUND[world](memory):
        for one in lines:
            eval(one.text, {**vars(module), **tools, **labels, **given})
    for name in outputs:
        within(given[name], call.known.reference[name], call.known.allowed[name], name)


def ran(subject: Subject, data: bytes, text: str) -> Ran:
    """Run a text, and return the outcome of the first call that is not right, if there is one."""
    given = prepared(subject)
    if not given:
        return Ran(Shown.SLOW, "there is no call for which the subject is right")
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _child(subject, data, text, given, theirs)
    os.close(theirs)
    found = b""
    while select.select([ours], [], [], WAIT_S)[0]:
        part = os.read(ours, 65536)
        if not part:
            break
        found += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(ours)
    _, status = os.waitpid(child, 0)
    if not found:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU):
            return Ran(Shown.SLOW, f"over {CHILD_S} s")
        return Ran(Shown.CRASHES, f"the process ended with {status}")
    shown, why, call = json.loads(found)
    return Ran(Shown(shown), why, call)


def _child(
    subject: Subject, data: bytes, text: str, given: Sequence[Prepared], theirs: int
) -> None:
    """Run a text and report the outcome; this process then ends."""
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CHILD_S, CHILD_S))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.disable()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        worst = _all_called(subject, data, text, given)
        os.write(theirs, json.dumps([worst.shown, worst.why, worst.call]).encode())
    finally:
        os._exit(0)


def _all_called(subject: Subject, data: bytes, text: str, given: Sequence[Prepared]) -> Ran:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.py"
        path.write_bytes(data)
        try:
            with _limited(CALL_S), mock.patch.object(sys, "dont_write_bytecode", True):
                module = _imported(path)
        except (Exception, SlowError, SystemExit) as error:
            return Ran(Shown.RAISES, f"when it is loaded: {type(error).__name__}: {error}"[:400])
        slow: list[Ran] = []
        for call, world in given:
            found = _called(subject, text, module, call, world)
            if found.shown is Shown.SLOW:
                slow.append(found)
            if found.shown not in (Shown.RIGHT, Shown.SLOW) or len(slow) > MOST_SLOW:
                return found
    return slow[0] if slow else Ran(Shown.RIGHT)
