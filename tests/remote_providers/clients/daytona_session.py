"""A session of Daytona's official Python client, against an emulator or the service."""

import asyncio
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

from daytona import (
    CodeRunParams,
    CreateSandboxFromImageParams,
    CreateSandboxFromSnapshotParams,
    CreateSecretParams,
    CreateSnapshotParams,
    Daytona,
    DaytonaConflictError,
    DaytonaError,
    DaytonaNotFoundError,
    DaytonaTimeoutError,
    FileDownloadRequest,
    FileUpload,
    Image,
    ListSandboxesQuery,
    LspCompletionPosition,
    Resources,
    Sandbox,
    SessionExecuteRequest,
    UpdateSecretParams,
)
from daytona._sync import computer_use as computer
from daytona._sync.code_interpreter import CodeInterpreter
from daytona._sync.filesystem import FileSystem
from daytona._sync.git import Git
from daytona._sync.lsp_server import LspServer
from daytona._sync.process import Process
from daytona._sync.secret import SecretService
from daytona._sync.snapshot import SnapshotService
from daytona._sync.volume import VolumeService
from daytona.common.pty import PtySize

from methods import absent, all_absent, public, record, report
from previews import ECHOES, SERVES, ended, fetch, request, upgrade
from session import GROWS, WAITS, nothing_grows, proved, raises, until

model = Sandbox.__mro__[1]
displays = [kind for kind in vars(computer).values() if inspect.isclass(kind) and kind.__module__ == computer.__name__]
displays = [kind for kind in displays if not kind.__name__.startswith("_") and public(kind, (model,))]
record(
    Daytona, Sandbox, Process, CodeInterpreter, FileSystem, SnapshotService, VolumeService, SecretService, Git, LspServer,
    *displays, known=(model,), without=["process_image_context"],
)

daytona = Daytona()
params = CreateSandboxFromSnapshotParams(
    name="one", labels={"thread_id": "t 1"}, env_vars={"A": "b"}, network_block_all=True, auto_stop_interval=7
)
sandbox = daytona.create(params)
assert (sandbox.state.value, sandbox.name, sandbox.auto_stop_interval) == ("started", "one", 7), sandbox
assert sandbox.network_block_all is True
raises(DaytonaConflictError, lambda: daytona.create(CreateSandboxFromSnapshotParams(name="one")))

# One-shot commands: both streams in one text, variables, directory, exit codes, time.
process = sandbox.process
done = process.exec("echo out; echo $A $X; pwd", env={"X": "1"}, cwd="/tmp")
assert (done.result, done.exit_code) == ("out\nb 1\n/tmp\n", 0), done
proved("make")
assert process.exec("echo both >&2; exit 3").exit_code == 3
proved("run")
assert process.exec("echo err >&2").result == "err\n"
raises(DaytonaTimeoutError, lambda: process.exec(GROWS, timeout=3))
proved("limit")
nothing_grows(lambda line: process.exec(line).result)
proved("killed")
assert process.exec("true", cwd="/nope").exit_code == -1
# The user and the home directory of Daytona's image.
assert process.exec("whoami; id -un; echo $HOME $USER; pwd").result == "daytona\ndaytona\n/home/daytona daytona\n/home/daytona\n"
assert process.exec("ls -ld . | cut -d ' ' -f 3").result == "daytona\n"
assert process.exec("seq 5 | sort -r | head -n 2 | tr '\\n' ' '").result == "5 4 "

# Sessions keep the shell state, separate the streams, and end with their shell.
process.create_session("s")
assert process.execute_session_command("s", SessionExecuteRequest(command="cd /tmp; B='x y'; f() { echo f; }")).exit_code == 0
said = process.execute_session_command("s", SessionExecuteRequest(command="pwd; echo $B; f; echo err >&2; (exit 3)"))
assert (said.stdout, said.stderr, said.exit_code) == ("/tmp\nx y\nf\n", "err\n", 3), said
proved("streams")
running = process.execute_session_command("s", SessionExecuteRequest(command=f"{WAITS}; printf two", run_async=True))
assert process.get_session_command("s", running.cmd_id).exit_code is None
out, err = [], []


