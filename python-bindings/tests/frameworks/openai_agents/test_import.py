"""Imports with and without the SDK."""

import subprocess
import sys


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_tidebox_does_not_import_the_sdk() -> None:
    assert run("import sys, tidebox; print('agents' in sys.modules)") == "False"


def test_missing_sdk_is_reported_with_its_extra() -> None:
    code = """
import sys
sys.modules["agents"] = None
try:
    import tidebox.integrations.openai_agents
except ImportError as error:
    print(error)
"""
    assert 'pip install "tidebox[openai-agents]"' in run(code)
