"""Descriptions of what is wrong with an installation, or with its settings."""

from dtpoly.catalogue.catalogue_entry import CatalogueEntry

SETUP: dict[str, CatalogueEntry] = {
    "DT330": CatalogueEntry(
        "a package is not installed",
        "Kernels run with torch and triton (and with numpy on the CPU), which come with `pip "
        "install 'dtpoly[torch]'`. Checking, proving and writing kernels needs none of them.",
    ),
    "DT331": CatalogueEntry(
        "a settings file cannot be read",
        "dtpoly reads the nearest dtpoly.toml, or pyproject.toml with a table [tool.dtpoly]. Mend "
        "the file, or name another one in DTPOLY_SETTINGS; if that is empty, none is read.",
    ),
    "DT332": CatalogueEntry(
        "there is no such setting",
        "A setting has the long name of an option, without the dashes. It stands in the top table, "
        "for all commands with that option, or in the table of a command, for that one alone.",
    ),
    "DT333": CatalogueEntry(
        "a setting has a wrong value",
        "A setting takes what its option takes on the command line; an option without a value "
        "takes true or false, and one that may stand several times takes a list.",
    ),
}
