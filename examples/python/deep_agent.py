"""An agent of Deep Agents finds and fixes a bug in a sandbox. The model is a script; the rest is as with a real one."""

from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from tidebox import Sandbox
from tidebox.integrations.deepagents import TideboxSandbox

FILES = {
    "mean.awk": "{ sum += $1 }\nEND { print sum / (NR + 1) }\n",
    "test.sh": "printf '2\\n4\\n' | awk -f mean.awk | grep -qx 3 && echo passed || { echo failed; exit 1; }\n",
}

STEPS: list[tuple[str, dict[str, Any]]] = [
    ("execute", {"command": "sh test.sh"}),
    ("read_file", {"file_path": "/workspace/mean.awk"}),
    ("edit_file", {"file_path": "/workspace/mean.awk", "old_string": "(NR + 1)", "new_string": "NR"}),
    ("execute", {"command": "sh test.sh"}),
]


class ScriptedModel(BaseChatModel):
    """Calls one tool after the other."""

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        step = sum(isinstance(message, AIMessage) for message in messages)
        if step < len(STEPS):
            name, arguments = STEPS[step]
            message = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{step}"}])
        else:
            message = AIMessage("The mean was divided by one line too many. The test passes.")
        return ChatResult(generations=[ChatGeneration(message=message)])


def main() -> None:
    sandbox = Sandbox(files=FILES)
    before = sandbox.snapshot()
    agent = create_deep_agent(model=ScriptedModel(), backend=TideboxSandbox(sandbox))
    state = agent.invoke({"messages": [HumanMessage("The test fails. Fix the bug.")]})
    for message in state["messages"]:
        print(f"{message.type}: {message.text.strip()}")
    print([f"{change.kind} {change.path}" for change in sandbox.diff(before)])


if __name__ == "__main__":
    main()
