"""Providers, emulators and Python sessions."""

from __future__ import annotations

import asyncio
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tidebox import (
    AsyncProvider,
    AsyncPythonSession,
    AsyncSandbox,
    Cassette,
    Emulator,
    Provider,
    RemoteOptions,
    Sandbox,
    SandboxError,
    SandboxOptions,
    create_sandbox,
)

PROVIDERS = ["daytona", "deno", "e2b", "langsmith", "modal", "runloop"]


def test_a_local_provider_finds_sandboxes_by_id_and_labels() -> None:
    provider = Provider(sandbox=SandboxOptions(files={"a": "1"}), labels={"app": "test"})
    first = provider.get_or_create(labels={"thread": "1"})
    first.write("b", "2")
    assert provider.get_or_create(labels={"thread": "1"}).execute("cat a b").stdout == "12"
    assert provider.get_or_create(id=first.id).id == first.id
    second = provider.get_or_create()
    assert {info.id for info in provider.list()} == {first.id, second.id}
    assert [dict(info.labels) for info in provider.list(labels={"thread": "1"})] == [{"app": "test", "thread": "1"}]
    snapshot = first.snapshot()
    assert snapshot.file_bytes > 0
    provider.delete(first.id)
    with pytest.raises(SandboxError) as error:
        provider.get_or_create(id=first.id)
    assert error.value.kind == "sandbox_not_found"


