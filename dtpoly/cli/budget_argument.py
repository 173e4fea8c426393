"""Reads a budget such as `200` candidates or `10min` from the command line."""

import re

import click

_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)(s|min|h)|([0-9]+)")
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


class BudgetType(click.ParamType[tuple[int | None, float | None]]):
    """A number of candidates such as `200`, or a time such as `60s`, `10min` or `2h`."""

    name = "budget"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, float | None]:
        """Return the number of candidates and the seconds, one of which is None."""
        match = _BUDGET.fullmatch(str(value))
        if match is None:
            self.fail(f"'{value}' is no budget: take 200, 60s, 10min or 2h", param, ctx)
        number, unit, count = match.groups()
        return (int(count), None) if count else (None, float(number) * _SECONDS[unit])
