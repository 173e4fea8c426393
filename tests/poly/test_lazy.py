"""islpy is loaded when it is first used; an interruption meanwhile comes when it is there."""

import os
import signal
import threading
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from dtpoly.poly.lazy_islpy import Quickly


class Interrupted(Loader):
    """A loader of a module whose own code cannot bear an exception."""

    def __init__(self) -> None:
        self.is_done = False

    def create_module(self, spec: ModuleSpec) -> None:
        """Create the module as usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Somebody presses Ctrl-C."""
        os.kill(os.getpid(), signal.SIGINT)
        self.is_done = True


def test_an_interruption_comes_afterwards() -> None:
    loader = Interrupted()
    before = signal.getsignal(signal.SIGINT)
    assert before is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        Quickly(loader).exec_module(ModuleType("slow"))
    assert loader.is_done
    assert signal.getsignal(signal.SIGINT) is before


def test_whoever_catches_interruptions_still_does() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        Quickly(Interrupted()).exec_module(ModuleType("slow"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [signal.SIGINT]


def test_another_thread_leaves_signals_alone() -> None:
    class Quiet(Interrupted):
        def exec_module(self, module: ModuleType) -> None:
            self.is_done = True

    loader = Quiet()
    thread = threading.Thread(target=Quickly(loader).exec_module, args=(ModuleType("slow"),))
    thread.start()
    thread.join()
    assert loader.is_done
