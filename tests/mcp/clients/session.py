"""Uses every tool through the official Python client. Arguments: a mode of the client, and the command or the URL of the server."""

import asyncio
import base64
import sys
import time

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
USED = set()


async def call(client, name, arguments=None, **options):
    USED.add(name)
    result = await client.call_tool(name, arguments or {}, **options)
    assert not result.is_error, (name, result.content)
    assert result.content[0].type == "text", result.content
    return result


async def value(client, name, arguments=None, **options):
    return (await call(client, name, arguments, **options)).structured_content


async def use_commands(client):
    result = await value(client, "bash", {"command": "mkdir -p d && cd d && X=7; echo out; echo err >&2; exit 3", "unknown": 1})
    assert (result["stdout"], result["stderr"], result["exit_code"]) == ("out\n", "err\n", 3), result
    assert (await value(client, "bash", {"command": "pwd; echo $X"}))["stdout"] == "/workspace/d\n7\n"
    result = await value(client, "bash", {"command": "cd /workspace; sleep 9", "timeout": 300})
    assert result["timed_out"] and result["exit_code"] == 124, result
    await call(client, "bash", {"command": "cd /workspace"})


async def use_files(client):
    written = await value(client, "write", {"file_path": "d/a.py", "content": "one\ntwo\nthree\n"})
    assert written == {"file_path": "/workspace/d/a.py", "bytes": 14, "created": True}, written
    page = await call(client, "read", {"file_path": "d/a.py", "offset": 2, "limit": 1})
    assert page.structured_content["content"].strip() == "two", page
    assert page.structured_content["next_offset"] == 3, page
    assert page.content[0].text.startswith("     2\ttwo"), page
    edited = await value(client, "edit", {"file_path": "d/a.py", "old_string": "two", "new_string": "2"})
    assert edited["occurrences"] == 1, edited
    assert (await value(client, "glob", {"pattern": "*.py"}))["files"] == ["/workspace/d/a.py"]
    found = await value(client, "grep", {"pattern": "^t.*e$", "output_mode": "content", "-B": 1})
    assert [(one["line"], one["text"], one["is_context"]) for one in found["matches"]] == [(2, "2", True), (3, "three", False)], found
    names = [entry["name"] for entry in (await value(client, "ls", {"path": "/workspace"}))["entries"]]
    assert names == ["d"], names
    uploaded = await call(client, "upload", {"path": "dot.png", "content_base64": base64.b64encode(PNG).decode()})
    assert uploaded.content[1].uri == "file:///workspace/dot.png", uploaded
    downloaded = await value(client, "download", {"path": "dot.png"})
    assert base64.b64decode(downloaded["content_base64"]) == PNG
    shown = await call(client, "read", {"file_path": "dot.png"})
    assert (shown.content[1].type, shown.content[1].mime_type) == ("image", "image/png"), shown
    made = await call(client, "bash", {"command": "cp dot.png copy.png"})
    assert made.structured_content["images"] == ["/workspace/copy.png"], made
    assert base64.b64decode(made.content[1].data) == PNG


async def use_snapshots(client):
    assert (await value(client, "snapshot", {"name": "before"}))["replaced"] is False
    await call(client, "write", {"file_path": "new.txt", "content": "x\n"})
    diff = await value(client, "diff", {"name": "before"})
    assert [(one["change"], one["path"]) for one in diff["changes"]] == [("added", "/workspace/new.txt")], diff
    assert "+x" in diff["patch"], diff
    await call(client, "restore", {"name": "before"})
    assert (await value(client, "diff", {"name": "before"}))["changes"] == []


async def use_processes(client):
    started = await value(client, "bash", {"command": "echo ready; sleep 100", "run_in_background": True})
    process = started["process_id"]
    page = await value(client, "output", {"process_id": process, "wait": 10_000})
    assert page["output"] == "ready\n" and page["running"], page
    listed = (await value(client, "processes"))["processes"]
    assert [one["process_id"] for one in listed if one["running"]] == [process], listed
    killed = await value(client, "kill", {"process_id": process})
    assert not killed["running"] and killed["exit_code"] == 143, killed


