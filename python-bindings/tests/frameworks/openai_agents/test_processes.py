"""Commands that outlive their call, and ports, as a model and an application use them."""

import asyncio
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Shell
from agents.sandbox.errors import (
    ConfigurationError,
    ExecTransportError,
    ExposedPortUnavailableError,
    PtySessionNotFoundError,
)
from agents.sandbox.session import SandboxSession
from agents.testing import ScriptedModel, assistant_message, function_call

from tidebox import Limits
from tidebox.integrations.openai_agents import TideboxSandboxClient, TideboxSandboxClientOptions

Call = Callable[[list[str]], tuple[str, dict[str, Any]]]
"""A tool call of the model, made from the results of the earlier ones."""

SERVER = "echo hello > a.txt; exec python3 -u -m http.server 8000"


class Caller(ScriptedModel):
    """A model whose tool calls depend on the results of the earlier ones."""

    def __init__(self, calls: list[Call]) -> None:
        super().__init__()
        self.left = list(calls)

    async def get_response(self, system_instructions: Any, input: Any, *more: Any, **named: Any) -> Any:
        if self.left:
            given = [item for item in input if isinstance(item, dict)] if isinstance(input, list) else []
            results = [str(item["output"]) for item in given if item.get("type") == "function_call_output"]
            name, arguments = self.left.pop(0)(results)
            self.enqueue([function_call(name, arguments, call_id=f"call-{len(self.left)}")])
        else:
            self.enqueue([assistant_message("Done.")])
        return await super().get_response(system_instructions, input, *more, **named)


def running(result: str) -> int:
    """Returns the id of the process that a result names."""
    found = re.search(r"running with session ID (\d+)", result)
    assert found is not None, result
    return int(found[1])


async def converse(session: SandboxSession, calls: list[Call]) -> list[str]:
    """Runs an agent whose model makes the calls, and returns their results."""
    agent = SandboxAgent(name="coder", instructions="Work.", model=Caller(calls), capabilities=[Shell()])
    result = await Runner.run(agent, "Work", run_config=RunConfig(sandbox=SandboxRunConfig(session=session)))
    assert result.final_output == "Done."
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


def execute(line: str, **more: Any) -> Call:
    return lambda _results: ("exec_command", {"cmd": line, **more})


def write(start: int, chars: str = "", **more: Any) -> Call:
    """Writes to the process that the call `start` started."""
    return lambda results: ("write_stdin", {"session_id": running(results[start]), "chars": chars, **more})


async def create(client: TideboxSandboxClient, **options: Any) -> SandboxSession:
    session = await client.create(options=TideboxSandboxClientOptions(**options))
    await session.start()
    return session


async def has_python(session: SandboxSession) -> bool:
    return (await session.exec("python3 -c 1")).ok()


async def test_model_polls_and_interrupts_a_command_that_runs_on(session: SandboxSession) -> None:
    loop = "until [ -e go ]; do sleep 0.02; done; echo went; sleep 1000"
    results = await converse(
        session,
        [
            execute(f"echo begun; {loop}", yield_time_ms=250),
            execute("touch go; echo made"),
            write(0),
            write(0, "\x03", yield_time_ms=5000),
            write(0),
        ],
    )
    assert results[0].endswith("Output:\nbegun\n")
    assert "Process exited with code 0" in results[1] and results[1].endswith("Output:\nmade\n")
    assert running(results[2]) == running(results[0]) and results[2].endswith("Output:\nwent\n")
    assert "Process exited with code 130" in results[3], results[3]
    assert "PTY session not found" in results[4]


async def test_model_writes_to_the_input_of_a_command(client: TideboxSandboxClient) -> None:
    session = await create(client, open_stdin=True)
    loop = "while read -r line; do echo got $line; done; echo end"
    results = await converse(
        session,
        [execute(loop, yield_time_ms=250), write(0, "one\n"), write(0, "two\n\x04", yield_time_ms=5000)],
    )
    assert results[1].endswith("Output:\ngot one\n")
    assert "Process exited with code 0" in results[2] and results[2].endswith("Output:\ngot two\nend\n")
    await session.aclose()
    await client.delete(session)


