"""Reads the dictionary of a launch as a `PlannedCall`, and refuses what docs/plan.md forbids."""

from __future__ import annotations

import ast

from dtpoly.verify.algebra.kernel_values import MOST_LANES, Unread
from dtpoly.verify.plan.call_plan import DescriptorOf, PlannedCall
from dtpoly.verify.plan.formula_parsing import Formula, FormulaComparison, truth_of
from dtpoly.verify.plan.interface import MOST_STAGES, MOST_WARPS
from dtpoly.verify.plan.literals import (
    Datum,
    DictLiteral,
    parts_of,
    table,
    text,
    texts,
    truth,
    whole,
    word,
)
from dtpoly.verify.plan.tables import check_keys, each, formula, formulas, listed, made_of

KEYS = frozenset(
    (
        *("kernel", "func", "programs", "before", "tensors", "scratch", "numbers", "descriptors"),
        *("lanes", "flags", "types", "fours", "counts", "near", "tiles", "num_warps"),
        *("num_stages", "turns", "panel", "early", "specialized"),
    )
)
ALWAYS = ("kernel", "func", "tensors")
PANELS = ("first", "last")
# Bytes of the elements that tensor cores multiply in a specialized launch, at most.
MOST_BYTES = (2, 4)
MOST_TURNS = 2**16
# What Triton takes if a launch does not say it.
USUAL_WARPS = 4


def launch_of(datum: Datum) -> PlannedCall:
    """Return the launch that a dictionary describes. Raises Unread."""
    of = table(datum, "a launch")
    check_keys(of, KEYS, ALWAYS, "a launch")
    word(of.entries["func"], "'func'")
    stages = None
    if "num_stages" in of.entries:
        stages = whole(of.entries["num_stages"], "'num_stages'", 0, MOST_STAGES)
    if "before" in of.entries and "programs" not in of.entries:
        raise Unread(of.lines["before"], "a launch with 'before' and without 'programs'")
    return PlannedCall(
        kernel=text(of.entries["kernel"], "'kernel'"),
        programs=_factors(of, "programs"),
        before=_factors(of, "before"),
        tensors=each(of, "tensors", _words),
        scratch=each(of, "scratch", made_of),
        numbers=each(of, "numbers", formula),
        descriptors=each(of, "descriptors", _descriptor),
        lanes=each(of, "lanes", _lanes),
        flags=each(of, "flags", _flag),
        types=texts(of.entries["types"], "'types'") if "types" in of.entries else (),
        fours=_some(of, "fours"),
        counts=formulas(of, "counts"),
        near=formulas(of, "near"),
        tiles=tuple(map(_tile, listed(of, "tiles"))),
        warps=_warps(of),
        stages=stages,
        turns=whole(of.entries["turns"], "'turns'", 1, MOST_TURNS) if "turns" in of.entries else 0,
        panel=_panel(of),
        is_early="early" in of.entries and truth(of.entries["early"], "'early'"),
        specialized=_specialized(of),
        line=of.entries["kernel"].line,
    )


def _warps(of: DictLiteral) -> int:
    """Return how many warps run a program. Raises Unread for a number that Triton refuses."""
    if "num_warps" not in of.entries:
        return USUAL_WARPS
    count = whole(of.entries["num_warps"], "'num_warps'", 1, MOST_WARPS)
    if count & (count - 1):
        raise Unread(of.lines["num_warps"], f"{count} warps")
    return count


def _factors(of: DictLiteral, key: str) -> tuple[Formula, ...] | None:
    """Return the formulas whose product is a number of programs.

    No formulas mean one program. Where the launch does not have the key, the answer is None.
    """
    return formulas(of, key) if key in of.entries else None


def _some(of: DictLiteral, key: str) -> tuple[Formula, ...]:
    """Return formulas, of which there is at least one if the key is there."""
    found = formulas(of, key)
    if key in of.entries and not found:
        raise Unread(of.lines[key], f"'{key}' of nothing")
    return found


def _words(datum: Datum, what: str) -> tuple[str, ...]:
    """Return the words for the axes of a tensor, which stand with a space between them."""
    found = text(datum, what)
    words = found.split(" ") if found else []
    if any(one != "-" and not one.isidentifier() for one in words):
        raise Unread(datum.line, f"'{found}' for the axes of {what}")
    return tuple(words)


def _lanes(datum: Datum, what: str) -> Formula:
    found = formula(datum, what)
    match found.node:
        case ast.Call(func=ast.Name(id="lanes")):
            return found
        case _:
            raise Unread(datum.line, f"'{found.text}', which is no number of lanes")


def _flag(datum: Datum, what: str) -> tuple[FormulaComparison, ...]:
    return truth_of(text(datum, what), datum.line)


def _tile(datum: Datum) -> Formula:
    parts = parts_of(datum, "a tile")
    if len(parts) != 3:
        raise Unread(datum.line, "a tile of other parts than a Func, a number and a directive")
    for one in (parts[0], parts[2]):
        word(one, "a word of a tile")
    return formula(parts[1], "a tile")


def _descriptor(datum: Datum, what: str) -> DescriptorOf:
    of = table(datum, what)
    always = ("of", "block", "axes")
    check_keys(of, frozenset((*always, "step")), always, what)
    numbers = {
        key: tuple(
            whole(one, f"'{key}'", least, MOST_LANES)
            for one in parts_of(of.entries[key], f"'{key}'")
        )
        for key, least in (("block", 1), ("axes", 0))
    }
    step = whole(of.entries["step"], "'step'", 1, MOST_LANES) if "step" in of.entries else None
    return DescriptorOf(
        text(of.entries["of"], "'of'"), numbers["block"], numbers["axes"], step, of.line
    )


def _panel(of: DictLiteral) -> str:
    if "panel" not in of.entries:
        return ""
    found = text(of.entries["panel"], "'panel'")
    if found not in PANELS:
        raise Unread(of.lines["panel"], f"the launch '{found}' of a panel")
    return found


def _specialized(of: DictLiteral) -> tuple[int, tuple[str, ...]] | None:
    if "specialized" not in of.entries:
        return None
    parts = parts_of(of.entries["specialized"], "'specialized'")
    if len(parts) != 2:
        raise Unread(of.lines["specialized"], "'specialized' without bytes and descriptors")
    most = whole(parts[0], "the bytes of 'specialized'", 1)
    if most not in MOST_BYTES:
        raise Unread(parts[0].line, f"a launch that is specialized for {most} bytes")
    return most, texts(parts[1], "the descriptors of 'specialized'")
