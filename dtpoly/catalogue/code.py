"""Descriptions of remarks on the generated code, and on what a GPU makes of it."""

from dtpoly.catalogue.catalogue_entry import CatalogueEntry

CODE: dict[str, CatalogueEntry] = {
    # Generated code.
    "DT300": CatalogueEntry(
        "no code for a schedule",
        "The schedule is legal, but no code is generated for it; the note says what stands in the "
        "way. Change the directive that is shown, or leave it out.",
    ),
    "DT301": CatalogueEntry(
        "a tile is larger than Triton allows",
        "A tile has at most 1,048,576 elements. Take smaller numbers in tensorize; a 0 makes the "
        "tile as large as the block or the whole dimension is.",
    ),
    "DT302": CatalogueEntry(
        "a kernel needs more shared memory than a block has",
        "It compiles, but cannot be launched on that GPU. Take smaller tiles, or fewer stages: "
        "each stage keeps the tiles of one more iteration.",
    ),
    "DT303": CatalogueEntry(
        "a kernel has more values than registers",
        "What does not fit is written to memory and read back, which is slow. Take smaller tiles, "
        "or more warps: they share the values of a tile.",
    ),
    "DT304": CatalogueEntry(
        "neighbouring lanes are not neighbours in memory",
        "Memory moves whole pieces, of which such an access uses a few bytes. Take more lanes "
        "along the last axis of the tensor.",
    ),
    "DT305": CatalogueEntry(
        "a product without tensor cores",
        "Exact products of f32 have no tensor core instruction. Allow less with precision, pass "
        "f16 or bf16, or take tiles of at least 16.",
    ),
    "DT306": CatalogueEntry(
        "Triton cannot compile a kernel",
        "The message of Triton's compiler is in a note. It may depend on the tiles, the dtype and "
        "the GPU: change one of them.",
    ),
    "DT307": CatalogueEntry(
        "two loops cannot become one",
        "With `online`, a reduction is computed in the loop of one that depends on it. What was "
        "summed with an older result must be brought up to date by a factor or a sum, or, if it "
        "is a sum of squared deviations, from one mean to another; and what is stored must not "
        "depend on the order. Compute it in a loop of its own, with fuse_at.",
    ),
    # What is proved of it.
    "DT310": CatalogueEntry(
        "generated code is wrong",
        "What dtpoly would write does not compute the algorithm, so it is not written. Where a "
        "primitive of your own edits the launch or rewrites the code, the message names it: mend "
        "it. Otherwise this is a bug of dtpoly, never of the file: please report it. Another "
        "schedule may avoid it.",
    ),
    "DT311": CatalogueEntry(
        "code is not proved",
        "It may be right, but the layers that are named have no proof. Where the proof ran out of "
        "time, give it more; else try it with dtpoly run, or with dtpoly verify --ring.",
    ),
    "DT312": CatalogueEntry(
        "a kernel does not compute the algorithm",
        "A text that was changed or written by hand is refuted: at the sizes in the note it does "
        "what the label says. Mend it, or write it anew with dtpoly compile.",
    ),
    # Kernels of other people's modules.
    "DT313": CatalogueEntry(
        "a kernel cannot be taken out of a module",
        "A kernel is verified with the functions and constants of Triton that it uses. A name that "
        "it reads has more than one meaning in the module, or one that no text shows. Write the "
        "name's value where it is used, or copy the kernel into a file of its own.",
    ),
    "DT314": CatalogueEntry(
        "nothing says how a kernel is launched",
        "A kernel that dtpoly did not write says itself neither its grid nor what it is given. A "
        "comment does, in the .dt file or in the module.",
    ),
    "DT315": CatalogueEntry(
        "a line with the tensors of a kernel is not understood",
        "If there is no algorithm, a comment names each tensor with the labels of its axes. What "
        "the kernel stores stands in out(...), and what it loads and stores in inout(...).",
    ),
    # Frames that are written from launches.
    "DT316": CatalogueEntry(
        "a file is no record of launches",
        "`dtpoly verify --init` reads the file that a closed `dtpoly.watch(FILE)` has written. "
        "This one is something else, or an older version of dtpoly wrote it.",
    ),
    "DT317": CatalogueEntry(
        "launches show no frame for a kernel",
        "A frame says how a kernel is launched. It is written from launches of this kernel, in a "
        "record of them; and what they pass must be something that a `# verify:` line can say.",
    ),
    "DT318": CatalogueEntry(
        "an algorithm cannot be matched with a kernel",
        "`--against` names what the kernel should compute: an algorithm that comes with dtpoly, a "
        ".dt file, or a function of torch. It is matched by sizes with the launched tensors.",
    ),
    # The bits of rows in batches.
    "DT325": CatalogueEntry(
        "a row has other bits in another batch",
        "Two runs compute a row in two ways: the notes show the sizes of both, and both groupings "
        "from where they differ. A sum must not be cut by the size of the batch, by the number of "
        "programs or by a row's place, and must not be added up by atomic operations.",
    ),
    "DT326": CatalogueEntry(
        "rows are not proved to have the same bits",
        "They may have them all the same: the proof does not follow what the label says, and no "
        "two runs were found that differ. dtpoly schedule --same-bits chooses among schedules of "
        "which it is proved.",
    ),
}
