"""Writes a gradient as the text of a .dt file, with what there is to say of it in comments."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.show import show, show_definition, show_directive
from dtpoly.frontend.format import format_source
from dtpoly.gradient.differentiate import Gradient
from dtpoly.source import Source


def gradient_text(gradient: Gradient, name: str) -> str:
    """Return the formatted text of a gradient of the algorithm of a file."""
    text = "".join(f"{line}\n" for line in _lines(gradient, name))
    return format_source(Source(f"the gradient of {name}", text))


def _lines(gradient: Gradient, name: str) -> Iterator[str]:
    of = " and ".join(gradient.given)
    by = ", ".join(gradient.results)
    yield f"# The gradient of {of} by {by}, derived from {name} by dtpoly differentiate."
    for one, new in gradient.given.items():
        yield f"# {new} is given: the gradient of what is computed of {one}."
    for one in gradient.saved:
        yield f"# {one} is saved: a function of the algorithm returns it."
    yield ""
    program = gradient.program
    yield show(replace(program, directives=())).partition("\n\n")[0]
    yield ""
    derived = [func for func in program.funcs if func.name in gradient.said]
    again = [func for func in program.funcs if func not in derived]
    if again:
        yield "# Of the algorithm, computed again."
        yield from (show_definition(func) for func in again)
        yield ""
    if gradient.rules:
        yield "# The rules, where d is what a result is given:"
        yield from (f"# - {rule}" for rule in gradient.rules)
        yield ""
    for func in derived:
        yield f"# {func.name}: {gradient.said[func.name]}."
        yield show_definition(func)
    yield ""
    yield from (show_directive(one) for one in program.directives)
