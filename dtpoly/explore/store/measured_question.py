"""Defines the question that a store answers: an algorithm at given sizes on a device."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """The part of a question that the user chooses.

    `program` is the text of the algorithm alone.
    """

    name: str
    program: str
    func: str  # which is computed
    sizes: Mapping[str, int]
    dtype: str = "f32"  # of inputs that declare none
    seed: int = 0  # of the inputs

    @property
    def program_hash(self) -> str:
        """Return the hash that tells one algorithm from another."""
        return sha256(self.program.encode()).hexdigest()

    @property
    def key(self) -> str:
        """Return a hash that is equal for equal requests; the name of the file does not count."""
        return _hash([self.program_hash, self.func, dict(self.sizes), self.dtype, self.seed])


@dataclass(frozen=True, slots=True)
class SetupFacts:
    """The name of a device, and the versions of the software there."""

    device: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """An algorithm at sizes on a device; only times of one question may be compared."""

    asked: UserQuestion
    facts: SetupFacts

    @property
    def key(self) -> str:
        """Return a hash that is equal for equal questions; the name of the file does not count."""
        facts = self.facts
        return _hash([self.asked.key, facts.device, dict(facts.versions)])


def with_plugins_named(program: str, plugins: Iterable[str]) -> str:
    """The text of an algorithm with a comment for each plugin, which has a hash of the file.

    A directive means what its plugin says. So results under other plugins are of another question.
    Raises OSError where a file cannot be read.
    """
    digests = sorted(sha256(Path(one).read_bytes()).hexdigest() for one in plugins)
    return program + "".join(f"# with a plugin: {digest}\n" for digest in dict.fromkeys(digests))


def _hash(parts: object) -> str:
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
