"""A session of Modal's official Python client, against an emulator or the service."""

import http.client
import os
import tempfile
import time

import modal
from modal.container_process import ContainerProcess
from modal.exception import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    SandboxFilesystemDirectoryNotEmptyError,
    SandboxFilesystemIsADirectoryError,
    SandboxFilesystemNotADirectoryError,
    SandboxFilesystemNotFoundError,
    SandboxTerminatedError,
)
from modal.sandbox import Probe
from modal.sandbox.sandbox import SandboxFilesystem

from methods import absent, public, record, report
from previews import ECHOES, SERVES, ended, fetch, upgrade
from session import GROWS, WAITS, nothing_grows, proved, raises, until

# Methods that only define an image, a secret or a function on the client's side.
LOCAL = [name for name in public(modal.Image) if name.startswith(("add_", "from_", "pip_", "uv_", "poetry_", "micromamba"))]
LOCAL = [name for name in LOCAL if name not in ("from_id", "from_name", "from_registry")]
LOCAL += ["apt_install", "cmd", "debian_slim", "dockerfile_commands", "entrypoint", "env", "imports", "pipe", "run_function"]
LOCAL += ["hydrate", "get_dashboard_url", "from_dotenv", "from_local_environ", "shell", "workdir", "cls", "function", "include", "local_entrypoint", "server", "deploy", "run"]
record(modal.Sandbox, SandboxFilesystem, ContainerProcess, modal.App, modal.Image, modal.Secret, without=[*LOCAL, "attach"])

app = modal.App.lookup("agents", create_if_missing=True)
raises(NotFoundError, lambda: modal.App.lookup("none"))
image = modal.Image.from_registry("python:3.12-slim")
sandbox = modal.Sandbox.create(
    app=app, image=image, timeout=120, workdir="/workspace", tags={"thread_id": "t 1"}, env={"A": "b"}, name="first"
)
raises(AlreadyExistsError, lambda: modal.Sandbox.create(app=app, image=image, name="first"))

# Commands: output, both streams, variables, directory, exit codes, input, time.
process = sandbox.exec("bash", "-c", "echo out; echo err >&2; echo $A $X; pwd", env={"X": "1"}, workdir="/tmp")
assert (process.wait(), process.stdout.read(), process.stderr.read()) == (0, "out\nb 1\n/tmp\n", "err\n")
proved("make")
proved("streams")
failed = sandbox.exec("bash", "-c", "echo so far; exit 3")
assert (failed.stdout.read(), failed.wait()) == ("so far\n", 3)
proved("run")
assert sandbox.exec("pwd").stdout.read() == "/workspace\n"
reader = sandbox.exec("sort", "-r")
reader.stdin.write("a\nb\n")
reader.stdin.write("c\n")
reader.stdin.write_eof()
reader.stdin.drain()
assert (reader.stdout.read(), reader.wait()) == ("c\nb\na\n", 0)
# Input arrives while the command runs, also after its output was requested.
talk = sandbox.exec("bash", "-c", "echo ready; while read line; do echo \"got $line\"; done; echo end", bufsize=1)
said = iter(talk.stdout)
assert next(said) == "ready\n"
for word in ["one", "two"]:
    talk.stdin.write(f"{word}\n")
    talk.stdin.drain()
    assert next(said) == f"got {word}\n"
assert talk.poll() is None
talk.stdin.write_eof()
talk.stdin.drain()
assert (next(said), talk.wait()) == ("end\n", 0)
talk = sandbox.exec("true")
talk.wait()
talk.stdin.write("late\n")
raises(ConflictError, talk.stdin.drain)
late = sandbox.exec("bash", "-c", GROWS, timeout=3)
assert late.stdout.read() == "begun\n"
assert late.wait() == -1, "the client's word for a timeout"
proved("limit")
nothing_grows(lambda line: sandbox.exec("bash", "-c", line).stdout.read())
proved("killed")
pieces = []
for piece in sandbox.exec("bash", "-c", WAITS).stdout:
    pieces.append(piece)
    if "first" in piece:
        sandbox.filesystem.write_text("", "/tmp/seen")
