"""Writes a file that is at no moment half written."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"


def write_whole(path: Path, text: str) -> None:
    """Put a file in its place in one step, so that whoever is stopped leaves the old or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    os.replace(part, path)
