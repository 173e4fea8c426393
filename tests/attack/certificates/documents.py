"""Changes the document of a certificate: any value, and each part."""

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Document = dict[str, Any]
Place = tuple[Any, Any]
# A change of a document; it returns a word that says what was done.
Change = Callable[[Document, Random], str]

HOSTILE = (
    *("__import__('os').system('touch /tmp/attacked')", "${jndi:x}", "{0.__class__}", "%s%s%n"),
    *(
        "[] -> { : false }",
        "[] -> { [i] : i >= 0 }",
        "|) (assert false) (|",
        "(check-sat)",
        "\ud800",
    ),
    *(
        "true",
        "proved",
        "PROVED",
        "refuted",
        "unknown",
        "value",
        "",
        "\0",
        "x" * 100_000,
        "../../x",
    ),
)
NUMBERS = (0, 1, -1, 2, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**4000)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"": 0},
    [1],
    "1",
    *HOSTILE,
    *NUMBERS,
)
INSTANCES: tuple[Any, ...] = ([], ["false"], [0], [[[]]], None, ["1", "1"], "x")
NUMBER = re.compile(r"-?\b\d+\b")
LAYERS = ("stores", "loads", "bounds", "lanes", "order", "value", "overflow")


def places(value: Any) -> Iterator[Place]:
    """Yield the place of a value: what contains it, and under which key or number."""
    for key in _keys(value):
        yield value, key
        if type(value[key]) in (dict, list):
            yield from places(value[key])


def _keys(value: Any) -> list[Any]:
    return [*value] if type(value) is dict else [*range(len(value))]


def _place(document: Document, random: Random) -> Place:
    """Return any place; large lists do not hide small ones."""
    inside: Any = document
    while True:
        key = random.choice(_keys(inside))
        below = inside[key]
        if type(below) not in (dict, list) or not below or random.random() < 0.15:
            return inside, key
        inside = below


def other_value(document: Document, random: Random) -> str:
    """Replace any value."""
    inside, key = _place(document, random)
    inside[key] = random.choice(VALUES)
    return f"another value for {key!r}"


def other_number(document: Document, random: Random) -> str:
    """Replace a number, by itself or in a text."""
    found = [
        (inside, key)
        for inside, key in places(document)
        if type(inside[key]) is int or (isinstance(inside[key], str) and NUMBER.search(inside[key]))
    ]
    inside, key = random.choice(found)
    by = random.choice((1, -1, 2, 64, 2**32))
    if isinstance(inside[key], int):
        inside[key] += by
        return f"{key!r} is {by} more"
    one = random.choice([*NUMBER.finditer(inside[key])])
    text: str = inside[key]
    inside[key] = f"{text[: one.start()]}{int(one[0]) + by}{text[one.end() :]}"
    return f"a number of {key!r} is {by} more"


def dropped(document: Document, random: Random) -> str:
    """Leave out any value."""
    inside, key = _place(document, random)
    del inside[key]
    return f"{key!r} dropped"


def repeated(document: Document, random: Random) -> str:
    """Repeat an element, or move it to another place."""
    found = [place for place in places(document) if type(place[0]) is list]
    one, _ = random.choice(found)
    at, other = random.randrange(len(one)), random.randrange(len(one))
    if random.random() < 0.5:
        one.insert(other, one[at])
        return "an element twice"
    one[at], one[other] = one[other], one[at]
    return "two elements exchanged"


def exchanged(document: Document, random: Random) -> str:
    """Exchange two values of the same kind."""
    kind = random.choice((int, str, list, dict))
    found = [(inside, key) for inside, key in places(document) if type(inside[key]) is kind]
    if len(found) < 2:
        return repeated(document, random)
    (one, key), (other, at) = random.sample(found, 2)
    one[key], other[at] = other[at], one[key]
    return f"{key!r} and {at!r} exchanged"


def key_renamed(document: Document, random: Random) -> str:
    """Replace a key."""
    found = [place for place in places(document) if type(place[0]) is dict]
    inside, key = random.choice(found)
    new = random.choice((key.upper(), f"{key} ", f"{key}\u200b", "x", "", f"_{key}", "__class__"))
    inside[new] = inside.pop(key)
    return f"{key!r} called {new!r}"


def _function(document: Document, random: Random) -> Document:
    found: Document = random.choice(document["functions"])
    return found


def _holds(function: Document) -> list[list[Any]]:
    return [one for one in function["sets"] if one[0] == "holds"]


def emptied(document: Document, random: Random) -> str:
    """Say that a set has no points."""
    one = random.choice(_holds(_function(document, random)))
    head = one[1].split("{")[0]
    one[1] = head + random.choice(
        ("{ : false }", "{ : 1 = 0 }", "{ : 0 > 1 }", "{ }", "{ : 1 > 2 and true }")
    )
    return "a set emptied"


def all_emptied(document: Document, random: Random) -> str:
    """Say that all sets have no points."""
    for one in _holds(_function(document, random)):
        one[1] = one[1].split("{")[0] + "{ : false }"
    return "all sets emptied"


