"""Computes the median of times and the quartiles around it."""

from statistics import quantiles


def quarters(times: list[float]) -> tuple[float, float, float]:
    """Return the times that a quarter, a half and three quarters of all are below."""
    if len(times) == 1:
        return times[0], times[0], times[0]
    low, middle, high = quantiles(times, n=4, method="inclusive")
    return low, middle, high
