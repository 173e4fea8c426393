"""Descriptions of mistakes in the directives of a schedule, and in the order that they make."""

from dtpoly.catalogue.catalogue_entry import CatalogueEntry

SCHEDULE: dict[str, CatalogueEntry] = {
    # Directives.
    "DT180": CatalogueEntry(
        "an unknown directive",
        "Use one of the directives that the message lists, or the one that it suggests.",
    ),
    "DT181": CatalogueEntry(
        "the arguments of a directive do not fit",
        "Give the directive as many arguments as the hint shows, in that form, with words that "
        "it knows.",
    ),
    "DT182": CatalogueEntry(
        "a number is out of range",
        "Choose a number in the range that the message names.",
    ),
    "DT183": CatalogueEntry(
        "a number is not a power of two",
        "Take the power of two below or above. What a tile covers beyond its block is masked.",
    ),
    "DT184": CatalogueEntry(
        "a directive names something else than a Func or an input",
        "Name a Func of the program where the directive takes a Func, and a tensor input where "
        "it takes an input.",
    ),
    "DT185": CatalogueEntry(
        "a kernel has no such loop",
        "Name a label of a loop in the kernel: one of the Func, of a Func fused into it, or one "
        "that a split introduces. A label of another Func belongs to that Func's directives.",
    ),
    "DT186": CatalogueEntry(
        "a fused Func has no kernel of its own",
        "Put the directive on the Func that is named: its kernel computes this one.",
    ),
    "DT187": CatalogueEntry(
        "two directives contradict each other",
        "Keep one of the two. Directives are a set, so the later one does not win.",
    ),
    "DT188": CatalogueEntry(
        "a directive is there twice",
        "Remove one of the two.",
    ),
    "DT189": CatalogueEntry(
        "a new loop has a name that is taken",
        "Choose a name that is neither declared nor introduced by another directive on the same "
        "Func.",
    ),
    "DT190": CatalogueEntry(
        "a tile is larger than its block",
        "Make the tile at most as large as the block, rounded up to a power of two; 0 takes the "
        "whole block.",
    ),
    "DT191": CatalogueEntry(
        "a label cannot be blocked so",
        "Block the labels on the left side of the Func, or those that it reduces over itself. "
        "Partial results are named only where the Func reduces over the label.",
    ),
    "DT192": CatalogueEntry(
        "a map does not name the blocked labels",
        "Name each blocked label in the map once, and no other one.",
    ),
    "DT193": CatalogueEntry(
        "an order of loops is wrong",
        "List each loop once, outermost first. The new name of a divided loop has a place of "
        "its own, after it.",
    ),
    "DT194": CatalogueEntry(
        "partial results cannot be combined atomically",
        "Combine atomically only the parts of a reduction that is the last operation of its "
        "Func and whose label is blocked.",
    ),
    "DT195": CatalogueEntry(
        "a Func is fused into one that does not read it",
        "Put fuse_at on the Func that is read, and name the Func that reads it, directly or "
        "through Funcs that are fused there too. A kernel stores what it does not read only if one "
        "function returns both Funcs: f.compile(g).",
    ),
    "DT196": CatalogueEntry(
        "a Func cannot be inlined",
        "Inline only elementwise Funcs that are neither compiled nor fused; use fuse_at for a "
        "reduction.",
    ),
    "DT197": CatalogueEntry(
        "an option does not fit what it is put on",
        "Put the option on a Func whose kernel has what it is about: an rdot, a read of the "
        "input, or a result that is stored through a descriptor. Panels are for a Func that needs "
        "others, where all of them have the label and read at that label itself.",
    ),
    "DT198": CatalogueEntry(
        "a directive changes nothing",
        "The schedule is right, and the code is the same without the directive. The note says what "
        "it would need.",
    ),
    "DT199": CatalogueEntry(
        "no call has an index of a label",
        "What the reads of one axis say of its length leaves no room for the label: whatever "
        "tensors are given, its size is 0, or the call is refused. Read another tensor there, or "
        "what is outside through pad, or use another label.",
    ),
    # Legality.
    "DT200": CatalogueEntry(
        "a schedule lets program instances depend on each other",
        "Programs of a kernel run in no order and see nothing of each other. Keep what depends on "
        "each other in one program, or give the producer a kernel of its own.",
    ),
    "DT201": CatalogueEntry(
        "a schedule computes something too late",
        "What is read must be computed before, where the reader can see it. Fuse a Func at a loop "
        "that is around all its readers in the kernel; the hint names the loops that are.",
    ),
    "DT202": CatalogueEntry(
        "lanes race",
        "Lanes of one step happen together, so that none may depend on another one. Let a loop go "
        "through the label, or tile another one.",
    ),
    "DT203": CatalogueEntry(
        "a fused Func is computed again in a loop",
        "Several iterations of a program need the same elements. Fuse at an outer loop, or write "
        "recompute as the last argument to pay for it.",
    ),
    "DT204": CatalogueEntry(
        "a schedule loses or repeats an instance",
        "A schedule only says where and when: every instance of a statement is computed once. "
        "Mend the primitive that rewrites the loops.",
    ),
    "DT205": CatalogueEntry(
        "program instances compute the same elements",
        "Each block computes for itself what it needs of a fused Func, or of a reduction that "
        "lacks the blocked label. That is legal, and often fast; larger blocks repeat less.",
    ),
    "DT206": CatalogueEntry(
        "a private copy lacks what is read",
        "What a loop reads of a fused Func is computed in that loop, all of it; this was not. It "
        "is a mistake of dtpoly: report it, and fuse at another loop until it is mended.",
    ),
    "DT207": CatalogueEntry(
        "loads run ahead of what their loop stores",
        "num_stages starts the loads of later iterations before earlier ones are done. A loop that "
        "reads from memory what it stores there must go in order: write num_stages(1) or nothing, "
        "or let the value stay in registers, read where it is written.",
    ),
    "DT208": CatalogueEntry(
        "it takes too long to decide whether a schedule is legal",
        "What loops need of a fused Func is described by inequalities, which become hard where it "
        "is read at many different indices in tiles that do not divide each other. Fuse less of "
        "it, or take tiles that divide each other.",
    ),
    "DT209": CatalogueEntry(
        "an expression is too large with all that is inlined",
        "A Func that is inlined is computed again at each read, and so is each that it reads: a "
        "chain of Funcs that are read twice doubles with each of them. Leave out some of the "
        "directives, so that what is read often is computed once.",
    ),
    "DT210": CatalogueEntry(
        "something takes more time or memory than it may",
        "What dtpoly does has limits, so that nothing hangs: 20 seconds of computing "
        "and 2 GB, unless --seconds says another number. The note says in which stage it was "
        "stopped. Ask for less there: fuse and inline fewer Funcs, take tiles that divide each "
        "other, split the file; or give it more time.",
    ),
    "DT211": CatalogueEntry(
        "a result is named twice",
        "A function returns the Func that it is named after, and after that each Func that "
        "compile names. Name each of them once.",
    ),
    "DT212": CatalogueEntry(
        "a result in place does not fit",
        "A Func goes into a tensor input that no other Func goes into, that has as many axes, and "
        "that is declared with the same dtype, or as the Func without one. A function that needs "
        "such a Func returns it.",
    ),
    "DT214": CatalogueEntry(
        "a Func goes to a place that cannot be one",
        "In Func f into K at [T[x], y]; the place of an element of f is made of the labels of f, "
        "of numbers, and of inputs that are not written. No two elements have the same place: "
        "either the place decides each label, or the file promises it by distinct. With add behind "
        "the place, elements may share one: they are added up, in a type in which memory can add. "
        "No other Func reads f, as its elements have no tensor of their own.",
    ),
    "DT256": CatalogueEntry(
        "what sums begin with would have no kernel or no tensor",
        "In Func zero, f into zero at [T[x]] add; the elements of zero are stored in the tensor "
        "of f before anything is added. So zero has a kernel of its own: it is not fused, not "
        "inlined and not returned. Leave the directive out; block, tensorize and others may stand "
        "on it.",
    ),
    "DT213": CatalogueEntry(
        "a Func is read at an index that is data",
        "In A[T[x]], A is an input, since any element of it may be read. If A is to be computed, "
        "compute it in a file of its own, and pass the result. T may be a Func. An index cannot "
        "have program_id in it, which the schedule decides.",
    ),
    "DT239": CatalogueEntry(
        "reductions, or a scan, have no parts",
        "Where `block` cuts a label along which others go `online`, each part has a largest "
        "element of its own; what is summed with it is brought to that of all parts. So sums must "
        "change by a factor when the largest element does, and it must be a maximum or a "
        "minimum, and nothing else. A Func whose programs store other results, part by part, or "
        "whose parts are merged in blocks (`p.x:64`), has one reduction over the label. Where "
        "`block` cuts the label along which a Func scans, all of its scans begin anew in each "
        "part, from the state before it: so all of them go along this label, and nothing in the "
        "Func is reduced over all of it. Otherwise, leave the label in one program.",
    ),
}
