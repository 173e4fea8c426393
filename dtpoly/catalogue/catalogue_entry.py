"""The description of one kind of mistake, which holds whatever the input is."""

from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """The title of a kind of mistake, and one to three sentences: what it means, the way out."""

    title: str
    remedy: str
