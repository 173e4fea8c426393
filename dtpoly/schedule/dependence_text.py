"""Shows the dependences of a Program: as sentences, as a text for isl, or as data for JSON."""

from collections.abc import Iterator

from dtpoly.algorithm.show import show_definition
from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.isl_text import isl_text
from dtpoly.poly.model import Statement
from dtpoly.schedule.links import Graph, Link, named, sentences
from dtpoly.schedule.statement_lines import Lines, first_line


def show_dependences(found: Graph) -> Iterator[str]:
    """Sentences for each Func that depends on something, under its definition."""
    for func in dict.fromkeys(s.func for s in found.model.statements):
        mine = [link for link in found.links if link.target.func == func and link.is_direct]
        if not mine:
            continue
        definition = found.program.func(func)
        head = first_line(definition.span)
        yield show_definition(definition) + (f"  # line {head}" if head is not None else "")
        # The line of the definition is said once.
        others = {name: line for name, line in found.lines.items() if line != head}
        for link in mine:
            yield from (f"  {sentence}" for sentence in sentences(link, others))
        yield ""
    if more := sum(not link.is_direct for link in found.links):
        yield f"# {more} more pairs of statements follow from these"


def isl_dependences(found: Graph) -> str:
    """Show all dependences for isl, each with a comment that says what it is."""

    def comment(link: Link, kind: DependenceKind) -> str:
        source, target = named(link.source, found.lines), named(link.target, found.lines)
        return f"{kind} of {link.array}: {source} -> {target}"

    parts = (
        (comment(link, one.kind), one.relation) for link in found.links for one in link.dependences
    )
    return isl_text(found.model, parts)


def dependence_data(found: Graph) -> list[dict[str, object]]:
    """List all dependences for JSON; a distance is the smallest and the largest one."""
    return [
        {
            "kind": one.kind,
            "array": one.array,
            "source": _end(link.source, found.lines),
            "target": _end(link.target, found.lines),
            "distance": {label: list(bounds) for label, bounds in link.distance.items()},
            "direct": link.is_direct,
            "relation": str(one.relation.gist_params(found.model.context)),
        }
        for link in found.links
        for one in link.dependences
    ]


def _end(statement: Statement, lines: Lines) -> dict[str, object]:
    return {
        "statement": statement.name,
        "func": statement.func,
        "role": statement.role,
        "labels": list(statement.labels),
        "line": lines.get(statement.name),
    }