assert "".join(pieces) == "first\nsecond\n", pieces
proved("live")
poller = sandbox.exec("sleep", "1")
assert poller.poll() is None
assert poller.wait() == 0 and poller.poll() == 0
nobody_waits = sandbox.exec("touch", "/workspace/touched")
many = sandbox.exec("seq", "200000").stdout.read()
assert many == "".join(f"{n}\n" for n in range(1, 200001))

# Files: text, bytes, lists, what is refused.
files = sandbox.filesystem
files.write_text("héllo\n", "/workspace/a/b.txt")
assert files.read_text("/workspace/a/b.txt") == "héllo\n"
every_byte = bytes(range(256)) * 8192
files.write_bytes(every_byte, "/workspace/bytes")
assert files.read_bytes("/workspace/bytes") == every_byte
proved("upload")
proved("download")
for n in range(5):
    files.write_text(str(n), f"/workspace/many/{n}")
assert sorted(entry.name for entry in files.list_files("/workspace/many")) == ["0", "1", "2", "3", "4"]
assert sandbox.exec("bash", "-c", "cat /workspace/many/*").stdout.read() == "01234"
assert files.stat("/workspace/many/3").size == 1 and files.stat("/workspace/many").is_dir()
files.make_directory("/workspace/new/deep")
raises(SandboxFilesystemDirectoryNotEmptyError, lambda: files.remove("/workspace/many"))
files.remove("/workspace/many", recursive=True)
raises(SandboxFilesystemNotFoundError, lambda: files.list_files("/workspace/many"))
raises(SandboxFilesystemNotFoundError, lambda: files.read_bytes("/workspace/none"))
raises(SandboxFilesystemIsADirectoryError, lambda: files.read_bytes("/workspace/new"))
raises(SandboxFilesystemIsADirectoryError, lambda: files.write_text("x", "/workspace/new"))
raises(SandboxFilesystemNotADirectoryError, lambda: files.write_text("x", "/workspace/bytes/below"))
# It also runs without a waiting client, at an unspecified time.
until(lambda: sandbox.exec("test", "-e", "/workspace/touched").wait() == 0)
assert files.stat("/workspace/touched").is_file()

# The user, modes, times, local files.
said = sandbox.exec("bash", "-c", "whoami; echo $HOME ~ $USER; id -un; date +%s").stdout.read().split("\n")
assert said[:3] == ["root", "/root /root root", "root"] and abs(int(said[3]) - time.time()) < 100, said
sandbox.exec("bash", "-c", "echo x > /root/secret; chmod 600 /root/secret; ln -s secret /root/link").wait()
secret, link = files.stat("/root/secret"), files.stat("/root/link")
assert (secret.mode, secret.permissions, secret.owner, secret.size) == (0o600, "-rw-------", "root", 2), secret
assert abs(secret.modified_time - time.time()) < 100 and link.symlink_target == "secret", (secret, link)
with tempfile.NamedTemporaryFile() as local:
    local.write(every_byte)
    local.flush()
    files.copy_from_local(local.name, "/root/copied")
    files.copy_to_local("/root/copied", local.name)
    assert open(local.name, "rb").read() == every_byte
absent(lambda: next(files.watch("/root", timeout=1)), "no watches of files")

# A sandbox with a command ends with it, and its output stays.
entry = modal.Sandbox.create("bash", "-c", "echo out; echo err >&2; pwd; echo $A; exit 3", app=app, image=image, workdir="/w", env={"A": "b"})
entry.wait()
assert (entry.returncode, entry.poll()) == (3, 3)
assert (entry.stdout.read(), entry.stderr.read()) == ("out\n/w\nb\n", "err\n")
assert modal.Sandbox.create("true", app=app, image=image).wait() is None
copies = modal.Sandbox.create("cat", app=app, image=image)
assert copies.poll() is None
copies.stdin.write("given\n")
copies.stdin.drain()
said = iter(copies.stdout)
assert next(said) == "given\n"
copies.stdin.write("more\n")
copies.stdin.write_eof()
copies.stdin.drain()
assert list(said) == ["more\n"]
copies.wait()
assert copies.poll() == 0
lines = [line for line in modal.Sandbox.create("seq", "50000", app=app, image=image).stdout]
assert "".join(lines) == "".join(f"{n}\n" for n in range(1, 50001))
probe = Probe.with_exec("test", "-e", "/tmp/ready")
slow = modal.Sandbox.create("bash", "-c", "sleep 1; touch /tmp/ready; sleep 1000", app=app, image=image, readiness_probe=probe)
slow.wait_until_ready(timeout=60)
assert slow.exec("ls", "/tmp/ready").wait() == 0
slow.terminate()
assert slow.poll() == 137
raises(SandboxTerminatedError, slow.wait)

