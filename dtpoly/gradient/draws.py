"""Draws random numbers in Funcs of their own, where one number serves several elements.

An algorithm that draws a number for each element that it reads may have a gradient with further
labels, along which the number is the same. That is meant, and so it is written as the language
wants it (DT249): a Func over the labels of the number draws it.
"""

from dataclasses import replace

from dtpoly.algorithm.drawn_numbers import drawn_for_several
from dtpoly.algorithm.expressions import Apply, Expr, Read, free_labels, map_children
from dtpoly.algorithm.program import Func
from dtpoly.gradient.derived_nodes import read_at
from dtpoly.gradient.naming import FreeNames

SAID = "random numbers, each of which serves several elements"


class Draws:
    """The Funcs that draw numbers for others, each with a sentence that says what it is."""

    def __init__(self, names: FreeNames) -> None:
        self.names = names
        self.said: dict[str, str] = {}
        self._reads: dict[Apply, Read] = {}
        self._new: list[Func] = []

    def apart(self, func: Func) -> Func:
        """Return a Func that reads the numbers which it would draw for several elements at once."""
        found = [node for node, _ in drawn_for_several(func)]

        def put(expr: Expr) -> Expr:
            if isinstance(expr, Apply) and any(expr is node for node in found):
                return self._read(expr)
            return map_children(expr, put)

        return replace(func, body=put(func.body)) if found else func

    def new(self) -> list[Func]:
        """Return the Funcs that were made since they were last asked for."""
        found, self._new = self._new, []
        return found

    def _read(self, node: Apply) -> Read:
        if node not in self._reads:
            name, labels = self.names.new("drawn"), tuple(free_labels(node))
            self._reads[node] = read_at(name, labels)
            self._new.append(Func(name, labels, node))
            self.said[name] = SAID
        return self._reads[node]
