"""Descriptions of mistakes in a space of schedules: in its choices, constraints and points."""

from dtpoly.catalogue.catalogue_entry import CatalogueEntry

SPACES: dict[str, CatalogueEntry] = {
    # Spaces of schedules.
    "DT240": CatalogueEntry(
        "a file is a space of schedules",
        "It leaves something to choose, so there is no one schedule to check or to compile. "
        "dtpoly space says what there is to choose; most commands take one point with --point.",
    ),
    "DT241": CatalogueEntry(
        "an option stands twice in a choice",
        "List each number or name once, also where ranges have it.",
    ),
    "DT242": CatalogueEntry(
        "a choice has too many options",
        "Let the range take larger steps, by a factor or by a summand.",
    ),
    "DT243": CatalogueEntry(
        "a range has no end, or nothing in it",
        "A range goes from a number to a larger one, by a step that is added, +1 without any, or "
        "by a factor of at least 2.",
    ),
    "DT244": CatalogueEntry(
        "a choice stands where none can",
        "A choice is a whole argument or stands after ':' or '/'. To choose among labels that a "
        "number is about, list alternatives.",
    ),
    "DT245": CatalogueEntry(
        "a constraint mentions no number of a directive",
        "Name a directive, and the label that the number is about: block.x, f.block.x, or "
        "num_warps alone.",
    ),
    "DT246": CatalogueEntry(
        "a constraint mentions a number that several Funcs have",
        "Put the Func in front: f.tensorize.y.",
    ),
    "DT247": CatalogueEntry(
        "a constraint is no comparison of whole numbers",
        "Compare numbers of directives, their sums, products and remainders, and join comparisons "
        "by 'and' and 'or'.",
    ),
    "DT248": CatalogueEntry(
        "a schedule file is about more than one algorithm's schedule",
        "A file that names its algorithm holds directives, choices and constraints. Declarations "
        "and definitions are in the file that it names, of which there is one.",
    ),
    "DT250": CatalogueEntry(
        "a line is no point of a space",
        "A point says for each choice what is taken, as dtpoly space --list prints it.",
    ),
    "DT251": CatalogueEntry(
        "a point does not keep a constraint",
        "Take a point that the constraint allows, or change the constraint.",
    ),
    "DT252": CatalogueEntry(
        "the points of a space cannot be counted",
        "Constraints that join many choices at once make counting as long as listing. Constrain "
        "fewer numbers at a time. A space may have at most 100 choices: split one with more.",
    ),
    "DT253": CatalogueEntry(
        "a file of tuned schedules is not as it should be",
        "It has one list of alternatives, each a schedule in which nothing is open, below a line "
        "that says what it is for: # for NVIDIA H200, f32: x = 4096, y = 1024..4096.",
    ),
    "DT257": CatalogueEntry(
        "an exploration cannot be run, or its results not read",
        "In Python, `space.explore` and `dtpoly.results` say by this what `dtpoly explore` and "
        "`dtpoly report` say in a line: a strategy, a file of results, a device or a package is "
        "not there.",
    ),
}
