"""A harness whose loop runs in this process. verifiers imports it by the name of this module."""

from typing import Any

import httpx
from verifiers.v1.configs.harness import HarnessConfig
from verifiers.v1.harness import Harness
from verifiers.v1.runtimes import ProgramResult, Runtime

__all__ = ["LoopHarness"]


class LoopHarness(Harness[HarnessConfig]):
    """Runs every reply of the model as a command, until one starts with `done`."""

    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Runtime, endpoint: str, secret: str, mcp_urls: Any, data: Any
    ) -> ProgramResult:
        messages = [{"role": "user", "content": data.prompt}]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as client:
            while True:
                body = {"model": ctx.model, "messages": messages}
                reply = await client.post(f"{endpoint}/chat/completions", json=body, timeout=30)
                reply.raise_for_status()
                text = reply.json()["choices"][0]["message"]["content"]
                if text.startswith("done"):
                    return ProgramResult(0, text, "")
                result = await runtime.run(["bash", "-c", text], {})
                messages += [{"role": "assistant", "content": text}, {"role": "user", "content": result.stdout}]
