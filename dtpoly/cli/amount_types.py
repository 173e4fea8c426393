"""Reads an age such as `30d` and a number of bytes such as `500MB` from the command line."""

import re

import click

AGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(min|h|d)")
SECONDS_OF = {"min": 60.0, "h": 3600.0, "d": 86_400.0}
BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?)(kB|MB|GB)?")
BYTES_OF = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}


class AgeType(click.ParamType[float]):
    """A time such as `90min`, `12h` or `30d`, in seconds."""

    name = "age"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        match = AGE.fullmatch(str(value))
        if match is None:
            self.fail(f"'{value}' is no age: take 90min, 12h or 30d", param, ctx)
        return float(match[1]) * SECONDS_OF[match[2]]


class BytesType(click.ParamType[float]):
    """A number of bytes such as `500MB` or `2GB`."""

    name = "bytes"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number of bytes."""
        match = BYTES.fullmatch(str(value))
        if match is None:
            self.fail(f"'{value}' is no size: take 500MB or 2GB", param, ctx)
        return float(match[1]) * BYTES_OF[match[2] or ""]
