"""Lists the statement instances of a Program in the order in which it defines them."""

from itertools import product

from dtpoly.algorithm.program import Program, in_order
from tests.oracle.built import Placed
from tests.oracle.cells import Cells, nobody
from tests.oracle.kernels import plan
from tests.oracle.lines import whole
from tests.oracle.needed_steps import Sizes
from tests.oracle.scan_turns import in_turn
from tests.oracle.statements import Taken, all_taken, meanings


def defining(program: Program, sizes: Sizes, taken: Taken = all_taken) -> list[Placed]:
    """Return all instances in the defining order: one kernel, one program, one after another."""
    placed: list[Placed] = []
    planned = plan(program)
    program, sizes = planned.program, planned.sized(sizes)
    known = meanings(program, planned.inlined, sizes, taken, planned.cuts)
    for func in in_order(program):
        if func.name not in known:
            continue
        lines = whole(known[func.name])
        for line in lines:
            cells = Cells(line, {}, nobody)
            for indices in in_turn(line, product(*(range(sizes[dim.label]) for dim in line.dims))):
                if not line.takes(indices):
                    continue
                reads, write = cells.of(indices, None, None)
                at = (len(placed),)
                placed.append(Placed(0, (), at, (), line, indices, reads, write))
    return placed
