"""Editors that stay open, or connect at a port."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from dtpoly.editor.judging import PAUSE
from tests.editor.talking import PATIENCE, Editor, talker

ROOT = Path(__file__).parents[2]
EDITS = 100
MOST_MORE = 24 * 2**20  # bytes


def memory_of(editor: Editor) -> int:
    """Return how much memory the server has, with the processes that it started."""
    pids = [editor.server]
    for pid in pids:
        pids += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return sum(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.long
def test_memory_after_many_edits() -> None:
    text = (ROOT / "examples/attention.dt").read_text()

    async def steps(editor: Editor) -> list[int]:
        await editor.opened(text)
        taken = list[int]()
        for number in range(4 * EDITS):
            editor.edited(text.replace("mi", f"mi_{number}"))
            await editor.found()
            if number % EDITS == EDITS - 1:
                taken.append(memory_of(editor))
                await asyncio.sleep(PAUSE + 0.5)  # as people do now and then
        return taken

    with talker() as server:
        first, *_, last = server.talk(steps)
    assert last - first < MOST_MORE, (first, last)


@pytest.mark.long
def test_an_editor_may_connect_at_a_port() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, "-m", "dtpoly", "lsp", "--port", str(port)]) as server:
        try:
            assert asyncio.run(_initialized(port)) == "dtpoly"
        finally:
            server.terminate()


async def _initialized(port: int) -> str:
    client = LanguageClient("test", "1")
    for _ in range(int(PATIENCE / 0.2)):
        try:
            await client.start_tcp("127.0.0.1", port)
            break
        except OSError:
            await asyncio.sleep(0.2)
    found = await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    assert found.server_info is not None
    return found.server_info.name
