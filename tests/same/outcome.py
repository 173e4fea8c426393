"""Defines the outcome of the compiler on one text, as plain data that is kept and compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The ways in which the compiler ends."""

    EMITTED = "emitted"
    REFUSED = "refused"
    UNDECIDED = "undecided"  # a limit of work was reached: nothing is compared
    BROKEN = "broken"  # an exception that no user should see, or a process that died


class Part(StrEnum):
    """The part of an emitted file to which a piece of text belongs."""

    KERNEL = "kernels"
    FUNCTION = "plans and functions"
    SHARED = "shared functions"


@dataclass(frozen=True, slots=True)
class Message:
    """A diagnostic, with its facts apart from its words, so that a new wording can be seen.

    The facts are the code, the place as `line:column`, and the numbers in the notes, which contain
    the smallest example of a refusal.
    """

    code: str
    place: str
    numbers: tuple[str, ...]
    words: str

    @property
    def facts(self) -> str:
        """Return everything except the words, as one line."""
        return " ".join((self.code, self.place or "-", *self.numbers))


@dataclass(frozen=True, slots=True)
class Piece:
    """A function, or another stretch of an emitted file, with the name that it defines."""

    part: Part
    name: str
    text: str

    @property
    def digest(self) -> str:
        """Return a short name of the text."""
        return digest_of(self.text)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a text: the messages, the pieces of the file, and the verdicts.

    `directives` has the directives of the file that change something. `verdicts` has a line for
    each layer of each function, and is empty if no proof was asked for; `reasons` say why layers
    are not proved. `why` says which limit was reached, or which exception was raised.
    """

    kind: Kind
    messages: tuple[Message, ...] = ()
    pieces: tuple[Piece, ...] = ()
    directives: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    why: str = ""
    # If the text differs from the frozen one, this has each call whose result differs, the frozen
    # result, and the result now. It is not kept: see launch_record.py.
    launches: tuple[tuple[str, str, str], ...] = field(default=(), compare=False)
    # The processor's time for this text, which is never kept.
    seconds: float = field(default=0.0, compare=False)

    def pieces_of(self, part: Part) -> list[Piece]:
        """Return the pieces of one part of the file."""
        return [piece for piece in self.pieces if piece.part is part]


@dataclass(frozen=True, slots=True)
class Entry:
    """A text whose outcome is kept, under a name that says where it comes from."""

    name: str
    text: str
    asks_proof: bool
    outcome: Outcome


def digest_of(text: str) -> str:
    """Return the beginning of a hash of the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def as_data(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as JSON, with only the digests of its pieces."""
    data: dict[str, Any] = {
        "kind": outcome.kind.value,
        "messages": [[m.code, m.place, list(m.numbers), m.words] for m in outcome.messages],
        "pieces": [[piece.part.value, piece.name, piece.digest] for piece in outcome.pieces],
        "directives": list(outcome.directives),
        "verdicts": list(outcome.verdicts),
        "reasons": list(outcome.reasons),
        "why": outcome.why,
    }
    return {key: value for key, value in data.items() if value}


def of_data(data: Mapping[str, Any], texts: Mapping[str, str]) -> Outcome:
    """Read an outcome from JSON, with the texts of pieces by their digests."""
    return Outcome(
        Kind(data["kind"]),
        tuple(
            Message(code, place, tuple(numbers), words)
            for code, place, numbers, words in data.get("messages", ())
        ),
        tuple(
            Piece(Part(part), name, texts[digest]) for part, name, digest in data.get("pieces", ())
        ),
        tuple(data.get("directives", ())),
        tuple(data.get("verdicts", ())),
        tuple(data.get("reasons", ())),
        data.get("why", ""),
    )
