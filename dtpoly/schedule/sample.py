"""Chooses sizes so small that a picture at these sizes shows blocks and tiles."""

from dtpoly.poly.instances import fit_together
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import leaves

PLAIN, MOST, OUTER = 4, 12, 2
KERNELS = 4


def sample_sizes(state: State) -> dict[str, int] | None:
    """Return small sizes that show blocks; None if there is nothing to see at such sizes."""
    steps = _steps(state)
    sizes = two_of_each(state, MOST)
    is_small = any(1 < step < MOST for step in steps.values()) or all(
        step == 1 for step in steps.values()
    )
    if not is_small or len(state.kernels) > KERNELS or not fit_together(state.model, sizes):
        return None
    return sizes


def two_of_each(state: State, most: int | None = None) -> dict[str, int]:
    """Return two of the largest steps of each label, up to a number."""
    steps = _steps(state)
    shown = {
        state.model.size_of[label]
        for func in {kernel.func for kernel in state.kernels}
        for label in state.program.func(func).labels[-2:]
    }
    limit = max(steps.values(), default=1) * 2 if most is None else most
    wanted = {
        param: min(2 * step, limit) if step > 1 else PLAIN if param in shown else OUTER
        for param, step in steps.items()
    }
    return {label: wanted.get(param, PLAIN) for label, param in state.model.size_of.items()}


def _steps(state: State) -> dict[str, int]:
    """Return the largest step of any axis over each size."""
    steps: dict[str, int] = {}
    for kernel in state.kernels:
        for leaf, around in leaves(kernel.body):
            for axis in (*kernel.grid, *(loop.axis for loop in around), *leaf.lanes):
                param = state.model.size_of.get(axis.index.plain or "")
                if param is not None:
                    steps[param] = max(steps.get(param, 1), axis.step or 1)
    return steps
