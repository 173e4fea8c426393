"""The language server: follows the texts that are open in an editor, and answers about them.

Texts are judged, and questions answered, in a process beside this one. Of a text only the newest
version is judged. So the server always takes what the editor sends.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from dtpoly import __version__
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.editor import judging_process
from dtpoly.editor.judging import Judging, SentText
from dtpoly.editor.renaming import RefusedName
from dtpoly.schedule.bound_primitives import Primitives

NAME = "dtpoly"
PAUSE = 0.02  # seconds without a key, after which a text is judged
IDLE = 1.0  # and after which code is generated, which nothing interrupts once it has begun
OPTIONS: Mapping[str, object] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=[".", "(", ":"]),
    types.TEXT_DOCUMENT_RENAME: types.RenameOptions(prepare_provider=True),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions([types.CodeActionKind.QuickFix]),
}


def server_of(primitives: Primitives = DIRECTIVES) -> LanguageServer:
    """Return a server whose files may use these directives."""
    server = LanguageServer(NAME, __version__)
    judging = Judging(primitives, lambda: server.workspace.position_codec)
    for feature in judging_process.ANSWERS:
        server.feature(feature, OPTIONS.get(feature))(_answering(feature, judging))
    _follow_texts(server, judging)
    return server


def _answering(feature: str, judging: Judging) -> Callable[[Any], Awaitable[Any]]:
    async def handle(asked: Any) -> Any:
        found = await judging.ask(judging_process.answer, feature, asked)
        if isinstance(found, RefusedName):
            raise JsonRpcInvalidParams(found.why)
        return found

    return handle


def _follow_texts(server: LanguageServer, judging: Judging) -> None:
    """Read a text when it is opened or changed, and publish what is wrong with it."""

    async def opened(given: types.DidOpenTextDocumentParams) -> None:
        await _changed(server, judging, given.text_document.uri)

    async def edited(given: types.DidChangeTextDocumentParams) -> None:
        await _changed(server, judging, given.text_document.uri)

    async def closed(given: types.DidCloseTextDocumentParams) -> None:
        uri = given.text_document.uri
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        await judging.forget(uri)

    def ended(*_: object) -> None:
        judging.end()

    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(edited)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(closed)
    server.feature(types.SHUTDOWN)(ended)


async def _changed(server: LanguageServer, judging: Judging, uri: str) -> None:
    document = server.workspace.get_text_document(uri)
    one = SentText(_name(document), document.source, document.version or 0)
    await judging.take(uri, one)
    for pause, step in (
        (PAUSE, judging_process.judge),
        (IDLE, judging_process.look_at_code),
    ):
        await asyncio.sleep(pause)
        if judging.texts.get(uri) is not one:
            return
        found = await judging.ask(step, uri)
        if judging.texts.get(uri) is not one:
            return
        if found is not None:
            shown = types.PublishDiagnosticsParams(uri, found, one.version)
            server.text_document_publish_diagnostics(shown)
        if step is judging_process.judge and _takes_refreshes(server):
            await server.workspace_inlay_hint_refresh_async(None)


def _name(document: TextDocument) -> str:
    """Return the name of a document's file."""
    path = unquote(urlparse(document.uri).path)
    return PurePath(path).name or document.uri


def _takes_refreshes(server: LanguageServer) -> bool:
    """Return whether the editor asks again for hints when it is told to."""
    workspace = server.client_capabilities.workspace
    return bool(workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support)
