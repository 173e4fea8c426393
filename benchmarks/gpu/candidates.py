"""Lists everything that computes a row: emitted texts of a folder, and peers."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.gpu.inputs import IN_PLACE, Inputs, in_place, tensors
from benchmarks.gpu.loaded_texts import fill, loaded
from benchmarks.gpu.manifest import Manifest, Prepared
from benchmarks.gpu.peer import Outcome, Peer, Run, several
from benchmarks.gpu.peers import peers
from benchmarks.gpu.results import OURS, PEER
from benchmarks.gpu.rows import Row, tag

# What the names of peers begin with that are written by hand in Triton.
BY_HAND = "Triton"


@dataclass(frozen=True, slots=True)
class Made:
    """Something that runs: into given tensors for what is checked, else into new ones."""

    run: Run
    # Ours write into tensors full of NaN: what they leave out is seen.
    out: tuple[Tensor, ...] = ()
    # Results in place change what the next run reads, so each check begins with these values.
    restored: tuple[tuple[Tensor, Tensor], ...] = ()

    def begin(self) -> None:
        """Make everything as it is before a first run."""
        for one in self.out:
            fill(one)
        for one, value in self.restored:
            one.copy_(value)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One that takes part in a row: ours by its text, or a peer."""

    name: str
    make: Callable[[Row, Inputs], Made]
    make_for_host: Callable[[Row, Inputs], Run]
    text: Prepared | None = None

    @property
    def kind(self) -> str:
        """Whose it is."""
        return PEER if self.text is None else OURS

    @property
    def can_be_ahead(self) -> bool:
        """Return whether other processes can compile it into Triton's cache before it is run."""
        if self.text is None:
            return self.name.startswith(BY_HAND)
        return bool(self.text.file)

    @property
    def text_hash(self) -> str:
        """Return the hash that tells our texts from each other; a peer has none."""
        return "" if self.text is None else self.text.text_hash


def candidates(
    row: Row, folder: Path, manifest: Manifest, kinds: Mapping[str, str]
) -> list[Candidate]:
    """Ours, their variants, and all peers of these kinds."""
    return [*ours(row, folder, manifest), *map(_peer, peers(row.kernel, kinds))]


def ours(row: Row, folder: Path, manifest: Manifest) -> Iterator[Candidate]:
    """Yield the texts of a row's files, then variants of them or of its kernel.

    Those that could not be prepared take part as failures.
    """
    own = {text.name: text for text in manifest.texts}
    texts = [own[file] for file in row.files if file in own]
    texts += [text for text in manifest.texts if text.is_variant and is_of(row, text)]
    for text in texts:
        load = partial(_function, folder, text)
        yield Candidate(text.name, partial(_ours, load), partial(_ours_for_host, load), text)


def is_of(row: Row, text: Prepared) -> bool:
    """Return whether a variant is one of this row: of one of its files, or of its kernel."""
    is_here = text.tag in ("", tag(row.case))
    return is_here and (text.of in row.files or text.of == row.kernel)


def _peer(peer: Peer) -> Candidate:
    return Candidate(peer.name, partial(_of_peer, peer), peer.make)


def _of_peer(peer: Peer, row: Row, given: Inputs) -> Made:
    """Return what a peer runs, with copies of its own of what it changes in place."""
    own = in_place(row, given)
    return Made(peer.make(row, own), restored=_pairs(row, given, own))


def _pairs(row: Row, given: Inputs, own: Inputs) -> tuple[tuple[Tensor, Tensor], ...]:
    """Return what a candidate may change, and what it was before."""
    before, after = tensors(given), tensors(own)
    return tuple((after[name], before[name]) for name in IN_PLACE.get(row.kernel, ()))


@dataclass(frozen=True, slots=True)
class Function:
    """The function of a text, and the names of its inputs."""

    run: Callable[..., Outcome]
    parameters: Sequence[str]


def _function(folder: Path, text: Prepared) -> Function:
    if text.failure:
        raise ValueError(f"it could not be prepared: {text.failure}")
    module = loaded(folder / text.file, text.text_hash)
    return Function(getattr(module, text.func), text.parameters)


def arguments(parameters: Sequence[str], given: Inputs) -> list[Tensor | float]:
    """Order the arguments of a function: by names if all are known, else by position."""
    if set(parameters) <= given.keys():
        return [given[name] for name in parameters]
    if len(parameters) == len(given):
        return [*given.values()]
    raise TypeError(f"it takes {', '.join(parameters)}; there are {', '.join(given)}")


def _ours(load: Callable[[], Function], row: Row, given: Inputs) -> Made:
    function = load()
    if row.kernel in IN_PLACE:
        own = in_place(row, given)
        run = partial(function.run, *arguments(function.parameters, own))
        return Made(run, restored=_pairs(row, given, own))
    passed = arguments(function.parameters, given)
    made = function.run(*passed)
    out = tuple(one for one in several(made) if one is not None)
    return Made(partial(function.run, *passed, out=made), out)


def _ours_for_host(load: Callable[[], Function], _: Row, given: Inputs) -> Run:
    """Return a call as a user makes it, without a tensor for the result."""
    function = load()
    return partial(function.run, *arguments(function.parameters, given))


def fresh() -> None:
    """Each row begins with nothing compiled and no memory kept by those before it."""
    if "torch._dynamo" in sys.modules:  # else there is nothing to forget, and it is slow to load
        torch.compiler.reset()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
