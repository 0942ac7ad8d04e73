"""The standard tests of LangChain for tools, against each tool."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from tidebox import Sandbox
from tidebox.integrations.langchain import TideboxToolkit

EXAMPLES: dict[str, dict[str, Any]] = {
    "execute": {"command": "cat a.txt", "timeout": 5},
    "read_file": {"path": "a.txt", "offset": 0, "limit": 10},
    "write_file": {"path": "new/b.txt", "content": "b\n"},
    "edit_file": {"path": "a.txt", "old_string": "a", "new_string": "A", "replace_all": True},
    "ls": {"path": "/workspace"},
    "glob": {"pattern": "**/*.txt", "path": "."},
    "grep": {"pattern": "a", "path": ".", "glob": "*.txt"},
}


@pytest.fixture(autouse=True, params=sorted(EXAMPLES))
def name(request: pytest.FixtureRequest) -> str:
    """Runs every test for every tool."""
    if request.instance is not None:
        request.instance.chosen = request.param
    return str(request.param)


class ChosenTool:
    """The tool that the fixture chose, in a new sandbox."""

    chosen: str

    @property
    def tool_constructor(self) -> BaseTool:
        tools = TideboxToolkit(sandbox=Sandbox(files={"a.txt": "a a\n"})).get_tools()
        return next(tool for tool in tools if tool.name == self.chosen)

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return EXAMPLES[self.chosen]

    @pytest.fixture
    def tool(self, name: str) -> BaseTool:
        return self.tool_constructor


class TestUnit(ChosenTool, ToolsUnitTests):
    """Standard unit tests."""


class TestIntegration(ChosenTool, ToolsIntegrationTests):
    """Standard integration tests."""


def test_an_example_has_a_result_without_an_error(name: str) -> None:
    """The standard tests accept errors as results."""
    tools = {tool.name: tool for tool in TideboxToolkit(sandbox=Sandbox(files={"a.txt": "a a\n"})).get_tools()}
    call = {"name": name, "args": EXAMPLES[name], "id": "1", "type": "tool_call"}
    assert tools[name].invoke(call).status == "success"
