"""Keeps the process that judges texts, and starts another one when it has worked for long.

A process that asks isl questions grows: islpy keeps some bytes for each question. So after some
hundred texts a new process takes over, while nobody types. If a process dies, another one takes its
place, too.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TypeVar

from pygls.workspace import PositionCodec

from dtpoly.editor import judging_process
from dtpoly.plugins import portable
from dtpoly.schedule.bound_primitives import Primitives

TEXTS, MOST_TEXTS = 150, 500  # that one process judges: if there is a pause, and in any case
PAUSE = 2.0  # seconds
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class SentText:
    """A text of the editor as it is now; no other object is the same text."""

    name: str
    text: str
    version: int


@dataclass
class Judging:
    """The process that judges, and the texts that the next one has to know."""

    primitives: Primitives
    ask_codec: Callable[[], PositionCodec]
    texts: dict[str, SentText] = field(default_factory=dict[str, SentText])
    process: ProcessPoolExecutor | None = None
    count: int = 0  # of texts that this process has judged
    latest: float = 0.0  # when the last of them came

    async def ask(self, function: Callable[..., Answer], *words: object) -> Answer:
        """Let the process call a function; if it dies, ask another one once more."""
        try:
            return await asyncio.wrap_future(self._process().submit(function, *words))
        except BrokenProcessPool:
            self.end()
            return await asyncio.wrap_future(self._process().submit(function, *words))

    async def take(self, uri: str, text: SentText) -> None:
        """Let the process read a text."""
        self.texts[uri], now = text, time.monotonic()
        if self.count >= MOST_TEXTS or (self.count >= TEXTS and now - self.latest > PAUSE):
            self.end()
        self.count, self.latest = self.count + 1, now
        await self.ask(judging_process.take, uri, text.name, text.text)

    async def forget(self, uri: str) -> None:
        """Forget a text that was closed."""
        self.texts.pop(uri, None)
        await self.ask(judging_process.forget, uri)

    def end(self) -> None:
        """Let the process end when it has done what it was asked."""
        if self.process is not None:
            self.process.shutdown(wait=False)
        self.process, self.count = None, 0

    def _process(self) -> ProcessPoolExecutor:
        if self.process is None:
            self.process = ProcessPoolExecutor(
                max_workers=1,
                mp_context=get_context("spawn"),
                initializer=judging_process.begin,
                initargs=(portable(self.primitives), self.ask_codec().encoding),
            )
            for uri, one in self.texts.items():
                self.process.submit(judging_process.take, uri, one.name, one.text)
        return self.process
