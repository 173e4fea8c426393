"""One of all who measure on a GPU at a time, in whichever process."""

import sys
import threading
from pathlib import Path
from subprocess import PIPE, Popen

from dtpoly.explore.workers.turn import turn_of
from tests.cli.process import ended

HOLDER = """
import sys
from dtpoly.explore.workers.turn import turn_of

with turn_of("0", sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_waits_until_the_holder_is_dead(tmp_path: Path) -> None:
    given = [sys.executable, "-c", HOLDER, str(tmp_path)]
    order: list[str] = []

    def take() -> None:
        with turn_of("0", str(tmp_path)):
            order.append("taken")

    with ended(Popen(given, stdin=PIPE, stdout=PIPE)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waiting = threading.Thread(target=take)
        waiting.start()
        waiting.join(0.2)
        order.append("killed")
        holder.kill()
        waiting.join(20.0)
    assert order == ["killed", "taken"]


def test_each_gpu_has_its_own(tmp_path: Path) -> None:
    with turn_of("0", str(tmp_path)), turn_of("1", str(tmp_path)):
        assert len([*tmp_path.iterdir()]) == 2


def test_without_a_file_turns_are_taken_in_this_process(tmp_path: Path) -> None:
    turn = turn_of("0", str(tmp_path / "nowhere"))
    with turn:
        assert not turn.inside.acquire(blocking=False)
    assert turn.inside.acquire(blocking=False)
