"""`miltext lsp` where its extra is not installed: it says so, to people and to editors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from support.json_rpc import BAD_FRAMES, answers_of, message

from miltext.diagnostics.home import install

SAID = f"miltext: the language server needs pygls 2 or later, which is not installed: {install('lsp')}"

START = "sys.argv = ['miltext', 'lsp']\nfrom miltext.__main__ import main\nmain()\n"
HIDDEN = f"import sys\nsys.modules['pygls'] = None\n{START}"
OLDER = f"import sys, types\nsys.modules['pygls'] = types.ModuleType('pygls')\n{START}"
HALF = f"import sys\nsys.modules['lsprotocol'] = None\n{START}"


def ended(code: str, sent: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, input=sent, timeout=60)
    assert done.returncode == 2
    assert done.stderr.decode() == f"{SAID}\n"
    return done


@pytest.mark.parametrize("code", [HIDDEN, OLDER, HALF], ids=["none", "older", "half"])
def test_a_window_of_the_client_shows_the_command_to_install(code: str) -> None:
    item = {"uri": "untitled:x.mil", "languageId": "mil", "version": 1, "text": "program(1.3)\n{\n}\n"}
    sent = [
        message("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, "first"),
        message("initialized", {}),
        message("textDocument/didOpen", {"textDocument": item}),
        *BAD_FRAMES,
        message("textDocument/hover", {"textDocument": {"uri": "untitled:x.mil"}}, 2),
        message("shutdown", None, 3),
        message("exit", None),
        message("textDocument/hover", None, 4),
    ]
    started, window, refused, shut_down = answers_of(ended(code, b"".join(sent)).stdout)
    assert (started["id"], started["result"]["capabilities"]) == ("first", {})
    assert window == {"jsonrpc": "2.0", "method": "window/showMessage", "params": {"type": 1, "message": SAID}}
    assert (refused["id"], refused["error"]["code"]) == (2, -32601)
    assert (shut_down["id"], shut_down["result"]) == (3, None)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n\r\n",
        b"Content-Length: 10\r\n",
        b"Content-Length: 99\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n{}",
        b"a\n" * 9,
    ],
)
def test_without_a_client_the_error_is_on_standard_error(sent: bytes) -> None:
    assert ended(HIDDEN, sent).stdout == b""


def test_the_message_is_immediate_and_the_server_stays() -> None:
    """Clients start again what ends by itself."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HIDDEN], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(message("initialize", {"capabilities": {}}, 1))
        server.stdin.flush()
        for _ in range(2):
            length = int(server.stdout.readline().split(b":")[1])
            last = server.stdout.read(2 + length)
        assert SAID.encode() in last
        with pytest.raises(subprocess.TimeoutExpired):
            server.wait(0.3)
        server.stdin.close()
        assert server.wait(20) == 2


def test_a_fault_of_our_own_is_not_taken_for_the_missing_extra(tmp_path: Path) -> None:
    """The process that serves cannot even start: it says why, and the server ends."""
    fault = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    (tmp_path / "lsprotocol.py").write_text("raise RuntimeError('a fault of our own')\n")
    code = f"{fault}{START}"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stderr is not None
        assert server.wait(60) == 1
        told = server.stderr.read()
    assert b"a fault of our own" in told
    assert b"pip install" not in told
