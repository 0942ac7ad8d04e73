"""What a model sees of a sandbox through the tools of Deep Agents. The model is a script; everything else is real."""

import asyncio
import subprocess
import time

import pytest
from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Script(BaseChatModel):
    """Asks for the tool calls of one turn after the other, then says that it is done."""

    turns: list
    seen: list = []

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools, **_):
        self.seen.append(sorted(tool["name"] if isinstance(tool, dict) else tool.name for tool in tools))
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        turn = sum(isinstance(message, AIMessage) for message in messages)
        calls = self.turns[turn] if turn < len(self.turns) else []
        message = AIMessage(
            content="" if calls else "done",
            tool_calls=[
                {"name": name, "args": args, "id": f"call-{turn}-{at}"} for at, (name, args) in enumerate(calls)
            ],
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.fixture
def sandbox(make_sandbox):
    return make_sandbox("python")


def run(sandbox, *turns):
    """What the tools of every turn answered, in the order of the calls."""
    agent = create_deep_agent(model=Script(turns=list(turns)), backend=sandbox)
    state = asyncio.run(agent.ainvoke({"messages": [HumanMessage("go")]}))
    answers = {m.tool_call_id: m for m in state["messages"] if isinstance(m, ToolMessage)}
    assert state["messages"][-1].text == "done"
    return [[answers[f"call-{t}-{c}"] for c in range(len(turn))] for t, turn in enumerate(turns)]


def texts(sandbox, *calls):
    """What each call answered, one turn for each."""
    return [turn[0].text for turn in run(sandbox, *[[call] for call in calls])]


def test_every_tool_of_a_sandbox_is_offered(sandbox):
    script = Script(turns=[])
    asyncio.run(create_deep_agent(model=script, backend=sandbox).ainvoke({"messages": [HumanMessage("go")]}))
    wanted = {"ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute"}
    assert wanted <= set(script.seen[-1]), script.seen


def test_files_are_written_read_edited_and_deleted(sandbox):
    path = "/workspace/notes.txt"
    wrote, read, edited, again, window, listed, gone, missing = texts(
        sandbox,
        ("write_file", {"file_path": path, "content": "one\ntwo\nthree\n"}),
        ("read_file", {"file_path": path}),
        ("edit_file", {"file_path": path, "old_string": "two", "new_string": "2"}),
        ("execute", {"command": "cat notes.txt"}),
        ("read_file", {"file_path": path, "offset": 1, "limit": 1}),
        ("ls", {"path": "/workspace"}),
        ("delete", {"file_path": path}),
        ("read_file", {"file_path": path}),
    )
    assert wrote == f"Updated file {path}"
    assert read.startswith("@@ lines 1-3 of 3 @@\none\ntwo\nthree"), read
    assert "1 instance" in edited or "1 occurrence" in edited, edited
    assert again.startswith("one\n2\nthree\n"), again
    assert window == "@@ lines 2-2 of 3 | next offset 2 @@\n2", window
    assert path in listed
    assert path in gone
    assert "file_not_found" in missing or "not found" in missing, missing


def test_an_empty_file_is_the_reminder_and_a_page_past_the_end_an_error(sandbox):
    _, empty, _, past = texts(
        sandbox,
        ("write_file", {"file_path": "/workspace/empty", "content": ""}),
        ("read_file", {"file_path": "/workspace/empty"}),
        ("write_file", {"file_path": "/workspace/short", "content": "a\nb\n"}),
        ("read_file", {"file_path": "/workspace/short", "offset": 7}),
    )
    assert empty == "System reminder: File exists but has empty contents"
    assert past == "Error: Line offset 7 exceeds file length (2 lines)"


def test_large_results_go_to_a_file_and_nothing_is_lost(sandbox):
    (first,), (found,), (middle,) = run(
        sandbox,
        [("execute", {"command": "seq 1 40000"})],
        [("glob", {"pattern": "/large_tool_results/*"})],
        [("execute", {"command": "sed -n 31234p /large_tool_results/call-0-0; grep -c ^[0-9] /large_tool_results/*"})],
    )
    assert "/large_tool_results/" in first.text and len(first.text) < 20_000, first.text[:500]
    assert "/large_tool_results/call-0-0" in found.text, found.text
    assert middle.text.startswith("31234\n40000\n"), middle.text


def test_searches_show_paths_that_the_other_tools_take(sandbox):
    sandbox.upload_files([("/workspace/src/a.py", b"x = 1\nneedle = 2\n"), ("/workspace/b c.py", b"needle\n")])
    by_name, by_content, lines, none = texts(
        sandbox,
        ("glob", {"pattern": "**/*.py", "path": "/workspace"}),
        ("grep", {"pattern": "needle", "path": "/workspace"}),
        ("grep", {"pattern": "needle", "path": "/workspace", "output_mode": "content"}),
        ("grep", {"pattern": "nowhere", "path": "/workspace"}),
    )
    for text in (by_name, by_content, lines):
        assert "/workspace/src/a.py" in text and "/workspace/b c.py" in text, text
    assert "2: needle = 2" in lines, lines
    assert "No matches found" in none, none


def test_a_command_tells_its_exit_code_and_time_limit(sandbox):
    (ok,), (failed,), (slow,) = run(
        sandbox,
        [("execute", {"command": "echo out; echo err >&2"})],
        [("execute", {"command": "ls /nowhere"})],
        [("execute", {"command": "echo begun; sleep 60", "timeout": 1})],
    )
    assert ok.text.startswith("out\nerr\n") and "exit code 0" in ok.text, ok.text
    assert ok.artifact["exit_code"] == 0 and ok.artifact["truncated"] is False
    assert "exit code 2" in failed.text and failed.artifact["exit_code"] == 2, failed.text
    assert slow.text.startswith("begun\n") and slow.artifact["exit_code"] == 124, slow.text


def test_calls_of_one_turn_run_at_the_same_time(sandbox):
    began = time.monotonic()
    (turn,) = run(sandbox, [("execute", {"command": f"sleep 2; echo {n}"}) for n in range(5)])
    assert time.monotonic() - began < 8
    assert [answer.text.split("\n")[0] for answer in turn] == ["0", "1", "2", "3", "4"]


def test_binary_files_come_as_a_block_and_paths_stay_inside(sandbox):
    sandbox.upload_files([("/workspace/dot.png", b"\x89PNG\r\n\x1a\n\x00\x01")])
    (image,), (outside,) = run(
        sandbox,
        [("read_file", {"file_path": "/workspace/dot.png"})],
        [("execute", {"command": "cat /../../etc/hostname"})],
    )
    block = image.content[0]
    assert (block["type"], block["mime_type"]) == ("image", "image/png"), image.content
    assert outside.text.startswith("tidebox\n"), outside.text


def test_what_is_wrong_is_told_and_ends_nothing(sandbox):
    missing, refused, nowhere, after = texts(
        sandbox,
        ("read_file", {"file_path": "/workspace/nothing"}),
        ("edit_file", {"file_path": "/etc/passwd", "old_string": "tidebox", "new_string": "x"}),
        ("ls", {"path": "/nowhere"}),
        ("execute", {"command": "echo fine"}),
    )
    assert "file_not_found" in missing
    assert refused.startswith("Error"), refused
    assert "path_not_found" in nowhere
    assert after.startswith("fine")


def test_much_output_comes_whole(sandbox):
    # What the standard tests prove with `python -c` where the sandbox has it.
    result = sandbox.execute("head -c 512000 /dev/zero | tr '\\0' x")
    assert (result.exit_code, result.truncated, len(result.output)) == (0, False, 512000)
    assert set(result.output) == {"x"}


def test_a_change_travels_from_a_clone_to_the_remote(make_sandbox, git_remote):
    sandbox = make_sandbox("python", mount=(str(git_remote), "/remote/app.git"))
    path = "/workspace/app/add.sh"
    cloned, branched, failed, read, edited, passed, shown, committed, pushed, status = texts(
        sandbox,
        ("execute", {"command": "git clone /remote/app.git app && git -C app log --format=%s"}),
        ("execute", {"command": "cd app && git switch -c fix-add"}),
        ("execute", {"command": "cd app && sh test.sh"}),
        ("read_file", {"file_path": path}),
        ("edit_file", {"file_path": path, "old_string": "$1 - $2", "new_string": "$1 + $2"}),
        ("execute", {"command": "cd app && sh test.sh"}),
        ("execute", {"command": "cd app && git diff"}),
        ("execute", {"command": "cd app && git commit -am 'Fix add' && git show --stat"}),
        ("execute", {"command": "cd app && git push -u origin fix-add"}),
        ("execute", {"command": "cd app && git status --short --branch"}),
    )
    assert "Cloning into 'app'" in cloned and "start\n" in cloned, cloned
    assert "Switched to a new branch 'fix-add'" in branched, branched
    assert "exit code 1" in failed, failed
    assert "$1 - $2" in read, read
    assert path in edited, edited
    assert passed.startswith("passed\n") and "exit code 0" in passed, passed
    assert "-add() { echo $(($1 - $2)); }\n+add() { echo $(($1 + $2)); }" in shown, shown
    assert "Fix add" in committed and "1 file changed, 1 insertion(+), 1 deletion(-)" in committed, committed
    assert "[new branch]      fix-add -> fix-add" in pushed, pushed
    assert status.startswith("## fix-add...origin/fix-add\n"), status
    log = ["git", "-c", "safe.directory=*", "-C", str(git_remote), "log", "--format=%s", "fix-add"]
    assert subprocess.run(log, capture_output=True, text=True, check=True).stdout == "Fix add\nstart\n"
    fsck = ["git", "-c", "safe.directory=*", "-C", str(git_remote), "fsck", "--strict"]
    subprocess.run(fsck, capture_output=True, check=True)