async def see(piece):
    out.append(piece)
    if "first" in piece:
        await asyncio.to_thread(sandbox.fs.upload_file, b"", "/tmp/seen")


asyncio.run(process.get_session_command_logs_async("s", running.cmd_id, see, err.append))
assert "".join(out) == "first\nsecond\ntwo\n" and err == [], (out, err)
proved("live")
until(lambda: process.get_session_command("s", running.cmd_id).exit_code is not None)
logs = process.get_session_command_logs("s", running.cmd_id)
assert logs.stdout == "first\nsecond\ntwo\n" and logs.stderr == "", logs
assert len(process.get_session("s").commands) == 3 and [s.session_id for s in process.list_sessions()] == ["s"]
gone = process.execute_session_command("s", SessionExecuteRequest(command="exit 3", run_async=True))
time.sleep(1)
assert process.get_session_command("s", gone.cmd_id).exit_code is None
process.delete_session("s")
raises(DaytonaNotFoundError, lambda: process.get_session("s"))

# An asynchronous command of a session gets input while it runs. It is added to the output, unless that is suppressed.
process.create_session("input")
reads = 'while read line && [ "$line" != end ]; do echo "got $line"; done; (exit 3)'
talk = process.execute_session_command("input", SessionExecuteRequest(command=reads, run_async=True))
send = lambda text: process.send_session_command_input("input", talk.cmd_id, text)
logged = lambda: process.get_session_command_logs("input", talk.cmd_id).stdout
send("one")
until(lambda: "got one\n" in logged())
send("two\n")
until(lambda: "got two\n" in logged())
assert process.get_session_command("input", talk.cmd_id).exit_code is None
send("end")
until(lambda: process.get_session_command("input", talk.cmd_id).exit_code == 3)
assert sorted(logged().splitlines()) == ["end", "got one", "got two", "one", "two"], logged()
assert "already completed with exit code 3" in str(raises(DaytonaError, lambda: send("late")))
raises(DaytonaNotFoundError, lambda: process.send_session_command_input("input", "none", "x"))
hidden = SessionExecuteRequest(command="read line; echo ${#line}", run_async=True, suppress_input_echo=True)
talk = process.execute_session_command("input", hidden)
send("secret")
until(lambda: process.get_session_command("input", talk.cmd_id).exit_code == 0)
assert logged() == "6\n"
# A synchronous command gets an empty input, and a session is deleted while a command waits.
assert process.execute_session_command("input", SessionExecuteRequest(command="cat; echo end")).stdout == "end\n"
process.execute_session_command("input", SessionExecuteRequest(command="cat", run_async=True))
process.delete_session("input")

# Terminals: keys, echo, variables, directory, size, Ctrl-C, a second client, the end.
def shown(events, text):
    """Returns the output of a terminal up to a text."""
    screen = ""
    while text not in screen:
        screen += next(events).decode()
    return screen


terminal = process.create_pty_session("term", cwd="/tmp", envs={"X": "1"}, pty_size=PtySize(rows=30, cols=90))
events = iter(terminal)
terminal.send_input('echo "<$X $TERM>"; pwd; stty size\n')
assert "<1 xterm-256color>\r\n/tmp\r\n30 90\r\n" in shown(events, "30 90\r\n")
assert terminal.resize(PtySize(rows=40, cols=100)).cols == 100
terminal.send_input(b"stty size\r")
shown(events, "40 100\r\n")
raises(DaytonaConflictError, lambda: process.create_pty_session("term"))
terminal.send_input("echo begun; sleep 100\n")
shown(events, "\nbegun\r\n")
terminal.send_input(b"\x03")
shown(events, "^C")
info = process.get_pty_session_info("term")
assert (info.active, info.rows, info.cols, info.cwd, info.envs) == (True, 40, 100, "/tmp", {"X": "1"}), info
assert [session.id for session in process.list_pty_sessions()] == ["term"]
other = process.connect_pty_session("term")
other.wait_for_connection()
other.send_input("exit 3\n")
assert (other.wait().exit_code, terminal.wait().exit_code) == (3, 3)
until(lambda: process.list_pty_sessions() == [])
terminal = process.create_pty_session("term")
process.kill_pty_session("term")
assert terminal.wait().exit_code == 137
raises(DaytonaNotFoundError, lambda: process.get_pty_session_info("term"))
raises(DaytonaNotFoundError, lambda: process.resize_pty_session("term", PtySize(rows=24, cols=80)))
raises(DaytonaError, lambda: process.connect_pty_session("term"))

