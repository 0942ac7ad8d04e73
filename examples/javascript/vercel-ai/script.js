// A scripted model, so that the example needs neither key nor network.

import { MockLanguageModelV4 } from "ai/test";

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };

function toolCalls(turn, calls) {
  const content = calls.map(([toolName, input], at) => ({
    type: "tool-call", toolCallId: `call-${turn}-${at}`, toolName, input: JSON.stringify(input),
  }));
  return { content, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] };
}

function text(said) {
  return { content: [{ type: "text", text: said }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
}

/** Returns the tool calls of each turn in order, and the final text. */
export function scripted(turns, lastWords) {
  return new MockLanguageModelV4({ doGenerate: [...turns.map((calls, turn) => toolCalls(turn, calls)), text(lastWords)] });
}
