"""A session of Runloop's official Python client, against an emulator or the service."""

import importlib
import inspect
import os
import pkgutil
import time

import runloop_api_client.resources as resources
import runloop_api_client.sdk as wrappers
import runloop_api_client.sdk.axon as axons
import runloop_api_client.sdk.devbox as devboxes
import runloop_api_client.sdk.sync as operations
from runloop_api_client import APIStatusError, BadRequestError, NotFoundError, Runloop, RunloopSDK
from runloop_api_client._resource import SyncAPIResource

from methods import absent, all_absent, public, record, report
from previews import ECHOES, SERVES, ended, fetch, request, upgrade
from session import GROWS, WAITS, nothing_grows, proved, raises, until

# The generated client below `Runloop`, and the classes of `RunloopSDK`.
for module in pkgutil.walk_packages(resources.__path__, f"{resources.__name__}."):
    importlib.import_module(module.name)
RESOURCES = [kind for kind in SyncAPIResource.__subclasses__() if public(kind)]
of = lambda module: [
    kind for kind in vars(module).values() if inspect.isclass(kind) and kind.__module__.startswith("runloop_api_client.sdk")
]
WRAPPERS = [kind for kind in of(wrappers) + of(operations) + of(devboxes) + of(axons) if public(kind)]
WRAPPERS = [kind for kind in dict.fromkeys(WRAPPERS) if not kind.__name__.startswith(("Async", "_"))]
WRAPPERS = [kind for kind in WRAPPERS if kind is not RunloopSDK and not issubclass(kind, dict)]
# Methods that send no request, or none without an object.
LOCAL = ["as_build_context", "upload_content"]
record(*RESOURCES, *WRAPPERS, without=LOCAL)

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

# Standard input.
typed = devbox.cmd.exec_async("read name; echo hi $name; cat; exit 3", attach_stdin=True)
typed.send_std_in("you\n")
client.devboxes.executions.send_std_in(typed.execution_id, devbox_id=devbox.id, text="é\n")
absent(
    lambda: client.devboxes.executions.send_std_in(typed.execution_id, devbox_id=devbox.id, signal="INTERRUPT"),
    "Tidebox's emulator of Runloop has no signal INTERRUPT",
)
typed.close_std_in()
assert (typed.result().stdout(), typed.result().exit_code) == ("hi you\né\n", 3)

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

# The user and the home directory of Runloop's image, and real clocks.
assert run("whoami; id -un; echo $HOME $USER; ls -ld . | cut -d ' ' -f 3") == "user\nuser\n/home/user user\nuser\n"
info = devbox.get_info()
assert abs(info.create_time_ms / 1000 - time.time()) < 600, info
assert [one.status for one in info.state_transitions][::len(info.state_transitions) - 1] == ["provisioning", "running"], info
assert abs(int(run("date +%s")) - time.time()) < 60

# The log has commands, output and exit codes.
logged = devbox.cmd.exec("echo one; echo two >&2; exit 4")
log = devbox.logs(execution_id=logged.execution_id).logs
assert [one.cmd for one in log][0] == "echo one; echo two >&2; exit 4" and log[-1].exit_code == 4, log
assert sorted(one.message for one in log if one.message) == ["one", "two"] and log[0].source == "exec", log
assert len(client.devboxes.logs.list(devbox.id).logs) > len(log)
assert abs(log[0].timestamp_ms / 1000 - time.time()) < 60

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

# Disk snapshots have the files.
snapshot = devbox.snapshot_disk(name="nightly", commit_message="first", metadata={"a": "b c"})
status = snapshot.get_info()
assert (status.status, status.snapshot.name, status.snapshot.commit_message) == ("complete", "nightly", "first"), status
assert (status.snapshot.source_devbox_id, status.snapshot.metadata) == (devbox.id, {"a": "b c"}), status
assert abs(status.snapshot.create_time_ms / 1000 - time.time()) < 60
devbox.file.write(file_path="notes.txt", contents="changed")
run("chmod 600 bytes")
for copy in (snapshot.create_devbox(), sdk.devbox.create_from_snapshot(snapshot.id), sdk.devbox.create(snapshot_id=snapshot.id)):
    assert copy.cmd.exec("cat notes.txt; whoami; stat -c %a bytes").stdout() == "héllo\nuser\n644\n"
    assert copy.get_info().snapshot_id == snapshot.id
    copy.shutdown()
devbox.file.write(file_path="notes.txt", contents="héllo\n")
later = client.devboxes.snapshot_disk(devbox.id)
waited = devbox.snapshot_disk_async(name="later")
assert waited.await_completed().status == "complete" and client.devboxes.snapshot_disk_async(devbox.id).id != later.id
assert waited.update(name="renamed").name == "renamed"
assert client.devboxes.disk_snapshots.await_completed(waited.id).snapshot.name == "renamed"
named = client.devboxes.disk_snapshots.list(devbox_id=devbox.id, extra_query={"metadata[a]": "b c"})
assert [one.id for one in named] == [snapshot.id]
assert len(list(client.devboxes.list_disk_snapshots(limit=1))) == 4 == len(sdk.snapshot.list())
assert sdk.snapshot.from_id(snapshot.id).delete() is not None
client.devboxes.delete_disk_snapshot(later.id)
assert snapshot.get_info().status == "deleted" and len(sdk.snapshot.list(devbox_id=devbox.id)) == 2
raises(NotFoundError, snapshot.create_devbox)
raises(NotFoundError, lambda: client.devboxes.disk_snapshots.update("none", name="x"))

