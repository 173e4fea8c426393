"""What is prepared for batches, as a file of a folder; whoever measures needs nothing else."""

import json
from pathlib import Path
from typing import Any

ONE, BEST = "one for all batches", "best for this batch"
MANIFEST = "batches.json"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what was prepared, by case."""
    path = folder / MANIFEST
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return known
