"""Draws the statements of a Program and the dependences between them, as SVG."""

from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.model import Statement
from dtpoly.render.graph import Edge, Node, Style, draw_graph
from dtpoly.schedule.links import Graph, sentences
from dtpoly.schedule.statement_lines import first_line

# The kinds can also be told apart without colours.
STYLES = {
    DependenceKind.FLOW: Style("flow", "#0969da"),
    DependenceKind.ANTI: Style("anti", "#bc4c00", "6 3", is_left=True),
    DependenceKind.IN_PLACE: Style("in place", "#bc4c00", "6 3", is_left=True),
    DependenceKind.OUTPUT: Style("output", "#a40e26", "2 2", is_left=True),
    DependenceKind.REDUCTION: Style("reduction", "#8250df", "8 2 2 2", is_left=True),
    DependenceKind.SCAN: Style("scan", "#8250df", "4 2", is_left=True),
}


def dependence_picture(found: Graph) -> str:
    """Draw the statements in defining order and the dependences between them, by kind."""
    statements = found.model.statements
    position = {statement.name: at for at, statement in enumerate(statements)}
    nodes = [
        Node(str(statement), statement.role, _head(found, statement)) for statement in statements
    ]
    direct = [link for link in found.links if link.is_direct]
    edges = [
        Edge(
            position[link.source.name],
            position[link.target.name],
            STYLES[kind],
            "\n".join(sentences(link, found.lines)),
        )
        for link in direct
        for kind in link.kinds
    ]
    more = len(found.links) - len(direct)
    note = f"{more} more follow from these" if more else ""
    return draw_graph("what depends on what", nodes, edges, note)


def _head(found: Graph, statement: Statement) -> str:
    func = found.program.func(statement.func)
    line = first_line(func.span)
    where = f", line {line}" if line is not None else ""
    return f"{func.name}[{', '.join(func.labels)}]{where}"
