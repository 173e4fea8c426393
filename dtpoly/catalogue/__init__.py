"""Every diagnostic code: what kind of mistake it is, and how to mend it."""

from dtpoly.catalogue.algorithm_mistakes import ALGORITHM
from dtpoly.catalogue.catalogue_entry import CatalogueEntry
from dtpoly.catalogue.code import CODE
from dtpoly.catalogue.gradient_mistakes import GRADIENTS
from dtpoly.catalogue.plugin_mistakes import PLUGINS
from dtpoly.catalogue.schedule_mistakes import SCHEDULE
from dtpoly.catalogue.setup_mistakes import SETUP
from dtpoly.catalogue.space_mistakes import SPACES

CATALOGUE: dict[str, CatalogueEntry] = {
    **ALGORITHM,
    **SCHEDULE,
    **PLUGINS,
    **SPACES,
    **GRADIENTS,
    **CODE,
    **SETUP,
}


def descriptions() -> dict[str, str]:
    """Title and remedy of every code in one text."""
    return {
        code: f"{entry.title[0].upper()}{entry.title[1:]}. {entry.remedy}"
        for code, entry in CATALOGUE.items()
    }
