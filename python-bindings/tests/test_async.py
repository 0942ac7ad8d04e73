"""The same methods in asyncio."""

from __future__ import annotations

import asyncio
import pathlib
import subprocess
import sys
import time

import pytest

from tidebox import AsyncSandbox, Sandbox, SandboxError


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


FIRST_USE = """
import asyncio, time, tidebox
from tidebox import _native, _sandbox

class OnlyDeferred:
    create_deferred = staticmethod(_native.NativeSandbox.create_deferred)

    @staticmethod
    def create(options):
        raise AssertionError("the constructor waits for the engine")

async def main():
    late = [0.0]
    async def beat():
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            late.append(time.monotonic() - before)
    beating = asyncio.create_task(beat())
    assert not _native.engine_started()
    _sandbox.NativeSandbox = OnlyDeferred
    sandbox = tidebox.AsyncSandbox(files={"a": "hi"})
    _sandbox.NativeSandbox = _native.NativeSandbox
    assert sandbox.cwd == "/workspace" and sandbox.id.startswith("sb-")
    running = sandbox.execute_streaming("cat a | cat")
    assert "".join([text async for text in running.text()]) == "hi"
    assert await sandbox.execute("cat a") and sandbox.snapshot().changes_since(sandbox.snapshot()) == []
    beating.cancel()
    assert _native.engine_started() and len(late) > 1
    assert max(late) < 5, late

asyncio.run(main())
"""


def test_the_first_use_does_not_block_the_event_loop() -> None:
    done = subprocess.run([sys.executable, "-X", "dev", "-c", FIRST_USE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_deferred_sandbox_is_like_any_other(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_text("1")

    async def main() -> None:
        sandbox = AsyncSandbox(seed_dir=tmp_path, seed=7)
        # Both wait until it exists.
        fork, session = sandbox.fork(), sandbox.python_session()
        assert sandbox.id == Sandbox(seed=7).id
        assert (await sandbox.execute("cat a; echo $RANDOM")).stdout == (await fork.execute("cat a; echo $RANDOM")).stdout
        assert session is not None
        cancelled = asyncio.create_task(AsyncSandbox(seed_dir=tmp_path).execute("true"))
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        with pytest.raises(ValueError, match="host name"):
            await AsyncSandbox(seed_dir=tmp_path, hostname="").execute("true")
        with pytest.raises(ValueError, match="cwd"):
            AsyncSandbox(seed_dir=tmp_path, cwd="relative")
        with pytest.raises(TypeError, match="argument 'stdin'"):
            await sandbox.execute("true", stdin=1)  # type: ignore[arg-type]

    asyncio.run(main())
