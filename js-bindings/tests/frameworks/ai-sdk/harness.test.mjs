// The provider in a real `HarnessAgent`. Its harness is a script that runs the prompt as a command, in the sandbox.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { HarnessCapabilityUnsupportedError } from "@ai-sdk/harness";
import { HarnessAgent } from "@ai-sdk/harness/agent";
import { Sandbox, SandboxError } from "tidebox";
import { createTideboxSandbox, networkSandboxSession } from "tidebox/ai-sdk";

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
const stop = { unified: "stop", raw: undefined };

/** A harness in this process, with a set-up that has to run once. */
function harness() {
  const state = (type) => ({ type, harnessId: "script", specificationVersion: "harness-v1", data: {} });
  const turn = async ({ prompt, emit }, { sandboxSession, sessionWorkDir }) => {
    const command = typeof prompt === "string" ? prompt : prompt.content.map?.((part) => part.text).join("") ?? prompt.content;
    const { stdout, stderr, exitCode } = await sandboxSession.run({ command, workingDirectory: sessionWorkDir });
    emit({ type: "stream-start" });
    emit({ type: "text-start", id: "t" });
    emit({ type: "text-delta", id: "t", delta: `${stdout}${stderr}[${exitCode}]` });
    emit({ type: "text-end", id: "t" });
    emit({ type: "finish-step", finishReason: stop, usage });
    emit({ type: "finish", finishReason: stop, totalUsage: usage });
  };
  return {
    specificationVersion: "harness-v1", harnessId: "script", builtinTools: {},
    getBootstrap: async () => ({
      harnessId: "script", bootstrapDir: "/workspace/.script", files: [{ path: "/workspace/.script/tool.sh", content: "echo tool\n" }],
      commands: [{ command: "echo ran >> /workspace/.script/runs" }],
    }),
    doStart: async (options) => ({
      sessionId: options.sessionId, isResume: options.resumeFrom !== undefined,
      doPromptTurn: async (call) => ({ submitToolResult: async () => {}, done: turn(call, options) }),
      doContinueTurn: async () => assert.fail("no turn is continued"),
      doCompact: async () => {},
      doSuspendTurn: async () => state("continue-turn"),
      doDetach: async () => state("resume-session"),
      doStop: async () => state("resume-session"),
      doDestroy: async () => {},
    }),
  };
}

const ask = async (agent, session, prompt) => (await agent.generate({ session, prompt })).text;

describe("the provider in a HarnessAgent", () => {
  test("creates, stops, resumes and destroys a session", async () => {
    const agent = new HarnessAgent({ harness: harness(), sandbox: createTideboxSandbox({ files: { "in.txt": "given\n" } }) });
    const first = await agent.createSession({ sessionId: "one" });
    assert.equal(await ask(agent, first, "pwd; cat ../in.txt; sh ../.script/tool.sh; echo mine > own.txt"), "/workspace/script-one\ngiven\ntool\n[0]");
    const resumeFrom = await first.stop();
    const second = await agent.createSession({ sessionId: "one", resumeFrom });
    assert.equal(await ask(agent, second, "cat own.txt ../.script/runs; rm ../in.txt; exit 3"), "mine\nran\n[3]");
    await second.destroy();
    await assert.rejects(agent.createSession({ sessionId: "one", resumeFrom }), { code: "SANDBOX_NOT_FOUND", message: /unknown session 'one'/ });
  });

  test("runs the set-up once, and sessions do not share files", async () => {
    let setUps = 0;
    const onBootstrap = async ({ session, workDir }) => {
      setUps += 1;
      await session.writeTextFile({ path: `${workDir}/set-up.txt`, content: "set up\n" });
    };
    const agent = new HarnessAgent({
      harness: harness(), sandbox: createTideboxSandbox(), sandboxConfig: { onBootstrap, bootstrapHash: "1", workDir: "work" },
    });
    const sessions = await Promise.all(["a", "b"].map((sessionId) => agent.createSession({ sessionId })));
    const answers = await Promise.all(sessions.map((session) => ask(agent, session, `cat set-up.txt; echo ${session.sessionId} > ../mine; cat ../mine ../.script/runs`)));
    assert.deepEqual([answers, setUps], [["set up\na\nran\n[0]", "set up\nb\nran\n[0]"], 1]);
    await Promise.all(sessions.map((session) => session.destroy()));
  });

  test("keeps the sandbox of a detached session running", async () => {
    const agent = new HarnessAgent({ harness: harness(), sandbox: createTideboxSandbox() });
    const first = await agent.createSession({ sessionId: "kept" });
    await ask(agent, first, "echo before > f");
    const resumeFrom = await first.detach();
    const second = await agent.createSession({ sessionId: "kept", resumeFrom });
    assert.equal(await ask(agent, second, "cat f"), "before\n[0]");
    await second.destroy();
  });

  test("does not close a sandbox of the caller", async (context) => {
    const sandbox = await Sandbox.create();
    context.after(() => sandbox.close());
    for (const settings of [{ sandbox: createTideboxSandbox({ sandbox }) }, {}]) {
      const agent = new HarnessAgent({ harness: harness(), ...settings });
      const given = settings.sandbox === undefined ? { sandboxSession: networkSandboxSession(sandbox) } : {};
      const session = await agent.createSession({ sessionId: "wrapped", ...given });
      assert.equal(await ask(agent, session, "echo inside >> ../log; cat ../.script/runs"), "ran\n[0]");
      await session.destroy();
    }
    assert.equal((await sandbox.execute("cat log")).output, "inside\ninside\n");
  });
});

