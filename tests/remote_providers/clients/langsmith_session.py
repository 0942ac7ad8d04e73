"""A session of LangSmith's official Python client, against an emulator or the service."""

import asyncio
import os
import threading

from langsmith import Client
from langsmith.sandbox import CommandTimeoutError, ResourceNotFoundError, SandboxClient, SandboxClientError

from session import GROWS, WAITS, nothing_grows, proved, raises



def commands(sandbox):
    """Output, both streams, variables, directory, exit codes, time."""
    done = sandbox.run("echo out; echo err >&2; echo $A $X; pwd", env={"X": "1"}, cwd="/tmp")
    assert (done.stdout, done.stderr, done.exit_code) == ("out\n1\n/tmp\n", "err\n", 0), done
    proved("streams")
    failed = sandbox.run("echo so far; exit 3")
    assert (failed.exit_code, failed.stdout) == (3, "so far\n"), failed
    proved("run")
    raises(CommandTimeoutError, lambda: sandbox.run(GROWS, timeout=3))
    proved("limit")
    nothing_grows(lambda line: sandbox.run(line).stdout)
    proved("killed")
    raises(SandboxClientError, lambda: sandbox.run("true", cwd="/nowhere"))
    pieces = []

    def see(piece):
        pieces.append(piece)
        if "first" in piece:
            sandbox.write("/tmp/seen", "")

    sandbox.run(f"{WAITS}; rm /tmp/seen", on_stdout=see)
    assert "".join(pieces) == "first\nsecond\n", pieces
    proved("live")
    # More output than the service keeps without an acknowledgement.
    long = sandbox.run("seq 200000; echo é")
    assert long.stdout == "".join(f"{n}\n" for n in range(1, 200001)) + "é\n"
    # The start of a command and its output by another connection.
    handle = sandbox.run("echo a; sleep 0.3; echo b", wait=False)
    assert handle.command_id and handle.pid
    assert handle.result.stdout == "a\nb\n"
    assert sandbox.reconnect(handle.command_id).result.stdout == "a\nb\n"
    assert sandbox.reconnect(handle.command_id, stdout_offset=2).result.stdout == "b\n"
    raises(SandboxClientError, lambda: sandbox.reconnect("0" * 32).result)


def control(sandbox):
    """Features of the WebSocket only: input, and kill."""
    reading = sandbox.run("wc -l; echo read", wait=False, close_input=False)
    reading.send_input("one\ntwo\n")
    reading.close_input()
    assert reading.result.stdout.split() == ["2", "read"], reading.result
    endless = sandbox.run(GROWS, wait=False)
    for chunk in endless:
        assert chunk.data == "begun\n"
        endless.kill()
        break
    assert sandbox.reconnect(endless.command_id).result.exit_code == -1
    nothing_grows(lambda line: sandbox.run(line).stdout)
    proved("stop")


def files(sandbox):
    """Text, bytes, parts, lists, searches."""
    sandbox.write("/home/user/a/b.txt", "héllo\nneedle here\n")
    assert sandbox.read("/home/user/a/b.txt").decode() == "héllo\nneedle here\n"
    assert sandbox.read("a/b.txt").decode().startswith("héllo"), "relative paths begin at the home"
    every_byte = bytes(range(256)) * 4096
    sandbox.write("/home/user/bytes", every_byte)
    assert sandbox.read("/home/user/bytes") == every_byte
    proved("upload")
    proved("download")
    stat = sandbox.stat("/home/user/bytes")
    assert stat.size_bytes == len(every_byte) and stat.etag
    chunk = sandbox.read_range("/home/user/bytes", start=10, end=19, if_range=stat.etag)
    assert (chunk.content, chunk.total_bytes, chunk.partial) == (every_byte[10:20], len(every_byte), True)
    assert sandbox.read_range("/home/user/bytes", suffix_bytes=3).content == b"\xfd\xfe\xff"
    assert sandbox.read_range("/home/user/bytes", start=0, if_none_match=stat.etag).unchanged
    raises(ResourceNotFoundError, lambda: sandbox.read("/home/user/nothing"))
    raises(SandboxClientError, lambda: sandbox.read("/home/user"))
    for number in range(5):
        sandbox.write(f"/home/user/many/{number}.txt", str(number))
    assert sandbox.run("cat /home/user/many/*").stdout == "01234"
    listed = sandbox.ls("/home/user")
    assert {(entry.path, entry.is_dir) for entry in listed} >= {("/home/user/many", True), ("/home/user/bytes", False)}
    globbed = sandbox.glob("**/*.txt", "/home/user", limit=100)
    assert len(globbed) == 6 and not globbed.truncated, globbed
    assert sandbox.glob("**/*.txt", "/home/user", limit=2).truncated
    found = sandbox.grep("needle", "/home/user", glob="*.txt")
    assert [(match.path, match.line, match.text) for match in found] == [("/home/user/a/b.txt", 2, "needle here")]


