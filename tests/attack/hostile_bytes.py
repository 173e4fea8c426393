"""Makes files worse: changes bytes, numbers, brackets, words and control characters, by a seed."""

import re
from random import Random

NUMBERS = (
    *("0", "-1", "00", "1e9", "0x10", "1_000", "9" * 5, "2147483648", "9223372036854775808"),
    *("9" * 40, "9" * 5000, "1.5", "nan", "inf", "1e400", "\u0663", "\u00b2", "1//0"),
)
WORDS = (
    *("Func", "In", "SIn", "Var", "RVar", "algorithm", "where", "same", "rsum", "rdot", "pad"),
    *("select", "len", "reshape", "fuse_at", "block", "tensorize", "compile", "import", "lambda"),
    *("__import__('os')", "{", "}", "[", "]", "(", ")", ";", ":", ",", ".", "..", "//", "%", "#"),
    *('"', "'", '"""', "\\", "\x00", "\x1b[31m", "\u202e", "\ufeff", "\u2028", "\r", "\r\n", "\t"),
    *("\U0001f600", "e\u0301", "\u00e9", "\udcff", "${HOME}", "%s", "{0}", "null", "true", "NaN"),
)
DEEP = ("(", "[", "{", "-", "not ", "exp(", "f(", '{"a":', "((((", "x[", "if x:\n ")
MOST = 3_000_000  # bytes of a file
_NUMBER = re.compile(rb"\d+")
_WORD = re.compile(rb"[A-Za-z_]\w*")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


def worse(
    data: bytes, random: Random, others: tuple[bytes, ...], payloads: tuple[str, ...]
) -> bytes:
    """Return the file with one to six changes."""
    if random.random() < 0.03:
        return random.randbytes(random.choice((0, 1, 7, 100, 4000)))
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        data = _changed(data, random, others, payloads)[:MOST]
    return data


def _changed(
    data: bytes, random: Random, others: tuple[bytes, ...], payloads: tuple[str, ...]
) -> bytes:
    at = random.randrange(len(data) + 1)
    end = min(len(data), at + random.choice((1, 1, 2, 5, 20, 200)))
    match random.randrange(14):
        case 0:
            return data[:at] + random.randbytes(random.choice((1, 1, 2, 16))) + data[at:]
        case 1:
            return data[:at] + data[end:]
        case 2:
            return data[:at] + data[at:end] * random.choice((2, 3, 50)) + data[end:]
        case 3:
            return data[:at]
        case 4:
            flipped = bytes(one ^ (1 << random.randrange(8)) for one in data[at : at + 1])
            return data[:at] + flipped + data[at + 1 :]
        case 5:
            return _instead(data, _NUMBER, _encoded(random.choice(NUMBERS)), random)
        case 6:
            found = _WORD.findall(data)
            new = random.choice(found) if found and random.random() < 0.6 else b""
            return _instead(data, _WORD, new or _encoded(random.choice(WORDS)), random)
        case 7:
            return data[:at] + _encoded(random.choice(WORDS)) + data[at:]
        case 8:
            many = random.choice((10, 200, 5000, 100_000))
            return data[:at] + _encoded(random.choice(DEEP)) * many + data[at:]
        case 9:
            other = random.choice(others)
            start = random.randrange(len(other) + 1)
            return data[:at] + other[start : start + random.choice((5, 50, 500))] + data[at:]
        case 10:
            lines = data.splitlines(keepends=True)
            random.shuffle(lines)
            return b"".join(lines)
        case 11:
            lines = data.splitlines(keepends=True) or [b""]
            one = random.choice(lines)
            return data + one[:10_000] * random.choice((1, 2, 300))
        case 12:
            return data[:at] + _encoded(random.choice(payloads)) + data[at:]
        case _:
            words: list[bytes] = _WORD.findall(data) or [b"x"]
            return data[:at] + random.choice(words)[:500] * 2000 + data[at:]


def _instead(data: bytes, of: re.Pattern[bytes], new: bytes, random: Random) -> bytes:
    """Replace one of the places that match a pattern."""
    found = [*of.finditer(data)]
    if not found:
        return data + new
    one = random.choice(found)
    return data[: one.start()] + new + data[one.end() :]
