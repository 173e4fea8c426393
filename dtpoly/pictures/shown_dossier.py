"""Shows what makes each fusion legal: lines for a person, data for JSON, and a script.

The script asks isl the same questions again, so that a reader need not trust dtpoly.
"""

from collections.abc import Iterable, Iterator

from dtpoly.poly.theorem import SetConstruction
from dtpoly.render.as_json import Data, place
from dtpoly.render.outline import Heading, Item, outline
from dtpoly.render.snippet import Line
from dtpoly.schedule.dossier import Dossier, FusionObligation, Relation

CALLS = {
    SetConstruction.BROKEN: "broken",
    SetConstruction.ALIKE: "alike",
    SetConstruction.UNCOVERED: "uncovered",
    SetConstruction.GIVEN: "given",
}
# The functions that make these sets, as text for the script and for its documentation.
MADE = {
    SetConstruction.BROKEN: """\
def broken(pairs, source, target, wrong):  # whose ends are at places that are wrong
    return pairs & source.apply_range(wrong).apply_range(target.reverse())
""",
    SetConstruction.ALIKE: """\
def alike(place):  # two instances with one image
    order = isl.Map.lex_lt(place.domain().get_space())
    return place.apply_range(place.reverse()) & order
""",
    SetConstruction.UNCOVERED: """\
def uncovered(readers, reads, written, *original):  # who reads what is not written, but defined
    missing = reads.intersect_domain(readers - reads.intersect_range(written).domain())
    if original:
        missing = missing.apply_range(original[0]).intersect_range(original[1])
    return missing.domain()
""",
    SetConstruction.GIVEN: """\
def given(found):
    return found
""",
}
READ = """\
def read(text):
    return isl.Map(text) if "->" in text.split("{", 1)[1] else isl.Set(text)
"""
CHECK = """\
for words, make, *parts in sets:
    found = make(*map(read, parts)).intersect_params(facts)
    print("empty:" if found.is_empty() else "NOT EMPTY:", words)
"""


def script(one: Dossier) -> str:
    """Return a Python script that makes each set again with islpy and tests if it is empty."""
    used = [made for made in SetConstruction if any(each.made is made for each in one.obligations)]
    parts = [
        f"# {one.directive} in the kernel '{one.kernel}', again: Python with islpy",
        "import islpy as isl",
        f'facts = isl.Set("{one.facts}")  # of all sizes',
        *(MADE[made].rstrip() for made in used),
        READ.rstrip(),
        "sets = [\n" + "".join(map(_entry, one.obligations)) + "]",
        CHECK.rstrip(),
    ]
    return "\n".join(parts) + "\n"


def _entry(one: FusionObligation) -> str:
    texts = "".join(f'     "{part}",\n' for part in one.parts)
    return f'    ("{one.words}", {CALLS[one.made]},\n{texts}    ),\n'


def dossier_lines(found: Iterable[Dossier], width: int | None) -> Iterator[Line]:
    """Yield each theorem with the relations that it follows from, and its script.

    isl's text is never broken into lines.
    """
    for number, one in enumerate(found):
        if number:
            yield ()
        yield from outline([_heading(one)], width)
        for title, relations in (
            ("instances", one.domains),
            ("what an iteration needs", one.needed),
            ("dependences of the algorithm", one.before),
            ("dependences of the copy", one.after),
            ("places without this fusion", one.schedule_before),
            ("places with it", one.schedule_after),
        ):
            yield from _relations(title, relations)
        yield ()
        for line in script(one).splitlines():
            yield ((line, ""),)


def _heading(one: Dossier) -> Heading:
    line = "" if one.span is None else str(one.span).rpartition(":")[0]
    items = [Item("theorem", one.theorem), Item("proved" if one.is_proved else "false", _told(one))]
    if one.in_order:
        items.append(Item("in order", one.in_order))
    items.append(Item("of all sizes", (one.facts,)))
    return Heading(one.directive, line, f"in the kernel '{one.kernel}'", tuple(items))


def _told(one: Dossier) -> tuple[str, ...]:
    """Say of each set whether it is empty; sets that are not empty come first."""
    wrong = [each for each in one.obligations if not each.is_empty]
    rest = [each for each in one.obligations if each.is_empty]
    told: list[str] = []
    for each in wrong:
        why = "allowed by 'recompute'" if each.is_allowed else "this must not be"
        told.append(f"not empty, {why}: {each.words}; {each.example}")
    return (*told, *(f"empty: {each.words}" for each in rest))


def _relations(title: str, some: tuple[Relation, ...]) -> Iterator[Line]:
    if not some:
        return
    yield ()
    yield ((f"# {title}", "bold"),)
    for one in some:
        yield ((f"# {one.words}", "dim"),)
        yield ((one.isl, ""),)


def dossier_data(found: Iterable[Dossier]) -> list[Data]:
    """Return the dossiers as data for JSON."""
    return [
        {
            "directive": one.directive,
            "place": place(one.span),
            "func": one.func,
            "consumer": one.consumer,
            "kernel": one.kernel,
            "iteration": list(one.place),
            "theorem": list(one.theorem),
            "is_proved": one.is_proved,
            "facts": one.facts,
            "instances": _data(one.domains),
            "needed": _data(one.needed),
            "dependences": {"algorithm": _data(one.before), "copy": _data(one.after)},
            "places": {"without": _data(one.schedule_before), "with": _data(one.schedule_after)},
            "in_order": list(one.in_order),
            "sets": [_obligation(each) for each in one.obligations],
            "script": script(one),
        }
        for one in found
    ]


def _data(some: tuple[Relation, ...]) -> list[Data]:
    return [{"words": one.words, "isl": one.isl} for one in some]


def _obligation(one: FusionObligation) -> Data:
    return {
        "words": one.words,
        "kind": one.kind,
        "made": one.made,
        "parts": list(one.parts),
        "is_empty": one.is_empty,
        "is_allowed": one.is_allowed,
        "example": one.example or None,
    }
