"""A session of E2B's official Python client, against an emulator or the service."""

import json
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone

from e2b import (
    AuthenticationException,
    BuildInfo,
    CommandExitException,
    CommandHandle,
    FilesystemEventType,
    Git,
    NotFoundException,
    Sandbox,
    SandboxException,
    SandboxPaginator,
    SandboxQuery,
    Secret,
    SecretPaginator,
    SnapshotPaginator,
    Template,
    TimeoutException,
    Volume,
    WatchHandle,
)
from e2b.envd.process.process_pb import ProcessSelector, SendSignalRequest, Signal
from e2b.sandbox_sync.commands.command import Commands
from e2b.sandbox_sync.commands.pty import Pty, PtySize
from e2b.sandbox_sync.filesystem.filesystem import Filesystem

from protobuf import Oneof

from methods import absent, all_absent, public, record, report
import previews
from previews import ECHOES, SERVES, fetch, upgrade
from session import GROWS, WAITS, nothing_grows, proved, raises, until

# Methods that only build a template or a value on the client's side, and those of a volume that exists.
LOCAL = [name for name in public(Template) if name.startswith(("from_", "to_", "skip_"))] + ["fill", "iam_token"]
VOLUME = ["exists", "make_dir", "read_file", "remove", "update_metadata", "write_file"]
record(
    Sandbox, Commands, CommandHandle, Filesystem, WatchHandle, Pty, Git, SandboxPaginator, SnapshotPaginator, Template,
    SecretPaginator, without=LOCAL,
)
record(Volume, without=VOLUME)
record(Secret, without=[*LOCAL, "list"])

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
background = sandbox.commands.run(GROWS, background=True, cwd="/tmp", envs={"X": "1"})
until(lambda: sandbox.files.exists("/tmp/grows"))
listed = [process for process in sandbox.commands.list() if process.pid == background.pid]
assert [(one.cmd, one.args, one.cwd, one.envs) for one in listed] == [("/bin/bash", ["-l", "-c", GROWS], "/tmp", {"X": "1"})]
assert listed[0].tag is None
assert background.kill() is True
nothing_grows(run)
proved("stop")
assert sandbox.commands.kill(999999) is False and sandbox.commands.list() == []
waiting = sandbox.commands.run("until [ -e /tmp/go ]; do sleep 0.05; done; echo gone; exit 4", background=True)
followed = sandbox.commands.connect(waiting.pid)
sandbox.files.write("/tmp/go", "")
assert raises(CommandExitException, followed.wait).stdout == "gone\n"
assert raises(CommandExitException, waiting.wait).exit_code == 4
raises(NotFoundException, lambda: sandbox.commands.connect(waiting.pid))
# SIGTERM reaches all processes of a command, and a trap handles it. The client's own methods send SIGKILL.
trapped = sandbox.commands.run("trap 'echo bye; exit 5' TERM; touch /tmp/ready; sleep 1000; echo late", background=True)
until(lambda: sandbox.files.exists("/tmp/ready"))
selected = ProcessSelector(selector=Oneof("pid", trapped.pid))
sandbox.commands._rpc.send_signal(SendSignalRequest(process=selected, signal=Signal.SIGTERM))
ended = raises(CommandExitException, trapped.wait)
assert (ended.stdout, ended.exit_code) == ("bye\n", 5), ended
ignores = sandbox.commands.run("trap '' TERM; touch /tmp/deaf; while :; do sleep 0.1; done", background=True)
until(lambda: sandbox.files.exists("/tmp/deaf"))
selected = ProcessSelector(selector=Oneof("pid", ignores.pid))
sandbox.commands._rpc.send_signal(SendSignalRequest(process=selected, signal=Signal.SIGTERM))
assert [process.pid for process in sandbox.commands.list()] == [ignores.pid]
assert ignores.kill() is True
sandbox.commands.run("true", background=True).disconnect()

# Standard input.
typed = sandbox.commands.run("read name; echo hi $name; cat; exit 3", background=True, stdin=True)
typed.send_stdin("you\n")
sandbox.commands.send_stdin(typed.pid, b"b\xc3\xa9\n")
sandbox.commands.stream_input(typed.pid, ["c\n", "d\n"])
typed.close_stdin()
ended = raises(CommandExitException, typed.wait)
assert (ended.stdout, ended.exit_code) == ("hi you\nbé\nc\nd\n", 3), ended
counted = sandbox.commands.run("wc -c", background=True, stdin=True)
counted.send_stdin("x" * 300_000)
sandbox.commands.close_stdin(counted.pid)
assert counted.wait().stdout == "300000\n"

