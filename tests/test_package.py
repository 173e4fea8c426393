"""The wheel holds exactly the package's tracked files, and works with a plugin beside it."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import dtpoly
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


@pytest.fixture(scope="module")
def windows_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel from it, of a checkout that has no links.

    Git on Windows writes a text file with the target of a link in its place.
    """
    folder = tmp_path_factory.mktemp("windows")
    copy, dist = folder / "checkout", folder / "dist"
    subprocess.run(["git", "checkout-index", "-a", f"--prefix={copy}/"], cwd=ROOT, check=True)
    links = [path for path in (copy / "dtpoly").iterdir() if path.is_symlink()]
    assert links
    for link in links:
        target = os.readlink(link)
        link.unlink()
        link.write_text(target, encoding="utf-8")
    # With neither --sdist nor --wheel, the wheel is made from the sdist.
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(copy)]
    subprocess.run(words, capture_output=True, check=True)
    return dist


@pytest.mark.long
def test_a_release_needs_no_links(windows_release: Path, wheel: Path) -> None:
    (archive,) = windows_release.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
    assert not [one.name for one in members if one.issym() or one.islnk()]
    assert not [one.name for one in members if "/tests/" in one.name]
    (other,) = windows_release.glob("*.whl")
    with zipfile.ZipFile(other) as from_sdist, zipfile.ZipFile(wheel) as from_checkout:
        names = {*from_checkout.namelist()}
        assert {*from_sdist.namelist()} == names
        code = [name for name in names if ".dist-info/" not in name]
        assert all(from_sdist.read(name) == from_checkout.read(name) for name in code)


@pytest.mark.long
def test_the_index_of_packages_would_take_it(windows_release: Path) -> None:
    if find_spec("twine") is None:
        pytest.skip("twine is not installed: pip install 'dtpoly[release]'")
    words = [
        sys.executable,
        "-m",
        "twine",
        "check",
        "--strict",
        *map(str, windows_release.iterdir()),
    ]
    done = subprocess.run(words, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_metadata_say_what_it_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == dtpoly.__version__
    assert all((ROOT / name).is_file() for name in project["license-files"])
    said = " ".join(project["classifiers"])
    assert "Operating System :: OS Independent" in said
    least = project["requires-python"].removeprefix(">=")
    assert f"Python :: {least}" in said
    heavy = ("torch", "triton", "numpy", "pandas")
    assert not [one for one in project["dependencies"] if one.startswith(heavy)]


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
