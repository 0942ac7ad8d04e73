// Uses every tool through the official TypeScript client. Arguments: a mode of the client, and the command or the URL of the server.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const [mode, server, ...rest] = process.argv.slice(2);
const used = new Set();

function transport() {
  if (!server.startsWith("http://")) return new StdioClientTransport({ command: server, args: rest });
  const headers = { Authorization: `Bearer ${rest[0]}` };
  return new StreamableHTTPClientTransport(new URL(server), { requestInit: { headers } });
}

const pinned = mode.startsWith("20") ? { pin: mode } : mode;
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: pinned } });

async function call(name, args = {}, options) {
  used.add(name);
  const result = await client.callTool({ name, arguments: args }, options);
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
  assert.equal(result.content[0].type, "text");
  return result;
}

const value = async (name, args, options) => (await call(name, args, options)).structuredContent;

async function useCommands() {
  let result = await value("bash", { command: "mkdir -p d && cd d && X=7; echo out; echo err >&2; exit 3", unknown: 1 });
  assert.deepEqual([result.stdout, result.stderr, result.exit_code], ["out\n", "err\n", 3]);
  assert.equal((await value("bash", { command: "pwd; echo $X" })).stdout, "/workspace/d\n7\n");
  result = await value("bash", { command: "cd /workspace; sleep 9", timeout: 300 });
  assert.deepEqual([result.timed_out, result.exit_code], [true, 124]);
  await call("bash", { command: "cd /workspace" });
}

async function useFiles() {
  await call("write", { file_path: "d/a.py", content: "one\ntwo\nthree\n" });
  const page = await value("read", { file_path: "d/a.py", offset: 2, limit: 1 });
  assert.deepEqual([page.content.trim(), page.next_offset, page.total_lines], ["two", 3, 3]);
  assert.equal((await value("edit", { file_path: "d/a.py", old_string: "two", new_string: "2" })).occurrences, 1);
  assert.deepEqual((await value("glob", { pattern: "**/*.py" })).files, ["/workspace/d/a.py"]);
  const counts = (await value("grep", { pattern: "E", "-i": true, output_mode: "count" })).matches;
  assert.deepEqual(counts.map((one) => [one.path, one.count]), [["/workspace/d/a.py", 2]]);
  assert.deepEqual((await value("ls")).entries.map((entry) => entry.name), ["d"]);
  await call("upload", { path: "dot.png", content_base64: PNG });
  assert.equal((await value("download", { path: "dot.png" })).content_base64, PNG);
  const made = await call("bash", { command: "cp dot.png copy.png" });
  assert.deepEqual([made.content[1].type, made.content[1].data], ["image", PNG]);
}

async function useSnapshots() {
  const { name } = await value("snapshot");
  await call("write", { file_path: "new.txt", content: "x\n" });
  const { changes } = await value("diff", { name });
  assert.deepEqual(changes.map((one) => [one.change, one.path]), [["added", "/workspace/new.txt"]]);
  await call("restore", { name });
  assert.equal((await value("diff", { name })).changes.length, 0);
}

async function useProcesses() {
  const { process_id } = await value("bash", { command: "echo ready; sleep 100", background: true });
  const page = await value("output", { process_id, wait: 10_000 });
  assert.deepEqual([page.output, page.running], ["ready\n", true]);
  const running = (await value("processes")).processes.filter((one) => one.running);
  assert.deepEqual(running.map((one) => one.process_id), [process_id]);
  assert.equal((await value("kill", { process_id, signal: "KILL" })).exit_code, 137);
}

async function usePython() {
  used.add("run_python");
  const result = await client.callTool({ name: "run_python", arguments: { code: "20 + 1" } });
  if (result.isError) {
    assert.match(result.content[0].text, /tidebox pack add python/);
    console.log("skipped: run_python: the pack python is not installed");
  } else assert.equal(result.structuredContent.value, "21");
}

async function useProgressAndCancellation() {
  const seen = [];
  await call("bash", { command: "for i in 1 2 3 4; do echo line $i; sleep 0.3; done" }, { onprogress: (one) => seen.push(one) });
  assert.ok(seen.map((one) => one.message ?? "").join("").includes("line 1"), JSON.stringify(seen));
  assert.ok(seen.length >= 2 && seen.every((one, at) => at === 0 || one.progress > seen[at - 1].progress));

  const abort = new AbortController();
  const command = "rm -f ticks; while :; do echo tick >> ticks; sleep 0.05; done";
  const cancelled = client.callTool({ name: "bash", arguments: { command } }, { signal: abort.signal });
  const settled = assert.rejects(cancelled);
  while ((await value("bash", { command: "cat ticks 2>/dev/null" })).stdout === "") await sleep(50);
  abort.abort();
  await settled;
  const counts = [];
  while (counts.length < 2 || counts.at(-1) !== counts.at(-2)) {
    assert.ok(counts.length < 40, `the command still runs: ${counts}`);
    await sleep(500);
    counts.push((await value("bash", { command: "wc -l < ticks" })).stdout);
  }
}

async function useResources() {
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((one) => one.uriTemplate), ["file:///{+path}"]);
  const { resources } = await client.listResources();
  assert.ok(resources.some((one) => one.uri === "file:///workspace/d/a.py"), JSON.stringify(resources));
  const read = async (uri) => (await client.readResource({ uri })).contents[0];
  assert.equal((await read("file:///workspace/d/a.py")).text, "one\n2\nthree\n");
  assert.equal((await read("file:///workspace/dot.png")).blob, PNG);
  await assert.rejects(read("file:///workspace/none"), /not found/);
}

async function failClearly() {
  const failed = await client.callTool({ name: "read", arguments: { file_path: "none" } });
  assert.ok(failed.isError && failed.content[0].text.includes("none"));
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /unknown tool/);
  await assert.rejects(client.callTool({ name: "bash", arguments: {} }), /missing field `command`/);
}

await client.connect(transport());
const version = client.getNegotiatedProtocolVersion();
assert.equal(version === "2026-07-28", mode !== "legacy", `${mode}: ${version}`);
const { tools } = await client.listTools();
for (const use of [useCommands, useFiles, useSnapshots, useProcesses, usePython, useProgressAndCancellation, useResources, failClearly]) {
  await use();
}
assert.deepEqual([...used].sort(), tools.map((tool) => tool.name).sort());
await client.close();
console.log(`the session is done: ${mode} ${version}`);
