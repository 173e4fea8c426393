"""Finds the line of the source that each statement of a Model comes from."""

from collections.abc import Mapping

from dtpoly.algorithm.program import Program
from dtpoly.poly.model import Model, Role, Statement
from dtpoly.source import Span

Lines = Mapping[str, int]  # statement -> line


def statement_lines(program: Program, model: Model) -> Lines:
    """Return the line of each statement's reduction or Func; none for a Program without a text."""
    steps = {s.writes.array: s.body for s in model.statements if s.role is Role.UPDATE}

    def span(statement: Statement) -> Span | None:
        body = steps.get(statement.writes.array)
        found = body.span if body is not None else None
        return found or program.func(statement.func).span

    found = {statement.name: first_line(span(statement)) for statement in model.statements}
    return {name: line for name, line in found.items() if line is not None}


def first_line(span: Span | None) -> int | None:
    """Return the line on which a span starts."""
    return None if span is None else span.source.position(span.start)[0]
