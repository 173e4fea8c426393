"""`dtpoly lsp` ends without a complaint when its editor says good-bye."""

import json
import subprocess
import sys


def message(**parts: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **parts}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def test_an_editor_that_says_good_bye_ends_the_server_well() -> None:
    said = (
        message(id=1, method="initialize", params={"processId": None, "capabilities": {}}),
        message(method="initialized", params={}),
        message(id=2, method="shutdown"),
        message(method="exit"),
    )
    server = [sys.executable, "-m", "dtpoly", "lsp"]
    done = subprocess.run(server, input=b"".join(said), capture_output=True, timeout=120)
    assert b"internal error" not in done.stderr
    assert done.returncode == 0
    assert b'"id":2' in done.stdout.replace(b" ", b"")
