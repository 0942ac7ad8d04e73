"""A session of Runloop's official Python client, against an emulator or the service."""

from runloop_api_client import BadRequestError, NotFoundError, Runloop, RunloopSDK

from session import GROWS, WAITS, nothing_grows, proved, raises, until

sdk = RunloopSDK()
client = Runloop()
policy = client.network_policies.create(name="nothing", allow_all=False, allowed_hostnames=["pypi.org"])
devbox = sdk.devbox.create(
    name="one",
    metadata={"thread_id": "t 1"},
    environment_variables={"A": "b"},
    launch_parameters={"keep_alive_time_seconds": 600, "network_policy_id": policy.id},
)
assert devbox.get_info().status == "running" and devbox.get_info().metadata == {"thread_id": "t 1"}

# Commands: both streams, variables, directory, exit codes.
done = devbox.cmd.exec("echo out; echo err >&2; echo $A; pwd; exit 3")
assert (done.stdout(), done.stderr(), done.exit_code) == ("out\nb\n/home/user\n", "err\n", 3), done.result
proved("make")
proved("run")
proved("streams")
assert devbox.cmd.exec("seq 5 | sort -r | head -n 2").stdout() == "5\n4\n"
assert devbox.cmd.exec("seq 1000").stdout() == "".join(f"{n}\n" for n in range(1, 1001))
assert devbox.cmd.exec("seq 1000").stdout(num_lines=2) == "999\n1000"

# Output as it comes, and a command that is killed.
pieces = []


def see(piece):
    pieces.append(piece)
    if "first" in piece:
        devbox.file.write(file_path="/tmp/seen", contents="")


streamed = devbox.cmd.exec(f"{WAITS}; echo err >&2", stdout=see)
assert "".join(pieces).split() == ["first", "second"] and streamed.exit_code == 0, pieces
proved("live")
run = lambda line: devbox.cmd.exec(line).stdout()
running = devbox.cmd.exec_async(GROWS)
until(lambda: run("cat /tmp/grows 2>/dev/null") != "")
assert running.get_state().status == "running"
running.kill()
assert running.result().exit_code == 137 and running.result().stdout() == "begun\n"
nothing_grows(run)
proved("stop")

# A name makes a command one command.
name = "018f0000-0000-7000-8000-000000000000"
for _ in range(2):
    once = client.devboxes.execute(devbox.id, command="echo once >> /tmp/once; cat /tmp/once", command_id=name)
    assert once.status == "completed" and once.stdout == "once\n", once
slow = client.devboxes.execute(devbox.id, command="sleep 2; echo slow", optimistic_timeout=1)
assert slow.status == "running" and slow.exit_status is None, slow
assert client.devboxes.wait_for_command(slow.execution_id, devbox_id=devbox.id, statuses=["completed"]).stdout == "slow\n"

# Files.
every_byte = bytes(range(256)) * 4096
devbox.file.upload(path="/home/user/bytes", file=every_byte)
assert devbox.file.download(path="/home/user/bytes") == every_byte
proved("upload")
proved("download")
devbox.file.write(file_path="notes.txt", contents="héllo\n")
assert devbox.file.read(file_path="/home/user/notes.txt") == "héllo\n"
assert devbox.cmd.exec("cat notes.txt; wc -c < bytes").stdout() == f"héllo\n{len(every_byte)}\n"
raises(NotFoundError, lambda: devbox.file.download(path="/none"))
raises(BadRequestError, lambda: devbox.file.download(path="/home"))

# Lists and lifetimes.
second = sdk.devbox.create(metadata={"thread_id": "t 2"})
ids = {devbox.id, second.id}
assert {found.id for found in client.devboxes.list(limit=1)} == ids
assert {found.id for found in client.devboxes.list(limit=1, status="running")} == ids
proved("list")
assert sdk.devbox.from_id(devbox.id).cmd.exec("cat notes.txt").stdout() == "héllo\n"
proved("find")
devbox.keep_alive()
devbox.suspend()
client.devboxes.await_suspended(devbox.id)
assert {found.id for found in client.devboxes.list(status="running")} == {second.id}
raises(BadRequestError, lambda: devbox.cmd.exec("true"))
devbox.resume()
client.devboxes.await_running(devbox.id)
assert sdk.devbox.from_id(devbox.id).cmd.exec("cat notes.txt").stdout() == "héllo\n"
proved("wake")
devbox.shutdown()
second.shutdown()
assert client.devboxes.retrieve(devbox.id).status == "shutdown"
assert list(client.devboxes.list(status="running")) == []
proved("delete")
short = sdk.devbox.create(launch_parameters={"keep_alive_time_seconds": 3})
until(lambda: short.get_info().status == "shutdown")
assert list(client.devboxes.list(status="running")) == []
proved("over")
raises(NotFoundError, lambda: client.devboxes.retrieve("gone"))
print("the session is done")