# A snapshot of the files is an image.
snapshot = sandbox.snapshot_filesystem()
sandbox.exec("rm", "/root/secret").wait()
restored = modal.Sandbox.create("bash", "-c", "stat -c %a /root/secret; cat /workspace/a/b.txt", app=app, image=snapshot)
assert restored.stdout.read() == "600\nhéllo\n"
again = modal.Sandbox.create("cat", "/root/secret", app=app, image=modal.Image.from_id(snapshot.object_id))
assert again.stdout.read() == "x\n"

# Servers: the ports of the creation have tunnels, which end with the sandbox.
serving = modal.Sandbox.create("bash", "-c", SERVES, app=app, image=image, encrypted_ports=[8000], unencrypted_ports=[8001])
serving.exec("bash", "-c", ECHOES)
tunnels = serving.tunnels()
address = "http://%s:%d" % tunnels[8000].tls_socket
assert sorted(tunnels) == [8000, 8001] and tunnels[8000].url == address.replace("http", "https"), tunnels


def fetched():
    """The body, or the error of a connection: a tunnel closes it until the server has started."""
    try:
        return fetch(address)
    except (http.client.HTTPException, ConnectionError) as error:
        return error


until(lambda: fetched() == b"hello\n")
connection = upgrade("http://%s:%d" % tunnels[8001].tcp_socket)
serving.terminate()
assert ended(connection)
until(lambda: isinstance(fetched(), ConnectionRefusedError))
proved("serve")

# What is absent says so.
assert sandbox.tunnels() == {} and sandbox.get_tags() == {"thread_id": "t 1"}
absent(lambda: sandbox.create_connect_token(), "no connect tokens")
absent(lambda: sandbox.snapshot_directory("/root"), "no snapshots of directories")
absent(lambda: sandbox.mount_image("/mnt", snapshot), "no mounts of images")
absent(lambda: sandbox.unmount_image("/mnt"), "no mounts of images")
absent(sandbox.reload_volumes, "no volumes")
absent(lambda: sandbox.exec("bash", pty=True), "no terminals")
absent(lambda: modal.Sandbox.create(app=app, image=image, gpu="T4"), "no GPUs")
volume = modal.Volume.from_name("v", create_if_missing=True)
absent(lambda: modal.Sandbox.create(app=app, image=image, volumes={"/v": volume}), "no volumes")
absent(lambda: list(sandbox.logs.tail()), "no logs of apps")
absent(lambda: modal.Dict.from_name("d", create_if_missing=True).put("a", 1), "no dicts")
absent(lambda: modal.Queue.from_name("q", create_if_missing=True).put(1), "no queues")
absent(lambda: modal.Function.from_name("a", "f").remote(), "no functions")
absent(lambda: modal.Sandbox.create(app=app, image=image.add_local_file(__file__, "/x")), "no mounts of local files")
for call in [app.get_tags, lambda: app.set_tags({"a": "b"}), app.stats, app.stop]:
    absent(call, "no apps other than")
assert app.info().app_id == app.app_id
for call in [lambda: image.publish("x"), lambda: modal.Image.from_name("x").build(app)]:
    absent(call, "no builds and names of images")
