"""The GPU suite as one test: what is prepared here is checked here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu


def test_all(tmp_path: Path) -> None:
    for step in ("prepare", "check"):
        subprocess.run([sys.executable, "-m", f"tests.gpu.{step}", str(tmp_path)], check=True)
