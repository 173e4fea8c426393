"""Prints sets and relations as text that isl can read, one a line, each with a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model
from dtpoly.poly.spaces import computing

Commented = Iterable[tuple[str, "isl.Set | isl.Map"]]


def isl_text(model: Model, parts: Commented) -> str:
    """Print a union of sets or relations; facts about all sizes stand once, at the beginning.

    isl has no dots in names, so `f.k.update` becomes `f_k_update`.
    """
    with computing("a text for isl"):
        params = ", ".join(model.params)
        lines = [f"# of all sizes: {facts_text(model)}"]
        lines.append(f"[{params}] -> {{")
        for comment, one in parts:
            known = one.gist_params(model.context)
            lines += ([f"  # {comment}"] if comment else []) + [f"  {_named(known)};"]
        return "".join(f"{line}\n" for line in (*lines, "}"))


def facts_text(model: Model) -> str:
    """Print the constraints that hold for the size parameters."""
    return _body(model.context)


def plain_text(one: isl.Set | isl.Map) -> str:
    """Print one set or relation, with names that isl can read."""
    if isinstance(one, isl.Set) and one.is_params():
        return str(one.coalesce())
    kinds = (
        (isl.dim_type.set,) if isinstance(one, isl.Set) else (isl.dim_type.in_, isl.dim_type.out)
    )
    for kind in kinds:
        for at in range(one.dim(kind)):
            if name := one.get_dim_name(kind, at):
                one = one.set_dim_name(kind, at, _plain(name))
        name = one.get_tuple_name() if isinstance(one, isl.Set) else one.get_tuple_name(kind)
        if name and isinstance(one, isl.Set):
            one = one.set_tuple_name(_plain(name))
        elif name and isinstance(one, isl.Map):
            one = one.set_tuple_name(kind, _plain(name))
    return str(one.coalesce())


def _named(one: isl.Set | isl.Map) -> str:
    if isinstance(one, isl.Set):
        return _body(one.set_tuple_name(_plain(one.get_tuple_name() or "")))
    for kind in (isl.dim_type.in_, isl.dim_type.out):
        one = one.set_tuple_name(kind, _plain(one.get_tuple_name(kind) or ""))
    return _body(one)


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _body(one: isl.Set | isl.Map) -> str:
    """Return the text between the braces of a set or a relation."""
    return str(one).split("{", 1)[1].rsplit("}", 1)[0].strip().removeprefix(": ")