assert image.build(app).object_id
assert modal.Sandbox.create("echo", "z", app=app, image=image.run_commands("echo x > /x")).stdout.read() == "z\n"
key = modal.Secret.from_dict({"K": "v"})
assert modal.Sandbox.create("bash", "-c", "echo $K", app=app, image=image, secrets=[key]).stdout.read() == "v\n"
stored = modal.Secret.from_name("K")
for call in [stored.info, lambda: stored.update({"K": "w"})]:
    absent(call, "no stored secrets")
until(lambda: [found.object_id for found in modal.Sandbox.list(app_id=app.app_id)][-1:] == [sandbox.object_id])
for found in modal.Sandbox.list(app_id=app.app_id):
    if found.object_id != sandbox.object_id:
        found.terminate()

# Lists, names and lives.
other = modal.Sandbox.create(app=app, image=image, tags={"thread_id": "t 2"}, block_network=True, cpu=1.5, memory=256)
listed = [found.object_id for found in modal.Sandbox.list(app_id=app.app_id)]
assert listed == [other.object_id, sandbox.object_id], listed
proved("list")
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id, tags={"thread_id": "t 1"})] == [sandbox.object_id]
assert list(modal.Sandbox.list(app_id=app.app_id, tags={"thread_id": "t 3"})) == []
proved("labels")
other.set_tags({"thread_id": "t 3"})
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id, tags={"thread_id": "t 3"})] == [other.object_id]
again = modal.Sandbox.from_id(sandbox.object_id)
assert again.exec("cat", "/workspace/a/b.txt").stdout.read() == "héllo\n"
proved("find")
assert modal.Sandbox.from_name("agents", "first").object_id == sandbox.object_id
raises(NotFoundError, lambda: modal.Sandbox.from_name("agents", "second"))
assert sandbox.poll() is None
sandbox.terminate()
assert sandbox.poll() is not None
raises(Exception, lambda: modal.Sandbox.from_id(sandbox.object_id).exec("true"))
raises(NotFoundError, lambda: modal.Sandbox.from_id("sb-" + "x" * 24 + "V"))
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id)] == [other.object_id]
proved("delete")
short = modal.Sandbox.create(app=app, image=image, timeout=3)
until(lambda: short.poll() is not None)
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id)] == [other.object_id]
proved("over")
other.terminate()
other.detach()

# The older API, which the client uses with this variable.
os.environ["MODAL_SANDBOX_V2"] = "0"
older = modal.Sandbox.create("bash", "-c", "echo héllo; echo err >&2; echo $A $K; exit 3", app=app, image=image, env={"A": "b"}, secrets=[key])
assert len(older.object_id) == len("sb-") + 22, older.object_id
older.wait()
assert (older.returncode, older.stdout.read(), older.stderr.read()) == (3, "héllo\nb v\n", "err\n")
copies = modal.Sandbox.create("cat", app=app, image=image)
copies.stdin.write("given\n")
copies.stdin.write_eof()
copies.stdin.drain()
assert copies.stdout.read() == "given\n"
older = modal.Sandbox.create(app=app, image=image, name="older", tags={"thread_id": "t 4"}, workdir="/w")
assert older.exec("bash", "-c", "pwd; echo kept > kept; echo $K", secrets=[key]).stdout.read() == "/w\nv\n"
assert older.filesystem.read_text("/w/kept") == "kept\n"
assert modal.Sandbox.from_name("agents", "older").object_id == older.object_id
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id, tags={"thread_id": "t 4"})] == [older.object_id]
assert modal.Sandbox.create("cat", "/w/kept", app=app, image=older.snapshot_filesystem()).stdout.read() == "kept\n"
older.terminate()
assert older.poll() == 137
report({
    "Sandbox.create": "no GPUs, volumes, mounts or terminals, and without network",
    "Sandbox.exec": "no terminals",
    "Sandbox.tunnels": "without TLS; at ports of 127.0.0.1",
    "Sandbox.wait_until_ready": "probes that run a command",
    "Image.from_registry": "any name is accepted, with Tidebox's own files",
    "Image.from_name": "absent when it is used",
    "Secret.from_name": "absent when it is used",
    "Image.build": "runs nothing and warns",
    "Image.run_commands": "runs nothing and warns",
    "App.info": "only the id",
})
print("the session is done")
