"""Makes the operators of this package, each of its .dt file and that of its gradient."""

from functools import cache
from pathlib import Path

from dtpoly.training.differentiable import Differentiable, differentiable

FOLDER = Path(__file__).parent
# What is cast under autocast, where the algorithm alone does not say it.
CAST = {"linear_cross_entropy": "low to float32"}
GRADIENT = "_backward"  # ends the name of a file with a gradient


def names() -> tuple[str, ...]:
    """Return the names of all operators."""
    found = (path.stem for path in FOLDER.glob("*.dt"))
    return tuple(sorted(name for name in found if not name.endswith(GRADIENT)))


@cache
def operator(name: str) -> Differentiable:
    """Return the operator of a file, with the gradient that is written for it.

    It is read and registered when it is first asked for, and proved when it is first called.
    """
    if name not in names():
        raise ValueError(f"there is no operator '{name}'; there are {', '.join(names())}")
    path, gradient = FOLDER / f"{name}.dt", FOLDER / f"{name}{GRADIENT}.dt"
    return differentiable(path, backward=gradient, autocast=CAST.get(name))