client = SandboxClient()
snapshot = client.create_snapshot("tools", "python:3", 1 << 30)
assert client.wait_for_snapshot(snapshot.id).status == "ready"
assert "tools" in [one.name for one in client.list_snapshots()]

sandbox = client.create_sandbox(snapshot_id=snapshot.id, name="sb-one", idle_ttl_seconds=600, timeout=60)
assert (sandbox.name, sandbox.status, sandbox.idle_ttl_seconds) == ("sb-one", "ready", 600)
raises(SandboxClientError, lambda: client.create_sandbox(name="sb-one"))
raises(SandboxClientError, lambda: client.create_sandbox(snapshot="unheard-of"))
for features in ["", "sandbox_sse_exec"]:
    os.environ["LANGSMITH_EXPERIMENTAL_FEATURES"] = features
    commands(sandbox)
os.environ["LANGSMITH_EXPERIMENTAL_FEATURES"] = ""
control(sandbox)
files(sandbox)

# Several concurrently.
results = {}
threads = [threading.Thread(target=lambda n=n: results.update({n: sandbox.run(f"sleep 0.2; echo {n}").stdout})) for n in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
assert results == {n: f"{n}\n" for n in range(4)}, results

async def lists():
    """Labels and pages, by the generated client of the same package."""
    boxes = Client().sandboxes.boxes

    async def names(**query):
        return sorted([box.name async for box in boxes.list(**query)])

    made = await boxes.create(labels={"thread_id": "t 1"}, snapshot="tools:latest", env_vars={"A": "b"})
    assert await names(label=["thread_id=t 1"]) == [made.name]
    assert await names(label=["thread_id"], page_size=1) == [made.name]
    assert await names(label=["thread_id=t 2"]) == []
    assert await names(page_size=1) == sorted(["sb-one", made.name]), "every page is read"
    proved("list")
    proved("labels")
    assert (await boxes.retrieve(made.id)).name == made.name
    return made


labelled = asyncio.run(lists())
assert client.get_sandbox(labelled.name).run("echo $A").stdout == "b\n"
proved("make")
assert {box.name for box in client.list_sandboxes()} == {"sb-one", labelled.name}
assert client.get_sandbox("sb-one").run("cat /home/user/many/3.txt").stdout == "3"
proved("find")
sandbox.stop() if hasattr(sandbox, "stop") else client.stop_sandbox("sb-one")
assert client.get_sandbox_status("sb-one").status == "stopped"
assert sandbox.run("cat /home/user/many/3.txt").stdout == "3", "it wakes when it is used"
proved("wake")
client.stop_sandbox("sb-one")
assert client.start_sandbox("sb-one").status == "ready"
assert client.update_sandbox("sb-one", new_name="sb-two").name == "sb-two"
client.delete_sandbox("sb-two")
raises(ResourceNotFoundError, lambda: client.get_sandbox("sb-two"))
raises(ResourceNotFoundError, lambda: client.delete_sandbox("sb-two"))
client.delete_sandbox(labelled.id)
assert list(client.list_sandboxes()) == []
proved("delete")
client.delete_snapshot(snapshot.id)
raises(SandboxClientError, lambda: SandboxClient(api_key="wrong").list_sandboxes())
print("the session is done")
