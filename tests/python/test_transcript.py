"""What a model sees of a sandbox through the real tools of Deep Agents: a scripted model, one conversation for each point."""

import pytest
from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Scripted(BaseChatModel):
    """Says what it was told to say, turn by turn."""

    turns: list

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        said = sum(isinstance(message, AIMessage) for message in messages)
        message = self.turns[said] if said < len(self.turns) else AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.fixture(scope="module")
def backend():
    import os

    from tidebox_backend import TideboxSandbox

    sandbox = TideboxSandbox(os.environ["TIDEBOX_JSON_LINES"], "python")
    yield sandbox
    sandbox.close()


@pytest.fixture
def converse(backend):
    """Runs turns of tool calls, each `(tool, arguments)`, and returns what the model was shown for each call."""

    def run(*turns):
        numbered = (f"call_{number}" for number in range(1000))
        messages = [
            AIMessage("", tool_calls=[{"name": name, "args": args, "id": next(numbered)} for name, args in turn])
            for turn in turns
        ]
        agent = create_deep_agent(model=Scripted(turns=messages), backend=backend)
        answer = agent.invoke({"messages": [("user", "go")]})
        shown = [message for message in answer["messages"] if isinstance(message, ToolMessage)]
        return [message.text for message in shown]

    return run


def test_text_is_raw_under_a_header_that_is_true(converse):
    _, page, rest = converse(
        [("write_file", {"file_path": "/workspace/a.txt", "content": "one\n  two\nthree\nfour\n"})],
        [("read_file", {"file_path": "/workspace/a.txt", "offset": 1, "limit": 2})],
        [("read_file", {"file_path": "/workspace/a.txt", "offset": 3})],
    )
    header, _, text = page.partition("\n")
    assert "lines 2-3 of 4" in header and "next offset 3" in header, page
    assert text == "  two\nthree"
    assert "lines 4-4 of 4" in rest and "next offset" not in rest, rest


def test_an_empty_file_is_the_reminder_and_nothing_else(converse):
    _, shown = converse(
        [("write_file", {"file_path": "/workspace/empty", "content": ""})],
        [("read_file", {"file_path": "/workspace/empty"})],
    )
    assert shown == "System reminder: File exists but has empty contents"


def test_past_the_end_is_an_error(converse):
    _, shown = converse(
        [("write_file", {"file_path": "/workspace/b.txt", "content": "1\n2\n3\n"})],
        [("read_file", {"file_path": "/workspace/b.txt", "offset": 9})],
    )
    assert "Line offset 9 exceeds file length (3 lines)" in shown


def test_a_large_result_is_put_aside_and_can_be_read(converse, backend):
    result, page, found = converse(
        [("execute", {"command": "seq 1 40000"})],
        [("read_file", {"file_path": "/large_tool_results/call_0", "offset": 30000, "limit": 2})],
        [("grep", {"pattern": "39999", "path": "/large_tool_results", "output_mode": "content"})],
    )
    assert "/large_tool_results/call_0" in result and len(result) < 20_000, result[:500]
    assert page.endswith("30001\n30002"), page
    assert "39999" in found
    assert backend.execute("wc -l < /large_tool_results/call_0").output.strip() in {"40000", "40001"}


def test_a_change_is_seen_by_every_tool_and_by_commands(converse):
    written, edited, shown, found, listed, grepped, deleted, gone = converse(
        [("write_file", {"file_path": "/workspace/src/main.py", "content": "print('hello')\n"})],
        [("edit_file", {"file_path": "/workspace/src/main.py", "old_string": "hello", "new_string": "goodbye"})],
        [("execute", {"command": "cat src/main.py; ls /workspace/src"})],
        [("glob", {"pattern": "*.py", "path": "/workspace"})],
        [("ls", {"path": "/workspace/src"})],
        [("grep", {"pattern": "goodbye", "path": "/workspace/src"})],
        [("delete", {"file_path": "/workspace/src/main.py"})],
        [("execute", {"command": "cat src/main.py"})],
    )
    assert "/workspace/src/main.py" in written
    assert "Successfully replaced 1" in edited
    assert shown.startswith("print('goodbye')\nmain.py\n") and "exit code 0" in shown, shown
    for text in (found, listed, grepped):
        assert "/workspace/src/main.py" in text, text
    assert "main.py" in deleted
    assert "No such file" in gone and "exit code 1" in gone, gone


def test_calls_of_one_turn_run_at_once_and_keep_their_answers(converse):
    shown = converse([("execute", {"command": f"sleep 0.2; echo answer {number}"}) for number in range(8)])
    assert [text.splitlines()[0] for text in shown] == [f"answer {number}" for number in range(8)]


def test_a_command_that_does_not_end_is_stopped_and_the_agent_goes_on(converse):
    stopped, after = converse(
        [("execute", {"command": "echo begun; while :; do :; done", "timeout": 1})],
        [("execute", {"command": "echo fine"})],
    )
    assert "begun" in stopped and "exit code 124" in stopped, stopped
    assert after.startswith("fine")


def test_what_is_wrong_is_told_and_ends_nothing(converse):
    missing, twice, nowhere, after = converse(
        [("read_file", {"file_path": "/workspace/nothing"})],
        [("edit_file", {"file_path": "/etc/passwd", "old_string": "tidebox", "new_string": "x"})],
        [("ls", {"path": "/nowhere"})],
        [("execute", {"command": "echo fine"})],
    )
    assert "file_not_found" in missing
    assert twice.startswith("Error") and "fine" not in twice
    assert "path_not_found" in nowhere
    assert after.startswith("fine")
