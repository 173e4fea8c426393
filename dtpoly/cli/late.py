"""Reports that a command was ended because its time or its memory was used up."""

import sys
from collections.abc import Sequence

from dtpoly.budget_messages import told
from dtpoly.cli.main import WRONG_INPUT
from dtpoly.cli.output import report, write
from dtpoly.render.as_json import render

AS_JSON = ("--json", "--sarif")


def tell(arguments: Sequence[str], stage: str, limit: str) -> int:
    """Report the limit and return the exit code; with `--json` the report is a document, too."""
    found = [told(stage or "beginning", limit)]
    if "--json" in arguments:
        write(render(found))
    else:
        report(found, sys.stderr)
    return WRONG_INPUT
