"""The examples that need no framework run. Those of a framework run in its environment."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def test_an_agent_is_tested_without_a_network() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-m", "pytest", "-q", "test_agent.py"],
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout


def test_a_table_is_analysed_and_plotted(tidebox_python: None) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", EXAMPLES / "data_analysis.py"], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "[1] {'north': 400, 'south': 315}",
        "[2] np.float64(0.05)",
        "[3] ",
        "[4] 4",
        "1 figure, starts with PNG",
    ]


@pytest.fixture
def tidebox_python(tidebox_sandbox: object) -> None:
    import tidebox

    done = tidebox.Sandbox().execute("python3 -c 'import pandas'")
    if done.exit_code == 127:
        pytest.skip(done.stderr)