async def test_input_is_empty_without_the_option(session: SandboxSession) -> None:
    await session.exec("echo needle > file")
    results = await converse(
        session, [execute("cat; rg needle"), execute("sleep 1000", yield_time_ms=250), write(1, "text\n")]
    )
    assert "Process exited with code 0" in results[0] and results[0].endswith("file:needle\n"), results[0]
    assert "stdin is not available for this process" in results[2]


async def test_model_serves_a_port_and_kills_the_server(client: TideboxSandboxClient) -> None:
    session = await create(client, exposed_ports=(8000,))
    if not await has_python(session):
        pytest.skip("the pack python is not installed: tidebox pack add python")
    endpoint = await session.resolve_exposed_port(8000)
    assert (endpoint.host, endpoint.tls) == ("127.0.0.1", False)
    url = f"{endpoint.url_for('http')}a.txt"
    fetched: list[bytes] = []

    def fetch_and_kill(results: list[str]) -> tuple[str, dict[str, Any]]:
        running(results[0])
        fetched.append(urllib.request.urlopen(url, timeout=20).read())
        return execute("kill $(pgrep -f http.server)")(results)

    wait = "until curl -sf localhost:8000/a.txt; do sleep 0.1; done"
    results = await converse(
        session, [execute(SERVER, yield_time_ms=250), execute(wait, yield_time_ms=30_000), fetch_and_kill, write(0)]
    )
    assert fetched == [b"hello\n"]
    assert "GET /a.txt" in results[3] and "Process exited with code 143" in results[3], results[3]
    assert (await session.resolve_exposed_port(8000)).port == endpoint.port
    with pytest.raises(ExposedPortUnavailableError, match="not configured"):
        await session.resolve_exposed_port(8001)
    await session.aclose()
    with pytest.raises(OSError):
        urllib.request.urlopen(url, timeout=20)
    await client.delete(session)
    with pytest.raises(ExposedPortUnavailableError) as raised:
        await session.resolve_exposed_port(8000)
    assert "closed" in str(raised.value.context["detail"])


async def test_exposed_ports_are_part_of_the_state(client: TideboxSandboxClient) -> None:
    session = await create(client, exposed_ports=(8000, 80), open_stdin=True)
    state = client.deserialize_session_state(client.serialize_session_state(session.state))
    assert state == session.state and state.exposed_ports == (8000, 80)
    with pytest.raises(ValueError, match="between 1 and 65535"):
        await client.create(options=TideboxSandboxClientOptions(exposed_ports=(0,)))


async def test_model_is_told_that_there_are_no_terminals(session: SandboxSession) -> None:
    results = await converse(session, [execute("tty", tty=True), execute("echo ran")])
    assert "Process exited with code 1" in results[0] and "no terminals yet" in results[0]
    assert results[1].endswith("Output:\nran\n")


async def test_commands_that_cannot_start_have_the_exit_code_of_a_shell(session: SandboxSession) -> None:
    update = await session.pty_exec_start("no-such-program", shell=False)
    assert (update.process_id, update.exit_code) == (None, 127)
    assert b"no-such-program" in update.output
    results = await converse(session, [execute("true", shell="zsh")])
    assert "Process exited with code 127" in results[0], results[0]
    with pytest.raises(ConfigurationError, match="'root' is not supported"):
        await session.pty_exec_start("true", user="root")


async def test_output_is_cut_as_the_sdk_cuts_it(session: SandboxSession) -> None:
    update = await session.pty_exec_start("seq 1 1000", max_output_tokens=20)
    assert update.exit_code == 0 and update.original_token_count is not None
    assert len(update.output) < 400 and update.output.endswith(b"1000\n")
    update = await session.pty_exec_start("yes | head -c 3000000; echo end")
    assert update.output.endswith(b"end\n") and len(update.output) < 1_200_000
    assert re.match(rb"\[\d+ bytes of older output were dropped\]\n", update.output)


