"""Words the numbers in reasons, such as `16.8 MB`."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


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
