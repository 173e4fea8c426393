"""Computes powers of two around numbers."""

from collections.abc import Iterator


def above(number: int) -> int:
    """Return the smallest power of two that is not smaller."""
    return 1 << max(number - 1, 0).bit_length()


def below(number: int) -> int:
    """Return the largest power of two that is not larger; 1 for none."""
    return 1 << max(number, 1).bit_length() - 1


def powers(low: int, high: int) -> Iterator[int]:
    """Yield the powers of two from one number to another one, both included."""
    power = above(low)
    while power <= high:
        yield power
        power *= 2


def pieces(size: int, part: int) -> int:
    """Return how many parts of that size there are, the last one maybe not whole."""
    return -(-size // part)
