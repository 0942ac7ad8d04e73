"""The command `tidebox` of the package."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import time

import tidebox

COMMAND = pathlib.Path(sys.executable).parent / "tidebox"


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], input=stdin, capture_output=True, text=True, timeout=120)


def test_the_command_runs_a_command_line() -> None:
    done = run("exec", "--stdin", "sort; echo done >&2; exit 3", stdin="b\na\n")
    assert (done.returncode, done.stdout, done.stderr) == (3, "a\nb\n", "done\n")


def test_the_module_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "tidebox", "--version"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"tidebox {tidebox.__version__}\n")


def test_an_unknown_option_is_an_error_with_code_125() -> None:
    done = run("exec", "--nonsense", "true")
    assert done.returncode == 125
    assert done.stderr.startswith("tidebox: ")
    assert "--nonsense" in done.stderr


def test_ctrl_c_ends_the_command() -> None:
    with subprocess.Popen([COMMAND, "exec", "echo started; sleep 100"], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "started\n"
        child.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert child.wait(timeout=60) != 0
        assert time.monotonic() - begun < 30


def test_the_package_serves_mcp_clients() -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": "echo 42"}}},
    ]
    with subprocess.Popen([COMMAND, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for message in messages:
            child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()
        replies = {}
        while 2 not in replies:
            reply = json.loads(child.stdout.readline())
            replies[reply.get("id")] = reply
        child.stdin.close()
        assert child.wait(timeout=60) == 0
    assert replies[1]["result"]["serverInfo"]["name"] == "tidebox"
    assert "42" in replies[2]["result"]["content"][0]["text"]
