// Unit tests of an agent, all in this process: the model is scripted, and commands run in a separate sandbox per test.

import { Sandbox } from "tidebox";
import { describe, expect, test as base } from "vitest";

import { solve } from "./agent.js";

/** Each test gets a fresh sandbox with the same project; clock and random numbers are deterministic. */
const test = base.extend({
  sandbox: async ({}, use) => {
    const sandbox = await Sandbox.create({
      files: { "sum.sh": "echo $(($1 - $2))\n", "test.sh": '[ "$(sh sum.sh 2 3)" = 5 ] && echo pass || { echo fail; exit 1; }\n' },
      limits: { wallTimeMs: 1000 },
      deterministic: true,
    });
    await use(sandbox);
    await sandbox.close();
  },
});

/** A model that runs these commands in order and returns the last output. */
function script(...commands) {
  let next = 0;
  return async (history) => (next < commands.length ? { command: commands[next++] } : { done: history.at(-1).text });
}

describe("the agent", () => {
  test("fixes a program until its tests pass", async ({ sandbox }) => {
    const model = script("sh test.sh", "sed -i 's/ - / + /' sum.sh", "sh test.sh");
    const { answer, history } = await solve("make the tests pass", model, sandbox);
    expect(history[2].text).toBe("fail\n[exit code 1]");
    expect(answer).toBe("pass\n[exit code 0]");
    expect((await sandbox.read("/workspace/sum.sh")).content).toBe("echo $(($1 + $2))\n");
  });

  test("starts each test with a fresh project", async ({ sandbox }) => {
    const { answer } = await solve("look", script("cat sum.sh"), sandbox);
    expect(answer).toBe("echo $(($1 - $2))\n[exit code 0]");
  });

  test("continues after a command that hangs", async ({ sandbox }) => {
    const { answer, history } = await solve("wait", script("while :; do :; done", "echo alive"), sandbox);
    expect(history[2].text).toMatch(/\[exit code 124\]$/);
    expect(answer).toBe("alive\n[exit code 0]");
  });

  test("cannot reach the network or the host", async ({ sandbox }) => {
    const { answer } = await solve("leave", script("curl -s http://127.0.0.1:1 || cat /proc/1/environ; hostname; whoami"), sandbox);
    expect(answer).toMatch(/tidebox\ntidebox\n\[exit code 0\]$/);
    expect(answer).not.toContain(process.env.PATH);
  });

  test("stops after ten commands", async ({ sandbox }) => {
    const { answer, history } = await solve("go round", async () => ({ command: "date +%s" }), sandbox);
    expect(answer).toBeUndefined();
    expect(history).toHaveLength(21);
  });

  test("has the same random numbers in every run", async ({ sandbox }) => {
    const { answer } = await solve("roll", script("echo $RANDOM; date -u +%Y"), sandbox);
    const again = await Sandbox.create({ deterministic: true });
    expect(answer).toBe(`${(await again.execute("echo $RANDOM; date -u +%Y")).output}[exit code 0]`);
    expect(answer).toMatch(/^\d+\n1970\n/);
    await again.close();
  });
});
