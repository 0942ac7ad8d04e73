// Sandboxes of providers in the cloud, over the emulators that `cargo xtask npm test` has started. Environment
// variables contain their addresses and keys, as for a user.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { inspect } from "node:util";

import { AgentBackend, createSandbox, RemoteProvider, RemoteSandbox, Sandbox, SandboxError } from "tidebox";

const planted = process.env.TIDEBOX_EMULATORS_KEY;
const skip = planted === undefined ? "no emulators are running" : false;
const PROVIDERS = ["daytona", "e2b", "langsmith", "runloop"];
const KEYS = { daytona: "DAYTONA_API_KEY", e2b: "E2B_API_KEY", langsmith: "LANGSMITH_API_KEY", runloop: "RUNLOOP_API_KEY" };

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const bytes = (text) => new TextEncoder().encode(text);

/** The error of a promise that must be rejected with one of ours, which shows no key. */
async function refused(promise, code) {
  const error = await promise.then(() => assert.fail("it was not refused"), (error) => error);
  assert.ok(error instanceof SandboxError, inspect(error));
  assert.equal(error.code, code, error.message);
  assert.ok(!inspect(error, { depth: Infinity, showHidden: true }).includes("planted"), "an error shows a key");
  return error.message;
}

/** A server that answers everything by `answer`. */
async function served(answer, use) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Runs with variables of the environment changed. */
async function without(names, work) {
  const kept = names.map((name) => [name, process.env[name]]);
  for (const name of names) delete process.env[name];
  try {
    return await work();
  } finally {
    for (const [name, value] of kept) if (value !== undefined) process.env[name] = value;
  }
}

/** Uses a new sandbox, and closes and deletes it. */
async function at(name, options, use) {
  const provider = await RemoteProvider.open(name, options);
  const sandbox = await provider.create();
  try {
    await use(sandbox);
  } finally {
    await sandbox[Symbol.asyncDispose]();
    await provider.delete(sandbox.id);
  }
}

