"""Shell completion: the scripts, and the answers that they ask for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Entry
from tests.cli.process import dtpoly

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_script(call: Entry, shell: str, tmp_path: Path) -> None:
    code, out, _ = call("completion", shell)
    assert code == 0
    assert f"_DTPOLY_COMPLETE={shell}_complete" in out
    program = shutil.which(shell)
    if program:
        script = tmp_path / "script"
        script.write_text(out)
        subprocess.run([program, "-n", script], check=True)


def test_an_unknown_shell_is_usage(call: Entry) -> None:
    assert call("completion", "csh")[0] == 2


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("dtpoly ch", ["plain,check"]),
        ("dtpoly show --stage m", ["plain,model", "plain,map"]),
        (
            "dtpoly show --stage deps --form ",
            ["plain,text", "plain,json", "plain,isl", "plain,svg"],
        ),
        ("dtpoly show --stage pr", ["plain,program"]),
        ("dtpoly check some", ["file,some"]),
        ("dtpoly completion z", ["plain,zsh"]),
        ("dtpoly run --re", ["plain,--reference"]),
    ],
)
def test_answers(words: str, answer: list[str]) -> None:
    env = {
        "_DTPOLY_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = dtpoly(env=env)
    assert done.stdout.decode().splitlines() == answer
    assert done.returncode == 0
