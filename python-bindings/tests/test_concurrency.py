"""Threads, signals, forks and the interpreter's exit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tidebox import Sandbox, SandboxError


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", script], capture_output=True, text=True, timeout=60
    )


def test_threads_use_sandboxes_at_once() -> None:
    def work(number: int) -> str:
        with Sandbox() as sandbox:
            return sandbox.execute(f"seq {number} | tail -n 1").stdout

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(1, 200))) == [f"{number}\n" for number in range(1, 200)]


def test_other_threads_run_while_a_command_runs() -> None:
    sandbox, counted = Sandbox(), 0
    thread = threading.Thread(target=lambda: sandbox.execute("while :; do :; done", timeout=0.5))
    thread.start()
    while thread.is_alive():
        counted += 1
        time.sleep(0.001)
    assert counted > 20


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill sends no signals on Windows")
def test_keyboard_interrupt_stops_a_command() -> None:
    sandbox = Sandbox()
    # A program that was started in the background ignores the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sandbox.execute("sleep 60")
    assert time.monotonic() - before < 10
    assert sandbox.execute("echo alive").stdout == "alive\n"


def test_leaving_a_streaming_loop_stops_the_command() -> None:
    sandbox = Sandbox()
    running = sandbox.execute_streaming("while :; do echo x; sleep 0.01; done")
    for chunk in running:
        assert chunk.data == b"x\n"
        break
    with pytest.raises(ValueError, match="stopped"):
        running.result()
    with sandbox.execute_streaming(["echo", "a"]) as running:
        assert list(running.text()) == ["a\n"]
    assert running.result().ok


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no os.fork")
def test_a_forked_child_gets_a_clear_error() -> None:
    done = run(
        "import os, warnings\n"
        "from tidebox import Sandbox\n"
        "warnings.simplefilter('ignore')\n"
        "Sandbox().execute('true')\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try:\n"
        "        Sandbox().execute('true')\n"
        "    except RuntimeError as error:\n"
        "        os._exit(7 if 'os.fork' in str(error) else 8)\n"
        "    os._exit(9)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_a_child_forked_before_the_first_use_works() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system has no os.fork")
    done = run(
        "import os\n"
        "from tidebox import Sandbox\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(Sandbox().execute('exit 5').exit_code)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    assert (done.stdout, done.stderr) == ("5\n", "")


def test_the_interpreter_exits_while_commands_run() -> None:
    done = run(
        "import threading, time\n"
        "from tidebox import Sandbox\n"
        "sandbox = Sandbox()\n"
        "running = sandbox.execute_streaming('while :; do echo x; done')\n"
        "next(iter(running))\n"
        "threading.Thread(target=lambda: sandbox.execute('sleep 60'), daemon=True).start()\n"
        "time.sleep(0.1)\n"
        "print('end')\n"
    )
    assert (done.stdout, done.stderr, done.returncode) == ("end\n", "", 0)


def test_short_asyncio_programs_exit_cleanly() -> None:
    script = (
        "import asyncio, tidebox\n"
        "async def main():\n"
        "    for _ in range(3): await tidebox.AsyncSandbox().execute(['true'])\n"
        "asyncio.run(main())\n"
    )
    codes = [subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60).returncode for _ in range(20)]
    assert codes == [0] * 20


def test_the_interpreter_exits_while_a_tool_runs() -> None:
    done = run(
        "import threading, time\n"
        "from tidebox import Sandbox\n"
        "sandbox = Sandbox(tools={'slow': lambda call: time.sleep(30)})\n"
        "threading.Thread(target=lambda: sandbox.execute('slow'), daemon=True).start()\n"
        "time.sleep(0.2)\n"
        "print('end')\n"
    )
    assert (done.stdout, done.returncode) == ("end\n", 0)


def test_importing_is_quick_and_starts_no_thread() -> None:
    done = run("import tidebox, threading, os; print(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self') else 1)")
    assert done.stdout == "1\n"


def test_importing_loads_no_slow_module() -> None:
    # Each of them takes longer than tidebox.
    done = run("import sys, tidebox; print([name for name in ('asyncio', 'pathlib', 'subprocess', 'ssl') if name in sys.modules])")
    assert done.stdout == "[]\n"


def test_a_sandbox_shared_by_threads_may_be_closed_in_the_middle() -> None:
    sandbox = Sandbox()
    errors: list[BaseException] = []

    def work() -> None:
        try:
            sandbox.execute("sleep 5")
        except SandboxError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    sandbox.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
