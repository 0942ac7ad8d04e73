"""The examples of the documentation run."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in sorted(HERE.glob("*.md"))
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1)
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 5


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs(code: str, tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    # asyncio's debug mode reports the start of the engine, which takes long on a busy machine.
    errors = re.sub(r"^Executing <Task .* took .* seconds\n", "", done.stderr, flags=re.MULTILINE)
    assert (done.returncode, errors) == (0, "")
    expected = re.findall(r"#> (.*)", code)
    assert done.stdout.splitlines()[: len(expected)] == expected if expected else True