# Files: text, bytes, many, lists, moves, searches.
files = sandbox.fs
assert sandbox.get_work_dir() == "/home/daytona" == sandbox.get_user_home_dir() == sandbox.get_user_root_dir()
every_byte = bytes(range(256)) * 4096
files.upload_file(every_byte, "/home/daytona/a/bytes")
assert files.download_file("/home/daytona/a/bytes") == every_byte
proved("upload")
proved("download")
files.upload_files([FileUpload(source=str(n).encode(), destination=f"/home/daytona/many/{n}") for n in range(5)])
assert process.exec("cat many/*").result == "01234"
assert sorted(entry.name for entry in files.list_files("/home/daytona/many")) == ["0", "1", "2", "3", "4"]
some = files.download_files([FileDownloadRequest(source="/home/daytona/many/3"), FileDownloadRequest(source="/none")])
assert some[0].result == b"3" and some[0].error is None, some
assert some[1].error_details.code == "FILE_NOT_FOUND", some
raises(DaytonaNotFoundError, lambda: files.download_file("/none"))
files.create_folder("/home/daytona/new", "755")
files.move_files("/home/daytona/many/3", "/home/daytona/new/three")
info = files.get_file_info("/home/daytona/new/three")
assert (info.size, info.is_dir) == (1, False) and files.get_file_info("/home/daytona/new").is_dir
assert (info.mode, info.permissions, info.owner, info.group) == ("-rw-r--r--", "0644", "daytona", "daytona"), info
assert datetime.now(timezone.utc) - datetime.fromisoformat(info.mod_time) < timedelta(minutes=5), info
assert files.get_file_info("/etc/passwd").owner == "root"
process.exec("chmod 750 new")
assert [(one.mode, one.permissions) for one in files.list_files("/home/daytona") if one.name == "new"] == [("drwxr-x---", "0750")]
assert "three" in [one.name for one in files.list_files("/home/daytona", depth=2)]
assert b"".join(files.download_file_stream("/home/daytona/new/three")) == b"3"
files.upload_file_stream(b"streamed", "/home/daytona/new/streamed")
assert files.download_file("/home/daytona/new/streamed") == b"streamed"
files.upload_file(b"alpha\nbeta\n", "/home/daytona/new/words.txt")
found = files.find_files("/home/daytona/new", "beta")
assert [(match.file, match.line, match.content) for match in found] == [("/home/daytona/new/words.txt", 2, "beta")]
assert files.search_files("/home/daytona", "*.txt").files == ["/home/daytona/new/words.txt"]
assert files.replace_in_files(["/home/daytona/new/words.txt"], "beta", "gamma")[0].success
assert process.exec("cat new/words.txt").result == "alpha\ngamma\n"
files.set_file_permissions("/home/daytona/new/words.txt", mode="700")
assert process.exec("stat -c %a new/words.txt").result == "700\n"
files.delete_file("/home/daytona/new", recursive=True)
raises(DaytonaNotFoundError, lambda: files.get_file_info("/home/daytona/new"))

