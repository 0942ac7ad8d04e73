"""Methods of the executor."""

import datetime
import subprocess
import sys

import pytest
from smolagents.serialization import SerializationError
from smolagents.utils import AgentError

from tidebox import Sandbox
from tidebox.integrations.smolagents import TideboxExecutor


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_tidebox_does_not_import_the_framework() -> None:
    assert run("import sys, tidebox; print('smolagents' in sys.modules)") == "False"


def test_missing_framework_is_reported_with_its_extra() -> None:
    code = """
import sys
sys.modules["smolagents"] = None
try:
    import tidebox.integrations.smolagents
except ImportError as error:
    print(error)
"""
    assert 'pip install "tidebox[smolagents]"' in run(code)


def test_calls_return_value_and_output() -> None:
    executor = TideboxExecutor()
    done = executor("import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr)\n'a' * 2")
    assert (done.output, done.logs, done.is_final_answer) == ("'aa'", "out\nerr\n", False)
    assert executor("x = 1").output is None
    assert executor("x").output == "1"


def test_errors_have_output_and_traceback() -> None:
    with pytest.raises(AgentError) as raised:
        TideboxExecutor()("print('before')\nraise ValueError('bad')")
    assert raised.value.message.startswith("before\nTraceback")
    assert raised.value.message.endswith("ValueError: bad\n")


def test_variables_have_the_types_of_the_serializer() -> None:
    executor = TideboxExecutor()
    executor.send_variables({})
    executor.send_variables({"day": datetime.date(2026, 1, 2), "pair": (1, {2})})
    assert executor("day.year, pair").output == "(2026, (1, {2}))"
    with pytest.raises(SerializationError):
        executor.send_variables({"bad": object()})


def test_missing_packages_are_reported() -> None:
    assert TideboxExecutor(["json", "csv"]).installed_packages == ["json", "csv"]
    with pytest.raises(AgentError, match="cannot install no_such_package_of_anyone"):
        TideboxExecutor(["json", "no_such_package_of_anyone"])


def test_sandbox_of_the_caller_stays_open() -> None:
    sandbox = Sandbox(files={"a": "1"})
    executor = TideboxExecutor(sandbox=sandbox)
    assert executor("open('a').read()").output == "'1'"
    executor.cleanup()
    assert sandbox.execute("cat a").stdout == "1"
    with pytest.raises(TypeError, match="either a sandbox or options"):
        TideboxExecutor(sandbox=sandbox, files={})


def test_figures_are_images() -> None:
    executor = TideboxExecutor()
    if executor._missing(["matplotlib"]):
        pytest.skip("the installed pack has no matplotlib")
    done = executor("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert done.output.format == "PNG" and done.output.size > (10, 10)
