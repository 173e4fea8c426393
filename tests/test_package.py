"""The wheel holds exactly the package's tracked files."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the checkout")
def test_the_wheel_holds_the_tracked_files(tmp_path: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "dtpoly/*.py", "dtpoly/py.typed", "frontend", "codegen"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    copy = tmp_path / "checkout"
    subprocess.run(["git", "checkout-index", "-a", f"--prefix={copy}/"], cwd=ROOT, check=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, copy],
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        f"dtpoly/{path}" if path.startswith(("frontend/", "codegen/")) else path for path in tracked
    }
    assert packed == expected
