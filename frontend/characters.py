"""Builds the messages about characters that the language does not have, and says what to write.

The scanner calls it for characters that people paste from papers or type from other languages, such
as a minus sign that is not ASCII.
"""

import re
import unicodedata

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span

NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Characters that people paste from papers and pages or type from other languages, each with the
# text that is meant.
LOOKALIKES = {
    "\u2212": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\uff0b": "+",
    "\u00d7": "*",
    "\u00b7": "*",
    "\u2217": "*",
    "\u22c5": "*",
    "\u00f7": "/",
    "\u2044": "/",
    "\u2215": "/",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\uff1d": "=",
    "\u221e": "inf",
    "\uff1b": ";",
    "\u037e": ";",
    "\uff0c": ",",
    "\uff1a": ":",
    "\uff08": "(",
    "\uff09": ")",
    "\uff3b": "[",
    "\uff3d": "]",
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
    "\u3000": " ",
    "\u200b": "",
    "\ufeff": "",
}


def shortened(text: str) -> str:
    """Shorten a word so that a message can show it."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def tell_unexpected(found: list[Diagnostic], span: Span) -> None:
    """Add a message about strange characters; characters that stand together share one message."""
    last = found[-1] if found else None
    if last is None or last.code != "DT103" or last.edits or last.span is None:
        found.append(_unexpected(span))
    elif last.span.end == span.start:
        found[-1] = _unexpected(last.span.to(span))
    else:
        found.append(_unexpected(span))


def _unexpected(span: Span) -> Diagnostic:
    first = span.source.text[span.start]
    several = span.end - span.start > 1
    hint = "remove it, or put it into a comment: # ..."
    if first == "\\":
        hint = "remove it; a statement goes on over the end of a line, until its ';'"
    return Diagnostic(
        "DT103",
        Severity.ERROR,
        f"{'these characters have' if several else 'this character has'} no meaning here",
        span,
        f"starts with {_described(first)}" if several else _described(first),
        hint=hint,
    )


def _described(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()


def string(text: str, span: Span) -> Diagnostic:
    """Report a string, that is, a word in quotes."""
    word = text[1:-1].strip()
    fine = NAME.fullmatch(word) is not None
    return Diagnostic(
        "DT103",
        Severity.ERROR,
        "this language has no strings",
        span,
        "a string",
        hint=f"write {word}, without quotes" if fine else "remove it",
        edits=(Edit(span, word),) if fine else (),
    )


def lookalike(text: str, span: Span) -> Diagnostic:
    """Report a character that only looks like one of the language, with the one that is meant."""
    meant = LOOKALIKES[text]
    return Diagnostic(
        "DT104",
        Severity.ERROR,
        "this character only looks like one of the language",
        span,
        _described(text),
        hint=f"write {meant if meant.strip() else 'an ordinary space'}" if meant else "remove it",
        edits=(Edit(span, meant),),
    )


def malformed_number(text: str, span: Span) -> Diagnostic:
    """Report a number that is written as in another language."""
    if text[:2] in ("0x", "0X"):
        label, meant = "hexadecimal", str(min(int(text, 16), 2**64))
    elif text[-1] in "fF":
        label, meant = "numbers have no suffix", text[:-1].replace("_", "")
    else:
        label, meant = "numbers have no '_'", text.replace("_", "")
    return Diagnostic(
        "DT105",
        Severity.ERROR,
        f"'{shortened(text)}' is not a number of this language",
        span,
        label,
        hint=f"write {shortened(meant)}",
        edits=(Edit(span, meant),),
    )


def not_ascii(text: str, spans: list[Span], taken: set[str]) -> Diagnostic:
    """Report a name with letters that are not ASCII, where it first stands.

    The edits rename it everywhere in the file.
    """
    strange = next(char for char in text if not (char.isascii() and NAME.match(f"a{char}")))
    plain = "".join(map(_ascii, text))
    fine = NAME.fullmatch(plain) is not None and len(plain) < 80 and plain not in taken
    return Diagnostic(
        "DT102",
        Severity.ERROR,
        "names are made of the letters a to z, digits and '_'",
        spans[0],
        f"contains {_described(strange)}",
        (Note("the name also stands in the generated Python file"),),
        f"call it {plain}" if fine else "choose another name",
        tuple(Edit(span, plain) for span in spans) if fine else (),
    )


def _ascii(char: str) -> str:
    """Return an ASCII text for a character, or "" if there is none.

    This is the character itself, its base letter, or the name of a Greek letter.
    """
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    words = unicodedata.name(char, "").split()
    if plain or words[:1] != ["GREEK"] or words[2:3] != ["LETTER"]:
        return plain
    spelt = next((word for word in words[3:] if word != "FINAL"), "")
    # Unicode spells this letter LAMDA. The keyword of Python cannot be a name, so it is not used
    # either.
    spelt = "LAM" if spelt == "LAMDA" else spelt
    return spelt.capitalize() if words[1] == "CAPITAL" else spelt.lower()
