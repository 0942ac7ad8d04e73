// Every example runs as its reader would run it, and prints what is expected.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

/** Runs a program in the folder of an example. */
function run(example, [program, ...args], env = {}) {
  const options = { cwd: fileURLToPath(new URL(`${example}/`, import.meta.url)), env: { ...process.env, ...env } };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
  });
}

const node = (example, env) => run(example, [process.execPath, "main.js"], env);

describe("examples", { concurrency: 2 }, () => {
  test("node", async () => {
    const { code, stdout, stderr } = await node("node");
    assert.deepEqual([code, stderr], [0, ""]);
    // One piece of the output may hold several lines.
    assert.equal(stdout.replaceAll("stdout: ", ""), [
      "0: north 7",
      "step 1", "step 2", "step 3", "stderr: careful", "0: all steps",
      "124: stopped by timeout",
      "removed /workspace/kept.txt, added /workspace/new.sh, removed /workspace/sales.csv",
      "tpek, and gzip begins with 31,139",
      "no network: 6",
      "",
    ].join("\n"));
  });

  const deno = process.env.TIDEBOX_DENO;
  test("deno", { skip: deno === undefined ? "TIDEBOX_DENO names no Deno" : false }, async () => {
    const checked = await run("deno", [deno, "check", "main.ts"], { NO_COLOR: "1" });
    assert.equal(checked.code, 0, checked.stderr);
    const { code, stdout, stderr } = await run("deno", [deno, "task", "start"], { NO_COLOR: "1" });
    assert.equal(code, 0, stderr);
    assert.equal(stdout, [
      "words (0):       2 sea",
      "host (1): tidebox\n0",
      "endless (124): tidebox: the command was stopped because it ran for 300ms; increase the timeout or split the command",
      "grep: /workspace/words.txt:1 /workspace/words.txt:3",
      "",
    ].join("\n"));
  });

  test("vitest", async () => {
    const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
    const { code, stdout, stderr } = await run("vitest", [process.execPath, vitest, "run"], { NO_COLOR: "1", CI: "1" });
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(stdout, /Tests +6 passed \(6\)/);
  });

  test("langchain", async () => {
    const { code, stdout, stderr } = await node("langchain");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^> bash .*access\.log"\}\n10:00 200 \/\n10:01 500 \/pay\n5\n\[exit code 0\]\n/);
    assert.match(stdout, /\n {6}2 \/pay\n {6}1 \/search\n/);
    assert.match(stdout, /\nwrote \/workspace\/report\.md\nbash: line 1: no-such-program: command not found\n\[exit code 127\]\n/);
    assert.match(stdout, /\nThe page \/pay fails most; see report\.md\.\n# Errors\n\n\/pay fails most\.\n$/);
  });

  test("vercel-ai", async () => {
    const { code, stdout, stderr } = await node("vercel-ai");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^bash: \{"stdout":"people\.json\\n\[\{\\"name\\":\\"Grace\\"/);
    assert.match(stdout, /\nbash: \{"stdout":"2\\n","stderr":"","exitCode":0,"truncated":false\}\n/);
    assert.match(stdout, /\nreadFile: \{"content":"Ada\\nGrace\\n","totalLines":2\}\nreadFile: \{"error":"[^"]*not found"\}\n/);
    assert.match(stdout, /\nAda and Grace are older than 40\.\nAda and Grace\n$/);
  });

  test("vercel-ai, the session", async () => {
    const { code, stdout, stderr } = await run("vercel-ai", [process.execPath, "--test", "--test-reporter=tap"], { NODE_TEST_CONTEXT: undefined });
    assert.equal(code, 0, `${stdout}${stderr}`);
    const passed = typeof WebAssembly.Suspending === "function" ? 8 : 7;
    assert.match(stdout, new RegExp(`^# pass ${passed}\n# fail 0$`, "m"));
  });

  test("bash-tool", async () => {
    const { code, stdout, stderr } = await node("bash-tool");
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'bash: {"stdout":"2\\n","stderr":"","exitCode":0}\nwriteFile: {"success":true}\nThere are 2 tasks.\n2\n');
  });

  test("mastra", async () => {
    const { code, stdout, stderr } = await node("mastra", { MASTRA_TELEMETRY_DISABLED: "1" });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^mastra_workspace_execute_command:\n +2 north\n +1 south\n/);
    assert.match(stdout, /\nmastra_workspace_write_file:\n.*report\.md.*\nmastra_workspace_read_file:\n[^]*north: 2\n/);
    assert.match(stdout, /\nThe north sold twice\.\n$/);
  });

  test("openai-agents", async () => {
    const { code, stdout, stderr } = await node("openai-agents");
    assert.equal(code, 0, stderr);
    const ran = (text) => `Process exited with code 0\nOutput:\n${text}\n`;
    assert.equal(stdout, `${ran("Helo Ada")}patch: completed\n${ran("Hello Ada")}The greeting is correct now.\n`);
  });

  /** What the agent does is the same wherever it works. */
  const worked = ({ code, stdout, stderr }) => {
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ls: \/tmp\/project\/greet\.sh \(16 bytes\)\n/);
    assert.match(stdout, /\nread_file: @@ lines 1-1 of 1 @@\n {2}echo "Hello \$1"\nexecute: \n  \[Command failed with exit code 1\]\n/);
    assert.match(stdout, /\nedit_file: Successfully replaced 1 occurrence\(s\) in '\/tmp\/project\/greet\.sh'\n/);
    assert.match(stdout, /\nexecute: pass\n {2}\n {2}\[Command succeeded with exit code 0\]\nThe tests pass now\.\n$/);
  };

  test("deep-agents", async () => worked(await node("deep-agents")));

  const emulated = process.env.TIDEBOX_EMULATORS_KEY !== undefined;
  for (const provider of ["daytona", "e2b", "langsmith", "runloop"]) {
    test(`deep-agents at ${provider}`, { skip: emulated ? false : "no emulators are running" }, async () => {
      worked(await node("deep-agents", { SANDBOX_PROVIDER: provider }));
    });
  }

  test("deep-agents in the cloud reports missing settings", async () => {
    const { code, stderr } = await node("deep-agents", { SANDBOX_PROVIDER: "daytona", DAYTONA_API_KEY: "" });
    assert.equal(code, 1);
    assert.match(stderr, /missing key for daytona; set DAYTONA_API_KEY/);
    const unknown = await node("deep-agents", { SANDBOX_PROVIDER: "moon" });
    assert.match(unknown.stderr, /^unknown SANDBOX_PROVIDER moon; expected one of: tidebox \(the default\), daytona, e2b, langsmith, runloop\n$/);
  });
});
