"""Methods of the runtime."""

import asyncio
import subprocess
import sys
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


async def test_background_processes_and_ports_are_not_supported(runtime: TideboxRuntime) -> None:
    assert not runtime.supports_live_processes
    with pytest.raises(NotImplementedError, match="does not support live processes"):
        await runtime.open_process(["cat"], {})
    with pytest.raises(NotImplementedError, match="does not support run_background"):
        await runtime.run_background(["cat"], {}, "log")
    with pytest.raises(NotImplementedError, match="nothing can connect"):
        await runtime.expose(8000)
    with pytest.raises(RuntimeError, match="failed to prepare uv script"):
        await runtime.run_uv_script("print(1)")


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
    await runtime.stop()
    assert (await sandbox.execute("cat a")).stdout == "1"
    with pytest.raises(TypeError, match="either a sandbox or options"):
        TideboxRuntime(sandbox, files={})


async def test_record_of_the_runtime_can_be_loaded_again(runtime: TideboxRuntime) -> None:
    stored = runtime.info.model_dump(mode="json")
    loaded = TypeAdapter(RuntimeInfo).validate_python(stored)
    assert loaded.id == runtime.info.id and runtime.type == "subprocess"
