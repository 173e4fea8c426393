"""The outcome of the compiler on one text: plain data, which is kept and compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """How it ended."""

    EMITTED = "emitted"
    REFUSED = "refused"
    UNDECIDED = "undecided"  # a limit of work was reached: nothing is compared
    BROKEN = "broken"  # an exception that no user should see, or a process that died


class Part(StrEnum):
    """Which part of an emitted file a piece of text belongs to."""

    KERNEL = "kernels"
    WRAPPER = "wrappers"
    SHARED = "shared functions"


@dataclass(frozen=True, slots=True)
class Message:
    """A diagnostic: its facts apart from its words, so that a change of wording is told apart.

    The facts are the code, the place as `line:column`, and the numbers of the notes, in which the
    smallest example of a refusal stands.
    """

    code: str
    place: str
    numbers: tuple[str, ...]
    words: str

    @property
    def facts(self) -> str:
        """All but the words, as a line."""
        return " ".join((self.code, self.place or "-", *self.numbers))


@dataclass(frozen=True, slots=True)
class Piece:
    """A function, or another stretch of an emitted file, with the name that it defines."""

    part: Part
    name: str
    text: str

    @property
    def digest(self) -> str:
        """A short name of the text."""
        return digest_of(self.text)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a text: what was said of it; the pieces of the file; what is proved of that.

    `directives` are those that the file has and that change something. `verdicts` has a line for
    each layer of each function, and is empty if nobody asked for a proof; `reasons` say why what is
    not proved is not. `why` says what was reached, or which exception was raised.
    """

    kind: Kind
    messages: tuple[Message, ...] = ()
    pieces: tuple[Piece, ...] = ()
    directives: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    why: str = ""
    # Of a text that is another one than was frozen: each call from which something else comes, what
    # came of it, and what comes now. This is not kept: see launch_record.py.
    launches: tuple[tuple[str, str, str], ...] = field(default=(), compare=False)
    # How long the processor worked for it: this is never kept.
    seconds: float = field(default=0.0, compare=False)

    def pieces_of(self, part: Part) -> list[Piece]:
        """What the file has of a part."""
        return [piece for piece in self.pieces if piece.part is part]


@dataclass(frozen=True, slots=True)
class Entry:
    """One text whose outcome is kept, by a name that says where it comes from."""

    name: str
    text: str
    asks_proof: bool
    outcome: Outcome


def digest_of(text: str) -> str:
    """The beginning of a hash of the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def as_data(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON has it; of its pieces the digests alone."""
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
    """The outcome that JSON says, with the texts of pieces by their digests."""
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