# Signed URLs need no key.
url = sandbox.download_url("/home/daytona/a/bytes")
assert urllib.request.urlopen(url).read() == every_byte
forged = url.replace("bytes", "other")
assert raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(forged)).code == 401
form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nsigned\r\n--b--\r\n'
upload = urllib.request.Request(
    sandbox.upload_url("/home/daytona/signed"), form, {"Content-Type": "multipart/form-data; boundary=b"}
)
assert urllib.request.urlopen(upload).status == 200 and files.download_file("/home/daytona/signed") == b"signed"
sandbox.rotate_signing_key()
assert raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(url)).code == 401
assert urllib.request.urlopen(sandbox.download_url("/home/daytona/signed", ttl_seconds=0)).read() == b"signed"

# Clocks, and resources.
sandbox.refresh_data()
now = datetime.now(timezone.utc)
age = now - datetime.fromisoformat(sandbox.created_at.replace("Z", "+00:00"))
assert timedelta(0) <= age < timedelta(minutes=10), sandbox.created_at
assert abs(int(process.exec("date +%s").result) - time.time()) < 60
usage = sandbox.get_metrics_latest()
assert usage.disk_used > len(every_byte) and usage.disk_total > usage.disk_used and usage.mem_total > 0, usage
assert abs(usage.timestamp - now) < timedelta(minutes=1), usage
assert [sample.disk_total for sample in sandbox.get_metrics()] == [usage.disk_total]
sandbox.resize(Resources(cpu=2, memory=4))
assert (sandbox.cpu, sandbox.memory) == (2, 4), sandbox
raises(DaytonaError, lambda: sandbox.resize(Resources(cpu=1)))
raises(DaytonaError, lambda: sandbox.resize(Resources(disk=10)))
sandbox.wait_for_resize_complete()

# Snapshots have the files.
sandbox.create_snapshot("nightly")
raises(DaytonaError, lambda: sandbox.create_snapshot("nightly"))
files.upload_file(b"changed", "/home/daytona/many/2")
copy = daytona.create(CreateSandboxFromSnapshotParams(snapshot="nightly"))
assert copy.process.exec("cat many/2; whoami").result == "2daytona\n"
assert copy.fs.get_file_info("/home/daytona/a/bytes").size == len(every_byte)
daytona.delete(copy)
taken = daytona.snapshot.get("nightly")
assert (taken.name, taken.state.value, taken.source_sandbox_id) == ("nightly", "active", sandbox.id), taken
assert abs(taken.created_at - datetime.now(timezone.utc)) < timedelta(minutes=1), taken
created = daytona.snapshot.create(CreateSnapshotParams(name="image", image="debian:12", resources=Resources(cpu=2)))
assert (created.name, created.image_name, created.cpu) == ("image", "debian:12", 2), created
assert [one.name for one in daytona.snapshot.list(limit=1).items] == ["image"] and daytona.snapshot.list().total == 2
raises(Exception, lambda: daytona.snapshot.activate(created))
# The client has no method for this call.
key = {"Authorization": f"Bearer {os.environ['DAYTONA_API_KEY']}"}
url = f"{os.environ['DAYTONA_API_URL']}/snapshots/{created.id}/deactivate"
urllib.request.urlopen(urllib.request.Request(url, b"", key))
raises(DaytonaError, lambda: daytona.create(CreateSandboxFromSnapshotParams(snapshot="image")))
assert daytona.snapshot.activate(created).state.value == "active"
daytona.snapshot.delete(created)
daytona.snapshot.delete(taken)
raises(DaytonaNotFoundError, lambda: daytona.snapshot.get("nightly"))
raises(DaytonaError, lambda: daytona.create(CreateSandboxFromSnapshotParams(snapshot="nightly")))
files.upload_file(b"2", "/home/daytona/many/2")
fork = sandbox.fork("forked")
assert fork.name == "forked" and fork.process.exec("cat many/2").result == "2"
fork.pause()
assert fork.state.value == "paused"
fork.start()
fork.stop()
fork.archive()
fork.refresh_data()
assert fork.state.value == "archived", fork.state
raises(DaytonaError, fork.recover)
daytona.start(fork)
daytona.stop(fork)
daytona.delete(fork)

