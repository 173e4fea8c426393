"""Write the certificate of a proof as JSON: the sets that must be empty, and what else it rests on.

Another program can check it. Where one set must lie inside of a projection of
another, the certificate gives for each point a value of the names that are projected out (a
witness). So the checker does not have to look for one.
"""

from __future__ import annotations

import json
from typing import cast

import islpy as isl

from dtpoly.algorithm.program import Program
from dtpoly.verify.algebra.notation import plain
from dtpoly.verify.algebra.proof_limits import limited
from dtpoly.verify.algebra.regions import Without
from dtpoly.verify.algebra.sets import PARAM, as_points, is_empty, polyhedra_of
from dtpoly.verify.proof.obligations import Attempt, attempts, heading, section, taken_away

SECONDS = 60.0
# Values down to this depth of the document are written on lines of their own.
LINES = 4
# A number is a sum of parts: [coefficient], [coefficient, name] or [coefficient, number, divisor],
# where the last one is a coefficient times a quotient that is rounded down.
Form = list[list[object]]


def certificate(program: Program, dt_text: str, kernel_text: str, seconds: float = SECONDS) -> str:
    """Return the certificate of a kernel text. If something is not proved, it says so."""
    found = attempts(program, kernel_text, seconds, lambda _: is_empty)
    return text_of(found, dt_text, kernel_text, seconds)


def text_of(found: list[Attempt], dt_text: str, kernel_text: str, seconds: float = SECONDS) -> str:
    """Return the certificate of proofs that have already been attempted."""
    functions = [section(one) | {"witnesses": _witnesses(one, seconds)} for one in found]
    return f"{_written(heading(dt_text, kernel_text) | {'functions': functions}, 0)}\n"


def _written(value: object, depth: int) -> str:
    """Return JSON with a line for each set, each obligation and each witness."""
    if depth == LINES or not value:
        return json.dumps(value)
    if isinstance(value, dict):
        parts = cast(dict[str, object], value).items()
        lines = [f"{json.dumps(key)}: {_written(one, depth + 1)}" for key, one in parts]
        return "\n".join(("{", ",\n".join(lines), "}"))
    if isinstance(value, list):
        lines = [_written(one, depth + 1) for one in cast(list[object], value)]
        return "\n".join(("[", ",\n".join(lines), "]"))
    return json.dumps(value)


def _witnesses(attempt: Attempt, seconds: float) -> dict[str, list[list[Form]]]:
    """Return the witnesses of a proof by the number of the set.

    A witness is a list of the values of the names that are projected out. A set may need several:
    each is right for some of the points.
    """
    found: dict[str, list[list[Form]]] = {}
    for obligation in attempt.run.obligations:
        for one in taken_away(obligation.region):
            key = str(attempt.table.add(one))
            if key not in found and (ways := _witness(one, seconds)) is not None:
                found[key] = ways
    return found


def _witness(of: Without, seconds: float) -> list[list[Form]] | None:
    """Return the least values of the projected names for which there is a point.

    The list is empty if there never is a point; None if isl does not find out in time.
    """
    ways: list[list[Form]] = []

    def note(_: isl.Set, values: isl.MultiAff) -> None:
        way = [_form(values.get_at(at)) for at in range(len(of.gone))]
        if way not in ways:
            ways.append(way)

    try:
        with limited(seconds):
            as_points(polyhedra_of(of.of), of.gone).lexmin_pw_multi_aff().foreach_piece(note)
    except isl.Error:
        return None
    return ways


def _form(of: isl.Aff) -> Form:
    """Return a number of isl, whose denominator must be 1, as it is written in a certificate."""
    found: Form = []
    if constant := int(of.get_constant_val().to_python()):
        found.append([constant])
    for at in range(of.dim(PARAM)):
        if coefficient := int(of.get_coefficient_val(PARAM, at).to_python()):
            found.append([coefficient, plain(str(of.get_dim_name(PARAM, at)))])
    for at in range(of.dim(isl.dim_type.div)):
        if coefficient := int(of.get_coefficient_val(isl.dim_type.div, at).to_python()):
            inside = of.get_div(at)
            divisor = inside.get_denominator_val()
            whole = _form(inside.scale_val(divisor))
            found.append([coefficient, whole, int(divisor.to_python())])
    return found