def test_a_provider_that_saves_survives_a_restart(tmp_path: pathlib.Path) -> None:
    script = (
        "import sys\n"
        "from tidebox import Provider\n"
        "sandbox = Provider(save_in=sys.argv[1]).get_or_create(labels={'thread': '1'})\n"
        "sandbox.write('kept', 'yes')\n"
        "print(sandbox.id)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    again = Provider(save_in=tmp_path).get_or_create(id=done.stdout.strip())
    assert again.read("kept").content == "yes"


def test_durability_is_that_of_the_store(tmp_path: pathlib.Path) -> None:
    assert (Provider().durability, Provider(save_in=tmp_path).durability) == ("memory", "local")
    assert Provider("e2b", remote=RemoteOptions(api_key="x")).durability is None


def test_two_programs_take_a_sandbox_over_from_each_other(tmp_path: pathlib.Path) -> None:
    one, two = Provider(store=tmp_path.as_uri()), Provider(store=tmp_path.as_uri())
    first = one.get_or_create(labels={"thread": "1"})
    first.write("who", "one")
    second = two.get_or_create(labels={"thread": "1"})
    assert (second.id, second.read("who").content) == (first.id, "one")
    with pytest.raises(SandboxError) as error:
        first.write("who", "lost")
    assert error.value.kind == "closed"
    assert two.get_or_create(labels={"thread": "1"}).read("who").content == "one"
    with pytest.raises(ValueError, match="give one of them"):
        Provider(save_in=tmp_path, store=tmp_path.as_uri())
    with pytest.raises(ValueError, match="file:///mnt/shared"):
        Provider(store="sandboxes")


def test_an_endpoint_has_the_address_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    serve = "printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello' | nc -lN 8000 >/dev/null"

    async def fetch(sandbox: AsyncSandbox) -> bytes:
        await sandbox.spawn(f"while :; do {serve}; done")
        endpoint = await sandbox.port_endpoint(8000)
        assert set(endpoint.headers) == {"e2b-sandbox-id", "e2b-sandbox-port"}
        assert endpoint.headers["e2b-sandbox-id"] not in repr(endpoint)
        while True:
            try:
                request = urllib.request.Request(f"{endpoint.url}/", headers=endpoint.headers)
                reply = await asyncio.to_thread(urllib.request.urlopen, request)
                return bytes(reply.read())
            except urllib.error.HTTPError as error:
                # The server has not started.
                assert error.code == 502
                await asyncio.sleep(0.1)

    with Emulator("e2b") as emulator:
        for variable, value in emulator.variables.items():
            monkeypatch.setenv(variable, value)

        async def main() -> bytes:
            async with await AsyncProvider("e2b").get_or_create() as sandbox:
                return await asyncio.wait_for(fetch(sandbox), 60)

        assert asyncio.run(main()) == b"hello"


@pytest.mark.parametrize("name", PROVIDERS)
def test_an_emulator_serves_the_adapter_of_its_provider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Emulator(name, sandbox=SandboxOptions(env={"FROM": "emulator"})) as emulator:  # type: ignore[arg-type]
        for variable, value in emulator.variables.items():
            monkeypatch.setenv(variable, value)
        sandbox = create_sandbox(name)  # type: ignore[arg-type]
        assert sandbox.execute("echo $FROM").stdout == "emulator\n"
        sandbox.write("/tmp/file", "x\n")
        assert sandbox.read("/tmp/file").content == "x\n"
        # Files and commands have the same base of relative paths.
        sandbox.write("relative", "y\n")
        assert sandbox.execute("cat relative").stdout == "y\n"
        assert sandbox.execute("pwd").stdout == f"{sandbox.cwd}\n"
        with pytest.raises(SandboxError) as error:
            sandbox.snapshot()
        assert error.value.kind == "unsupported"


def test_a_recorded_provider_is_replayed_without_it(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cassettes" / "e2b.json"
    with Emulator("e2b", key="topsecret") as emulator, Cassette(file, mode="missing", secrets={"KEY": "topsecret"}) as cassette:
        for variable, value in emulator.variables.items():
            monkeypatch.setenv(variable, value)
        sandbox = Provider("e2b", cassette=cassette).get_or_create()
        assert sandbox.execute("echo topsecret $((6 * 7))").stdout == "topsecret 42\n"
    assert "topsecret" not in file.read_text()
    replayed = Cassette(file, secrets={"KEY": "topsecret"})
    sandbox = Provider("e2b", cassette=replayed).get_or_create()
    assert replayed.unused != []
    assert sandbox.execute("echo topsecret $((6 * 7))").stdout == "[redacted:KEY] 42\n"
    assert replayed.unused == []
    assert not replayed.save()
    with pytest.raises(SandboxError) as error:
        sandbox.execute("echo something else")
    assert error.value.kind == "not_recorded"


def test_a_missing_or_damaged_cassette_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SandboxError, match="none.json"):
        Cassette(tmp_path / "none.json")
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{")
    with pytest.raises(ValueError, match="cassette"):
        Cassette(damaged)
    with pytest.raises(ValueError, match="mode"):
        Cassette(damaged, mode="sometimes")  # type: ignore[arg-type]


def test_providers_work_in_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        provider = AsyncProvider("e2b")
        sandbox = await provider.get_or_create(labels={"a": "b"})
        assert (await sandbox.execute("echo hi")).stdout == "hi\n"
        assert [info.id for info in await provider.list()] == [sandbox.id]
        await provider.delete(sandbox.id)
        assert await provider.list() == []

    with Emulator("e2b") as emulator:
        for variable, value in emulator.variables.items():
            monkeypatch.setenv(variable, value)
        asyncio.run(main())


def test_a_saved_python_session_continues_in_another_sandbox() -> None:
    first = Sandbox()
    try:
        session = first.python_session()
    except ValueError as error:
        pytest.skip(str(error))
    session.run("x = [1, 2]; log = open('log', 'w'); log.write('a'); log.flush()")
    saved = session.save()
    assert session.run("x").value == "[1, 2]"
    second = first.fork().resume_python_session(saved)
    assert second.run("x.append(3); log.write('b'); log.flush(); x, open('log').read()").value == "([1, 2, 3], 'ab')"
    assert session.run("x, open('log').read()").value == "([1, 2], 'a')"
    with pytest.raises(ValueError, match="/workspace/log"):
        Sandbox().resume_python_session(saved)
    with pytest.raises(ValueError, match="corrupt"):
        Sandbox().resume_python_session(saved[:-1])
    session.run("import os; ends = os.pipe()")
    with pytest.raises(SandboxError, match="a pipe; close it") as refused:
        session.save()
    assert refused.value.kind == "unsupported"

    async def main() -> None:
        sandbox = AsyncSandbox()
        saved = await (await start(sandbox)).save()
        resumed = await AsyncSandbox().resume_python_session(saved)
        assert (await resumed.run("y")).value == "7"

    async def start(sandbox: AsyncSandbox) -> AsyncPythonSession:
        session = sandbox.python_session()
        await session.run("y = 7")
        return session

    asyncio.run(main())


def test_invalid_providers_and_options_are_named() -> None:
    with pytest.raises(SandboxError, match="unknown provider"):
        Provider("nowhere")  # type: ignore[arg-type]
    with pytest.raises(SandboxError, match="cpus"):
        Provider("e2b", remote=RemoteOptions(api_key="x", cpus=2))
    with pytest.raises(ValueError, match="save_in"):
        Provider("e2b", save_in="/tmp/x")
    with pytest.raises(ValueError, match="unknown"):
        Emulator("nowhere")  # type: ignore[arg-type]


def test_a_python_session_keeps_variables() -> None:
    sandbox = Sandbox(files={"data.txt": "41"})
    try:
        session = sandbox.python_session()
    except ValueError as error:
        pytest.skip(str(error))
    assert session.run("x = int(open('data.txt').read())").value is None
    assert session.run("print('hi'); x + 1").value == "42"
    failed = session.run("1 / 0")
    assert (failed.error, failed.error_message) == ("ZeroDivisionError", "division by zero")
    assert repr(session.run("x")) == "PythonResult(value='41')"
    stopped = session.run("while True: pass", timeout=0.5)
    assert stopped.has_exited and stopped.stopped_by == "timeout"
    with pytest.raises(ValueError, match="exited"):
        session.run("x")

    async def main() -> None:
        other = AsyncSandbox().python_session()
        assert (await other.run("6 * 7")).value == "42"

    asyncio.run(main())
