"""The command `tidebox` of the package."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import time

import tidebox

COMMAND = pathlib.Path(sys.executable).parent / "tidebox"


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], input=stdin, capture_output=True, text=True, timeout=120)


def test_the_command_runs_a_command_line() -> None:
    done = run("exec", "--stdin", "sort; echo done >&2; exit 3", stdin="b\na\n")
    assert (done.returncode, done.stdout, done.stderr) == (3, "a\nb\n", "done\n")


def test_the_module_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "tidebox", "--version"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"tidebox {tidebox.__version__}\n")


def test_an_unknown_option_is_an_error_with_code_125() -> None:
    done = run("exec", "--nonsense", "true")
    assert done.returncode == 125
    assert done.stderr.startswith("tidebox: ")
    assert "--nonsense" in done.stderr


def test_ctrl_c_ends_the_command() -> None:
    with subprocess.Popen([COMMAND, "exec", "echo started; sleep 100"], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "started\n"
        child.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert child.wait(timeout=60) != 0
        assert time.monotonic() - begun < 30