async def test_unknown_ids_are_errors(session: SandboxSession) -> None:
    with pytest.raises(PtySessionNotFoundError) as raised:
        await session.pty_write_stdin(session_id=1234, chars="")
    assert raised.value.session_id == 1234


async def test_processes_end_with_the_session(client: TideboxSandboxClient) -> None:
    session = await create(client)
    update = await session.pty_exec_start("sleep 1000", yield_time_s=0.25)
    assert update.process_id is not None and 1_000 <= update.process_id < 100_000
    await session.exec("(sleep 1000 > /dev/null 2>&1 &)")
    sandbox = session._inner.sandbox
    assert len([status for status in await sandbox.processes() if status.running]) == 2
    await session.aclose()
    assert [status for status in await sandbox.processes() if status.running] == []
    async with await client.resume(session.state) as resumed:
        assert resumed._inner.sandbox is sandbox
        with pytest.raises(PtySessionNotFoundError):
            await resumed.pty_write_stdin(session_id=update.process_id, chars="")
        assert b"sleep" not in (await resumed.exec("ps -ef | grep '[s]leep'")).stdout
    await client.delete(session)
    with pytest.raises(ExecTransportError, match="closed"):
        await session.pty_exec_start("true")


async def test_processes_that_exec_leaves_live_on(session: SandboxSession) -> None:
    result = await session.exec("(until [ -e go ]; do sleep 0.02; done; echo went > done) & echo started")
    assert result.stdout == b"started\n"
    await session.exec("touch go; until [ -e done ]; do sleep 0.02; done", timeout=30)


async def test_oldest_process_is_killed_beyond_the_maximum(client: TideboxSandboxClient) -> None:
    session = await create(client, limits=Limits(background_processes=10))
    started = [
        (await session.pty_exec_start("sleep", "1000", shell=False, yield_time_s=0.25)).process_id for _ in range(11)
    ]
    assert None not in started and len(set(started)) == 11
    with pytest.raises(PtySessionNotFoundError):
        await session.pty_write_stdin(session_id=int(started[0] or 0), chars="")
    assert (await session.pty_write_stdin(session_id=int(started[1] or 0), chars="\x03")).exit_code == 130
    await session.aclose()
    few = await create(client, limits=Limits(background_processes=1))
    assert (await few.pty_exec_start("sleep 1000", yield_time_s=0.25)).process_id is not None
    update = await few.pty_exec_start("echo no")
    assert update.exit_code == 1 and b"background_processes" in update.output
    await few.aclose()


async def test_cancelled_start_kills_its_command(session: SandboxSession) -> None:
    task = asyncio.create_task(session.pty_exec_start("touch begun; sleep 0.5; touch late"))
    while not (await session.exec("test -e begun")).ok():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.7)
    assert (await session.exec("ls")).stdout == b"begun\n"


async def test_concurrent_polls_share_the_output(session: SandboxSession) -> None:
    update = await session.pty_exec_start("for i in 1 2 3 4 5; do sleep 0.2; echo $i; done", yield_time_s=0.25)
    assert update.process_id is not None
    begun = time.monotonic()
    polls = (session.pty_write_stdin(session_id=update.process_id, chars="") for _ in range(2))
    found = await asyncio.gather(*polls, return_exceptions=True)
    pieces = [one.output for one in found if not isinstance(one, BaseException)]
    assert sorted(b"".join([update.output, *pieces]).split()) == [b"1", b"2", b"3", b"4", b"5"]
    assert time.monotonic() - begun < 20


async def test_deterministic_sandboxes_have_no_processes_that_outlive_a_call(client: TideboxSandboxClient) -> None:
    session = await create(client, seed=1)
    assert not session.supports_pty()
    with pytest.raises(ExecTransportError, match="deterministic"):
        await session.pty_exec_start("true")
    assert (await session.exec("sleep 1000 & echo x")).stdout == b"x\n"
    await session.aclose()
