"""A session of Deno's official Python client, against an emulator or the service."""

import asyncio
import os
import tempfile
import time
from datetime import datetime, timezone

from deno_sandbox import Apps, AsyncDenoDeploy, DenoDeploy, Layers, Revisions, SandboxApi, Snapshots, Timelines, Volumes
from deno_sandbox.env import SandboxEnv
from deno_sandbox.fs import FsFile, SandboxFs
from deno_sandbox.process import ChildProcess
from deno_sandbox.sandbox import Sandbox, SandboxDeno

from methods import absent, all_absent, public, record, report
from previews import ECHOES, SERVES, ended, fetch, request, upgrade
from session import GROWS, nothing_grows, proved, until

CONSOLE = [Apps, Layers, Revisions, Snapshots, Timelines, Volumes]
record(SandboxApi, Sandbox, SandboxFs, FsFile, SandboxEnv, SandboxDeno, ChildProcess, *CONSOLE)
deno = DenoDeploy()


def raises(call):
    try:
        call()
    except Exception as error:
        return str(error)
    raise AssertionError("nothing was raised")


async def talk(sandbox_id):
    """Sends input to a command while it runs. Returns its exit code and what it has read."""
    async with AsyncDenoDeploy().sandbox.connect(sandbox_id) as sandbox:

        async def lines():
            yield b"one\n"
            # The command creates it when it has read the line.
            while "got one\n" not in await sandbox.fs.read_text_file("/tmp/got"):
                await asyncio.sleep(0.05)
            yield b"two\n"

        script = "while read line; do echo \"got $line\" >> /tmp/got; done; exit 6"
        child = await sandbox.spawn("/bin/bash", args=["-c", script], stdout="piped", stderr="piped", stdin_data=lines())
        return (await child.wait())["code"], await sandbox.fs.read_text_file("/tmp/got")


