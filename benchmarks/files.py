"""Writes a file in one step, so that no reader ever finds half of it."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"


def write_whole(path: Path, text: str) -> None:
    """Replace a file in one step.

    If the process is stopped meanwhile, the old file or the new one is there, and never a part.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    os.replace(part, path)