# Code needs an interpreter in the sandbox: Python if its pack is installed, and a shell that takes the options of Python.
if process.exec("command -v python3").exit_code == 0:
    assert process.code_run("print(1)").result == "1\n"
    assert sandbox.code_interpreter.run_code("x = 1; print(x)").stdout == "1\n"
    assert sandbox.code_interpreter.run_code("print(x + 1)").stdout == "2\n"
else:
    absent(lambda: process.code_run("print(1)"), "Tidebox's emulator of Daytona has no python3")
    absent(lambda: sandbox.code_interpreter.run_code("print(1)"), "Tidebox's emulator of Daytona has no python3")
shell = """#!/bin/bash
if [ "$1" = -c ]; then shift; exec bash -c "$1" code "${@:2}"; fi
exec 3>&1
error=$(. /dev/stdin 2>&1 >&3) || printf '{"name": "E", "value": "%s", "traceback": "t"}' "$error" > "$DAYTONA_INTERPRETER_STATE.error"
"""
coder = daytona.create(CreateSandboxFromSnapshotParams(env_vars={"PATH": "/home/daytona/bin:/usr/local/bin:/usr/bin:/bin"}))
coder.fs.upload_file(shell.encode(), "/home/daytona/bin/python3")
coder.fs.set_file_permissions("/home/daytona/bin/python3", mode="755")
ran = coder.process.code_run("echo $1 $X; exit 3", CodeRunParams(argv=["a b"], env={"X": "x"}))
assert (ran.result, ran.exit_code) == ("a b x\n", 3), ran
assert "execution timeout" in str(raises(Exception, lambda: coder.process.code_run("sleep 30", timeout=1)))
interpreter, seen = coder.code_interpreter, []
context = interpreter.create_context(cwd="/tmp")
assert [one.id for one in interpreter.list_contexts()] == [context.id] and context.cwd == "/tmp"
told = interpreter.run_code("pwd; echo $X", context=context, envs={"X": "x"}, on_stdout=seen.append)
assert (told.stdout, told.error) == ("/tmp\nx\n", None) and "".join(one.output for one in seen) == "/tmp\nx\n", told
assert interpreter.run_code("pwd").stdout == "/home/daytona\n"
failed = interpreter.run_code("echo bad >&2; false")
assert (failed.error.name, failed.error.value) == ("E", "bad"), failed
raises(DaytonaTimeoutError, lambda: interpreter.run_code("sleep 30", timeout=1))
interpreter.delete_context(context)
assert interpreter.list_contexts() == []
raises(DaytonaError, lambda: interpreter.run_code("pwd", context=context))
coder.delete()

# The program that keeps the state of an interpreter, with the Python of the host.
program = Path(__file__).parents[3] / "emulators/src/daytona/interpreter.py"
with tempfile.TemporaryDirectory() as directory:
    state = os.path.join(directory, "state")

    def interpret(code):
        environment = {"DAYTONA_INTERPRETER_STATE": state}
        run = subprocess.run([sys.executable, program], input=code, env=environment, capture_output=True, text=True)
        error = Path(state + ".error")
        failure = json.loads(error.read_text()) if error.exists() else None
        error.unlink(missing_ok=True)
        return run.stdout, failure

    assert interpret("import math\nx = [1]\ndef f(a):\n    return a + x[0]\nclass P:\n    v = 7\np = P()\nprint('one')") == ("one\n", None)
    assert interpret("x.append(2); print(f(1), math.floor(2.5), p.v, x)") == ("2 2 7 [1, 2]\n", None)
    assert interpret("print('so far'); f(None)")[1]["name"] == "TypeError"
    assert interpret("def broken(")[1]["name"] == "SyntaxError"
    assert interpret("print(x, isinstance(p, P))") == ("[1, 2] True\n", None)