def condition_changed(document: Document, random: Random) -> str:
    """Leave out, double or negate a condition of a set."""
    one = random.choice(_holds(_function(document, random)))
    head, _, body = one[1].partition("{ :")
    parts = body.rstrip(" }").split(" and ")
    at = random.randrange(len(parts))
    match random.randrange(4):
        case 0:
            del parts[at]
        case 1:
            parts.append(random.choice(parts))
        case 2:
            parts[at] = parts[at].translate(str.maketrans("<>", "><"))
        case _:
            parts.append(random.choice(("false", "x_size = 0", "1 = 0", "x >= x")))
    one[1] = f"{head}{{ :{' and '.join(parts) or ' false'} }}"
    return "a condition changed"


def put_together_otherwise(document: Document, random: Random) -> str:
    """Make a set of others in another way, or of other sets, even of itself."""
    function = _function(document, random)
    found = [one for one in function["sets"] if one[0] != "holds"] or function["sets"]
    one = random.choice(found)
    if random.random() < 0.4:
        one[0] = random.choice(("meet", "join", "minus", "without", "twins", "holds", "all", ""))
        return "another word for how a set is made"
    numbers = [at for at, part in enumerate(one) if type(part) is int]
    if numbers:
        one[random.choice(numbers)] = random.choice(
            (random.randrange(len(function["sets"])), len(function["sets"]), -1, 10**9)
        )
    else:
        one[1:] = reversed(one[1:])
    return "a set is made of others"


def obligation_changed(document: Document, random: Random) -> str:
    """Leave out an obligation, change its set or layer, or add one."""
    found = _function(document, random)["obligations"]
    if not found:
        return other_value(document, random)
    at = random.randrange(len(found))
    one = found[at]
    match random.randrange(7):
        case 0:
            del found[at : at + random.choice((1, 2, 100))]
        case 1:
            one["part"] = random.choice((*LAYERS, "", None, one["part"].upper()))
        case 2:
            one["empty"] = random.choice((*NUMBERS, True, "0", None, [0], 1.5))
        case 3:
            found.insert(at, dict(one))
        case 4:
            one["line"] = random.choice((*NUMBERS, None, "1", True))
        case 5:
            found.reverse()
        case _:
            found[:] = []
    return "an obligation changed"


def assumption_changed(document: Document, random: Random) -> str:
    """Give the instance of a lemma to another lemma, leave it out, or add one."""
    function = _function(document, random)
    found, names = function["assumptions"], ("mixed radix", "groups", "room", "programs", "known")
    if not found:
        found.append({"lemma": random.choice(names), "instance": ["x_size", "1"]})
        return "an assumption more"
    one = random.choice(found)
    match random.randrange(5):
        case 0:
            found.remove(one)
        case 1:
            one["lemma"] = random.choice(tuple({str(o["lemma"]) for o in found}) + names)
        case 2:
            one["instance"] = random.choice(INSTANCES)
        case 3:
            found.append(dict(one))
        case _:
            found[:] = []
    return "an assumption changed"


def verdict_changed(document: Document, random: Random) -> str:
    """Change verdicts, licences or the name of a function."""
    function = _function(document, random)
    words = ("PROVED", "proved ", "true", True, 1, "refuted", "unknown", "", None)
    match random.randrange(5):
        case 0:
            function["verdicts"][random.choice(LAYERS)] = random.choice(words)
        case 1:
            function["verdicts"] = dict.fromkeys(("all", "everything"), "proved")
        case 2:
            function["licences"] = [*function["licences"], random.choice(HOSTILE)]
        case 3:
            function["licences"] = function["licences"][1:] or ["none"]
        case _:
            function["name"] = random.choice((f"{function['name']}_", "", "A", None, 1, "dt_max"))
    return "a verdict, licence or name changed"


def heading_changed(document: Document, random: Random) -> str:
    """Give the certificate another format, version or text."""
    key = random.choice(("format", "version", "dtpoly", "algorithm", "kernel"))
    if key in ("algorithm", "kernel"):
        text = document[key]["sha256"]
        document[key] = random.choice(
            (
                *({"sha256": text.upper()}, {"sha256": text[:-1]}, {"sha256": "0" * 64}, text, {}),
                *({"sha256": text, "md5": ""}, {"sha1": text}, None, {"sha256": [text]}),
                document["kernel" if key == "algorithm" else "algorithm"],
            )
        )
    else:
        document[key] = random.choice(
            [one for one in (2, 0, "1", 1.0, True, None, "", "0.1.0 ", [1]) if one != document[key]]
        )
    return f"another {key}"


def function_changed(document: Document, random: Random) -> str:
    """Leave out a function, repeat it, or add one."""
    found = document["functions"]
    match random.randrange(5):
        case 0:
            found.pop()
        case 1:
            found.append(dict(found[0]))
        case 2:
            found.append({**found[0], "name": "more"})
        case 3:
            found[0] = random.choice(VALUES)
        case _:
            document["functions"] = {"0": found[0]}
    return "functions changed"


CHANGES: tuple[Change, ...] = (
    *(other_value, other_number, dropped, repeated, exchanged, key_renamed, emptied, all_emptied),
    *(condition_changed, put_together_otherwise, obligation_changed, assumption_changed),
    *(verdict_changed, heading_changed, function_changed),
)
