"""Every diagnostic code: what kind of mistake it is, and how to mend it."""

from dtpoly.catalogue.algorithm import ALGORITHM
from dtpoly.catalogue.code import CODE
from dtpoly.catalogue.entry import Entry
from dtpoly.catalogue.plugins import PLUGINS
from dtpoly.catalogue.schedule import SCHEDULE
from dtpoly.catalogue.spaces import SPACES

CATALOGUE: dict[str, Entry] = {
    **ALGORITHM,
    **SCHEDULE,
    **PLUGINS,
    **SPACES,
    **CODE,
}


def descriptions() -> dict[str, str]:
    """Title and remedy of every code in one text."""
    return {
        code: f"{entry.title[0].upper()}{entry.title[1:]}. {entry.remedy}"
        for code, entry in CATALOGUE.items()
    }