async def use_python(client):
    USED.add("run_python")
    result = await client.call_tool("run_python", {"code": "x = 20"})
    if result.is_error:
        assert "tidebox pack add python" in result.content[0].text, result
        print("skipped: run_python: the pack python is not installed")
        return
    result = await value(client, "run_python", {"code": "print('hi')\nx + 1"})
    assert (result["output"], result["value"], result["new_interpreter"]) == ("hi\n", "21", False), result
    result = await value(client, "run_python", {"code": "1 / 0"})
    assert result["error"]["name"] == "ZeroDivisionError", result


async def use_progress_and_cancellation(client):
    seen = []

    async def progress(done, total, message):
        seen.append((done, message or ""))

    # More than the interval between two notifications.
    await call(client, "bash", {"command": "for i in 1 2 3 4; do echo line $i; sleep 0.3; done"}, progress_callback=progress)
    assert "line 1" in "".join(message for _, message in seen), seen
    times = [done for done, _ in seen]
    assert len(times) >= 2 and times == sorted(set(times)), seen

    command = "rm -f ticks; while :; do echo tick >> ticks; sleep 0.05; done"
    task = asyncio.create_task(client.call_tool("bash", {"command": command}))
    while (await value(client, "bash", {"command": "cat ticks 2>/dev/null"}))["stdout"] == "":
        await asyncio.sleep(0.05)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    deadline, counts = time.monotonic() + 20, []
    while len(counts) < 2 or counts[-1] != counts[-2]:
        assert time.monotonic() < deadline, f"the command still runs: {counts}"
        await asyncio.sleep(0.5)
        counts.append((await value(client, "bash", {"command": "wc -l < ticks"}))["stdout"])


async def use_resources(client):
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["file:///{+path}"], templates
    uris = [resource.uri for resource in (await client.list_resources()).resources]
    assert "file:///workspace/d/a.py" in uris, uris
    text = (await client.read_resource("file:///workspace/d/a.py")).contents[0]
    assert text.text == "one\n2\nthree\n", text
    await call(client, "write", {"file_path": "d/a.py", "content": "changed\n"})
    text = (await client.read_resource("file:///workspace/d/a.py")).contents[0]
    assert text.text == "changed\n", "a resource must not be cached"
    blob = (await client.read_resource("file:///workspace/dot.png")).contents[0]
    assert base64.b64decode(blob.blob) == PNG and blob.mime_type == "image/png", blob
    try:
        await client.read_resource("file:///workspace/none")
        raise AssertionError("a missing resource was read")
    except MCPError as error:
        assert "not found" in str(error), error


async def fail_clearly(client):
    failed = await client.call_tool("read", {"file_path": "none"})
    assert failed.is_error and "none" in failed.content[0].text, failed
    for name, arguments in [("no_such_tool", {}), ("bash", {}), ("read", {"file_path": 3})]:
        try:
            await client.call_tool(name, arguments)
            raise AssertionError(f"{name} {arguments} was accepted")
        except MCPError as error:
            assert error.code == -32602, (name, error)


async def session(server, mode):
    async with Client(server, mode=mode) as client:
        version = client.protocol_version
        assert (version == "2026-07-28") == (mode != "legacy"), (mode, version)
        assert client.server_info is None or client.server_info.name == "tidebox"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["read"].annotations.read_only_hint and not tools["bash"].annotations.open_world_hint
        for use in [use_commands, use_files, use_snapshots, use_processes, use_python, use_progress_and_cancellation]:
            await use(client)
        await use_resources(client)
        await fail_clearly(client)
        assert USED == set(tools), USED ^ set(tools)
    print(f"the session is done: {mode} {version}")


async def main(mode, server, arguments):
    if server.startswith("http://"):
        headers = {"Authorization": f"Bearer {arguments[0]}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            await session(streamable_http_client(server, http_client=http), mode)
    else:
        await session(StdioServerParameters(command=server, args=arguments), mode)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
