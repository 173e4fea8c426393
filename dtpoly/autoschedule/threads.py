"""Chooses how many warps may share the elements that a program has at once."""

from collections.abc import Iterator

from dtpoly.autoschedule.powers import powers

WARP = 32
MOST = 32  # warps of a program


def warps(elements: int, few: int, lots: int) -> Iterator[int]:
    """Yield the numbers of warps that give each thread from `few` to `lots` elements.

    If there is none, yield the one that comes nearest.
    """
    found = [w for w in powers(1, MOST) if few <= elements / (w * WARP) <= lots]
    if found:
        yield from found
    elif elements < few * WARP:
        yield 1
    else:
        yield MOST