# The user and the home directory of E2B's image.
assert sandbox.commands.run("whoami; id -un; echo $HOME $USER; cd; pwd").stdout == "user\nuser\n/home/user user\n/home/user\n"
assert sandbox.commands.run("pwd; ls -ld . | cut -d ' ' -f 3").stdout == "/home/user\nuser\n"

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
info = sandbox.files.get_info("/home/user/many/3")
assert (info.size, info.mode, info.permissions, info.owner, info.group) == (1, 0o644, "-rw-r--r--", "user", "user"), info
assert datetime.now(timezone.utc) - info.modified_time < timedelta(minutes=5), info
sandbox.commands.run("chmod 750 many; chmod 4711 many/2; ln -s many/2 link")
assert [(one.mode, one.permissions) for one in sandbox.files.list("/home/user") if one.name == "many"] == [(0o750, "drwxr-x---")]
assert sandbox.files.get_info("/home/user/many/2").permissions == "urwx--x--x"
assert sandbox.files.get_info("/home/user/link").symlink_target == "many/2"
assert sandbox.files.get_info("/etc/passwd").owner == "root"
assert len(sandbox.files.list("/home/user", depth=2)) > len(sandbox.files.list("/home/user"))
assert sandbox.files.make_dir("/home/user/new") is True and sandbox.files.make_dir("/home/user/new") is False
sandbox.files.rename("/home/user/many/3", "/home/user/new/three")
assert sandbox.files.read("/home/user/new/three") == "3"
sandbox.files.remove("/home/user/new")
raises(NotFoundException, lambda: sandbox.files.read("/home/user/new/three"))

# Changes of files.
watch = sandbox.files.watch_dir("/home/user/many", recursive=True, include_entry=True)
assert watch.get_new_events() == []
sandbox.commands.run("echo x > many/new; echo y >> many/1; rm many/0; mv many/4 many/four; mkdir many/deep; touch many/deep/f")
events = {(event.name, event.type) for event in watch.get_new_events()}
for event in [("new", "create"), ("new", "write"), ("1", "write"), ("0", "remove"), ("4", "rename"), ("four", "create")]:
    assert (event[0], FilesystemEventType(event[1])) in events, events
assert ("deep/f", FilesystemEventType.CREATE) in events, events
sandbox.files.write("/home/user/many/later", "later")
later = [event for event in watch.get_new_events() if event.name == "later"]
assert later and later[0].entry.size == 5, later
watch.stop()
raises(SandboxException, watch.get_new_events)
raises(NotFoundException, lambda: sandbox.files.watch_dir("/none"))

# Signed URLs need no other credentials.
url = sandbox.download_url("/home/user/bytes", use_signature_expiration=60)
assert urllib.request.urlopen(url).read() == every_byte
assert urllib.request.urlopen(sandbox.download_url("/home/user/a/b.txt")).read().decode() == "héllo\n"
expired = raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(sandbox.download_url("/home/user/bytes", use_signature_expiration=-5)))
assert (expired.code, "expired" in expired.read().decode()) == (401, True)
forged = sandbox.download_url("/home/user/bytes").replace("bytes", "a%2Fb.txt")
assert raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(forged)).code == 401
form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nsigned\r\n--b--\r\n'
request = urllib.request.Request(
    sandbox.upload_url("/home/user/signed"), form, {"Content-Type": "multipart/form-data; boundary=b"}
)
assert urllib.request.urlopen(request).status == 200 and sandbox.files.read("/home/user/signed") == "signed"

# Clocks, and resources.
info = sandbox.get_info()
now = datetime.now(timezone.utc)
assert abs(info.started_at - now) < timedelta(minutes=5) and info.end_at > now - timedelta(seconds=5), info
sandbox.set_timeout(200)
left = sandbox.get_info().end_at - datetime.now(timezone.utc)
assert timedelta(seconds=190) < left < timedelta(seconds=201), left
assert abs(int(sandbox.commands.run("date +%s").stdout) - time.time()) < 60
usage = sandbox.get_metrics()[-1]
assert usage.disk_used > len(every_byte) and usage.disk_total > usage.disk_used and usage.cpu_count >= 1, usage
assert usage.mem_total > 0 and abs(usage.timestamp - datetime.now(timezone.utc)) < timedelta(minutes=1), usage

