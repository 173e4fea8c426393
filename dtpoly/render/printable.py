"""Makes text from a file harmless on a terminal: control characters become pictures."""

import unicodedata

TAB = "    "
_JOINERS = "\u200c\u200d"  # inside words and emoji; they take no room and do no harm
_HARMFUL = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: str) -> str:
    """Replace tabs by spaces, and each other control or direction character by one picture.

    So no escape sequence in a file or in its name reaches the terminal.
    """
    if text.isprintable():
        return text
    return "".join(map(_picture, text))


def _picture(char: str) -> str:
    if char == "\t":
        return TAB
    if char < " ":
        return chr(0x2400 + ord(char))
    if char == "\x7f":
        return "\u2421"
    if char not in _JOINERS and unicodedata.category(char) in _HARMFUL:
        return "\ufffd"
    return char
