"""A session of LangSmith's official Python client, against an emulator or the service."""

import asyncio
import os
import tempfile
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path

from langsmith import Client
from langsmith.sandbox import (
    CommandHandle,
    CommandTimeoutError,
    ResourceNotFoundError,
    Sandbox,
    SandboxClient,
    SandboxClientError,
)

from methods import absent, record, report
from previews import SERVES, fetch, request
from session import GROWS, WAITS, nothing_grows, proved, raises

record(SandboxClient, Sandbox, CommandHandle, without=["to_async", "from_dict"])


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
    assert handle.reconnect().result.exit_code == 0
    assert sandbox.reconnect(handle.command_id).result.stdout == "a\nb\n"
    assert sandbox.reconnect(handle.command_id, stdout_offset=2).result.stdout == "b\n"
    raises(SandboxClientError, lambda: sandbox.reconnect("0" * 32).result)


def control(sandbox):
    """Features of the WebSocket only: input, and kill."""
    reading = sandbox.run("wc -l; echo read", wait=False, close_input=False)
    reading.send_input("one\ntwo\n")
    reading.close_input()
    assert reading.result.stdout.split() == ["2", "read"], reading.result
    # Input arrives while the command runs, also after a reconnection.
    talk = sandbox.run("while read line; do echo \"got $line\"; done; echo end", wait=False, close_input=False)
    talk.send_input("one\n")
    said = []
    for chunk in talk:
        said.append(chunk.data)
        if said == ["got one\n"]:
            again = talk.reconnect()
            again.close_input()
            assert again.result.exit_code == 0
    assert said == ["got one\n", "end\n"], said
    waiting = sandbox.run("cat", wait=False, close_input=False)
    waiting.kill()
    assert sandbox.reconnect(waiting.command_id).result.exit_code == -1
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
    sandbox.write("/root/a/b.txt", "héllo\nneedle here\n")
    assert sandbox.read("/root/a/b.txt").decode() == "héllo\nneedle here\n"
    assert sandbox.read("a/b.txt").decode().startswith("héllo"), "relative paths begin at the home"
    every_byte = bytes(range(256)) * 4096
    sandbox.write("/root/bytes", every_byte)
    assert sandbox.read("/root/bytes") == every_byte
    proved("upload")
    proved("download")
    stat = sandbox.stat("/root/bytes")
    assert stat.size_bytes == len(every_byte) and stat.etag
    chunk = sandbox.read_range("/root/bytes", start=10, end=19, if_range=stat.etag)
    assert (chunk.content, chunk.total_bytes, chunk.partial) == (every_byte[10:20], len(every_byte), True)
    assert sandbox.read_range("/root/bytes", suffix_bytes=3).content == b"\xfd\xfe\xff"
    assert sandbox.read_range("/root/bytes", start=0, if_none_match=stat.etag).unchanged
    raises(ResourceNotFoundError, lambda: sandbox.read("/root/nothing"))
    raises(SandboxClientError, lambda: sandbox.read("/root"))
    for number in range(5):
        sandbox.write(f"/root/many/{number}.txt", str(number))
    assert sandbox.run("cat /root/many/*").stdout == "01234"
    listed = sandbox.ls("/root")
    assert {(entry.path, entry.is_dir) for entry in listed} >= {("/root/many", True), ("/root/bytes", False)}
    globbed = sandbox.glob("**/*.txt", "/root", limit=100)
    assert len(globbed) == 6 and not globbed.truncated, globbed
    assert sandbox.glob("**/*.txt", "/root", limit=2).truncated
    found = sandbox.grep("needle", "/root", glob="*.txt")
    assert [(match.path, match.line, match.text) for match in found] == [("/root/a/b.txt", 2, "needle here")]


def user(sandbox):
    """The user, modes and times."""
    said = sandbox.run("whoami; echo $HOME ~ $USER; pwd; date +%s; echo x > secret; chmod 600 secret; stat -c %a secret").stdout.split("\n")
    assert said[:3] == ["root", "/root /root root", "/root"] and said[4] == "600", said
    assert abs(int(said[3]) - time.time()) < 100
    made, listed = datetime.fromisoformat(sandbox.created_at), sandbox.ls("/root").matches
    assert abs(made.timestamp() - time.time()) < 300, made
    modified = {entry.path: entry.modified_at for entry in listed}["/root/secret"]
    assert abs(datetime.fromisoformat(modified).timestamp() - time.time()) < 100, modified


