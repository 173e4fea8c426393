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
    "DT275": CatalogueEntry(
        "a word of an operator that trains means nothing",
        "An argument of dtpoly.differentiable or dtpoly.nn names a Func, an input, an operator or "
        "a way that there is not. The message lists what there is.",
    ),
    "DT276": CatalogueEntry(
        "a file of gradients does not fit the algorithm",
        "A file of backward= computes gradients d_X of inputs X. It reads inputs, results, what "
        "these are given (d_f), and Funcs that are kept. `dtpoly differentiate` writes such files.",
    ),
    "DT277": CatalogueEntry(
        "an operator that trains would overwrite what is still needed",
        "Gradients read what an operator was given, and a parameter is read again in the next "
        "step. Let the algorithm make new results, or pass what nobody else reads.",
    ),
    "DT278": CatalogueEntry(
        "an operator is called with other inputs than it has",
        "Inputs are passed in the order of their declarations or by name, sizes that no tensor "
        "shows by name. The message says what the operator takes.",
    ),
    "DT279": CatalogueEntry(
        "an operator cannot compute of these inputs",
        "Kernels are proved for inputs of the types that the file declares, with as many axes, "
        "and of sizes that agree. Convert the input, or declare another one.",
    ),
    "DT280": CatalogueEntry(
        "an input requires a gradient and would get none",
        "The operator was made with by=, and the input is not among these names. Detach it, if "
        "it is a constant, or name it.",
    ),
    "DT281": CatalogueEntry(
        "dtpoly.nn has no kernel for that",
        "Functions and modules of dtpoly.nn take the arguments of those of torch, but not all of "
        "what these can do. Take torch's own where the message says so.",
    ),
    "DT282": CatalogueEntry(
        "shapes do not fit a function of dtpoly.nn",
        "The message has the shapes that were given, and the hint says which ones are wanted.",
    ),
    "DT283": CatalogueEntry(
        "a class is out of range",
        "A target names a class that has no logit, so its loss would be that of no class at all. "
        "This is looked at on the CPU only: on a GPU the call would wait for it.",
    ),
    "DT284": CatalogueEntry(
        "a GPU is used in a process that was forked",
        "The driver of a GPU does not work in the copy of a process that has begun with it. Let "
        "torch.multiprocessing spawn processes, or call nothing on a GPU before they are forked.",
    ),
    "DT285": CatalogueEntry(
        "values that a gradient needs were changed",
        "An operator keeps inputs and results for its gradient. Where they are changed in place "
        "after the call, or where a gradient was computed in place already, it would be wrong. "
        "Change a copy.",
    ),
    "DT286": CatalogueEntry(
        "kernels that torch.compile cannot see into",
        "The form of an operator that Inductor sees has a step for each launch. Some launches are "
        "decided by what a tensor is like in each call, or hold several kernels: the operator "
        "itself does them, and torch.compile takes it as a whole.",
    ),
}
