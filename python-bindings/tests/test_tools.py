"""Python functions as commands."""

from __future__ import annotations

import asyncio

import pytest

from tidebox import AsyncSandbox, Sandbox, SandboxError, ToolCall, ToolResult


def test_a_function_is_a_command() -> None:
    sandbox = Sandbox(env={"KEY": "v"})

    @sandbox.tool
    def lookup(call: ToolCall) -> str:
        return f"{call.name} {call.arguments} {call.stdin!r} {call.env['KEY']} {call.cwd}\n"

    @sandbox.tool(name="fail-with")
    def fail(call: ToolCall) -> ToolResult:
        return ToolResult(stderr="no\n", exit_code=int(call.arguments[0]))

    result = sandbox.execute("cd /tmp; echo in | lookup a 'b c' | tr a-z A-Z")
    assert result.stdout == "LOOKUP ['A', 'B C'] B'IN\\N' V /TMP\n"
    failed = sandbox.execute("fail-with 4")
    assert (failed.stderr, failed.exit_code) == ("no\n", 4)
    assert sandbox.execute("which lookup").stdout == "/usr/local/bin/lookup\n"
    assert sandbox.fork().execute("lookup x").exit_code == 0
    with pytest.raises(SandboxError, match="before"):
        sandbox.tool(lookup)


def test_an_exception_is_a_message_and_exit_code_1(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(call: ToolCall) -> str:
        raise LookupError("nothing there")

    result = Sandbox(tools={"broken": broken}).execute("broken; echo $?")
    assert (result.stdout, result.stderr) == ("1\n", "broken: nothing there\n")
    assert "LookupError" in capfd.readouterr().err
    wrong = Sandbox(tools={"wrong": lambda call: 3}).execute("wrong")  # type: ignore[dict-item, return-value]
    assert wrong.exit_code == 1 and "returned int" in wrong.stderr


def test_coroutine_functions_run_in_the_event_loop() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def which(call: ToolCall) -> str:
            await asyncio.sleep(0.01)
            return str(asyncio.get_running_loop() is loop)

        sandbox = AsyncSandbox(tools={"which-loop": which})
        results = await asyncio.gather(*(sandbox.execute("which-loop") for _ in range(10)))
        assert {result.stdout for result in results} == {"True"}

    asyncio.run(main())

    async def plain(call: ToolCall) -> bytes:
        await asyncio.sleep(0)
        return b"waited"

    assert Sandbox(tools={"plain": plain}).execute("plain").stdout == "waited"


def test_a_tool_may_use_the_sandbox_that_calls_it() -> None:
    sandbox = Sandbox()

    @sandbox.tool
    def count(call: ToolCall) -> str:
        return sandbox.execute("ls | wc -l").stdout

    assert sandbox.execute("touch a b; count").stdout == "2\n"
