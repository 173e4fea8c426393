"""Faults to sow in the checker, each an edit of its source, and the tests that must notice."""

from dataclasses import dataclass

_HARD = "tests/schedule/test_hard_cases.py::test_of_a_hard_case[{}]"
_LEGAL = "tests/schedule/test_legality.py::test_legal[{}]"
_REFUSED = "tests/schedule/test_legality.py::test_refused[{}]"
_USER = "tests/schedule/test_user_primitives.py::test_refused[{}]"
_UNWRITTEN = "tests/poly/test_unwritten.py::{}"
_SCANS = "tests/schedule/test_scan_order.py::test_what_does_not[{}]"
_AHEAD = "tests/schedule/test_ahead.py::{}"
_ORDER = "tests/poly/test_order.py::{}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Put one text in the place of another, which stands once in a file."""

    what: str
    file: str
    old: str
    new: str
    caught_by: tuple[str, ...]

    @property
    def module(self) -> str:
        """The name of the module."""
        return self.file.removesuffix(".py").replace("/", ".")


def _poly(name: str) -> str:
    return f"dtpoly/poly/{name}.py"


def _schedule(name: str) -> str:
    return f"dtpoly/schedule/{name}.py"


FAULTS = (
    Fault(
        "instances of one statement do not depend on each other",
        _poly("dependences"),
        "if two.position < one.position or",
        "if two.position <= one.position or",
        (_HARD.format("steps in lanes"), _HARD.format("strided steps")),
    ),
    Fault(
        "a scan follows a loop that lacks steps",
        _poly("scan_steps"),
        "if not needed_steps(statement, scan, together).is_subset(together):",
        "if False:",
        (_SCANS.format("fused along it in blocks"), _SCANS.format("every second element")),
    ),
    Fault(
        "a scan that follows a loop has no order along it",
        _poly("scan_steps"),
        "        if dim in scan.follows:\n            continue\n",
        "",
        (_SCANS.format("two directions along one loop"),),
    ),
    Fault(
        "what is read may be overwritten at once",
        _poly("dependences"),
        "not (before.is_write or after.is_write)",
        "not before.is_write",
        ("tests/poly/test_dependences.py::test_of_the_thesis[listing_4_04_attention]",),
    ),
    Fault(
        "the steps of a reduction depend on later ones",
        _poly("dependences"),
        "relation = relation & isl.Map.lex_lt(",
        "relation = relation & isl.Map.lex_gt(",
        (_HARD.format("steps in order"), _HARD.format("steps from the end")),
    ),
    Fault(
        "all statements of a Func may trade places",
        _poly("dependences"),
        "if source is target and source.role is Role.UPDATE:",
        "if source.func == target.func:",
        (_USER.format("upside down"), _HARD.format("steps in lanes")),
    ),
    Fault(
        "of several reads of one array only the first counts",
        _poly("dependences"),
        "before.relation | one.relation",
        "before.relation",
        (_HARD.format("blocks after fusion, the second of two reads"),),
    ),
    Fault(
        "instances that are not there depend on each other",
        _poly("dependences"),
        "relation = one.relation.intersect_domain(statement.domain)\n",
        "relation = one.relation\n",
        ("tests/poly/test_dependences.py::test_of_the_thesis[listing_3_17_sum]",),
    ),
    Fault(
        "no two instances of a statement write one element",
        _poly("dependences"),
        "if is_alone and _is_injective(before.relation):",
        "if before is after:",
        (_HARD.format("steps in lanes"), _HARD.format("strided steps")),
    ),
    Fault(
        "what stays where it is on some axis is right",
        _poly("order"),
        "return wrong.is_empty()",
        "return wrong.is_empty() or bool(still)",
        (_HARD.format("steps in lanes"), _HARD.format("strided steps")),
    ),
    Fault(
        "the order within a kernel is not looked at",
        _poly("order"),
        "if source.kernel < target.kernel:",
        "if source.kernel <= target.kernel:",
        (_USER.format("leaning"), _HARD.format("blocks of what a norm sums, after all")),
    ),
    Fault(
        "kernels may run in any order",
        _poly("order"),
        "yield OrderQuestion(dependence, ViolationKind.LATE)",
        "pass",
        (_ORDER.format("test_a_kernel_that_runs_later_is_too_late"),),
    ),
    Fault(
        "the steps of a reduction may be in different programs",
        _poly("order"),
        "if is_reduction and kind is not ViolationKind.CROSSES:",
        "if is_reduction:",
        (_ORDER.format("test_programs_cross"),),
    ),
    Fault(
        "a loop counts down",
        _poly("order"),
        "late = late | tied.order_gt(",
        "late = late | tied.order_lt(",
        (_HARD.format("a leaning loop around two"), _HARD.format("steps in order")),
    ),
    Fault(
        "inner loops count although outer ones have decided",
        _poly("order"),
        "i, isl.dim_type.out, i)\n    wrong =",
        "i, isl.dim_type.out, grid)\n    wrong =",
        (_HARD.format("steps in order"),),
    ),
    Fault(
        "lanes may do anything to each other",
        _poly("order"),
        "if after == 0:",
        "if after == 2:",
        (_HARD.format("steps in lanes"), _HARD.format("parts in lanes")),
    ),
    Fault(
        "what stands in a sequence may run in any order",
        _poly("order"),
        "after = 1 if mine > other else -1",
        "after = -1",
        (_USER.format("upside down"), _HARD.format("what is fused, upside down")),
    ),
    Fault(
        "programs are taken for one",
        _poly("order"),
        "grid = tuple(axis.name for axis in several(finest(one.grid)))",
        "grid = ()",
        (_HARD.format("blocks after fusion, a halo"),),
    ),
    Fault(
        "of several dependences of two statements only the first counts",
        _poly("order"),
        "elif not one.relation.is_subset(before.relation):",
        "elif one.relation.is_subset(before.relation):",
        (_ORDER.format("test_all_dependences_of_two_statements_count"),),
    ),
    Fault(
        "what a loop counts is not looked at",
        _poly("order"),
        "value | {n: at(time, of[0], known) for n, time in timed.items() if n in value}",
        "value",
        (_USER.format("leaning"), _HARD.format("steps from the end")),
    ),
    Fault(
        "what no axis reaches counts as computed",
        _poly("coverage"),
        "if not one.is_empty()]",
        "if one.is_empty()]",
        (_HARD.format("the first of a loop only"),),
    ),
    Fault(
        "two instances in one place count as computed",
        _poly("coverage"),
        "if place.is_injective():",
        "if not place.is_injective():",
        (_HARD.format("no loops"), _USER.format("flattened")),
    ),
    Fault(
        "tiles start at 0, wherever their block starts",
        _poly("coordinates"),
        "return origin + tile(index - origin, axis.step)",
        "return tile(index, axis.step)",
        (_HARD.format("what two iterations need, in tiles of a later block"),),
    ),
    Fault(
        "tiles of a block are taken for tiles of all",
        _poly("coordinates"),
        "or outer.step % axis.step:",
        "or outer.step < axis.step:",
        (_HARD.format("what two iterations need, in tiles of a later block"),),
    ),
    Fault(
        "an inner loop that stands outside counts indices, not steps",
        _poly("coordinates"),
        "shifted + offset if is_relative else shifted - offset",
        "shifted",
        (_HARD.format("strided steps"),),
    ),
    Fault(
        "copies of a loop count as they did before it was moved",
        _poly("coordinates"),
        "if is_absolute(axis, path) is is_relative:",
        "if axis.name not in statement.copies and not is_absolute(axis, path):",
        (_HARD.format("loops of a split traded after a fusion"),),
    ),
    Fault(
        "a loop inside of one that counts steps counts indices",
        _poly("axes"),
        "if divides(loop):",
        "if True:",
        (_HARD.format("lanes of a split loop that is split again"),),
    ),
    Fault(
        "a program is in the block of what its reductions bind",
        _poly("coordinates"),
        "labels = statement.free if is_grid else statement.labels",
        "labels = statement.labels",
        (_HARD.format("blocks of what only a sum has"),),
    ),
    Fault(
        "what one of several reads needs is all that is computed",
        _poly("footprint"),
        "elements[array] = elements[array] | relation if array in elements else relation",
        "elements[array] = relation",
        (_HARD.format("a chain that widens, in a loop"), _REFUSED.format("a stencil in a loop")),
    ),
    Fault(
        "the bound of one read is taken for that of all",
        _poly("footprint"),
        "is not None and _holds(along, bound, names)",
        "is not None",
        (_LEGAL.format("two reads, one of them padded"),),
    ),
    Fault(
        "what a loop needs is one shorter",
        _poly("footprint"),
        "return span.to_python() + 1 if span.is_int() else None",
        "return max(span.to_python(), 1) if span.is_int() else None",
        (_HARD.format("a halo at the start of tiles"),),
    ),
    Fault(
        "a loop outside of what it divides counts from 0",
        _poly("footprint"),
        "axis.index.plain is None or not is_absolute(axis, path):",
        "axis.index.plain is None:",
        (_HARD.format("a copy for a loop outside of what it divides"),),
    ),
    Fault(
        "what a copy lacks counts as written",
        _poly("unwritten"),
        "if readers.is_subset(served):",
        "if not served.is_empty():",
        (_UNWRITTEN.format("test_a_copy_that_lacks_an_element"),),
    ),
    Fault(
        "what lies beyond the end counts as missing",
        _poly("unwritten"),
        ".intersect_range(self.defined)",
        "",
        (_UNWRITTEN.format("test_what_lies_beyond_the_end_is_not_missing"),),
    ),
    Fault(
        "a reader does not look at which copy it reads",
        _poly("replicate"),
        "iteration = tuple(value[name] for name in names)",
        "iteration = tuple(value[name] * 0 for name in names)",
        (_HARD.format("a chain of four"), _HARD.format("softmax over blocks of columns")),
    ),
    Fault(
        "copies are defined after what reads them",
        _poly("replicate"),
        "return (*statements[: last + 1], *copies, *statements[last + 1 :])",
        "return (*statements, *copies)",
        (_HARD.format("a reader in another kernel"),),
    ),
    Fault(
        "a padded read reads outside as well",
        _poly("model"),
        "relation = relation.intersect_domain(value.ge_set(of[0]) & value.lt_set(of[size]))",
        "assert size or value",
        (_HARD.format("an inlined padded read that is never inside"),),
    ),
    Fault(
        "what is read with padding stays in registers",
        _poly("passing"),
        "read.padding is not None for read",
        "read.padding is None for read",
        (_AHEAD.format("test_what_would_run_ahead[padding]"),),
    ),
    Fault(
        "what is written tile by tile stays in registers",
        _poly("passing"),
        "if axis.label in dims or axis.name in writer.copies:",
        "if axis.name in writer.copies:",
        (_AHEAD.format("test_what_would_run_ahead[an accumulator of several tiles]"),),
    ),
    Fault(
        "every loop's loads run ahead, not only innermost ones",
        _poly("pipelined_reads"),
        "if any(len(way) > len(loop.way)",
        "if any(len(way) < len(loop.way)",
        (_AHEAD.format("test_what_runs_ahead_of_nothing[a loop inside]"),),
    ),
    Fault(
        "a loop of one iteration counts as one inside",
        _poly("pipelined_reads"),
        "return not reduce(isl.Map.union, iterations).is_single_valued()",
        "return bool(reduce(isl.Map.union, iterations))",
        (_AHEAD.format("test_a_loop_of_one_iteration_is_none"),),
    ),
    Fault(
        "loads of other kernels run ahead",
        _schedule("legality"),
        "if launch_of(kernel).runs_ahead:",
        "if kernel.options:",
        (_AHEAD.format("test_what_runs_ahead_of_nothing[nothing written]"),),
    ),
    Fault(
        "nothing is computed again in a loop",
        _poly("recompute"),
        "if set(statement.copies) <= grid:",
        "if set(statement.copies) >= grid:",
        (_REFUSED.format("at n"), _HARD.format("a total for each element")),
    ),
    Fault(
        "what another program computes counts as computed again",
        _poly("recompute"),
        "kept = frozenset(statement.labels) | grid",
        "kept = frozenset(statement.labels)",
        (_HARD.format("softmax over blocks of columns"),),
    ),
    Fault(
        "blocks of a divided reduction overlap",
        _poly("model"),
        "label.lt_set(start + part.size)",
        "label.le_set(start + part.size)",
        (_HARD.format("both labels of a sum in parts"),),
    ),
    Fault(
        "a label that is bound again inside is the one that is divided",
        _poly("partial"),
        "if part.of not in again}",
        "if part}",
        (_LEGAL.format("the label again inside, around another sum"),),
    ),
    Fault(
        "the result of a reduction is ready before its steps",
        _poly("lift"),
        "return Read(name, plain(kept), span=expr.span), (*drafts, update, combine)",
        "return Read(name, plain(kept), span=expr.span), (*drafts, combine, update)",
        ("tests/poly/test_lift.py::test_a_reduction_is_four_statements_in_the_defining_order",),
    ),
    Fault(
        "reads where a copy cannot be seen are not looked at",
        _schedule("legality"),
        "yield from _outside(state)",
        "_outside(state)",
        (_HARD.format("a read in two loops"), _REFUSED.format("read outside of the loop")),
    ),
    Fault(
        "only the value counts as computed again, not its sums",
        _schedule("legality"),
        "for name in reversed(fusion.copies):",
        "for name in fusion.copies[-1:]:",
        (_HARD.format("a sum without the label of its loop"),),
    ),
    Fault(
        "a fused Func stands in a loop around one of its readers",
        _schedule("fusing"),
        "if is_candidate and wanted <= set(statements(loop)):",
        "if is_candidate and wanted & set(statements(loop)):",
        (_HARD.format("a read in two loops"),),
    ),
    Fault(
        "a fused Func stands after its reader",
        _schedule("fusing"),
        "return in_sequence((subtree, node))",
        "return in_sequence((node, subtree))",
        (_HARD.format("a chain of four"), _LEGAL.format("2mm at l")),
    ),
    Fault(
        "programs share what each has fused in",
        _schedule("fusing"),
        "axes = several(finest(kernel.grid) + tuple(loop.axis for loop in place))",
        "axes = several(tuple(loop.axis for loop in place))",
        (_HARD.format("softmax over blocks of columns"),),
    ),
    Fault(
        "a loop inside of a tile is not one inside of a lane",
        _schedule("tiling"),
        "if lane is None or axis.name == lane.name",
        "if lane is None or axis.name",
        (_HARD.format("lanes of a loop whose inner loop stands outside"),),
    ),
)
