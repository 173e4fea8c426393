"""The wheel holds exactly the package's tracked files, and works with a plugin beside it."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.cli.process import environment

ROOT = Path(__file__).parent.parent
SUM = "Func total; In A; Var x; RVar k;\ntotal[x] = rsum(A[x, k], k);\ntotal.compile();\n"

PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "dtpoly-skew"
version = "1.0"

[project.entry-points."dtpoly.primitives"]
skew = "dtpoly_skew:Skew"
interchange = "dtpoly_skew:Interchange"

[tool.setuptools]
py-modules = ["dtpoly_skew"]
"""

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the checkout")


def build(source: Path, to: Path) -> Path:
    """The wheel of a project."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", to, source],
        capture_output=True,
        check=True,
    )
    (wheel,) = to.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the tracked files."""
    folder = tmp_path_factory.mktemp("package")
    copy = folder / "checkout"
    subprocess.run(["git", "checkout-index", "-a", f"--prefix={copy}/"], cwd=ROOT, check=True)
    return build(copy, folder)


def test_each_folder_with_modules_is_a_package_of_the_wheel() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    there = {path.parent.relative_to(ROOT) for path in (ROOT / "dtpoly").rglob("*.py")}
    linked = {"dtpoly.codegen", "dtpoly.frontend"}  # which are folders of the checkout
    assert sorted(listed) == sorted({".".join(path.parts) for path in there} | linked)


@pytest.mark.long
def test_the_wheel_holds_the_tracked_files(wheel: Path) -> None:
    tracked = subprocess.run(
        [
            "git",
            "ls-files",
            "dtpoly/*.py",
            "dtpoly/*.json",
            "dtpoly/*.dt",
            "dtpoly/*.md",
            "dtpoly/py.typed",
            "frontend",
            "codegen",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        f"dtpoly/{path}" if path.startswith(("frontend/", "codegen/")) else path for path in tracked
    }
    assert packed == expected


@pytest.mark.long
def test_a_package_beside_the_wheel_brings_directives(wheel: Path, tmp_path: Path) -> None:
    plugin = (ROOT / "examples" / "skew.py").read_text()
    project, site, elsewhere = (tmp_path / name for name in ("project", "site", "elsewhere"))
    project.mkdir()
    elsewhere.mkdir()
    (project / "pyproject.toml").write_text(PROJECT)
    (project / "dtpoly_skew.py").write_text(plugin)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    packages = [wheel, build(project, tmp_path)]
    subprocess.run([*pip, "--target", site, *packages], capture_output=True, check=True)
    (elsewhere / "skew.py").write_text(plugin)
    (elsewhere / "good.dt").write_text(SUM + "total.skew(k, x);\n")
    (elsewhere / "bad.dt").write_text(SUM + "total.interchange(x, k);\n")

    def dtpoly(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "dtpoly", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=elsewhere,
            env=environment(PYTHONPATH=str(site)),
        )
        return done.returncode, done.stdout + done.stderr

    assert dtpoly("check", "good.dt") == (0, "no errors\n")
    assert dtpoly("check", "--plugin", "skew.py", "good.dt") == (0, "no errors\n")
    code, text = dtpoly("check", "bad.dt")
    assert code == 1
    assert "error[DT201]" in text
    code, text = dtpoly("explain", "good.dt")
    assert code == 0
    assert "Go through a loop in the order of its sum" in text
    (site / "dtpoly_skew.py").unlink()
    code, text = dtpoly("check", "good.dt")
    assert code == 1
    assert "error[DT222]" in text
    assert "dtpoly-skew 1.0" in text
