"""Asks for all points of a space in a random order, which the seed decides."""

from collections.abc import Iterator
from hashlib import blake2b

from dtpoly.explore.space.search_view import Field, Point
from dtpoly.explore.strategies.given_order import InOrder
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting

ROUNDS = 4


def random_order(setting: StrategySetting) -> Strategy:
    """Ask for all points, in an order that the seed decides."""
    return InOrder(random_points(setting.space, setting.seed))


def random_points(space: Field, seed: int) -> Iterator[Point]:
    """Yield each point once, without keeping a list, since a space may have billions of points."""
    for index in permuted(space.count, seed):
        point = space.at(index)
        if point is not None:
            yield point


def permuted(count: int, seed: int) -> Iterator[int]:
    """Yield the numbers below a count, each once, in a random order.

    A Feistel network permutes the numbers of an even number of bits, whatever its rounds compute.
    If it leads to a number outside, it is applied again until the number is inside. That permutes
    the numbers below the count.
    """
    half = max(1, -(-(count - 1).bit_length() // 2))
    for index in range(count):
        found = _network(index, half, seed)
        while found >= count:
            found = _network(found, half, seed)
        yield found


def _network(number: int, half: int, seed: int) -> int:
    left, right = number >> half, number & (1 << half) - 1
    for at in range(ROUNDS):
        mixed = blake2b(f"{seed} {at} {right}".encode(), digest_size=8).digest()
        left, right = right, left ^ int.from_bytes(mixed) & (1 << half) - 1
    return left << half | right