# Snapshots have the files, and are templates.
taken = sandbox.create_snapshot()
named = sandbox.create_snapshot("nightly")
assert taken.names == [] and named.names == [named.snapshot_id], (taken, named)
sandbox.files.write("/home/user/a/b.txt", "changed")
for template in (taken.snapshot_id, named.snapshot_id, "nightly"):
    copy = Sandbox.create(template)
    assert copy.files.read("/home/user/a/b.txt") == "héllo\n" and copy.commands.run("whoami").stdout == "user\n"
    assert copy.files.get_info("/home/user/many/2").permissions == "urwx--x--x"
    copy.kill()
snapshots = Sandbox.list_snapshots(limit=1)
pages = snapshots.next_items() + snapshots.next_items()
assert {one.snapshot_id for one in pages} == {taken.snapshot_id, named.snapshot_id} and not snapshots.has_next
assert [one.snapshot_id for one in Sandbox.list_snapshots(name="nightly").next_items()] == [named.snapshot_id]
assert len(sandbox.list_snapshots().next_items()) == 2
assert Sandbox.delete_snapshot(named.snapshot_id) is True and Sandbox.delete_snapshot(named.snapshot_id) is False
raises(SandboxException, lambda: Sandbox.create(named.snapshot_id))
sandbox.files.write("/home/user/a/b.txt", "héllo\n")
forks = sandbox.fork(count=2)
assert [fork.files.read("/home/user/a/b.txt") for fork in forks] == ["héllo\n"] * 2
forks[0].files.write("/home/user/a/b.txt", "other")
assert forks[1].files.read("/home/user/a/b.txt") == sandbox.files.read("/home/user/a/b.txt") == "héllo\n"
assert [fork.kill() for fork in forks] == [True, True]

# Terminals: keys, echo, variables, directory, size, Ctrl-C, a second client, the end.
def shown(events, text):
    """Returns the output of a terminal up to a text."""
    screen = ""
    while text not in screen:
        screen += next(events)[2].decode()
    return screen


size = PtySize(rows=24, cols=80)
terminal = sandbox.pty.create(size, cwd="/tmp", envs={"X": "1"})
events = iter(terminal)
sandbox.pty.send_stdin(terminal.pid, b"echo \"<$X $TERM>\"; pwd; stty size\r")
assert "<1 xterm-256color>\r\n/tmp\r\n24 80\r\n" in shown(events, "24 80\r\n")
sandbox.pty.resize(terminal.pid, PtySize(rows=40, cols=100))
sandbox.pty.stream_input(terminal.pid, [b"stty ", b"size\r"])
shown(events, "40 100\r\n")
sandbox.pty.send_stdin(terminal.pid, b"echo begun; sleep 100\r")
shown(events, "\nbegun\r\n")
sandbox.pty.send_stdin(terminal.pid, b"\x03")
shown(events, "^C")
assert terminal.pid in [process.pid for process in sandbox.commands.list()]
other = sandbox.pty.connect(terminal.pid)
sandbox.pty.send_stdin(terminal.pid, b"exit 3\r")
assert raises(CommandExitException, other.wait).exit_code == 3
assert raises(CommandExitException, terminal.wait).exit_code == 3
terminal = sandbox.pty.create(size, timeout=0)
assert sandbox.pty.kill(terminal.pid) is True
raises(CommandExitException, terminal.wait)
raises(NotFoundException, lambda: sandbox.pty.stream_input(1, [b"x"]))
raises(NotFoundException, lambda: sandbox.pty.connect(1))
raises(NotFoundException, lambda: sandbox.pty.resize(1, size))
raises(NotFoundException, lambda: sandbox.pty.send_stdin(1, b"x"))
assert sandbox.pty.kill(999999) is False
piped = sandbox.commands.run("cat", background=True, stdin=True)
raises(SandboxException, lambda: sandbox.pty.send_stdin(piped.pid, b"x"))
piped.kill()