describe("a network session", () => {
  test("returns the address of a server in a local sandbox", async (context) => {
    const session = await createTideboxSandbox().createSession({ sessionId: "ports" });
    context.after(() => session.destroy());
    assert.deepEqual([session.id, session.ports, session.defaultWorkingDirectory], ["ports", [], "/workspace"]);
    const serve = "printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nserved' | nc -lN 3000 >/dev/null";
    await session.spawn({ command: `while :; do ${serve}; done` });
    const { url, headers } = await session.getPortEndpoint({ port: 3000 });
    assert.equal(headers, undefined);
    const page = async () => (await fetch(url)).text();
    let text;
    for (let n = 0; n < 200 && text === undefined; n += 1) text = await page().catch(() => new Promise((done) => setTimeout(done, 20)));
    assert.equal(text, "served");
    assert.equal(await session.getPortUrl({ port: 3000 }), url);
    assert.equal((await session.getPortEndpoint({ port: 3000, protocol: "ws" })).url, url.replace("http:", "ws:"));
    const restricted = session.restricted();
    assert.deepEqual(["stop", "destroy", "ports", "getPortEndpoint"].filter((name) => name in restricted), []);
    assert.equal((await restricted.run({ command: "echo ok" })).stdout, "ok\n");
  });

  test("returns the address that the sandbox has for a port", async (context) => {
    const sandbox = await Sandbox.create();
    context.after(() => sandbox.close());
    const headers = { "x-token": "secret" };
    sandbox.portEndpoint = async (port) => ({ url: `https://${port}.example`, headers: port === 3000 ? {} : headers });
    const session = networkSandboxSession(sandbox);
    assert.deepEqual(await session.getPortEndpoint({ port: 3000 }), { url: "https://3000.example" });
    assert.equal(await session.getPortUrl({ port: 3000 }), "https://3000.example");
    assert.deepEqual(await session.getPortEndpoint({ port: 3001, protocol: "ws" }), { url: "wss://3001.example", headers });
    const rejects = (call, message) =>
      assert.rejects(call, (error) => HarnessCapabilityUnsupportedError.isInstance(error) && message.test(error.message));
    await rejects(session.getPortUrl({ port: 3001 }), /needs headers/);
    sandbox.portEndpoint = async () => Promise.reject(new SandboxError("a page cannot listen", "UNSUPPORTED"));
    for (const method of ["getPortEndpoint", "getPortUrl"]) await rejects(session[method]({ port: 3000 }), /port 3000 .*a page/);
  });

  test("is stopped and destroyed more than once", async () => {
    const provider = createTideboxSandbox();
    const session = await provider.createSession({ sessionId: "twice" });
    await Promise.all([session.stop(), session.stop()]);
    await assert.rejects(session.run({ command: "true" }), { code: "CLOSED" });
    await assert.rejects(provider.createSession({ sessionId: "twice" }), { code: "ALREADY_INITIALIZED" });
    await session.destroy();
    await session.destroy();
    await (await provider.createSession({ sessionId: "twice" })).destroy();
  });

  test("reports a failed set-up, and the next session tries again", async () => {
    const provider = createTideboxSandbox();
    const fail = async () => Promise.reject(new Error("no set-up"));
    await assert.rejects(provider.createSession({ identity: "i", onFirstCreate: fail }), /no set-up/);
    const session = await provider.createSession({ identity: "i", onFirstCreate: async (own) => own.writeTextFile({ path: "ok", content: "1" }) });
    assert.equal(await session.readTextFile({ path: "ok" }), "1");
    await session.destroy();
    await assert.rejects(provider.createSession({ abortSignal: AbortSignal.abort(new Error("late")) }), /late/);
  });
});
