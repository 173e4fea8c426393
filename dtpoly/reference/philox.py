"""Draws random numbers by Philox 4x32-10: a function of a seed and a counter, on any device.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011. Words of 32 bits
are kept in whole numbers of 64 bits, whose products wrap without harm: only their bits count.
"""

import torch

Tensor = torch.Tensor

ROUNDS = 10
WORD = 0xFFFFFFFF
FACTORS = (0xD2511F53, 0xCD9E8D57)
STEPS = (0x9E3779B9, 0xBB67AE85)
FLOAT_BITS = 24


def random_bits(seed: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return 64 bits, the first two words of the four that the counter (x, y) gives."""
    counter, key = (*_words(x), *_words(y)), _words(seed)
    for _ in range(ROUNDS):
        counter = _round(counter, key)
        key = ((key[0] + STEPS[0]) & WORD, (key[1] + STEPS[1]) & WORD)
    return counter[0] | (counter[1] << 32)


def random(seed: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return a number in [0, 1): the upper bits of the first word, as many as f32 holds."""
    kept = (random_bits(seed, x, y) & WORD) >> (32 - FLOAT_BITS)
    return kept.to(torch.float64) * 2.0**-FLOAT_BITS


def _words(number: Tensor) -> tuple[Tensor, Tensor]:
    """Return the lower and the upper 32 bits."""
    return number & WORD, (number >> 32) & WORD


def _round(
    counter: tuple[Tensor, ...], key: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    left, right = counter[0] * FACTORS[0], counter[2] * FACTORS[1]
    (low, high), (other_low, other_high) = _words(left), _words(right)
    return other_high ^ counter[1] ^ key[0], other_low, high ^ counter[3] ^ key[1], low
