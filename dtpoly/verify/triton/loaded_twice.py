"""Two loads of an element are of the same value only if nothing is stored there in between.

While a kernel is read, it is not known yet which store a load sees. If two of its own values are
compared then, loads of the same elements count as equal, and the tensors are noted. When the kernel
has been read to its end, it must have stored nothing in these. A store below both loads counts,
too, since a loop may come back to one of them.
"""

from __future__ import annotations

from collections import Counter

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import Element, Term, walk
from dtpoly.verify.triton.kernel_state import KernelState


def note_loaded_twice(run: ProofRun, line: int, *terms: Term) -> None:
    """Note the tensors of which these terms, which were compared, have more than one load."""
    elements = (one for term in terms for one in walk(term) if isinstance(one, Element))
    loads = Counter(tensor for tensor, _ in {(one.tensor, one.load) for one in elements})
    for tensor, count in loads.items():
        if count > 1:
            run.loaded_twice.setdefault(tensor, line)


def check(state: KernelState) -> None:
    """Note a doubt for each noted tensor in which the kernel stores."""
    stored = {one.tensor: one.line for one in state.accesses if one.kind != "load"}
    for tensor, line in state.run.loaded_twice.items():
        if tensor in stored:
            what = f"'{tensor}' is loaded twice for what must be the same, and stored in the kernel"
            state.doubt(line or stored[tensor], what)
