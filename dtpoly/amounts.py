"""Words the numbers in reasons, such as `16.8 MB`."""

import re

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)(s|min|h)|([0-9]+)")
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def amount(count: float) -> str:
    """`16.8 MB`: bytes, with three digits at most."""
    unit = 0
    while count >= 999.5 and unit < len(_UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{count:.3g} {_UNITS[unit]}"


def many(count: int, word: str) -> str:
    """`1 row`, `4,096 rows`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def listed(words: tuple[str, ...]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def duration(seconds: float) -> str:
    """`34.9 us`, `1.16 ms`."""
    for unit, size in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def budget_of(text: str) -> tuple[int | None, float | None] | None:
    """Read a number of candidates such as `200`, or a time such as `10min`, in seconds.

    One of the two is None; the whole answer is None if the text is neither.
    """
    match = _BUDGET.fullmatch(text)
    if match is None:
        return None
    number, unit, count = match.groups()
    return (int(count), None) if count else (None, float(number) * _SECONDS[unit])