# The generated client by itself, where the session uses the other classes.
assert client.devboxes.execute_sync(devbox.id, command="echo sync").stdout == "sync\n"
assert client.devboxes.executions.execute_sync(devbox.id, command="echo sync").stdout == "sync\n"
third = client.devboxes.create(metadata={"thread_id": "t 3"})
assert third.status == "provisioning" and client.devboxes.await_running(third.id).status == "running"
client.devboxes.shutdown(third.id)
both = client.devboxes.executions.execute_async(devbox.id, command="echo out; echo err >&2")
updates = client.devboxes.executions.stream_stderr_updates(both.execution_id, devbox_id=devbox.id)
assert "".join(update.output for update in updates) == "err\n"
begun = client.devboxes.executions.execute_async(devbox.id, command="echo begun")
assert client.devboxes.executions.await_completed(begun.execution_id, devbox_id=devbox.id).stdout == "begun\n"
awaited = client.devboxes.execute_and_await_completion(devbox.id, command="echo awaited; exit 3")
assert (awaited.stdout, awaited.exit_status) == ("awaited\n", 3), awaited
listed = client.devboxes.update(devbox.id, name="two", metadata={"thread_id": "t 3"})
assert (listed.name, devbox.get_info().metadata) == ("two", {"thread_id": "t 3"}), listed
used = client.devboxes.retrieve_resource_usage(devbox.id)
assert used.total_elapsed_seconds >= used.total_active_seconds >= 0 and used.status == "running", used
assert used.start_time_ms == info.create_time_ms, used
changed = sdk.network_policy.from_id(policy.id).update(allowed_hostnames=["example.com"])
assert changed.egress.allowed_hostnames == ["example.com"], changed
assert [one.id for one in sdk.network_policy.list()] == [policy.id] and client.network_policies.list(name="noth").has_more is False
other = sdk.network_policy.create(name="other", allow_all=True)
assert other.get_info().egress.allow_all is True
other.delete()
raises(NotFoundError, other.get_info)

# What is absent says so.
idle = devbox.cmd.exec_async("sleep 60")
raises(BadRequestError, lambda: idle.send_std_in("x"))
idle.kill()
generated = {
    client.accounts: "accounts",
    client.apikeys: "API keys",
    client.restricted_keys: "restricted keys",
    client.axons: "axons",
    client.axons.events: "axons",
    client.axons.sql: "axons",
    client.blueprints: "blueprints",
    client.gateway_configs: "gateways",
    client.mcp_configs: "MCP servers",
    client.objects: "storage objects",
    client.pty: "terminals",
    client.secrets: "secrets",
}
for resource, feature in generated.items():
    all_absent(resource, public(type(resource)), f"Tidebox's emulator of Runloop has no {feature}")
wrapped = {
    "axon": "axons",
    "blueprint": "blueprints",
    "gateway_config": "gateways",
    "mcp_config": "MCP servers",
    "secret": "secrets",
    "storage_object": "storage objects",
}
made_up = {"file_path": __file__, "dir_path": os.path.dirname(__file__), "text": "x", "data": b"x", "bytes": b"x"}
event = {"event_type": "x", "origin": "EXTERNAL_EVENT", "payload": "{}", "source": "x"}
more = {
    "Axon.publish": event,
    "BlueprintOps.create": {"name": "x"},
    "GatewayConfigOps.create": {"name": "x", "endpoint": "https://example.com", "auth_mechanism": {"type": "bearer"}},
    "McpConfigOps.create": {"name": "x", "endpoint": "https://example.com", "allowed_tools": ["*"]},
    "StorageObjectOps.create": {"name": "x", "content_type": "text"},
}
for name, feature in wrapped.items():
    group = getattr(sdk, name)
    message = f"Tidebox's emulator of Runloop has no {feature}"
    all_absent(group, [one for one in public(type(group)) if not one.startswith("from_")], message, made_up, more)
    one = group.from_id("x")
    all_absent(one, [one for one in public(type(one)) if one not in (*LOCAL, "create_devbox")], message, made_up, more)
all_absent(sdk.secret.from_name("x"), public(type(sdk.secret.from_name("x"))), "Tidebox's emulator of Runloop has no secrets")
absent(lambda: sdk.axon.from_id("x").sql.query(sql="select 1"), "no axons")
absent(lambda: sdk.axon.from_id("x").sql.batch(statements=[]), "no axons")
by_blueprint = [
    sdk.blueprint.from_id("x").create_devbox(),
    sdk.devbox.create_from_blueprint_id("x"),
    sdk.devbox.create_from_blueprint_name("x"),
]
assert [one.cmd.exec("whoami").stdout() for one in by_blueprint] == ["user\n"] * 3
for one in by_blueprint:
    one.close()
