"""Talks to the language server as an editor does: in a process of its own, over its streams."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from dtpoly.source import Source

URI = "file:///work/kernel.dt"
PATIENCE = 60.0  # seconds for an answer, on a machine that is busy
Answer = TypeVar("Answer")


@dataclass
class Editor:
    """An editor with one text."""

    client: LanguageClient
    version: int = 0
    text: str = ""
    published: asyncio.Queue[types.PublishDiagnosticsParams] = field(
        default_factory=asyncio.Queue[types.PublishDiagnosticsParams]
    )

    async def opened(self, text: str) -> list[types.Diagnostic]:
        """Open a text; return what is wrong with it."""
        if self.version:
            self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document))
        self.text, self.version = text, self.version + 1
        item = types.TextDocumentItem(URI, "dtpoly", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.found()

    def edited(self, text: str) -> None:
        """Replace the text."""
        self.text, self.version = text, self.version + 1
        whole = types.TextDocumentContentChangeWholeDocument(text)
        where = types.VersionedTextDocumentIdentifier(self.version, URI)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(where, [whole]))

    async def found(self) -> list[types.Diagnostic]:
        """Wait for what is wrong with the newest text."""
        while True:
            one = await asyncio.wait_for(self.published.get(), PATIENCE)
            if one.version == self.version:
                return [*one.diagnostics]

    def at(self, words: str, shift: int = 0) -> types.Position:
        """Return the place where some words of the text begin, and so many characters further."""
        line, column = Source("", self.text).position(self.text.index(words) + shift)
        return types.Position(line - 1, column - 1)

    def place(self, words: str, shift: int = 0) -> dict[str, Any]:
        """Return the arguments of a request about a place."""
        return {"text_document": self.document, "position": self.at(words, shift)}

    @property
    def server(self) -> int:
        """Return the number of the server's process."""
        process = self.client._server  # pyright: ignore[reportPrivateUsage]
        assert process is not None
        return process.pid

    @property
    def document(self) -> types.TextDocumentIdentifier:
        """Return the address of the text."""
        return types.TextDocumentIdentifier(URI)


@asynccontextmanager
async def editor(*words: str) -> AsyncGenerator[Editor]:
    """Start a server, and end it."""
    client = LanguageClient("test", "1")
    one = Editor(client)

    def published(given: types.PublishDiagnosticsParams) -> None:
        one.published.put_nowait(given)

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
    start: Callable[..., Awaitable[None]]
    start = client.start_io  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    await start(sys.executable, "-m", "dtpoly", "lsp", *words)
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    yield one
    await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
    client.exit(None)
    ended: Awaitable[None] = client.stop()  # type: ignore[no-untyped-call]
    await ended


@dataclass
class Talker:
    """A server that several conversations use, one after the other."""

    runner: asyncio.Runner
    editor: Editor

    def talk(self, steps: Callable[[Editor], Awaitable[Answer]]) -> Answer:
        """Do something with the editor, and return what came of it."""

        async def run() -> Answer:
            return await steps(self.editor)

        return self.runner.run(run())


@contextmanager
def talker(*words: str) -> Generator[Talker]:
    """Start a server, and end it."""
    with asyncio.Runner() as runner:
        context = editor(*words)
        yield Talker(runner, runner.run(_entered(context)))
        runner.run(_left(context))


async def _entered(context: AbstractAsyncContextManager[Editor]) -> Editor:
    return await context.__aenter__()


async def _left(context: AbstractAsyncContextManager[Editor]) -> None:
    await context.__aexit__(None, None, None)
