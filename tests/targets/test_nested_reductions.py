"""Reductions inside of another one: Triton's compiler leaves them in the loop that they are in.

It moves the reduction of a tile that was just loaded behind the loop, also where the loop combines
what comes of it by another operation, which makes a wrong kernel of a right text.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.process import python_path
from tests.cli.server import Server
from tests.codegen.nested import FORMS, SCHEDULES, program
from tests.verify.texts import text_of

ROOT = Path(__file__).parent.parent.parent


def behind_loops(text: str) -> str:
    """Return what of Triton's code for a GPU stands behind its last loop on the outermost level."""
    loops = list(
        re.finditer(r"^    (?:%\S+ = )?scf\.for .*?^    }", text, re.MULTILINE | re.DOTALL)
    )
    assert loops
    return text[loops[-1].end() :]


def emitted(served: Server, text: str, warps: int) -> str:
    words = ("compile", "--emit", "ttgir", "--target", "cuda:90", "--json", "-")
    source = text.replace("f.compile();", f"f.num_warps({warps}); f.compile();")
    code, out, err = served(*words, "--size", "i=64,k=24,l=64", stdin=source.encode())
    assert code == 0, err
    (kernel,) = json.loads(out)["kernels"]
    return str(kernel["text"])


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("schedule", "warps"), [("all lanes", 1), ("all lanes", 4), ("parts", 2), ("walked", 4)]
)
@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS)
def test_none_is_moved_behind_the_loop(
    served: Server, value: str, schedule: str, warps: int
) -> None:
    text = emitted(served, program(value, SCHEDULES[schedule], "f32"), warps)
    assert "tt.reduce" not in behind_loops(text)


def test_the_installed_triton_moves_them_where_nothing_keeps_it_from_that() -> None:
    """Else there is nothing to keep clear of, and emitted texts may be simpler."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.targets.moved"]
    environment = {"PATH": "", "PYTHONPATH": python_path(ROOT), "HOME": str(Path.home())}
    ran = subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True)
    moved = {word: behind_loops(text) for word, text in json.loads(ran.stdout).items()}
    assert "tt.reduce" in moved["loaded"]
    assert "tt.reduce" not in moved["computed"]


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["", "f16", "f32", "f64"])
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS)
def test_what_is_emitted_is_proved(value: str, schedule: str, dtype: str) -> None:
    found = load(Source("test.dt", program(value, schedule, dtype)))
    assert verify(found, text_of(found)).verdict is LayerVerdict.PROVED