with deno.sandbox.create(labels={"thread": "t1"}, env={"A": "b"}, timeout="10m") as sandbox:
    # Commands: both streams, variables, directory, codes.
    process = sandbox.spawn(
        "/bin/bash", args=["-c", "echo out; echo $A $X; pwd; exit 3"], env={"X": "1"}, cwd="/tmp", stdout="piped", stderr="piped"
    )
    status = process.wait()
    assert (status["success"], status["code"]) == (False, 3), status
    proved("run")

    def run(line):
        """Returns the output of a line. Uses a file, because the client loses output that arrives right after the response."""
        with sandbox.spawn("/bin/bash", args=["-c", f"{{ {line}; }} > /tmp/said"], stdout="piped", stderr="piped") as said:
            said.wait()
        return sandbox.fs.read_text_file("/tmp/said")

    # Both streams, and streamed output. It starts once the client is subscribed.
    waits = "until [ -e /tmp/heard ]; do sleep 0.05; done; echo first; until [ -e /tmp/seen ]; do sleep 0.05; done"
    with sandbox.spawn("/bin/bash", args=["-c", f"{waits}; echo second; echo err >&2"], stdout="piped", stderr="piped") as talks:
        sandbox.fs.write_text_file("/tmp/heard", "")
        assert talks.stdout.readline() == b"first\n"
        sandbox.fs.write_text_file("/tmp/seen", "")
        assert talks.stdout.readline() == b"second\n"
        proved("live")
        assert (talks.stdout.read(), talks.stderr.read()) == (b"", b"err\n")
        proved("streams")
        assert talks.wait()["code"] == 0
    # Input arrives while the command runs.
    sandbox.fs.write_text_file("/tmp/got", "")
    assert asyncio.run(talk(sandbox.id)) == (6, "got one\ngot two\n")
    # Leaving the block kills what still runs.
    with sandbox.spawn("/bin/bash", args=["-c", GROWS], stdout="piped", stderr="piped") as endless:
        until(lambda: run("cat /tmp/grows 2>/dev/null") != "")
    nothing_grows(run)
    proved("stop")
    assert "No such cwd" in raises(lambda: sandbox.spawn("true", cwd="/nowhere", stdout="piped", stderr="piped"))

    # Files: text, bytes, parts, lists, moves.
    fs = sandbox.fs
    fs.mkdir("/home/app/a/b", recursive=True)
    fs.write_text_file("/home/app/a/b/text", "héllo\n")
    assert fs.read_text_file("/home/app/a/b/text") == "héllo\n"
    every_byte = bytes(range(256)) * 2048
    fs.write_file("/home/app/bytes", every_byte)
    assert fs.read_file("/home/app/bytes") == every_byte
    proved("upload")
    proved("download")
    assert {entry["name"]: entry["is_directory"] for entry in fs.read_dir("/home/app")} == {"a": True, "bytes": False}
    stat = fs.stat("/home/app/bytes")
    assert (stat["is_file"], stat["size"]) == (True, len(every_byte)), stat
    fs.rename("/home/app/bytes", "/home/app/a/moved")
    assert "ENOENT" in raises(lambda: fs.read_file("/home/app/bytes"))
    fs.copy_file("/home/app/a/moved", "/home/app/copy")
    assert fs.read_file("/home/app/copy") == every_byte
    fs.symlink("/home/app/copy", "/home/app/link")
    assert fs.read_link("/home/app/link") == "/home/app/copy"
    fs.remove("/home/app/a", recursive=True)
    assert sorted(entry["name"] for entry in fs.read_dir("/home/app")) == ["copy", "link"]

    # Modes, owners, times and links.
    assert run("whoami; echo $HOME ~; pwd") == "app\n/home/app /home/app\n/home/app\n"
    fs.write_text_file("/home/app/secret", "x", mode=0o600)
    assert fs.stat("/home/app/secret")["mode"] == 0o100600
    fs.chmod("/home/app/secret", 0o640)
    stat = fs.stat("/home/app/secret")
    assert (stat["mode"], stat["uid"]) == (0o100640, 1000), stat
    modified = datetime.fromisoformat(stat["mtime"].replace("Z", "+00:00")) if isinstance(stat["mtime"], str) else stat["mtime"]
    assert abs((datetime.now(timezone.utc) - modified).total_seconds()) < 100, stat
    assert fs.lstat("/home/app/link")["is_symlink"] and fs.real_path("/home/app/link") == "/home/app/copy"
    fs.utime("/home/app/secret", "2001-09-09T01:46:40Z", "2001-09-09T01:46:40Z")
    assert run("stat -c %Y /home/app/secret") == "1000000000\n"
    fs.link("/home/app/secret", "/home/app/hard")
    fs.chown("/home/app/hard", 1000, 1000)
    assert "EPERM" in raises(lambda: fs.chown("/home/app/hard", 0, 0))

    # Temporary files, lengths, open files.
    temporary = fs.make_temp_file(dir="/home/app", prefix="a-", suffix=".txt")
    assert temporary.startswith("/home/app/a-") and temporary.endswith(".txt"), temporary
    assert fs.stat(fs.make_temp_dir())["is_directory"]
    fs.write_text_file(temporary, "hello world")
    fs.truncate(temporary, 5)
    assert fs.read_text_file(temporary) == "hello"
    fs.truncate(temporary)
    assert fs.stat(temporary)["size"] == 0
    assert "ENOENT" in raises(lambda: fs.truncate("/home/app/none", 5))
    file = fs.create("/home/app/open")
    file.write(b"hello")
    file.truncate(2)
    assert file.seek(0, 0) == 0 and file.read(10) == b"he" and file.stat()["size"] == 2
    file.sync()
    file.sync_data()
    file.utime("2001-09-09T01:46:40Z", "2001-09-09T01:46:40Z")
    absent(lambda: file.lock(True), "no locks of files")
    absent(file.unlock, "no locks of files")
    file.close()
    assert fs.open("/home/app/open", read=True).read(10) == b"he"
    # The client names the stream of the entries, and cannot read it.
    assert set(fs.walk("/home/app")) == set(fs.expand_glob("*")) == {"stream_id"}

    # A file may be larger than the client's messages, and is read in parts then.
    large = bytes(range(256)) * 40_000
    fs.write_file("/home/app/large", large)
    assert "read it in parts" in raises(lambda: fs.read_file("/home/app/large"))
    file, parts = fs.open("/home/app/large", read=True), []
    while len(b"".join(parts)) < len(large):
        parts.append(file.read(500_000))
    assert b"".join(parts) == large
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "local"), "w") as local:
            local.write("local")
        fs.upload(directory, "/home/app/uploaded")
    assert fs.read_text_file("/home/app/uploaded/local") == "local"

    # Servers: an exposed port has a domain. The client kills its processes.
    serving = lambda line: sandbox.spawn("/bin/bash", args=["-c", line], stdout="null", stderr="null")
    with serving(SERVES), serving(ECHOES):
        exposed = sandbox.expose_http(port=8000).removeprefix("https://")
        assert fetch(exposed) == b"hello\n"
        assert request(sandbox.expose_http(port=8009).removeprefix("https://"))[0] == 502
        assert request(exposed.replace("80-", "80-x"))[0] == 404
        connection = upgrade(sandbox.expose_http(port=8001).removeprefix("https://"))
    assert ended(connection)
    proved("serve")

    # What is absent says so.
    absent(lambda: fs.download("/tmp/x", "/home/app/copy"), "no downloads to local files")
    absent(lambda: fs.umask(0o77), "no mask")
    absent(lambda: sandbox.deno.run(code="1"), "no Deno programs")
    absent(lambda: sandbox.deno.eval("1"), "no Deno programs")
    absent(lambda: sandbox.deno.repl(), "no Deno programs")
    absent(lambda: sandbox.deno.deploy("app"), "501")
    absent(lambda: sandbox.expose_http(pid=1), "no Deno programs")
    absent(lambda: sandbox.expose_ssh(), "no SSH")
    absent(lambda: sandbox.fetch("http://localhost/"), "no requests to sandboxes")

    streams = ["logs_stream", "build_logs", "progress"]
    for console in [deno.apps, deno.layers, deno.revisions, deno.snapshots, deno.timelines, deno.volumes]:
        lists = [name for name in public(type(console)) if name not in [*streams, "get"]]
        all_absent(console, lists, "Tidebox", {"capacity": "1GiB", "assets": {}})
        if hasattr(console, "get"):
            absent(lambda: console.get("x"))
    absent(lambda: list(deno.apps.logs_stream("x", start="2026-01-01T00:00:00Z")), "501")
    absent(lambda: list(deno.revisions.build_logs("x")), "501")
    absent(lambda: list(deno.revisions.progress("x")), "501")

    # The environment, lists and lifetimes.
    sandbox.env.set("B", "c")
    sandbox.env.set("C", "d")
    sandbox.env.delete("C")
    assert sandbox.env.as_dict() == {"a": "b", "b": "c"}
    assert (sandbox.env.get("A"), sandbox.env.get("B")) == ("b", "c")
    proved("make")
    found = deno.sandbox.list(labels={"thread": "t1"})
    assert [one["id"] for one in found.items] == [sandbox.id], found.items
    proved("list")
    assert deno.sandbox.list(labels={"thread": "t2"}).items == []
    proved("labels")
    made = datetime.fromisoformat(found.items[0]["created_at"].replace("Z", "+00:00"))
    assert abs((datetime.now(timezone.utc) - made).total_seconds()) < 300, made
    sandbox.extend_timeout(60)
    with deno.sandbox.connect(sandbox.id) as again:
        assert again.fs.read_file("/home/app/copy") == every_byte
    proved("find")
    sandbox.kill()
assert deno.sandbox.list().items == []
proved("delete")
with deno.sandbox.create() as closed:
    closed.close()
until(lambda: deno.sandbox.list().items == [])
with deno.sandbox.create(timeout="3s") as short:
    until(lambda: deno.sandbox.list().items == [])
proved("over")
report(
    {
        "SandboxApi.create": "no volumes, and without network",
        "Sandbox.expose_http": "ports only; without TLS, below `localhost`",
        "SandboxFs.read_file": "up to 750 kB, the largest message that the client accepts",
        "SandboxFs.read_text_file": "up to 1 MB, the largest message that the client accepts",
        "SandboxFs.walk": "the client returns the number of a stream that it cannot read",
        "SandboxFs.expand_glob": "the client returns the number of a stream that it cannot read",
        "SandboxFs.chown": "the user cannot change",
        "SandboxEnv.as_dict": "the client returns the names in lower case",
        "FsFile.write": "stored when the file is closed or synchronized",
    },
    absences=("Tidebox", "501"),
)
print("the session is done")