# Servers: a link needs a token or the key, unless the sandbox is public or the link is signed.
def serve(session, line):
    process.create_session(session)
    process.execute_session_command(session, SessionExecuteRequest(command=line, run_async=True))


serve("server", SERVES)
link = sandbox.get_preview_link(8000)
token = {"x-daytona-preview-token": link.token}
assert fetch(link.url, headers=token) == b"hello\n"
assert fetch(link.url, f"/a.txt?DAYTONA_SANDBOX_AUTH_KEY={link.token}") == b"hello\n"
assert fetch(link.url, headers=key) == b"hello\n"
signed = sandbox.create_signed_preview_url(8000, 600)
for wrong in [{}, {"x-daytona-preview-token": "wrong"}, {"x-daytona-preview-token": signed.token}]:
    assert request(link.url, headers=wrong)[0] == 401
assert fetch(signed.url) == b"hello\n"
assert request(signed.url.replace("8000-", "8001-"))[0] == 401
sandbox.expire_signed_preview_url(8000, signed.token)
assert request(signed.url)[0] == 401
short = sandbox.create_signed_preview_url(8000, 1)
until(lambda: request(short.url)[0] == 401)
sandbox.set_public(True)
assert fetch(link.url) == b"hello\n"
sandbox.set_public(False)
assert request(link.url)[0] == 401
assert request(sandbox.get_preview_link(8009).url, headers=token)[0] == 502
raises(DaytonaError, lambda: sandbox.create_signed_preview_url(8000, 0))
raises(DaytonaError, lambda: sandbox.get_preview_link(65536))
serve("echo", ECHOES)
connection = upgrade(sandbox.get_preview_link(8001).url, token)
used = sandbox.last_activity_at
sandbox.refresh_data()
assert sandbox.last_activity_at > used, (used, sandbox.last_activity_at)
process.delete_session("echo")
assert ended(connection)
process.delete_session("server")
proved("serve")

# What is absent says so.
build = CreateSandboxFromImageParams(image=Image.base("debian:12").run_commands("apt-get update"))
absent(lambda: daytona.create(build), "Tidebox's emulator of Daytona has no builds of images")
absent(lambda: daytona.snapshot.create(CreateSnapshotParams(name="b", image=Image.base("debian:12").run_commands("true"))), "no builds")
absent(lambda: sandbox.create_ssh_access(), "no SSH access")
absent(lambda: sandbox.revoke_ssh_access("x"), "no SSH access")
absent(lambda: sandbox.validate_ssh_access("x"), "no SSH access")
absent(lambda: sandbox.update_network_settings(network_block_all=True), "no network settings")
absent(lambda: sandbox.update_secrets({"A": "b"}), "no secrets")
absent(lambda: sandbox.update_env({"A": "b"}), "no changes of a sandbox's environment")
absent(lambda: daytona.secret.create(CreateSecretParams(name="x", value="y")), "no secrets")
absent(lambda: daytona.secret.update("x", UpdateSecretParams(value="y")), "no secrets")
all_absent(daytona.secret, ["delete", "get", "list"], "no secrets")
all_absent(daytona.volume, ["create", "get", "list"], "no volumes")
absent(lambda: daytona.volume.delete(SimpleNamespace(id="x")), "no volumes")
absent(process.get_entrypoint_session, "no entrypoint sessions")
absent(process.get_entrypoint_logs, "no entrypoint sessions")
absent(lambda: asyncio.run(process.get_entrypoint_logs_async(print, print)), "no entrypoint sessions")
all_absent(sandbox.git, public(Git), "no Git", {"files": ["x"]})
server = sandbox.create_lsp_server("python", "/home/daytona")
position = {"position": LspCompletionPosition(line=1, character=1)}
all_absent(server, public(LspServer), "no language servers", position)
numbers = dict.fromkeys(["x", "y", "start_x", "start_y", "end_x", "end_y"], 1)
region = {"region": computer.ScreenshotRegion(x=0, y=0, width=1, height=1), "direction": "up", "keys": "ctrl+c", "text": "x"}
screen = sandbox.computer_use
for part in [screen] + [one for one in vars(screen).values() if type(one) in displays]:
    # The client does not show the message of a failed download.
    names = [name for name in public(type(part)) if name != "download"]
    all_absent(part, names, "no computer use", numbers | region)
