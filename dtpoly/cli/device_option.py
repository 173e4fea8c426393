"""Defines the option `--device`: the name of a GPU, or of a file that `dtpoly device` wrote."""

from pathlib import Path

import click

from dtpoly.cli.file_arguments import complete_files
from dtpoly.explore.devices.devices import (
    DEFAULT,
    Device,
    UnknownDevice,
    devices,
    find_device,
    read_device,
)
from dtpoly.suggest import near


def parse_device(word: str) -> Device:
    """Return the device that a word names. Raises click.BadParameter."""
    if word.endswith(".json"):
        try:
            return read_device(Path(word).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise click.BadParameter(f"'{word}' cannot be read: {why}") from None
    try:
        return find_device(word)
    except UnknownDevice:
        known = list(devices())
        meant = near(word.lower(), known)
        hint = f"did you mean '{meant}'?" if meant else f"known are {', '.join(known)}"
        raise click.BadParameter(
            f"no device '{word}'; {hint} (dtpoly device measures the GPU of a machine)"
        ) from None


def _parse(context: click.Context, parameter: click.Parameter, word: str) -> Device:
    return parse_device(word)


device_option = click.option(
    "--device",
    default=DEFAULT,
    show_default=True,
    metavar="GPU",
    callback=_parse,
    shell_complete=complete_files,
    help="A GPU; the machine need not have it: h100, h200, a100, rtx4090, mi300x, or a .json file.",
)
