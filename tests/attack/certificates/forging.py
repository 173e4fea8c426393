"""Forges certificates: makes, from a seed, a bad one, with the texts that it is given with."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.attack.certificates.bases import Base, base, lied_about, renamed
from tests.attack.certificates.documents import CHANGES, Document, places
from tests.attack.mutants.operators import mutant
from tests.attack.mutants.source import Source


@dataclass(frozen=True)
class Forged:
    """A certificate, the texts that it is given with, and what was done."""

    kind: str
    what: str
    certificate: str
    dt: str
    kernel: str


# This stands for a deeply nested number until the document is written.
DEEP = "deep"
# A lying engine calls at least this many of the sets empty.
LIES = (1.0, 0.5, 0.2)
BAD: tuple[Any, ...] = ([], ["x"], [[1]], [[[0, "x"]]], [[[1, [[1]], 0]]], None)
Forge = Callable[[Base, Random], Forged]


def changed_document(one: Base, random: Random) -> Forged:
    """Make one or two changes of the document, with the right texts."""
    document, done = one.document(), list[str]()
    for _ in range(random.choice((1, 1, 1, 2))):
        try:
            done.append(random.choice(CHANGES)(document, random))
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            # The first change left nothing for the second one to change.
            continue
    text = json.dumps(document)
    return Forged("changed", " and ".join(done), text, one.dt, one.kernel)


def of_characters(one: Base, random: Random) -> Forged:
    """Cut off the text, or replace some of its characters."""
    text, at = one.certificate, random.randrange(1, len(one.certificate) - 2)
    end = min(at + random.choice((1, 1, 5, 200)), len(text))
    new = random.choice(("", "0", "1", '"', "}", "]", ",", "\\u0000", "\\ud800", "e9", ".0", "-"))
    made = random.choice((text[:at], text[:at] + new + text[end:], text[at:], text + text[at:end]))
    return Forged("characters", f"at {at}", made, one.dt, one.kernel)


def of_json(one: Base, random: Random) -> Forged:
    """Write JSON that a careless reader accepts: keys twice, numbers such as NaN, deep nesting."""
    text, depth = one.certificate, random.choice((100, 900, 5000, 200_000))
    key = random.choice(("functions", "version", "kernel", "sets", "obligations", "empty", "part"))
    deep, number = "[" * depth + "]" * depth, "9" * random.choice((20, 4000, 5000, 500_000))
    value = random.choice(
        (
            *("NaN", "Infinity", "-Infinity", "1e999", "-0", "0.0", "1E0", "1.0", number, deep),
            *('{"a": ' * depth + "0" + "}" * depth, "// no", "0x1", "01", "+1", "'x'", "undefined"),
        )
    )
    place = text.index(f'"{key}"')
    made = random.choice(
        (
            f'{text[:place]}"{key}": {value}, {text[place:]}',
            f"{text[:place]}{text[place:].replace(': ', f': {value}, ', 1)}",
            text.replace('"empty": ', f'"empty": {value}, "empty": ', 1),
            text.replace('"version": 2', f'"version": {value}', 1),
            f"[{text}]",
            f"{text}{text}",
            f"{text}\0",
            f"/* {text} */ {text}",
            f"{{{text[1:].strip()[:-1]}, {text[text.index('{') + 1 :]}",
            value,
            f"\ufeff{text}{value}",
        )
    )
    return Forged("json", f"{value[:20]} at '{key}'", made, one.dt, one.kernel)


def of_witnesses(one: Base, random: Random) -> Forged:
    """Write other witnesses: wrong ones, far too many, too deep, or of other sets."""
    document = one.document()
    witnesses = document["functions"][0]["witnesses"]
    if not witnesses:
        return changed_document(one, random)
    at = random.choice(sorted(witnesses))
    ways: list[list[Any]] = witnesses[at]
    depth = random.choice((10, 49, 51, 300, 2000))
    match random.randrange(8):
        case 0:
            witnesses[at] = ways * random.choice((2, 100, 2000))
        case 1:
            ways[0] = [DEEP for _ in ways[0]]
        case 2:
            del witnesses[at]
        case 3:
            witnesses[str(random.randrange(500))] = ways
        case 4:
            ways[0] = [[[random.choice((1, -1, 64, 10**4000))]] for _ in ways[0]]
        case 5:
            ways[0] = random.choice(BAD)
        case 6:
            witnesses[random.choice(("-1", "1.0", "\u0663", "", "1e3", f" {at}", f"0{at}"))] = ways
        case _:
            others = [found for found, key in places(ways) if type(found[key]) is int]
            found = random.choice(others) if others else [0]
            found[0] = random.choice((0, 1, -1, 2, True))
    deep = "[[1, " * depth + "[[1]]" + ", 2]]" * depth
    text = json.dumps(document).replace(f'"{DEEP}"', deep)
    return Forged("witnesses", f"of {at}", text, one.dt, one.kernel)


def of_another(one: Base, random: Random) -> Forged:
    """Take the certificate of another file with the right hashes, or mix the parts of two files."""
    other = base(random.randrange(10**6))
    document, theirs = one.document(), other.document()
    if random.random() < 0.5:
        document["functions"] = theirs["functions"]
    else:
        function: Document = document["functions"][0]
        key = random.choice([*function])
        function[key] = theirs["functions"][0][key]
    return Forged("of another", other.subject.name, json.dumps(document), one.dt, one.kernel)


def of_other_texts(one: Base, random: Random) -> Forged:
    """Take the texts of another file, or changed texts.

    The hashes are the old ones or the right ones.
    """
    other = base(random.randrange(10**6))
    dt, kernel = random.choice(
        (
            (other.dt, one.kernel),
            (one.dt, other.kernel),
            (one.dt.replace("exp(", "sin(").replace("+", "-").replace("*", "+"), one.kernel),
            (one.dt, one.kernel.replace(" * ", " + ", 1)),
            (one.dt.replace(";", ";;", 1), one.kernel),
            (one.dt, one.kernel[: random.randrange(len(one.kernel))]),
            ("", ""),
            (random.choice(("\0", "\ud800", "Func", "(" * 5000)), one.kernel),
            (one.dt, random.choice(("\0", "\ud800", "import os\n", "(" * 5000))),
        )
    )
    text = renamed(one, dt, kernel) if random.random() < 0.8 else one.certificate
    return Forged("other texts", other.subject.name, text, dt, kernel)


def of_a_mutant(one: Base, random: Random) -> Forged:
    """Take changed kernels, with the old certificate or one of an engine that calls all proved."""
    changed = mutant(Source(one.kernel), random)
    lie = None
    for share in () if random.random() < 0.3 else (*LIES, *LIES):
        # Without a lie this is a good certificate of kernels that are right, or says UNKNOWN.
        lie = lied_about(one, changed.text, share, random)
        if lie is not None:
            break
        changed = mutant(Source(one.kernel), random)
    text = lie if lie is not None else renamed(one, one.dt, changed.text)
    kind = "of a lying engine" if lie is not None else "of a mutant"
    return Forged(kind, str(changed), text, one.dt, changed.text)


def unchanged(one: Base, random: Random) -> Forged:
    """Write the same in other JSON: other orders of keys, other whitespace, escaped characters."""
    document = one.document()
    keys = random.sample([*document], len(document))
    made = random.choice(
        (
            json.dumps({key: document[key] for key in keys}),
            json.dumps(document, indent=random.choice((None, 0, 3))),
            json.dumps(document, separators=(",", ":"), sort_keys=True),
            f"\n\t {one.certificate}\r\n ",
            one.certificate.replace('"version"', '"\\u0076ersion"'),
            one.certificate,
        )
    )
    return Forged("unchanged", "", made, one.dt, one.kernel)


FORGES: tuple[tuple[Forge, int], ...] = (
    (changed_document, 10),
    (of_characters, 3),
    (of_json, 4),
    (of_witnesses, 3),
    (of_another, 2),
    (of_other_texts, 2),
    (of_a_mutant, 4),
    (unchanged, 1),
)


def forged(seed: int) -> tuple[Base, Forged]:
    """Return the forgery of a seed, and what it was made of."""
    random = Random(f"forged {seed}")
    one = base(random.randrange(10**6))
    (forge,) = random.choices([each for each, _ in FORGES], [share for _, share in FORGES])
    return one, forge(one, random)
