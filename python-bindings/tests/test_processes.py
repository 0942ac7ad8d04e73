"""Processes that outlive the call which started them."""

import asyncio

import pytest

from tidebox import AsyncSandbox, Limits, Process, Sandbox, SandboxError


def test_a_process_outlives_its_call_and_takes_input() -> None:
    with Sandbox() as sandbox:
        process = sandbox.spawn("while read -r line; do echo got $line; done", stdin=True, tag="echo")
        assert sandbox.spawn("other", tag="echo").id == process.id
        process.write("one\n")
        page = process.read(wait=20)
        assert (page.text, page.next, page.running, page.exit_code) == ("got one\n", 8, True, None)
        assert [(status.id, status.tag, status.running) for status in sandbox.processes()] == [(process.id, "echo", True)]
        process.close_input()
        assert process.wait() == 0
        assert [chunk.data for chunk in process.output()] == [b"got one\n"]
        assert repr(process) == f"Process(id='{process.id}')"


def test_a_command_keeps_its_processes() -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute("(until [ -e go ]; do sleep 0.01; done; echo went) & echo started", background=True)
        assert result.stdout == "started\n" and result.process is not None
        sandbox.execute("touch go")
        process = sandbox.process(result.process)
        assert isinstance(process, Process) and process.wait(timeout=20) == 0
        assert process.read().text == "went\n"
        assert sandbox.execute("sleep 100 & echo x").process is None


def test_a_process_runs_in_a_terminal() -> None:
    with Sandbox() as sandbox:
        process = sandbox.spawn("read line; stty size; echo got $line", terminal=(30, 90))
        process.resize(40, 100)
        process.write("onx\x7fe\r")
        assert process.wait(timeout=20) == 0
        assert process.read().text == "onx\b \be\r\n40 100\r\ngot one\r\n"
        with pytest.raises(ValueError, match="1001 columns"):
            sandbox.spawn("true", terminal=(24, 1001))
        with pytest.raises(ValueError, match="has no terminal"):
            sandbox.spawn("sleep 60").resize(24, 80)


def test_signals_end_processes() -> None:
    with Sandbox() as sandbox:
        process = sandbox.spawn(["sleep", "1000"])
        with pytest.raises(TimeoutError, match="still runs after 0.05 seconds"):
            process.wait(timeout=0.05)
        process.signal("TERM")
        assert process.wait() == 143
        with pytest.raises(ValueError, match="signal must be one of HUP, INT"):
            process.signal("WINCH")


def test_invalid_processes_are_errors() -> None:
    with Sandbox(limits=Limits(background_processes=1)) as sandbox:
        with pytest.raises(ValueError, match="no process has the id 'x'"):
            sandbox.process("x").read()
        with pytest.raises(ValueError, match="cannot start no-such-program"):
            sandbox.spawn(["no-such-program"])
        process = sandbox.spawn("sleep 1000")
        with pytest.raises(SandboxError, match="background_processes") as caught:
            sandbox.spawn("sleep 1000")
        assert caught.value.kind == "quota_exceeded"
        with pytest.raises(ValueError, match="standard input of process"):
            process.write("x")


def test_asyncio_reads_while_processes_run() -> None:
    async def main() -> list[bytes]:
        async with AsyncSandbox() as sandbox:
            process = await sandbox.spawn("for i in 1 2 3; do echo $i; sleep 0.02; done")
            output = b"".join([chunk.data async for chunk in process.output()])
            server = await sandbox.spawn("cat", stdin=True)
            await server.write(b"x")
            await server.close_input()
            assert await server.wait() == 0
            assert [status.exit_code for status in await sandbox.processes()] == [0, 0]
            waiting = await sandbox.spawn("sleep 1000")
            await waiting.kill()
            assert await waiting.wait() == 137
            return [output, (await server.read()).data]

    assert asyncio.run(main()) == [b"1\n2\n3\n", b"x"]
