"""Makes a case ready to run: its inputs, what should come out, our texts and the peers."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu.loaded_texts import fill, loaded
from benchmarks.gpu.manifest import Prepared
from benchmarks.gpu.results import OURS, PEER
from benchmarks.unseen.asked import results
from benchmarks.unseen.cases import Case, program_of
from benchmarks.unseen.expected import Expected, expected, parts
from benchmarks.unseen.fillings import Inputs, inputs_of, sizes_of
from benchmarks.unseen.kinds import KINDS
from benchmarks.unseen.records import PreparedCase
from benchmarks.unseen.rivals import Outcome, rivals
from dtpoly.algorithm.label_sizes import size_rules, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.runtime.tolerance import within
from dtpoly.timing.failures import WrongResult

# A peer rounds each operation to the type of the tensors: such a share of the largest element.
SHARE = {torch.float16: 0.02, torch.bfloat16: 0.06}
OTHER_SHARE, TIMES = 1e-4, 8


@dataclass(frozen=True, slots=True)
class Runnable:
    """Something that runs, and what it does before its first run; its results are checked."""

    name: str
    kind: str
    run: Callable[[], Outcome]
    begin: Callable[[], None]
    text_hash: str = ""
    is_alike: bool = True


@dataclass(frozen=True, slots=True)
class Ready:
    """A case on a device."""

    case: Case
    program: Program
    results: tuple[str, ...]
    sizes: dict[str, int]
    inputs: Inputs
    device: str

    @property
    def written(self) -> list[str]:
        """Return the inputs that a call writes."""
        return [name for name in self.inputs if name in self.program.into]

    def own(self) -> Inputs:
        """Return inputs of which those that a call writes are copies."""
        return {
            name: value.clone() if isinstance(value, Tensor) and name in self.written else value
            for name, value in self.inputs.items()
        }

    def restore(self, own: Inputs) -> None:
        """Write the first values into copies."""
        for name in self.written:
            value, copy = self.inputs[name], own[name]
            if isinstance(value, Tensor) and isinstance(copy, Tensor):
                copy.copy_(value)


def ready(case: Case, device: str, is_tiny: bool) -> Ready:
    """Return a case with its inputs."""
    program = program_of(case)
    sizes = sizes_of(case, program, is_tiny)
    inputs = inputs_of(case, program, sizes, device)
    return Ready(case, program, results(program), sizes, inputs, device)


def wanted(given: Ready) -> list[Mapping[str, Expected]]:
    """Return what parts of the results should be."""
    is_rough = given.case.drawn.precision == "tf32"
    words = (given.program, given.results)
    return [
        expected(*words, given.inputs, part, is_rough, given.case.dtype)
        for part in parts(*words, given.sizes)
    ]


def ours(
    given: Ready, made: PreparedCase, folder: Path
) -> Iterator[tuple[str, Callable[[], Runnable]]]:
    """Yield our texts, by name; each is loaded when it is called."""
    for choice in made.choices:
        yield choice.text.name, partial(_ours, given, choice.text, folder)


def peers(
    given: Ready, kinds: Sequence[str] = KINDS
) -> Iterator[tuple[str, Callable[[], Runnable]]]:
    """Yield the peers, by name."""
    own = given.own()
    for one in rivals(given.case, given.program, given.sizes, own, given.device, kinds):
        begin = partial(given.restore, own)
        made = Runnable(one.name, PEER, one.run, begin, is_alike=one.is_alike)
        yield one.name, partial(_same, made)


def _same(made: Runnable) -> Runnable:
    return made


def _ours(given: Ready, text: Prepared, folder: Path) -> Runnable:
    """Return what a text of ours runs: into tensors full of NaN, where it makes its results."""
    if text.failure:
        raise ValueError(f"it could not be prepared: {text.failure}")
    function = getattr(loaded(folder / text.file, text.text_hash), text.func)
    named = inspect.signature(function).parameters
    used = used_labels(given.program)
    passed = [r.label for r in size_rules(given.program) if r.may_be_passed and r.label in used]
    sizes = {label: given.sizes[label] for label in passed if label in named}
    own = given.own()
    run = partial(function, *own.values(), **sizes)
    if given.written:
        called = partial(_several, run)
        return Runnable(text.name, OURS, called, partial(given.restore, own), text.text_hash)
    made = run()
    tensors = _several(lambda: made)
    called = partial(_several, partial(run, out=made))
    return Runnable(text.name, OURS, called, partial(_spoil, tensors), text.text_hash)


def _several(run: Callable[[], Any]) -> Outcome:
    found: Tensor | tuple[Tensor, ...] = run()
    return (found,) if isinstance(found, Tensor) else tuple(found)


def _spoil(tensors: Sequence[Tensor]) -> None:
    """Fill tensors with what no right result has."""
    for one in tensors:
        fill(one)


def checked(given: Ready, one: Runnable, want: Sequence[Mapping[str, Expected]]) -> float:
    """Run it once and return how far it is off at most. Raises WrongResult."""
    one.begin()
    outcome = one.run()
    if not one.is_alike:
        return 0.0
    error = 0.0
    for found in want:
        for name, tensor in zip(given.results, outcome, strict=False):
            error = max(error, _compared(name, tensor, found[name], one.kind == PEER))
    return error


def _compared(name: str, tensor: Tensor, should: Expected, is_peer: bool) -> float:
    exact, rough, allowed = should.exact, should.rough, should.allowed
    result = should.part.of(tensor, should.labels)
    if result.shape != exact.shape:
        raise WrongResult(f"{name} has the shape {[*result.shape]} and not {[*exact.shape]}", 0.0)
    if is_peer and exact.dtype.is_floating_point:
        finite = exact[exact.isfinite()].abs()
        largest = float(finite.max()) if finite.numel() else 0.0
        allowed = TIMES * allowed + SHARE.get(tensor.dtype, OTHER_SHARE) * max(largest, 1.0)
    found = within(name, should.labels, result, exact, rough.to(exact.dtype), allowed)
    if found.wrong:
        where = found.first
        is_, should_be = result[where].item(), exact[where].item()
        why = (
            f"{name}{[*(where or ())]} is {is_:g} and not {should_be:g}; {found.wrong:,} are wrong"
        )
        raise WrongResult(why, found.error)
    return found.error


def apart(given: Ready, one: Runnable, outcome: Outcome, other: Outcome) -> None:
    """Compare the whole of our results with those of a peer, roughly. Raises WrongResult.

    A part may be right where something else is not, such as the last block of a label.
    """
    for name, mine, its in zip(given.results, outcome, other, strict=True):
        if not its.dtype.is_floating_point:
            continue
        finite = its.isfinite()
        largest = float(torch.where(finite, its, 0).abs().max()) if its.numel() else 0.0
        share = max(SHARE.get(its.dtype, OTHER_SHARE), 0.01)
        off = torch.where(finite, (mine.float() - its.float()).abs(), 0)
        # What is no number is larger than nothing: the comparison is the other way round.
        wrong = int((~(off <= share * max(largest, 1.0))).sum())
        if wrong:
            raise WrongResult(f"{name}: {wrong:,} elements are far from those of {one.name}", 0.0)
