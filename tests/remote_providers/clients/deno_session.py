"""A session of Deno's official Python client, against an emulator or the service."""

from deno_sandbox import DenoDeploy

from session import GROWS, nothing_grows, proved, until

deno = DenoDeploy()


def raises(call):
    try:
        call()
    except Exception as error:
        return str(error)
    raise AssertionError("nothing was raised")


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

    # The environment, lists and lifetimes.
    sandbox.env.set("B", "c")
    assert (sandbox.env.get("A"), sandbox.env.get("B")) == ("b", "c")
    proved("make")
    found = deno.sandbox.list(labels={"thread": "t1"})
    assert [one["id"] for one in found.items] == [sandbox.id], found.items
    proved("list")
    assert deno.sandbox.list(labels={"thread": "t2"}).items == []
    proved("labels")
    sandbox.extend_timeout(60)
    with deno.sandbox.connect(sandbox.id) as again:
        assert again.fs.read_file("/home/app/copy") == every_byte
    proved("find")
    sandbox.kill()
assert deno.sandbox.list().items == []
proved("delete")
with deno.sandbox.create(timeout="3s") as short:
    until(lambda: deno.sandbox.list().items == [])
proved("over")
print("the session is done")
