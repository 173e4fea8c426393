"""Says how alike two orders are."""

from collections.abc import Sequence


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the correlation of ranks; equal values share one. 0 where one side is all equal."""
    one, two = _ranks(left), _ranks(right)
    middle = (len(one) - 1) / 2
    both = sum((a - middle) * (b - middle) for a, b in zip(one, two, strict=True))
    sizes = (sum((rank - middle) ** 2 for rank in ranks) for ranks in (one, two))
    scale = float(next(sizes) * next(sizes)) ** 0.5
    return both / scale if scale else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    first = {value: at for at, value in reversed([*enumerate(order)])}
    last = {value: at for at, value in enumerate(order)}
    return [(first[value] + last[value]) / 2 for value in values]