for (const name of PROVIDERS) {
  describe(`a sandbox at ${name}`, { skip, concurrency: true }, () => {
    test("has processes that outlive a call", () => at(name, {}, async (sandbox) => {
      const spawned = await sandbox.spawn("while read -r line; do echo \"got $line\"; done; echo end >&2; exit 3", { stdin: true, tag: "reader" });
      await spawned.write("one\n");
      await spawned.waitForOutput("got one");
      const { id } = await sandbox.spawn("true", { tag: "reader" });
      assert.equal(id, spawned.id);
      await spawned.closeStdin();
      assert.deepEqual(await spawned.wait(), { exitCode: 3 });
      const { text, chunks } = await sandbox.process(id).read();
      assert.deepEqual([text, chunks.map(({ stream }) => stream)], ["got one\nend\n", ["stdout", "stderr"]]);
      const other = await sandbox.spawn("echo ready; sleep 60");
      await other.waitForOutput("ready");
      await other.signal("TERM");
      assert.deepEqual(await other.wait(), { exitCode: 143 });
      assert.deepEqual((await sandbox.processes()).map(({ exitCode }) => exitCode), [3, 143]);
      await refused(sandbox.process("99").read(), "INVALID_OPTIONS");
      assert.match(await refused(sandbox.spawn("true", { cwd: "a\0b" }), "INVALID_OPTIONS"), /cwd/);
      assert.equal((await sandbox.execute("sleep 60 &", { background: "keep" })).code, "UNSUPPORTED");
      const last = await sandbox.spawn("sleep 60");
      await sandbox.close();
      await refused(last.read(), "CLOSED");
    }));

    test("has the methods of the local class with the same results", () => at(name, { labels: { test: "shape" }, env: { COLOUR: "blue" }, cwd: "/tmp" }, async (sandbox) => {
      assert.ok(sandbox instanceof RemoteSandbox && sandbox instanceof AgentBackend);
      assert.ok(Sandbox.prototype instanceof AgentBackend);
      assert.ok(sandbox.id.length > 0 && sandbox.isRunning);

      const { output, exitCode, truncated, stderr } = await sandbox.execute("echo $COLOUR $EXTRA; pwd; cat; echo oh >&2; exit 3", {
        env: { EXTRA: "red" }, stdin: "given\n",
      });
      assert.deepEqual([exitCode, truncated, stderr], [3, false, "oh\n"]);
      assert.match(output, /^blue red\n\/tmp\ngiven\n/);

      assert.deepEqual(await sandbox.write("/tmp/a/b.txt", "one\ntwo\nthree\n"), { path: "/tmp/a/b.txt", created: true, filesUpdate: null });
      assert.equal((await sandbox.read("a/b.txt", 1, 1)).content, "two\n");
      assert.equal((await sandbox.edit("/tmp/a/b.txt", "two", "2")).occurrences, 1);
      assert.equal((await sandbox.readRaw("/tmp/a/b.txt")).data.content, "one\n2\nthree\n");
      assert.deepEqual((await sandbox.ls("/tmp/a")).files.map(({ path }) => path), ["/tmp/a/b.txt"]);
      assert.deepEqual((await sandbox.grep("three", "/tmp/a")).matches, [{ path: "/tmp/a/b.txt", line: 3, text: "three" }]);
      assert.deepEqual((await sandbox.glob("*.txt", "/tmp/a")).files.map(({ path }) => path).length, 1);
      assert.deepEqual(await sandbox.uploadFiles([["/tmp/up", bytes("up")], ["relative", bytes("")]]), [
        { path: "/tmp/up", error: null }, { path: "relative", error: "invalid_path" },
      ]);
      const [up, none] = await sandbox.downloadFiles(["/tmp/up", "/tmp/none"]);
      assert.deepEqual([new TextDecoder().decode(up.content), up.error, none.content, none.error], ["up", null, null, "file_not_found"]);
      assert.equal((await sandbox.delete("/tmp/a")).path, "/tmp/a");
      assert.equal((await sandbox.read("/tmp/a/b.txt")).code, "file_not_found");
    }));

    test("streams output, and stops when its caller aborts", () => at(name, {}, async (sandbox) => {
      const running = sandbox.executeStream("echo first; sleep 0.3; echo second >&2");
      const chunks = [];
      for await (const { stream, text } of running) chunks.push([stream, text]);
      assert.deepEqual(chunks.filter(([, text]) => text !== ""), [["stdout", "first\n"], ["stderr", "second\n"]]);
      assert.equal((await running.result).exitCode, 0);

      const controller = new AbortController();
      const given = sandbox.execute("echo begun; while :; do echo x >> /tmp/grows; sleep 0.1; done", {
        signal: controller.signal, onStdout: () => controller.abort(),
      });
      const { exitCode, stoppedBy, stdout } = await given;
      assert.deepEqual([exitCode, stoppedBy, stdout], [137, "cancelled", "begun\n"]);
      // Without a WebSocket LangSmith's are killed by their process number, which the emulator makes up.
      const size = async () => name === "langsmith" ? "" : (await sandbox.execute("cat /tmp/grows 2>/dev/null | wc -c")).stdout;
      await pause(700);
      const before = await size();
      await pause(500);
      assert.equal(await size(), before, "the command was killed there too");

      const late = await sandbox.execute("echo so far; sleep 30", { timeoutMs: 3000 });
      assert.deepEqual([late.exitCode, late.stoppedBy, late.stdout], [124, "timeout", "so far\n"]);
      const early = await sandbox.execute("echo never", { signal: AbortSignal.abort() });
      assert.deepEqual([early.exitCode, early.stoppedBy], [137, "cancelled"]);
      assert.equal((await sandbox.ls("/", { signal: AbortSignal.abort() })).code, "ABORTED");
    }));

    test("is found again by its id and by its labels, listed, and deleted", async () => {
      const provider = await RemoteProvider.open(name, { labels: { suite: "life" } });
      const label = { thread: `t${Math.trunc(performance.timeOrigin + performance.now())}` };
      const made = await provider.getOrCreate(label);
      await made.write("/tmp/kept", "kept");
      await made.close();
      assert.equal(made.isRunning, false);
      assert.equal((await made.execute("true")).code, "CLOSED");
      assert.equal((await made.ls("/")).code, "CLOSED");

      const again = await provider.getOrCreate(label);
      assert.equal(again.id, made.id);
      assert.equal((await again.read("/tmp/kept")).content, "kept");
      const connected = await provider.connect(made.id);
      assert.equal((await connected.execute("cat /tmp/kept")).output, "kept");

      const { sandboxes } = await provider.list({ labels: label });
      assert.deepEqual(sandboxes.map(({ id, labels }) => [id, labels.thread]), [[made.id, label.thread]]);
      await provider.delete(made.id);
      await provider.delete(made.id);
      assert.deepEqual((await provider.list({ labels: label })).sandboxes, []);
      await refused(provider.connect(made.id), "SANDBOX_NOT_FOUND");
    });

    test("needs a valid key and never reveals it", async () => {
      const wrong = `planted-and-wrong-${name}`;
      const message = await refused(createSandbox(name, { apiKey: wrong }), "UNAUTHENTICATED");
      assert.ok(!message.includes(wrong));
      await refused(createSandbox(name, { apiKey: "planted\nkey" }), "INVALID_OPTIONS");
      const names = [KEYS[name], "LANGSMITH_SANDBOX_API_KEY", "DAYTONA_JWT_TOKEN"];
      await without(names, async () => {
        assert.match(await refused(createSandbox(name), "UNAUTHENTICATED"), new RegExp(KEYS[name]));
      });
      const provider = await RemoteProvider.open(name);
      const sandbox = await provider.create();
      const shown = inspect([provider, sandbox], { depth: Infinity, showHidden: true, getters: true });
      assert.ok(!shown.includes(planted), shown);
      assert.ok(!JSON.stringify([provider, sandbox]).includes(planted));
      await provider.delete(sandbox.id);
    });

    test("tools never throw when the provider fails", async () => {
      let broken = false;
      const failing = (...args) => broken ? Promise.reject(new TypeError(`fetch failed with ${planted}`)) : fetch(...args);
      const sandbox = await createSandbox(name, { fetch: failing });
      broken = true;
      const ran = await sandbox.execute("true");
      assert.equal(ran.exitCode, null, inspect(ran));
      assert.equal(ran.code, "UNAVAILABLE", ran.output);
      const [up, down, ...answers] = await Promise.all([
        sandbox.uploadFiles([["/x", bytes("")]]), sandbox.downloadFiles(["/x"]),
        sandbox.ls("/"), sandbox.read("/x"), sandbox.readRaw("/x"), sandbox.write("/x", ""),
        sandbox.edit("/x", "a", "b"), sandbox.delete("/x"), sandbox.grep("a"), sandbox.glob("*"),
      ]);
      for (const answer of answers) {
        assert.equal(typeof answer.error, "string");
        assert.ok(!inspect(answer).includes(planted));
      }
      assert.deepEqual(up, [{ path: "/x", error: "permission_denied" }]);
      assert.deepEqual(down, [{ path: "/x", content: null, error: "permission_denied" }]);
      broken = false;
      await sandbox.close();
    });

    test("takes whatever callers without types give", () => at(name, {}, async (sandbox) => {
      for (const odd of [undefined, null, 7, {}, [], Symbol("odd"), () => {}]) {
        for (const method of ["ls", "read", "readRaw", "write", "edit", "delete", "grep", "glob"]) {
          assert.equal(typeof (await sandbox[method](odd)).error, "string", `${method} of ${String(odd)}`);
        }
        await sandbox.uploadFiles(odd);
        await sandbox.downloadFiles(odd);
      }
      assert.equal((await sandbox.execute("echo on")).output, "on\n");
    }));
  });
}

