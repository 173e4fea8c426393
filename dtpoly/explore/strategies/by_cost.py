"""Asks first for the points that the cost model finds cheapest."""

from dtpoly.explore.strategies.given_order import InOrder
from dtpoly.explore.strategies.random_order import random_points
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting


def by_cost(setting: StrategySetting) -> Strategy:
    """Ask for points with a predicted time, the fastest first, then for the others at random."""
    expected = setting.expected
    # If two points cost the same, the order is still the same each time.
    first = sorted(expected, key=lambda point: (expected[point], point))
    others = (p for p in random_points(setting.space, setting.seed) if p not in expected)
    return InOrder(point for points in (first, others) for point in points)
