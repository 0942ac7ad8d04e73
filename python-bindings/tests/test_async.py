"""The same methods in asyncio."""

from __future__ import annotations

import asyncio
import time

import pytest

from tidebox import AsyncSandbox, SandboxError


def test_every_method_can_be_awaited() -> None:
    async def main() -> None:
        async with AsyncSandbox(files={"a": "1\n2\n"}) as sandbox:
            assert (await sandbox.execute("cat a")).stdout == "1\n2\n"
            assert (await sandbox.read("a", limit=1)).content == "1"
            await sandbox.write("b", "x")
            assert await sandbox.edit("b", "x", "y") == 1
            assert [entry.path for entry in await sandbox.ls()] == ["/workspace/a", "/workspace/b"]
            assert len((await sandbox.grep("y")).matches) == 1
            assert len((await sandbox.glob("*")).files) == 2
            assert (await sandbox.upload_files([("/tmp/c", b"z")]))[0].error is None
            assert (await sandbox.download_files(["/tmp/c"]))[0].content == b"z"
            fork = sandbox.fork()
            await sandbox.delete("a")
            assert (await fork.execute("cat a")).stdout == "1\n2\n"
            with pytest.raises(FileNotFoundError):
                await sandbox.read("a")
        with pytest.raises(SandboxError, match="closed"):
            await sandbox.execute("true")

    asyncio.run(main())


def test_a_thousand_sandboxes_at_once() -> None:
    async def one(number: int) -> str:
        async with AsyncSandbox() as sandbox:
            return (await sandbox.execute(f"echo {number} | cat")).stdout

    async def main() -> None:
        outputs = await asyncio.gather(*(one(number) for number in range(1000)))
        assert outputs == [f"{number}\n" for number in range(1000)]

    asyncio.run(main())


def test_nothing_blocks_the_event_loop() -> None:
    async def main() -> None:
        sandbox = AsyncSandbox()
        command = asyncio.create_task(sandbox.execute("while :; do :; done", timeout=1))
        pauses = []
        while not command.done():
            before = time.monotonic()
            await asyncio.sleep(0.001)
            pauses.append(time.monotonic() - before)
        assert (await command).exit_code == 124
        # A blocked loop would have run once.
        assert len(pauses) > 20

    asyncio.run(main())


def test_cancelling_a_task_stops_its_command() -> None:
    async def main() -> None:
        sandbox = AsyncSandbox()
        task = asyncio.create_task(sandbox.execute("while :; do echo x >> log; sleep 0.01; done"))
        while not (await sandbox.execute("cat log 2>/dev/null")).stdout:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.1)
        size = len((await sandbox.execute("cat log")).stdout)
        await asyncio.sleep(0.1)
        assert len((await sandbox.execute("cat log")).stdout) == size
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(sandbox.execute("sleep 60"), 0.1)

    asyncio.run(main())


def test_streaming_yields_output_as_it_is_written() -> None:
    async def main() -> None:
        sandbox = AsyncSandbox()
        async with sandbox.execute_streaming("echo a; echo b >&2; sleep 0.2; echo c") as running:
            chunks = [(chunk.stream, chunk.data) async for chunk in running]
        assert chunks == [("stdout", b"a\n"), ("stderr", b"b\n"), ("stdout", b"c\n")]
        assert (await running.result()).exit_code == 0
        async with sandbox.execute_streaming("printf '\\xc3'; sleep 0.1; printf '\\xbc'") as running:
            assert [text async for text in running.text()] == ["ü"]
        async with sandbox.execute_streaming("yes") as running:
            async for _ in running:
                break
        with pytest.raises(ValueError, match="stopped"):
            await running.result()

    asyncio.run(main())


def test_a_loop_that_is_closed_early_leaves_no_error() -> None:
    async def main() -> None:
        asyncio.ensure_future(AsyncSandbox().execute("sleep 0.2"))
        await asyncio.sleep(0.01)

    asyncio.run(main())
    time.sleep(0.3)
