"""Shows the statements of a Program: as a listing, as a text for isl, or as data for JSON."""

import re
from collections.abc import Iterator

from dtpoly.algorithm.expressions import reads as reads_of
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_definition, show_expr
from dtpoly.poly.isl_text import facts_text, isl_text
from dtpoly.poly.lift import lift
from dtpoly.poly.model import Model, Role, Statement, show_element
from dtpoly.schedule.statement_lines import first_line, statement_lines


def show_model(program: Program) -> Iterator[str]:
    """Show each Func's statements in defining order, and what holds for all sizes."""
    model = lift(program)
    for func in dict.fromkeys(s.func for s in model.statements):
        definition = program.func(func)
        line = first_line(definition.span)
        yield show_definition(definition) + (f"  # line {line}" if line is not None else "")
        for statement in model.of_func(func):
            yield from (f"  {text}" for text in _statement(model, statement))
        yield ""
    yield from (f"# len({label}) = {size}" for label, size in _equal_sizes(model))
    if model.statements:
        yield f"# of all sizes: {_with_lengths(facts_text(model))}"


def _statement(model: Model, statement: Statement) -> Iterator[str]:
    yield f"{statement}  # {statement.role}"
    box = ", ".join(f"{label} < {_size(model, label)}" for label in statement.labels)
    if box:
        yield f"  for all {box}"
    if read := read_texts(statement):
        yield f"  reads {', '.join(read)}"
    yield f"  writes {show_element(statement.writes)}{_identity(model, statement)}"


def read_texts(statement: Statement) -> tuple[str, ...]:
    """List what a statement reads, of inputs too; an update reads its own accumulator first."""
    own = [show_element(read) for read in statement.reads if read.array == statement.writes.array]
    body = reads_of(statement.body) if statement.body is not None else ()
    return tuple(dict.fromkeys((*own, *map(show_expr, body))))


def _identity(model: Model, statement: Statement) -> str:
    if statement.role is not Role.INIT:
        return ""
    return f", the identity of {model.arrays[statement.writes.array].reduction}"


def _size(model: Model, label: str) -> str:
    return _with_lengths(model.size_of[label])


def _equal_sizes(model: Model) -> Iterator[tuple[str, str]]:
    """Return labels whose size is that of another one."""
    sizes = ((label, _size(model, label)) for label in model.size_of)
    return ((label, size) for label, size in sizes if size != f"len({label})")


def _with_lengths(text: str) -> str:
    """Parameters as the language calls them."""
    return re.sub(r"\bN_(\w+)", r"len(\1)", text)


def isl_model(program: Program) -> str:
    """Show for isl the domains, then what is written, then what is read."""
    model = lift(program)
    lines = statement_lines(program, model)

    def comment(statement: Statement) -> str:
        line = lines.get(statement.name)
        where = f", line {line}" if line is not None else ""
        return f"'{statement.name}', {statement.role}{where}"

    every = model.statements
    domains = isl_text(model, ((comment(s), s.domain) for s in every))
    writes = isl_text(model, (("", s.writes.relation.intersect_domain(s.domain)) for s in every))
    reads = isl_text(
        model, (("", r.relation.intersect_domain(s.domain)) for s in every for r in s.reads)
    )
    return f"# domains\n{domains}\n# writes\n{writes}\n# reads\n{reads}"


def model_data(program: Program) -> dict[str, object]:
    """Return the statements, and the parameter that is the size of each label."""
    model = lift(program)
    lines = statement_lines(program, model)
    return {
        "sizes": dict(model.size_of),
        "facts": facts_text(model),
        "statements": [
            {
                "name": statement.name,
                "func": statement.func,
                "role": statement.role,
                "labels": list(statement.labels),
                "bound": list(statement.bound),
                "line": lines.get(statement.name),
                "domain": str(statement.domain),
                "reads": list(read_texts(statement)),
                "writes": show_element(statement.writes),
            }
            for statement in model.statements
        ],
    }
