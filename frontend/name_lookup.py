"""Looks names up while a file is resolved, and remembers which names were used."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from dtpoly.algorithm.expressions import Bound
from dtpoly.algorithm.program import LabelRange
from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.source import Span
from dtpoly.suggest import near

from . import name_messages as messages
from .diagnostic_limit import MAX_ERRORS
from .symbols import LABELS, TENSORS, Symbol, SymbolKind
from .syntax import Indexed, NameSyntax, Node

# The kinds of declared names that could be meant where a name of one kind is expected.
_COMPATIBLE = {
    SymbolKind.FUNC: (SymbolKind.FUNC,),
    SymbolKind.IN: TENSORS,
    SymbolKind.SIN: (SymbolKind.SIN, *LABELS),
    SymbolKind.VAR: LABELS,
    SymbolKind.RVAR: LABELS,
}


@dataclass
class Names:
    """The declared names of one file, with the notes that are taken while it is resolved.

    This is the only mutable object of the frontend. It lives for one call of `resolve`.
    """

    table: dict[str, Symbol]
    words: Mapping[str, Sequence[Span]]  # the places of each word outside declarations
    unread: frozenset[str]  # names in statements that could not be read
    ranks: dict[str, tuple[int, Span]] = field(default_factory=dict[str, tuple[int, Span]])
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])
    unknown: set[str] = field(default_factory=set[str])
    # Declared names that are misspelt where they are used.
    meant: set[str] = field(default_factory=set[str])
    statement: Span | None = None
    # The ranges of labels.
    ranges: dict[str, LabelRange] = field(default_factory=dict[str, LabelRange])
    # The axes of inputs that are packed, and whether their numbers have a sign.
    packed: dict[str, tuple[int, bool]] = field(default_factory=dict[str, tuple[int, bool]])
    # What the elements of inputs are promised to be below.
    promised: dict[str, Bound] = field(default_factory=dict[str, Bound])

    def tell(self, diagnostic: Diagnostic) -> None:
        """Report a mistake."""
        self.found.append(diagnostic)

    def symbol(self, name: str) -> Symbol | None:
        """Return the symbol of this name, or None if the name is not declared."""
        return self.table.get(name)

    def find(self, name: NameSyntax, expected: SymbolKind) -> Symbol | None:
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

    def meant_by(self, word: str, expected: SymbolKind) -> str | None:
        """Return the declared name that a misspelt one probably means, or None."""
        if len(self.unknown) > MAX_ERRORS:
            return None  # the search takes long, and the suggestion would not be shown
        known = [s.name for s in self.table.values() if s.kind in _COMPATIBLE[expected]]
        meant = near(word, known)
        if meant is None or (len(word) < 3 and meant.lower() != word.lower()):
            # One or two letters are alike by chance, so a declaration is probably missing.
            return None
        self.meant.add(meant)
        return meant

    def is_used(self, symbol: Symbol) -> bool:
        """True if a name stands outside its declaration, or if a misspelt name may mean it."""
        return symbol.name in self.words or symbol.name in self.meant

    def is_rank(self, name: str, indices: Sequence[Node]) -> bool:
        """True if a tensor can have as many dimensions as there are indices.

        Report it otherwise.
        """
        if len(indices) > messages.MAX_RANK:
            self.tell(messages.too_many_dimensions(name, indices[messages.MAX_RANK]))
            return False
        return True

    def has_rank(self, symbol: Symbol, node: Indexed) -> bool:
        """True if a tensor is read with as many indices as at its first read.

        Report it otherwise.
        """
        rank = len(node.indices)
        known = self.ranks.setdefault(symbol.name, (rank, node.span))
        if known[0] == rank:
            return self.is_rank(symbol.name, node.indices)
        self.tell(messages.wrong_rank(symbol, node, rank, *known))
        return False
