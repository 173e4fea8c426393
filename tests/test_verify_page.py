"""docs/verify.md shows what the commands print; --update-golden rewrites it."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from dtpoly.cli.main import entry
from tests.conftest import Golden
from tests.verify.texts import changed

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "verify.md"
BLOCK = re.compile(r"^```console\n((?:\$ .*\n)+)(?:(?!\$ |```).*\n)*```$", re.MULTILINE)
SECONDS = re.compile(r"\d+\.\d\d$", re.MULTILINE)


def test_the_page_is_up_to_date(
    golden: Golden,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "softmax.dt", tmp_path)
    entry(["compile", "softmax.dt"])
    capsys.readouterr()

    def output(command: str) -> str:
        """Return what a command prints."""
        kernel = tmp_path / "softmax.py"
        match shlex.split(command):
            case ["dtpoly", *arguments]:
                entry(arguments)
                # How long it took differs from machine to machine.
                return SECONDS.sub("0.05", capsys.readouterr().out)
            case ["head", "-3", "softmax.py"]:
                return "".join(kernel.read_text().splitlines(keepends=True)[:3])
            case ["sed", "-i", how, "softmax.py"]:
                _, old, new, _ = how.split("/")
                kernel.write_text(changed(kernel.read_text(), old, new))
                return ""
            case _:
                raise AssertionError(command)

    def printed(block: re.Match[str]) -> str:
        commands = block[1].splitlines()
        said = "".join(f"{line}\n{output(line.removeprefix('$ '))}" for line in commands)
        return f"```console\n{said}```"

    page = PAGE.read_text()
    assert len(BLOCK.findall(page)) == 3
    golden("../../docs/verify.md", BLOCK.sub(printed, page))


def test_every_option_is_told() -> None:
    page = PAGE.read_text()
    for option in ("kernel", "ring", "certificate", "check", "fuse-at", "json", "no-verify"):
        assert f"--{option}" in page
