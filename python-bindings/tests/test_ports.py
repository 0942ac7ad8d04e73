"""Servers in a sandbox."""

import asyncio
import urllib.error
import urllib.request

import pytest

from tidebox import AsyncSandbox, Sandbox, SandboxError

SERVER = "echo hello > a.txt; exec python3 -u -m http.server 8000"


def sandbox_with_python() -> Sandbox:
    sandbox = Sandbox()
    if sandbox.execute("python3 -c 1").exit_code != 0:
        pytest.skip("the pack python is not installed: tidebox pack add python")
    return sandbox


def test_a_server_is_asked_in_the_sandbox_and_through_an_exposed_port() -> None:
    with sandbox_with_python() as sandbox:
        assert sandbox.ports() == []
        server = sandbox.spawn(SERVER)
        sandbox.wait_for_port(8000)
        assert sandbox.ports() == [8000]
        assert sandbox.execute("curl -s localhost:8000/a.txt").stdout == "hello\n"
        with sandbox.expose(8000) as exposed:
            assert exposed.url == f"http://127.0.0.1:{exposed.port}" and exposed.sandbox_port == 8000
            assert urllib.request.urlopen(f"{exposed.url}/a.txt").read() == b"hello\n"
            request = urllib.request.Request(exposed.url, headers={"Host": "evil.example"})
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(request)
        with pytest.raises(OSError):
            urllib.request.urlopen(exposed.url)
        assert server.read().text.count("GET /a.txt") == 2
        server.signal("TERM")
        assert server.wait(timeout=20) == 143


def test_an_endpoint_leads_to_a_server_until_it_is_closed() -> None:
    serve = "printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello' | nc -lN 8000 >/dev/null"
    with Sandbox() as sandbox:
        sandbox.spawn(f"while :; do {serve}; done")
        sandbox.wait_for_port(8000)
        with sandbox.port_endpoint(8000) as endpoint:
            assert endpoint.url.startswith("http://127.0.0.1:") and endpoint.headers == {}
            request = urllib.request.Request(f"{endpoint.url}/", headers=endpoint.headers)
            assert urllib.request.urlopen(request).read() == b"hello"
        with pytest.raises(OSError):
            urllib.request.urlopen(endpoint.url)
        with pytest.raises(ValueError, match="port must be a number from 1 to 65535, not 65536"):
            sandbox.port_endpoint(65536)


def test_two_sandboxes_have_their_own_ports() -> None:
    with sandbox_with_python() as one, Sandbox() as other:
        one.spawn(SERVER)
        one.wait_for_port(8000)
        assert other.ports() == []
        assert other.execute("curl -sS localhost:8000").exit_code == 7
        with other.expose(8000) as exposed, pytest.raises(OSError):
            urllib.request.urlopen(exposed.url)


def test_asyncio_waits_for_a_port() -> None:
    async def main() -> None:
        async with AsyncSandbox() as sandbox:
            if (await sandbox.execute("python3 -c 1")).exit_code != 0:
                pytest.skip("the pack python is not installed: tidebox pack add python")
            await sandbox.spawn(SERVER)
            await sandbox.wait_for_port(8000)
            with await sandbox.expose(8000) as exposed:
                reader, writer = await asyncio.open_connection(exposed.host, exposed.port)
                writer.write(b"GET /a.txt HTTP/1.0\r\n\r\n")
                assert (await reader.read()).endswith(b"\r\n\r\nhello\n")
                writer.close()
            assert await sandbox.ports() == [8000]

    asyncio.run(main())


def test_a_port_without_a_server_is_reported() -> None:
    with Sandbox() as sandbox:
        with pytest.raises(SandboxError, match="nothing listens at port 8000") as error:
            sandbox.wait_for_port(8000, timeout=0.05)
        assert error.value.kind == "timeout"
        with pytest.raises(ValueError, match="port must be a number from 1 to 65535, not 0"):
            sandbox.expose(0)