describe("providers", { skip }, () => {
  test("that JavaScript cannot use fail with the reason", async () => {
    assert.match(await refused(createSandbox("deno", { apiKey: "planted" }), "UNSUPPORTED"), /WebSocket .* headers/);
    assert.match(await refused(createSandbox("modal", { apiKey: "planted" }), "UNSUPPORTED"), /gRPC/);
    assert.match(await refused(createSandbox("moon", { apiKey: "planted" }), "UNSUPPORTED"), /daytona.*e2b.*langsmith.*runloop/);
  });

  test("reject unsupported and unknown options", async () => {
    assert.match(await refused(createSandbox("e2b", { region: "moon" }), "UNSUPPORTED"), /e2b.*region/);
    assert.match(await refused(createSandbox("e2b", { colour: "planted" }), "INVALID_OPTIONS"), /'colour'/);
    assert.match(await refused(createSandbox("e2b", { extra: { colour: "x" } }), "UNSUPPORTED"), /colour/);
    await refused(createSandbox("e2b", { apiKey: 7 }), "INVALID_OPTIONS");
    await refused(createSandbox("e2b", { network: { only: "planted" } }), "INVALID_OPTIONS");
    await refused(createSandbox("e2b", { memoryMiB: -1 }), "INVALID_OPTIONS");
    await refused(createSandbox("e2b", null), "INVALID_OPTIONS");
  });

  test("that send a request elsewhere are not followed with the key", async () => {
    const seen = [];
    await served((request, response) => {
      seen.push(inspect(request.headers));
      response.end("{}");
    }, (elsewhere) => served((_, response) => {
      response.writeHead(307, { location: `${elsewhere}/taken` }).end();
    }, async (url) => {
      for (const name of PROVIDERS) {
        await assert.rejects(createSandbox(name, { apiUrl: url, apiKey: "planted", readyTimeMs: 2000 }), SandboxError);
      }
    }));
    assert.deepEqual(seen, []);
  });

  test("that cannot be reached are reported by their host only", async () => {
    const message = await refused(createSandbox("e2b", { apiUrl: "http://127.0.0.1:9/x?planted", apiKey: "planted" }), "UNAVAILABLE");
    assert.match(message, /is unreachable.*127\.0\.0\.1:9/);
  });

  test("leave nothing running when a set-up script fails", async () => {
    const labels = { failed: `f${Math.trunc(performance.timeOrigin + performance.now())}` };
    const message = await refused(createSandbox("e2b", { labels, setup: "echo reason >&2; exit 3" }), "COMMAND_FAILED");
    assert.match(message, /reason/);
    assert.deepEqual((await (await RemoteProvider.open("e2b")).list({ labels })).sandboxes, []);
  });

  test("make nothing that somebody constructs by hand", () => {
    assert.throws(() => new RemoteSandbox(), SandboxError);
    assert.throws(() => new RemoteProvider(), SandboxError);
  });
});
