"""The process that answers commands of tests."""

import signal

import pytest

from tests.cli.server import Server


class CutOff(BaseException):
    """A test is over while it waits, as in a run that rotates."""


def test_the_answer_of_a_command_that_was_cut_off_is_no_answer_of_the_next_one() -> None:
    def cut_off(_number: int, _frame: object) -> None:
        raise CutOff

    with Server.start() as server:
        before = signal.signal(signal.SIGALRM, cut_off)
        try:
            # Python itself does not start so fast.
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with pytest.raises(CutOff):
                server("--help")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert server("--version")[:2] == (0, "dtpoly 0.1.0\n")
