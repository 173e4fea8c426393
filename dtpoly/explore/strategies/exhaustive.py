"""Asks for all points of a space in their order."""

from dtpoly.explore.strategies.given_order import InOrder
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting


def exhaustive(setting: StrategySetting) -> Strategy:
    """Ask for all points, by their numbers."""
    found = map(setting.space.at, range(setting.space.count))
    return InOrder(point for point in found if point is not None)
