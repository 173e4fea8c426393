"""Reads a budget such as `200` candidates or `10min` from the command line."""

import click

from dtpoly.amounts import budget_of


class BudgetType(click.ParamType[tuple[int | None, float | None]]):
    """A number of candidates such as `200`, or a time such as `60s`, `10min` or `2h`."""

    name = "budget"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, float | None]:
        """Return the number of candidates and the seconds, one of which is None."""
        found = budget_of(str(value))
        if found is None:
            self.fail(f"'{value}' is no budget: take 200, 60s, 10min or 2h", param, ctx)
        return found
