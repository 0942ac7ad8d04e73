"""Methods of the runtime."""

import asyncio
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator

import pytest
from pydantic import TypeAdapter
from verifiers.v1.errors import SandboxError
from verifiers.v1.runtimes import RuntimeInfo

from tidebox import AsyncSandbox, Limits
from tidebox.integrations.verifiers import TideboxRuntime, provision_runtime


@pytest.fixture
async def runtime() -> AsyncIterator[TideboxRuntime]:
    async with provision_runtime(files={"a": "1"}, limits=Limits(wall_time=20)) as runtime:
        yield runtime


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_tidebox_does_not_import_the_framework() -> None:
    assert run("import sys, tidebox; print('verifiers' in sys.modules)") == "False"


def test_missing_framework_is_reported_with_its_extra() -> None:
    code = """
import sys
sys.modules["verifiers"] = None
try:
    import tidebox.integrations.verifiers
except ImportError as error:
    print(error)
"""
    assert 'pip install "tidebox[verifiers]"' in run(code)


async def test_run_returns_output_and_exit_code(runtime: TideboxRuntime) -> None:
    result = await runtime.run(["sh", "-c", "cat a; printf '\\377'; echo $NAME >&2; exit 3"], {"NAME": "x"})
    assert (result.exit_code, result.stdout, result.stderr) == (3, "1\ufffd", "x\n")
    assert (await runtime.run(["printf", "%s", "$HOME"], {})).stdout == "$HOME"
    assert (await runtime.run(["nope"], {})).exit_code == 127
    assert await runtime.alive()


async def test_views_have_their_environment(runtime: TideboxRuntime) -> None:
    view = runtime.with_env({"NAME": "view", "OTHER": "1"})
    assert (await view.run(["sh", "-c", "echo $NAME $OTHER"], {"NAME": "call"})).stdout == "call 1\n"
    assert (await runtime.run(["sh", "-c", "echo $NAME"], {})).stdout == "\n"
    with pytest.raises(ValueError, match="cannot run commands as another user"):
        runtime.with_user("root")


async def test_files_are_read_and_written(runtime: TideboxRuntime) -> None:
    await runtime.write("d/f", b"\0\xff12")
    assert await runtime.read("d/f") == b"\0\xff12"
    assert await runtime.read("/workspace/d/f", max_bytes=4) == b"\0\xff12"
    with pytest.raises(SandboxError, match="over the 3 byte limit"):
        await runtime.read("d/f", max_bytes=3)
    for call in (
        runtime.read("missing"),
        runtime.read("missing", max_bytes=9),
        runtime.read("d"),
        runtime.write("d", b""),
    ):
        with pytest.raises(SandboxError, match=r"^(read|write) '"):
            await call


async def test_bounded_read_ends_with_an_endless_file(runtime: TideboxRuntime) -> None:
    with pytest.raises(SandboxError, match="over the 1000 byte limit"):
        await runtime.read("/dev/zero", max_bytes=1000)


async def test_cancelled_run_stops_its_processes(runtime: TideboxRuntime) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(runtime.run(["sh", "-c", "(sleep 0.3; touch late) & sleep 9"], {}), 0.1)
    await asyncio.sleep(0.5)
    assert (await runtime.run(["ls"], {})).stdout == "a\n"


async def test_live_process_reads_and_writes(runtime: TideboxRuntime) -> None:
    assert runtime.supports_live_processes
    view = runtime.with_env({"NAME": "view"})
    loop = "echo $NAME; pwd >&2; while read -r line; do echo got $line; done"
    process = await view.open_process(["sh", "-c", loop], {})
    assert await anext(process.stdout) == b"view\n"
    await process.write(b"one\n")
    assert await anext(process.stdout) == b"got one\n"
    assert await anext(process.stderr) == b"/workspace\n"
    assert await process.poll() is None
    await process.terminate()
    assert await process.wait() == 143
    assert [chunk async for chunk in process.stdout] == []
    assert await process.poll() == 143
    await process.kill()
    with pytest.raises(SandboxError, match="cannot write to process"):
        await process.write(b"late\n")
    with pytest.raises(SandboxError, match="cannot start"):
        await runtime.open_process(["no-such-program"], {})


async def test_output_that_is_not_read_in_time_is_an_error() -> None:
    async with provision_runtime(limits=Limits(background_output_bytes=1000)) as runtime:
        process = await runtime.open_process(["sh", "-c", "seq 1 10000"], {})
        assert await process.wait() == 0
        with pytest.raises(SandboxError, match="raise Limits.background_output_bytes"):
            await anext(process.stdout)


async def test_background_process_serves_a_port_until_the_stop(runtime: TideboxRuntime) -> None:
    if (await runtime.run(["python3", "-c", "1"], {})).exit_code:
        pytest.skip("the pack python is not installed: tidebox pack add python")
    await runtime.run_background(["python3", "-u", "-m", "http.server", "8000"], {}, "server.log")
    await runtime.sandbox.wait_for_port(8000)
    url = await runtime.expose(8000)
    assert url == await runtime.expose(8000) and url.startswith("http://127.0.0.1:")
    assert urllib.request.urlopen(f"{url}/a", timeout=20).read() == b"1"
    assert b"GET /a" in await runtime.read("server.log")
    with pytest.raises(SandboxError, match="1 to 65535"):
        await runtime.expose(0)
    await runtime.stop()
    with pytest.raises(OSError):
        urllib.request.urlopen(url, timeout=20)


async def test_missing_background_program_is_reported_in_its_log(runtime: TideboxRuntime) -> None:
    await runtime.run_background(["no-such-program"], {}, "log")
    while not (await runtime.run(["grep", "-q", "not found", "log"], {})).exit_code == 0:
        await asyncio.sleep(0.02)


async def test_uv_programs_are_not_supported(runtime: TideboxRuntime) -> None:
    with pytest.raises(RuntimeError, match="failed to prepare uv script"):
        await runtime.run_uv_script("print(1)")


async def test_deterministic_sandbox_has_no_live_processes() -> None:
    async with provision_runtime(seed=1) as runtime:
        with pytest.raises(SandboxError, match="deterministic"):
            await runtime.open_process(["cat"], {})


async def test_stopped_runtimes_stay_stopped(runtime: TideboxRuntime) -> None:
    await runtime.stop()
    await runtime.stop()
    runtime.cleanup()
    assert not await runtime.alive()
    for call in (runtime.run(["true"], {}), runtime.read("a"), runtime.write("a", b""), runtime.start()):
        with pytest.raises(SandboxError):
            await call


async def test_sandbox_of_the_caller_stays_open() -> None:
    sandbox = AsyncSandbox(files={"a": "1"})
    runtime = TideboxRuntime(sandbox, name="mine")
    await runtime.start()
    assert (runtime.name, runtime.info.id) == ("mine", f"tidebox:{sandbox.id}")
    process = await runtime.open_process(["sleep", "1000"], {})
    await runtime.stop()
    assert await process.wait() == 137
    assert (await sandbox.execute("cat a")).stdout == "1"
    with pytest.raises(TypeError, match="either a sandbox or options"):
        TideboxRuntime(sandbox, files={})


async def test_record_of_the_runtime_can_be_loaded_again(runtime: TideboxRuntime) -> None:
    stored = runtime.info.model_dump(mode="json")
    loaded = TypeAdapter(RuntimeInfo).validate_python(stored)
    assert loaded.id == runtime.info.id and runtime.type == "subprocess"