# What is absent says so.
absent(lambda: sandbox.create_snapshot(mode="full"), "Tidebox's emulator of E2B has no snapshots of memory")
absent(lambda: sandbox.files.write("/tmp/x", "x" * 2000, gzip=True), "no compressed uploads")
absent(lambda: sandbox.files.write("/tmp/x", "x", metadata={"a": "b"}), "no metadata of files")
started = SandboxQuery(started_after=datetime.now(timezone.utc))
absent(lambda: Sandbox.list(query=started).next_items(), "no lists by start time")
absent(lambda: sandbox.update_network({"deny_out": ["0.0.0.0/0"]}), "no network rules")
idle = sandbox.commands.run("sleep 60", background=True)
raises(SandboxException, lambda: sandbox.commands.send_stdin(idle.pid, "x"))
idle.kill()
# Git is a pack, which the host may have; the table of methods shows a sandbox without it.
silent = ["get_config", "remote_get", "pull", "push"]
without_git = Sandbox.create(envs={"PATH": "/nowhere"})
git = without_git.git
absent(lambda: git.pull("/tmp", "origin", "main"), "git: command not found")
absent(lambda: git.push("/tmp", "origin", "main"), "git: command not found")
assert [git.get_config("x"), git.remote_get("/tmp", "x")] == [None, None]
others = [name for name in public(Git) if name not in silent]
all_absent(git, others, "git: command not found", {"paths": ["x"]})
without_git.kill()
template = Template().from_base_image()
absent(lambda: Template.build(template, "x"), "no templates")
absent(lambda: Template.build_in_background(template, "x"), "no templates")
build = BuildInfo(template_id="x", build_id="y", name="x", alias="x", tags=[])
absent(lambda: Template.get_build_status(build), "no templates")
all_absent(Template, ["exists", "alias_exists"], "no templates")
all_absent(Template, ["assign_tags", "get_tags", "remove_tags"], "no template tags")
for call in (Volume.create, Volume.connect, Volume.destroy, Volume.get_info):
    absent(lambda: call("x"), "no volumes")
absent(Volume.list, "no volumes")
all_absent(Secret, ["create", "destroy", "exists", "get_info", "update"], "no secrets")
absent(lambda: Secret.list().next_items(), "no secrets")
assert sandbox.get_mcp_url().endswith("/mcp")
raises(NotFoundException, sandbox.get_mcp_token)
raises(AuthenticationException, lambda: Sandbox.list(api_key="wrong").next_items())

# Servers: every port has an address. That of a private sandbox needs a token, and none is left of a sandbox that was killed.
served = sandbox.commands.run(SERVES, background=True, timeout=0)
assert fetch(sandbox.get_host(8000)) == b"hello\n"
named = {"E2b-Sandbox-Id": sandbox.sandbox_id, "E2b-Sandbox-Port": "8000"}
assert fetch(sandbox.connection_config.api_url, "/a.txt", named) == b"hello\n"
closed = json.loads(previews.request(sandbox.get_host(8009))[1])
assert (closed["message"], closed["port"]) == ("The sandbox is running but port is not open", 8009), closed
echo = sandbox.commands.run(ECHOES, background=True, timeout=0)
connection = upgrade(sandbox.get_host(8001))
echo.kill()
assert previews.ended(connection)
private = Sandbox.create(timeout=120, network={"allow_public_traffic": False})
private.commands.run(SERVES, background=True, timeout=0)
private.commands.run(ECHOES, background=True, timeout=0)
token = {"e2b-traffic-access-token": private.traffic_access_token}
assert sandbox.traffic_access_token is None and fetch(private.get_host(8000), headers=token) == b"hello\n"
for wrong in [{}, {"e2b-traffic-access-token": "wrong"}]:
    assert previews.request(private.get_host(8000), headers=wrong)[0] == 403
connection = upgrade(private.get_host(8001), token)
private.kill()
assert previews.ended(connection)
assert previews.request(private.get_host(8000), headers=token)[0] == 502
served.kill()
proved("serve")

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
assert again.pause() is True and again.pause() is False and again.beta_pause() is False
assert not again.is_running()
asleep = again.get_info()
assert asleep.state.value == "paused" and asleep.end_at <= datetime.now(timezone.utc), asleep
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
report({
    "Sandbox.create": "any name of a template is accepted, with Tidebox's own files, and without network",
    "Sandbox.create_snapshot": "files only",
    "Sandbox.fork": "files only: processes are not copied",
    "Sandbox.pause": "files and commands stay in memory",
    "Sandbox.beta_pause": "like `pause`",
    "Sandbox.get_metrics": "one sample, taken now; processor time is 0",
    "Sandbox.get_host": "without TLS; below `localhost`",
    "Sandbox.get_mcp_url": "an address that nothing serves",
    "Commands.run": "with one user",
    "Filesystem.watch_dir": "compares the files, so that changes between two calls are one event",
    "Filesystem.write": "without `gzip` and `metadata`",
    "Filesystem.write_files": "without `gzip` and `metadata`",
    "Git.get_config": "always `None`",
    "Git.remote_get": "always `None`",
    "SandboxPaginator.next_items": "without `started_after`",
}, absences=("Tidebox", "git: command not found", "mcp-gateway", "process with pid"))
print("the session is done")
