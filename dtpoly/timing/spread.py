"""Times in; what half of them are below, and the quarters around it, out."""

from statistics import quantiles


def quarters(times: list[float]) -> tuple[float, float, float]:
    """What a quarter, a half and three quarters of them are below."""
    if len(times) == 1:
        return times[0], times[0], times[0]
    low, middle, high = quantiles(times, n=4, method="inclusive")
    return low, middle, high
