"""A session of E2B's official Python client, against an emulator or the service."""

from e2b import CommandExitException, NotFoundException, Sandbox, SandboxQuery, TimeoutException

from session import GROWS, WAITS, nothing_grows, proved, raises, until

sandbox = Sandbox.create(timeout=120, metadata={"thread_id": "t 1"}, envs={"A": "b"})

# Commands: output, both streams, variables, directory, exit codes, time.
done = sandbox.commands.run("echo out; echo err >&2; echo $A $X; pwd", envs={"X": "1"}, cwd="/tmp")
assert (done.stdout, done.stderr, done.exit_code) == ("out\nb 1\n/tmp\n", "err\n", 0), done
proved("make")
proved("streams")
failed = raises(CommandExitException, lambda: sandbox.commands.run("echo so far; exit 3"))
assert (failed.exit_code, failed.stdout) == (3, "so far\n"), failed
proved("run")
run = lambda line: sandbox.commands.run(line).stdout
raises(TimeoutException, lambda: sandbox.commands.run(GROWS, timeout=3))
proved("limit")
nothing_grows(run)
proved("killed")
pieces = []


def see(piece):
    pieces.append(piece)
    if "first" in piece:
        sandbox.files.write("/tmp/seen", "")


sandbox.commands.run(WAITS, on_stdout=see)
assert "".join(pieces) == "first\nsecond\n", pieces
proved("live")

# A command in the background, and its end.
background = sandbox.commands.run(GROWS, background=True)
until(lambda: sandbox.files.exists("/tmp/grows"))
assert any(process.pid == background.pid for process in sandbox.commands.list())
assert background.kill() is True
nothing_grows(run)
proved("stop")
assert sandbox.commands.kill(999999) is False

# Files: text, bytes, many, lists, moves.
sandbox.files.write("/home/user/a/b.txt", "héllo\n")
assert sandbox.files.read("/home/user/a/b.txt") == "héllo\n"
every_byte = bytes(range(256)) * 4096
sandbox.files.write("/home/user/bytes", every_byte)
assert bytes(sandbox.files.read("/home/user/bytes", format="bytes")) == every_byte
proved("upload")
proved("download")
sandbox.files.write_files([{"path": f"/home/user/many/{n}", "data": str(n)} for n in range(5)])
assert sorted(entry.name for entry in sandbox.files.list("/home/user/many")) == ["0", "1", "2", "3", "4"]
assert sandbox.commands.run("cat /home/user/many/*").stdout == "01234"
assert sandbox.files.exists("/home/user/many/3") and not sandbox.files.exists("/home/user/many/9")
assert sandbox.files.get_info("/home/user/many/3").size == 1
assert sandbox.files.make_dir("/home/user/new") is True and sandbox.files.make_dir("/home/user/new") is False
sandbox.files.rename("/home/user/many/3", "/home/user/new/three")
assert sandbox.files.read("/home/user/new/three") == "3"
sandbox.files.remove("/home/user/new")
raises(NotFoundException, lambda: sandbox.files.read("/home/user/new/three"))

# Lists and lifetimes.
query = SandboxQuery(metadata={"thread_id": "t 1"})
assert [found.sandbox_id for found in Sandbox.list(query=query).next_items()] == [sandbox.sandbox_id]
proved("list")
other = SandboxQuery(metadata={"thread_id": "t 2"})
assert Sandbox.list(query=other).next_items() == []
proved("labels")
again = Sandbox.connect(sandbox.sandbox_id)
assert again.commands.run("cat /home/user/a/b.txt").stdout == "héllo\n"
assert again.is_running()
proved("find")
again.pause()
assert not again.is_running()
woken = Sandbox.connect(sandbox.sandbox_id)
assert woken.commands.run("cat /home/user/a/b.txt").stdout == "héllo\n"
proved("wake")
sandbox.set_timeout(60)
assert sandbox.kill() is True
assert Sandbox.kill(sandbox.sandbox_id) is False
assert not sandbox.is_running() and Sandbox.list().next_items() == []
proved("delete")
short = Sandbox.create(timeout=3)
until(lambda: not short.is_running())
assert Sandbox.list().next_items() == []
proved("over")
print("the session is done")
