"""Descriptions of what stands in the way of a gradient."""

from dtpoly.catalogue.catalogue_entry import CatalogueEntry

GRADIENTS: dict[str, CatalogueEntry] = {
    "DT270": CatalogueEntry(
        "a gradient of whole numbers, or by them",
        "A derivative says how much a float changes if another one does. Whole numbers and "
        "conditions have none: name another result, or another input.",
    ),
    "DT271": CatalogueEntry(
        "a result does not depend on an input, or in steps alone",
        "The gradient would be 0 everywhere. That is so, too, where an input is only compared, "
        "rounded to a whole number or used as an index. Leave it out.",
    ),
    "DT272": CatalogueEntry(
        "no rule for the gradient of a part",
        "The gradient would flow through something that it cannot be derived of. The message says "
        "what, and how to write it otherwise, or which inputs to leave out.",
    ),
    "DT273": CatalogueEntry(
        "a gradient needs values that are replaced",
        "The algorithm writes its result into an input, and the gradient reads what was there "
        "before. Leave out 'into', or keep a copy under another name.",
    ),
    "DT274": CatalogueEntry(
        "a gradient does not show the size of a label",
        "In the algorithm the size of the label follows from sums of labels that the gradient does "
        "not read. It could be another size there, so nothing is derived. Fix the size, or read a "
        "tensor at the label alone.",
    ),
}