def snapshots(sandbox):
    """A snapshot of the files, in a new sandbox."""
    sandbox.run("mkdir -p /root/kept; echo kept > /root/kept/file; chmod 640 /root/kept/file")
    first = client.capture_snapshot(sandbox.name, "work", tag="v1")
    sandbox.run("echo changed > /root/kept/file")
    second = sandbox.capture_snapshot("work")
    assert (first.status, first.tags, first.source_sandbox_id) == ("ready", ["v1"], sandbox.id), first
    assert {tag.tag: tag.snapshot_id for tag in client.list_snapshot_tags("work")} == {"v1": first.id, "latest": second.id}
    assert [one.name for one in client.list_snapshots(name_contains="WOR", limit=1)] == ["work"]
    for reference, kept in [({"snapshot_id": first.id}, "kept\n"), ({"snapshot": "work:v1"}, "kept\n"), ({"snapshot": "work"}, "changed\n")]:
        with client.sandbox(**reference) as restored:
            assert restored.run("cat kept/file").stdout == kept
            assert restored.run("stat -c '%a %U' kept/file").stdout == "640 root\n"
    other = client.create_sandbox(snapshot="work", name="sb-other")
    other.stop()
    assert client.get_sandbox("sb-other").stopped_at
    other.start()
    assert client.wait_for_sandbox("sb-other").status == "ready"
    other.delete()
    moved = client.capture_snapshot(sandbox.name, "work", tag="v1")
    assert client.get_snapshot("work:v1").id == moved.id
    assert client.get_snapshot(first.id).tags == []
    for one in [first, second, moved]:
        client.delete_snapshot(one.id)
    raises(ResourceNotFoundError, lambda: client.get_snapshot("work:v1"))
    raises(ResourceNotFoundError, lambda: client.list_snapshot_tags("work"))


def links(sandbox):
    """Links that need no key."""
    sandbox.write("/root/linked", "linked")
    link = sandbox.generate_download_url("/root/linked", content_type="text/plain")
    with urllib.request.urlopen(link.download_url) as response:
        assert (response.read(), response.headers["content-type"]) == (b"linked", "text/plain")
    short = client.generate_download_url(sandbox.name, "/root/linked", expires_in_seconds=1)
    time.sleep(1.1)
    assert raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(short.download_url)).code == 403


def servers(sandbox):
    """Addresses of a server, for clients with a token and for browsers."""
    serving = sandbox.run(SERVES, wait=False)
    service = sandbox.service(8000)
    assert fetch(service.service_url, headers={"X-Langsmith-Sandbox-Service-Token": service.token}) == b"hello\n"
    assert fetch(service.browser_url) == b"hello\n"
    assert request(service.service_url)[0] == 401
    assert request(service.service_url, headers={"X-Langsmith-Sandbox-Service-Token": "x"})[0] == 401
    # The property would fetch another token.
    short = client.service(sandbox.name, 8000, expires_in_seconds=1)._browser_url
    time.sleep(1.1)
    assert request(short)[0] == 401
    raises(SandboxClientError, lambda: client.service(sandbox.name, 8000, access="workspace"))
    serving.kill()


def missing(sandbox):
    """What is absent says so."""
    absent(lambda: sandbox.tunnel(8000).__enter__(), "501")
    absent(lambda: client.registries.list(), "no registries")
    absent(lambda: client.capture_snapshot(sandbox.name, "x", docker_image="x"), "no snapshots of Docker images")
    absent(lambda: client.create_sandbox(mount_config={"mounts": []}), "no mounts")
    absent(lambda: sandbox.run("tty", pty=True), "no terminals")
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "Dockerfile").write_text("FROM scratch\n")
        build = lambda: client.create_snapshot_from_dockerfile("d", Path(directory) / "Dockerfile", 1 << 30, context=directory)
        absent(build, "no builds of Docker images")


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
user(sandbox)
snapshots(sandbox)
links(sandbox)
servers(sandbox)
missing(sandbox)

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
assert client.get_sandbox("sb-one").run("cat /root/many/3.txt").stdout == "3"
proved("find")
sandbox.stop() if hasattr(sandbox, "stop") else client.stop_sandbox("sb-one")
assert client.get_sandbox_status("sb-one").status == "stopped"
assert sandbox.run("cat /root/many/3.txt").stdout == "3", "it wakes when it is used"
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
client.close()
report(
    {
        "SandboxClient.create_sandbox": "any Docker image is accepted, with Tidebox's own files; no mounts, and without network",
        "SandboxClient.create_snapshot": "any Docker image is accepted, with Tidebox's own files",
        "Sandbox.run": "no terminals",
    },
    absences=("Tidebox", "501"),
)
print("the session is done")