absent(lambda: screen.recording.download("x", "x"), "501 Not Implemented")

# Lists and lifetimes.
image = CreateSandboxFromImageParams(image="debian:12", resources=Resources(cpu=2, memory=4), labels={"thread_id": "t 2"})
second = daytona.create(image)
assert (second.cpu, second.memory) == (2, 4)
listed = lambda labels: [found.id for found in daytona.list(ListSandboxesQuery(labels=labels, limit=1))]
assert listed({"thread_id": "t 1"}) == [sandbox.id] and sorted(listed({})) == sorted([sandbox.id, second.id])
proved("list")
sandbox.set_labels({"thread_id": "t 3"})
assert listed({"thread_id": "t 1"}) == [] and listed({"thread_id": "t 3"}) == [sandbox.id]
proved("labels")
assert daytona.get("one").id == sandbox.id
assert daytona.get(sandbox.id).process.exec("cat many/2").result == "2"
proved("find")
sandbox.set_autostop_interval(30)
sandbox.set_auto_delete_interval(60)
sandbox.set_auto_archive_interval(60)
sandbox.set_auto_pause_interval(60)
sandbox.set_public(True)
sandbox.set_ttl(60)
sandbox.refresh_data()
assert (sandbox.auto_stop_interval, sandbox.auto_delete_interval, sandbox.public) == (30, 60, True), sandbox
ends = datetime.fromisoformat(sandbox.auto_destroy_at.replace("Z", "+00:00"))
assert timedelta(minutes=58) < ends - datetime.now(timezone.utc) <= timedelta(minutes=60), ends
sandbox.refresh_activity()
sandbox.stop()
assert sandbox.state.value == "stopped"
sandbox.wait_for_sandbox_stop()
sandbox.resize(Resources(disk=10))
assert sandbox.disk == 10
sandbox.start()
sandbox.wait_for_sandbox_start()
assert sandbox.process.exec("cat a/bytes | wc -c").result == f"{len(every_byte)}\n"
proved("wake")
sandbox.delete(wait=True)
raises(DaytonaNotFoundError, lambda: daytona.get("one"))
daytona.delete(second)
assert listed({}) == []
proved("delete")
report({
    "Sandbox.get_preview_link": "without TLS; below `localhost`",
    "Sandbox.create_signed_preview_url": "without TLS; below `localhost`",
    "Daytona.create": "an image or a snapshot that the emulator does not know has Tidebox's files, and quotas are not enforced",
    "Sandbox.resize": "quotas are reported and not enforced",
    "Sandbox.fork": "processes are not copied",
    "Sandbox.create_snapshot": "processes are not saved",
    "Sandbox.pause": "processes continue",
    "Sandbox.recover": "always fails, because no sandbox is in an error state",
    "Sandbox.set_autostop_interval": "reported and not performed",
    "Sandbox.set_auto_archive_interval": "reported and not performed",
    "Sandbox.set_auto_delete_interval": "reported and not performed",
    "Sandbox.set_auto_pause_interval": "reported and not performed",
    "Sandbox.get_metrics": "one sample, taken now",
    "Sandbox.get_metrics_latest": "processor time is 0",
    "SnapshotService.create": "the image is not pulled",
    "Process.code_run": "needs `python3`, `node` or `ts-node` in the sandbox; no charts",
    "CodeInterpreter.run_code": "needs `python3` in the sandbox; values that cannot be pickled are lost after a run",
}, absences=("Tidebox", "501 Not Implemented"))
print("the session is done")
