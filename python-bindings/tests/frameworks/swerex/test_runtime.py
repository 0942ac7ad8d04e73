"""Methods of the runtime and the deployment beyond the suite of SWE-ReX."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from swerex.exceptions import (
    CommandTimeoutError,
    DeploymentNotStartedError,
    NoExitCodeError,
    NonZeroExitCodeError,
    SessionExistsError,
)
from swerex.runtime.abstract import (
    BashAction,
    BashInterruptAction,
    CloseBashSessionRequest,
    Command,
    CreateBashSessionRequest,
    ReadFileRequest,
    UploadRequest,
    WriteFileRequest,
)

from tidebox import AsyncSandbox
from tidebox.integrations.swerex import TideboxDeployment, TideboxRuntime


async def run(runtime: TideboxRuntime, command: str, **more: object) -> str:
    return (await runtime.run_in_session(BashAction(command=command, **more))).output


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_tidebox_does_not_import_the_framework() -> None:
    assert python("import sys, tidebox; print('swerex' in sys.modules)") == "False"


def test_missing_framework_is_reported_with_its_extra() -> None:
    code = """
import sys
sys.modules["swerex"] = None
try:
    import tidebox.integrations.swerex
except ImportError as error:
    print(error)
"""
    assert 'pip install "tidebox[swerex]"' in python(code)


async def test_sessions_keep_their_state(runtime_with_default_session: TideboxRuntime) -> None:
    runtime = runtime_with_default_session
    await run(
        runtime, "mkdir 'a b'; cd 'a b'; export A=1; B='x  y'; L=(1 '2 3'); declare -A M=([k]='v v'); readonly R=5"
    )
    await run(runtime, "f() { echo f$1; }; export -f f; alias ll='echo LL'; set -o pipefail; shopt -s extglob")
    assert await run(runtime, 'pwd; echo $A "$B" ${L[1]} ${M[k]} $R; f 3') == "/workspace/a b\n1 x  y 2 3 v v 5\nf3\n"
    assert await run(runtime, "ll; bash -c 'echo $A$B; f 4'; false | true || echo failed") == "LL\n1\nf4\nfailed\n"
    assert await run(runtime, "echo !(x)") == "!(x)\n"
    await run(runtime, "unset A B TERM; unset -f f; unalias ll; cd ..")
    assert await run(runtime, "pwd; echo ${A-none} ${TERM-none}; type f ll", check="silent") == (
        "/workspace\nnone none\nbash: line 1: type: f: not found\nbash: line 1: type: ll: not found\n"
    )


async def test_processes_that_a_command_leaves_live_on(runtime_with_default_session: TideboxRuntime) -> None:
    runtime = runtime_with_default_session
    assert await run(runtime, "(until [ -e go ]; do sleep 0.02; done; echo went > went) & echo begun") == "begun\n"
    assert await run(runtime, "touch go; until [ -e went ]; do sleep 0.02; done; cat went") == "went\n"
    async with AsyncSandbox(seed=1) as sandbox:
        deterministic = TideboxRuntime(sandbox)
        await deterministic.create_session(CreateBashSessionRequest())
        assert await run(deterministic, "sleep 1000 & echo begun") == "begun\n"
        assert await sandbox.processes() == []


async def test_sessions_survive_the_end_of_their_shell(runtime_with_default_session: TideboxRuntime) -> None:
    runtime = runtime_with_default_session
    observation = await runtime.run_in_session(BashAction(command="A=1; exit 7", check="silent"))
    assert observation.exit_code == 7
    assert await run(runtime, "echo $? $A") == "7 1\n"
    assert await run(runtime, "trap 'echo bye' EXIT; B=2") == "bye\n"
    assert await run(runtime, "C=3; set -e; false; C=4", check="silent") == ""
    assert await run(runtime, "echo $A$B$C; false; echo on") == "123\non\n"
    assert await run(runtime, "echo $((RANDOM != RANDOM || RANDOM != RANDOM))") == "1\n"


async def test_timeouts_keep_the_state_before(runtime_with_default_session: TideboxRuntime) -> None:
    runtime = runtime_with_default_session
    await run(runtime, "A=1")
    with pytest.raises(CommandTimeoutError, match="timeout after 0.2 seconds"):
        await run(runtime, "A=2; sleep 9", timeout=0.2)
    assert await run(runtime, "echo $A") == "1\n"


async def test_interrupt_stops_the_running_command(runtime_with_default_session: TideboxRuntime) -> None:
    runtime = runtime_with_default_session
    action = BashAction(command="echo begun; sleep 20; touch late", check="silent")
    task = asyncio.create_task(runtime.run_in_session(action))
    await asyncio.sleep(0.3)
    with pytest.raises(RuntimeError, match="another command of this session is running"):
        await run(runtime, "true")
    began = time.monotonic()
    assert (await runtime.run_in_session(BashInterruptAction())).exit_code == 0
    observation = await task
    assert time.monotonic() - began < 5
    assert (observation.output, observation.exit_code) == ("begun\n", 130)
    assert await run(runtime, "ls") == ""


async def test_startup_files_are_sourced(remote_runtime: TideboxRuntime) -> None:
    await remote_runtime.write_file(WriteFileRequest(path="rc", content="A=1; echo loaded"))
    request = CreateBashSessionRequest(startup_source=["/workspace/rc", "/missing"], startup_timeout=5)
    output = (await remote_runtime.create_session(request)).output
    assert output.startswith("loaded\n") and "No such file or directory" in output
    assert await run(remote_runtime, "echo $A") == "1\n"
    with pytest.raises(SessionExistsError):
        await remote_runtime.create_session(request)
    await remote_runtime.close_session(CloseBashSessionRequest())
    assert (await remote_runtime.execute(Command(command="ls -A /tmp | grep session", shell=True))).stdout == ""
    await remote_runtime.write_file(WriteFileRequest(path="rc", content="sleep 9"))
    with pytest.raises(CommandTimeoutError):
        await remote_runtime.create_session(CreateBashSessionRequest(startup_source=["rc"], startup_timeout=0.2))


async def test_checks_select_what_happens_with_exit_codes(runtime_with_default_session: TideboxRuntime) -> None:
    runtime = runtime_with_default_session
    with pytest.raises(NonZeroExitCodeError, match=r"^no luck: Command 'exit 2' failed with exit code 2"):
        await runtime.run_in_session(BashAction(command="exit 2", error_msg="no luck"))
    assert (await runtime.run_in_session(BashAction(command="false", check="ignore"))).exit_code is None
    with pytest.raises(NonZeroExitCodeError, match="no luck"):
        await runtime.execute(Command(command=["false"], check=True, error_msg="no luck"))
    assert (await runtime.execute(Command(command=["nope"]))).exit_code == 127


async def test_terminals_are_not_supported(runtime_with_default_session: TideboxRuntime) -> None:
    for more in ({"is_interactive_command": True}, {"is_interactive_quit": True}, {"expect": ["$ "]}):
        with pytest.raises(NoExitCodeError, match="has no terminals"):
            await runtime_with_default_session.run_in_session(BashAction(command="cat", **more))


async def test_execute_uses_directory_environment_and_bytes(remote_runtime: TideboxRuntime) -> None:
    command = Command(command="pwd; echo $A; printf '\\377'", shell=True, cwd="/tmp", env={"A": "1"})
    assert (await remote_runtime.execute(command)).stdout == "/tmp\n1\n\\xff"


async def test_files_have_encodings_and_errors(remote_runtime: TideboxRuntime) -> None:
    await remote_runtime.execute(Command(command="printf '\\344\\r\\n' > latin; mkdir d", shell=True))
    request = ReadFileRequest(path="latin", encoding="latin-1")
    assert (await remote_runtime.read_file(request)).content == "ä\n"
    with pytest.raises(UnicodeDecodeError):
        await remote_runtime.read_file(ReadFileRequest(path="latin"))
    assert (await remote_runtime.read_file(ReadFileRequest(path="latin", errors="replace"))).content == "\ufffd\n"
    with pytest.raises(IsADirectoryError):
        await remote_runtime.read_file(ReadFileRequest(path="d"))
    with pytest.raises(IsADirectoryError):
        await remote_runtime.write_file(WriteFileRequest(path="d", content=""))


async def test_uploads_keep_permissions(remote_runtime: TideboxRuntime, tmp_path: Path) -> None:
    (tmp_path / "src/empty").mkdir(parents=True)
    (tmp_path / "src/run").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "src/run").chmod(0o755)
    os.symlink("run", tmp_path / "src/link")
    await remote_runtime.upload(UploadRequest(source_path=str(tmp_path / "src"), target_path="new/dir"))
    command = "./new/dir/run; new/dir/link; test -d new/dir/empty && echo empty"
    assert (await remote_runtime.execute(Command(command=command, shell=True))).stdout == "ran\nran\nempty\n"
    with pytest.raises(FileExistsError):
        await remote_runtime.upload(UploadRequest(source_path=str(tmp_path / "src"), target_path="new/dir"))
    await remote_runtime.upload(UploadRequest(source_path=str(tmp_path / "src/run"), target_path="new"))
    await remote_runtime.upload(UploadRequest(source_path=str(tmp_path / "src/run"), target_path="/workspace/other"))
    assert (await remote_runtime.execute(Command(command="new/run; ./other", shell=True))).stdout == "ran\nran\n"
    with pytest.raises(FileNotFoundError):
        await remote_runtime.upload(UploadRequest(source_path=str(tmp_path / "none"), target_path="x"))


async def test_deployment_starts_and_stops_a_runtime() -> None:
    deployment = TideboxDeployment(files={"a": "1"})
    assert not await deployment.is_alive()
    with pytest.raises(DeploymentNotStartedError):
        _ = deployment.runtime
    await deployment.start()
    assert await deployment.is_alive()
    runtime = deployment.runtime
    await deployment.start()
    assert deployment.runtime is runtime
    await deployment.stop()
    await deployment.stop()
    assert not await deployment.is_alive() and not await runtime.is_alive()


async def test_sandbox_of_the_caller_stays_open() -> None:
    sandbox = AsyncSandbox(files={"a": "1"})
    runtime = TideboxRuntime(sandbox)
    await runtime.close()
    await runtime.close()
    assert (await sandbox.execute("cat a")).stdout == "1"
    with pytest.raises(TypeError, match="either a sandbox or options"):
        TideboxRuntime(sandbox, files={})
