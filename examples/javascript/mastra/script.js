// A scripted model, so that the example needs neither key nor network.

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** Returns a model that calls the tools of a workspace in order, and then ends with a text. */
export function scripted(calls, end) {
  const turns = calls.map(([name, input], at) => {
    const call = { type: "tool-call", toolCallId: `call-${at}`, toolName: `mastra_workspace_${name}`, input: JSON.stringify(input) };
    return { content: [call], finishReason: "tool-calls", usage, warnings: [] };
  });
  turns.push({ content: [{ type: "text", text: end }], finishReason: "stop", usage, warnings: [] });
  const doGenerate = async () => turns.shift();
  return { specificationVersion: "v2", provider: "script", modelId: "script", supportedUrls: {}, doGenerate };
}
