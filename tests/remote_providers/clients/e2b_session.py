"""A working session by E2B's official client: whatever it meets is an emulator or the service, it cannot tell."""

import time

from e2b import CommandExitException, NotFoundException, Sandbox, SandboxQuery, TimeoutException


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


sandbox = Sandbox.create(timeout=120, metadata={"thread_id": "t 1"}, envs={"A": "b"})

# Commands: output, both streams, variables, directory, exit codes, time.
done = sandbox.commands.run("echo out; echo err >&2; echo $A $X; pwd", envs={"X": "1"}, cwd="/tmp")
assert (done.stdout, done.stderr, done.exit_code) == ("out\nb 1\n/tmp\n", "err\n", 0), done
failed = raises(CommandExitException, lambda: sandbox.commands.run("echo so far; exit 3"))
assert (failed.exit_code, failed.stdout) == (3, "so far\n"), failed
raises(TimeoutException, lambda: sandbox.commands.run("sleep 20", timeout=1))
pieces = []
sandbox.commands.run("for i in 1 2 3; do echo $i; sleep 0.1; done", on_stdout=pieces.append)
assert "".join(pieces) == "1\n2\n3\n" and len(pieces) > 1, pieces

# A command in the background, and its end.
background = sandbox.commands.run("while :; do sleep 0.1; done", background=True)
assert any(process.pid == background.pid for process in sandbox.commands.list())
assert background.kill() is True
assert sandbox.commands.kill(999999) is False

# Files: text, bytes, many, lists, moves.
sandbox.files.write("/home/user/a/b.txt", "héllo\n")
assert sandbox.files.read("/home/user/a/b.txt") == "héllo\n"
every_byte = bytes(range(256)) * 4096
sandbox.files.write("/home/user/bytes", every_byte)
assert bytes(sandbox.files.read("/home/user/bytes", format="bytes")) == every_byte
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

# Lists and lives.
query = SandboxQuery(metadata={"thread_id": "t 1"})
assert [found.sandbox_id for found in Sandbox.list(query=query).next_items()] == [sandbox.sandbox_id]
other = SandboxQuery(metadata={"thread_id": "t 2"})
assert Sandbox.list(query=other).next_items() == []
again = Sandbox.connect(sandbox.sandbox_id)
assert again.commands.run("cat /home/user/a/b.txt").stdout == "héllo\n"
assert again.is_running()
sandbox.set_timeout(60)
assert sandbox.kill() is True
assert Sandbox.kill(sandbox.sandbox_id) is False
short = Sandbox.create(timeout=1)
time.sleep(1.5)
assert not short.is_running()
print("the session is done")
