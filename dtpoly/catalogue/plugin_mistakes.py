"""Descriptions of mistakes in users' own primitives, and in schedules that are said in Python."""

from dtpoly.catalogue.catalogue_entry import CatalogueEntry

PLUGINS: dict[str, CatalogueEntry] = {
    # Primitives of one's own.
    "DT220": CatalogueEntry(
        "a plugin cannot be read",
        "Check the path and your right to read it. A package that is installed needs no path: its "
        "entry points in the group dtpoly.primitives are found.",
    ),
    "DT221": CatalogueEntry(
        "a plugin is not Python",
        "Mend the place that is shown; a plugin is a Python file like any other.",
    ),
    "DT222": CatalogueEntry(
        "a plugin fails while it is loaded",
        "A plugin is run before any .dt file is read. Mend the line that is shown, or install what "
        "it imports in the environment of dtpoly.",
    ),
    "DT223": CatalogueEntry(
        "a plugin defines no primitive",
        "Define a class that inherits dtpoly.primitives.Primitive, in the file itself and with a "
        "name that does not start with '_'. An entry point names such a class, or a tuple of them.",
    ),
    "DT224": CatalogueEntry(
        "two primitives have one name",
        "Choose another name. What a directive means is the same in every file, so a primitive "
        "that is there cannot be replaced.",
    ),
    "DT225": CatalogueEntry(
        "a class is no whole primitive",
        "A primitive is a frozen dataclass with a name, an apply, and one field for each of its "
        "parameters.",
    ),
    "DT226": CatalogueEntry(
        "a primitive raises an exception",
        "The place is the line of the plugin, the note the directive. What a primitive cannot do, "
        "it refuses: with self.mistake in check, with self.refusal in apply.",
    ),
    "DT227": CatalogueEntry(
        "a primitive returns no schedule tree, no launch or no valid kernel",
        "Return the State that apply was given, with other kernels. Loops, lanes, grids and their "
        "order may change; each statement stays in its kernel, and there once. Return from edit "
        "the Launch that it was given, with other fields; from rewrite a tuple of steps.",
    ),
    "DT228": CatalogueEntry(
        "a primitive refuses a directive",
        "The rule is that of the primitive, which says it in its own words; see its documentation.",
    ),
    "DT229": CatalogueEntry(
        "something else than a directive is added to a schedule",
        "Put declarations and definitions into the text that is parsed first; an algorithm stays "
        "what it is while it is scheduled.",
    ),
}
