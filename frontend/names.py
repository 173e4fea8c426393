"""Looks names up while a file is resolved, and remembers which names were used."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.source import Span
from dtpoly.suggest import near

from . import messages
from .limit import MAX_ERRORS
from .symbols import LABELS, TENSORS, Kind, Symbol
from .syntax import Indexed, Name, Node

# Which declared names could be meant where one of a kind is expected.
_COMPATIBLE = {
    Kind.FUNC: (Kind.FUNC,),
    Kind.IN: TENSORS,
    Kind.SIN: (Kind.SIN, *LABELS),
    Kind.VAR: LABELS,
    Kind.RVAR: LABELS,
}


@dataclass
class Names:
    """The declared names of one file and the notes taken while it is resolved.

    The one mutable thing in the frontend: it lives for one call of resolve.
    """

    table: dict[str, Symbol]
    words: Mapping[str, Sequence[Span]]  # where each word stands, but for declarations
    unread: frozenset[str]  # names in statements that could not be read
    ranks: dict[str, tuple[int, Span]] = field(default_factory=dict[str, tuple[int, Span]])
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])
    unknown: set[str] = field(default_factory=set[str])
    meant: set[str] = field(default_factory=set[str])  # declared, but misspelt where used
    statement: Span | None = None

    def tell(self, diagnostic: Diagnostic) -> None:
        """Report a mistake."""
        self.found.append(diagnostic)

    def symbol(self, name: str) -> Symbol | None:
        """The symbol of that name, if it is declared."""
        return self.table.get(name)

    def find(self, name: Name, expected: Kind) -> Symbol | None:
        """Return the symbol of a name; a name that is not declared is reported once in a file."""
        symbol = self.table.get(name.text)
        if symbol is not None:
            return symbol
        if name.text not in self.unknown and name.text not in self.unread:
            self.unknown.add(name.text)
            meant = self.meant_by(name.text, expected)
            spans = self.words.get(name.text, (name.span,))
            self.tell(messages.unknown_name(name, expected, meant, self.statement, spans))
        return None

    def meant_by(self, word: str, expected: Kind) -> str | None:
        """The declared name that a misspelt one means, if one is near enough."""
        if len(self.unknown) > MAX_ERRORS:
            return None  # it takes long, and nobody is told
        known = [s.name for s in self.table.values() if s.kind in _COMPATIBLE[expected]]
        meant = near(word, known)
        if meant is None or (len(word) < 3 and meant.lower() != word.lower()):
            return None  # one or two letters are alike by chance; a declaration is missing
        self.meant.add(meant)
        return meant

    def is_used(self, symbol: Symbol) -> bool:
        """Whether a name stands somewhere else than in its declaration, or was meant to."""
        return symbol.name in self.words or symbol.name in self.meant

    def is_rank(self, name: str, indices: Sequence[Node]) -> bool:
        """Whether a tensor can have so many dimensions."""
        if len(indices) > messages.MAX_RANK:
            self.tell(messages.too_many_dimensions(name, indices[messages.MAX_RANK]))
            return False
        return True

    def has_rank(self, symbol: Symbol, node: Indexed) -> bool:
        """Whether a tensor is read with as many indices as it has; the first read decides."""
        rank = len(node.indices)
        known = self.ranks.setdefault(symbol.name, (rank, node.span))
        if known[0] == rank:
            return self.is_rank(symbol.name, node.indices)
        self.tell(messages.wrong_rank(symbol, node, rank, *known))
        return False