tunnels = ["create_pty_tunnel", "create_ssh_key", "create_gateway_token", "create_mcp_token"]
all_absent(client.devboxes, tunnels + ["watch_evictions"], "Tidebox's emulator of Runloop has no", {"id": devbox.id})
all_absent(devbox.net, ["create_ssh_key"], "Tidebox's emulator of Runloop has no")
assert devbox.get_tunnel() is None and devbox.get_tunnel_url(80) is None

# Servers: a tunnel has an address for each port. The client's URL lacks the port of the emulator.
devbox.cmd.exec_async(SERVES)
tunnel = client.devboxes.enable_tunnel(devbox.id)
assert devbox.net.enable_tunnel().tunnel_key == tunnel.tunnel_key == devbox.get_tunnel().tunnel_key
assert devbox.get_tunnel_url(8000) == f"https://8000-{tunnel.tunnel_key}.tunnel.127.0.0.1"
emulator = os.environ["RUNLOOP_BASE_URL"]
via = lambda key, port: {"Host": f"{port}-{key}.tunnel.127.0.0.1"}
assert fetch(emulator, headers=via(tunnel.tunnel_key, 8000)) == b"hello\n"
assert fetch(emulator, headers={"Host": f"8000-{tunnel.tunnel_key}.tunnel.runloop.ai"}) == b"hello\n"
assert request(emulator, headers=via(tunnel.tunnel_key, 8009))[0] == 502
devbox.net.remove_tunnel()
client.devboxes.remove_tunnel(devbox.id)
assert devbox.get_tunnel() is None and request(emulator, headers=via(tunnel.tunnel_key, 8000))[0] == 404
private = client.devboxes.enable_tunnel(devbox.id, auth_mode="authenticated", wake_on_http=True)
token = {"X-Runloop-Tunnel-Authorization": f"Bearer {private.auth_token}"}
assert fetch(emulator, headers=via(private.tunnel_key, 8000) | token) == b"hello\n"
for wrong in [{}, {"X-Runloop-Tunnel-Authorization": "Bearer wrong"}]:
    assert request(emulator, headers=via(private.tunnel_key, 8000) | wrong)[0] == 401
devbox.cmd.exec_async(ECHOES)
connection = upgrade(emulator, via(private.tunnel_key, 8001) | token)
devbox.suspend()
devbox.await_suspended()
assert ended(connection)
assert fetch(emulator, headers=via(private.tunnel_key, 8000) | token) == b"hello\n", "a request resumes the devbox"
assert devbox.get_info().status == "running"
devbox.net.remove_tunnel()
proved("serve")

# Lists and lifetimes.
second = sdk.devbox.create(metadata={"thread_id": "t 2"})
ids = {devbox.id, second.id}
assert {found.id for found in client.devboxes.list(limit=1)} > ids, "those that were shut down are listed, too"
assert {found.id for found in sdk.devbox.list(status="running")} == ids
assert {found.id for found in client.devboxes.list(limit=1, status="running")} == ids
proved("list")
assert sdk.devbox.from_id(devbox.id).cmd.exec("cat notes.txt").stdout() == "héllo\n"
proved("find")
devbox.keep_alive()
devbox.suspend()
client.devboxes.await_suspended(devbox.id)
devbox.await_suspended()
assert {found.id for found in client.devboxes.list(status="running")} == {second.id}
raises(BadRequestError, lambda: devbox.cmd.exec("true"))
devbox.resume_async()
client.devboxes.await_running(devbox.id)
devbox.await_running()
devbox.suspend()
devbox.resume()
assert sdk.devbox.from_id(devbox.id).cmd.exec("cat notes.txt").stdout() == "héllo\n"
proved("wake")
devbox.shutdown()
second.shutdown()
over = client.devboxes.retrieve(devbox.id)
assert (over.status, over.shutdown_reason) == ("shutdown", "api_shutdown") and over.end_time_ms >= over.create_time_ms, over
assert list(client.devboxes.list(status="running")) == []
proved("delete")
short = sdk.devbox.create(launch_parameters={"keep_alive_time_seconds": 3})
until(lambda: short.get_info().status == "shutdown")
assert list(client.devboxes.list(status="running")) == []
proved("over")
raises(NotFoundError, lambda: client.devboxes.retrieve("gone"))
files = "any blueprint is accepted, with Tidebox's own files"
report({
    "Blueprint.create_devbox": files,
    "DevboxOps.create_from_blueprint_id": files,
    "DevboxOps.create_from_blueprint_name": files,
    "DevboxOps.create": files,
    "DevboxesResource.create": files,
    "DevboxesResource.create_and_await_running": files,
    "ExecutionsResource.send_std_in": "without `INTERRUPT`",
    "DevboxesResource.retrieve_resource_usage": "one processor, 1 GiB of memory and disk",
    "Devbox.get_tunnel_url": "without the port of the emulator, which has no TLS",
    "Devbox.suspend": "files and commands stay in memory",
    "DevboxesResource.suspend": "files and commands stay in memory",
    "NetworkPoliciesResource.create": "stored and not enforced",
    "NetworkPolicyOps.create": "stored and not enforced",
})
print("the session is done")
