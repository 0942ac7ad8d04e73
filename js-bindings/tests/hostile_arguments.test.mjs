// Arguments of the wrong type, as a model or an untyped program passes them. Every tool returns its usual result type without
// an exception, and the sandbox stays usable.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

const nasty = () => {
  throw { toString: nasty };
};

function detached() {
  const bytes = new Uint8Array(8);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

/** By what a failure calls them. */
const VALUES = {
  undefined, null: null, NaN: Number.NaN, infinity: Infinity, "less than nothing": -1, "a large number": 1e308, "a fraction": 0.5,
  "a bigint": 7n, true: true, "an empty text": "", "a text with NUL": "a\0b", "half a character": "\ud800", "a long text": "x/".repeat(500_000),
  "many parents": "../".repeat(10_000), "a text of every kind": "/\n\u202e*?[{\\'\"$(", "a symbol": Symbol("it"), "a function": () => "x",
  "an object": {}, "an object that throws": { toString: nasty, valueOf: nasty, [Symbol.toPrimitive]: nasty },
  "a proxy that throws": new Proxy({}, { get: nasty, has: nasty, ownKeys: nasty, getPrototypeOf: nasty }),
  "a list in a list": [[["x"]]], "a list of nothing": [undefined, null], "a list with holes": [, , "/x"], "a date": new Date(Number.NaN),
  "detached bytes": detached(), "numbers of two bytes": Uint16Array.of(1, 2), "a buffer": new ArrayBuffer(3), "a promise": Promise.resolve("x"),
  "a getter that throws": Object.defineProperty({}, "signal", { get: nasty, enumerable: true }), "a signal that is none": { signal: 7 },
  "a pair of wrong kinds": [[7, "text"], [Symbol("it"), null]],
};

/** Each tool with arguments that are right, and how many of them there are beside the options. */
const TOOLS = {
  execute: ["true"],
  ls: ["/workspace"],
  read: ["/workspace/a", 0, 10],
  readRaw: ["/workspace/a"],
  write: ["/workspace/w", "text"],
  edit: ["/workspace/a", "x", "x", false],
  delete: ["/workspace/none"],
  grep: ["x", "/workspace", "*", 10],
  glob: ["*", "/workspace"],
  uploadFiles: [[["/workspace/u", new Uint8Array(1)]]],
  downloadFiles: [["/workspace/a"]],
};

/** Whether an answer is what its tool answers. */
function fits(tool, answer) {
  if (tool === "execute") return typeof answer.output === "string" && (answer.exitCode === null || Number.isInteger(answer.exitCode));
  if (tool === "uploadFiles" || tool === "downloadFiles") return Array.isArray(answer);
  return answer.error === undefined || typeof answer.error === "string";
}

describe("arguments of the wrong kind", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create({ files: { a: "x\n" } });
  });
  after(() => sandbox.close());

  for (const [tool, right] of Object.entries(TOOLS)) {
    test(`${tool} returns its usual result type for any argument`, async () => {
      for (const [name, value] of Object.entries(VALUES)) {
        for (let place = 0; place <= right.length; place++) {
          const args = [...right];
          args[place] = value;
          let answer;
          try {
            answer = await sandbox[tool](...args);
          } catch (error) {
            assert.fail(`${name} as argument ${place} of ${tool} makes it throw: ${error?.message}`);
          }
          assert.ok(fits(tool, answer), `${name} as argument ${place} of ${tool}: ${JSON.stringify(answer)}`);
        }
      }
      assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
    });
  }

  test("values other than strings are rejected", async () => {
    const { toString } = { toString: () => "/workspace/a" };
    await sandbox.write("/workspace/a", "x\n");
    for (const value of [undefined, null, 7, {}, [], ["/workspace/a"], { toString }]) {
      for (const answer of [
        await sandbox.edit("/workspace/a", "x", value), await sandbox.write("/workspace/a", value), await sandbox.delete(value),
        await sandbox.read(value), await sandbox.grep(value),
      ]) {
        assert.match(answer.error, /must be a string/);
        assert.equal(answer.code, "INVALID_OPTIONS");
      }
    }
    assert.equal((await sandbox.execute("cat /workspace/a")).output, "x\n");
  });

  test("options that throw when they are read become the result of the command", async () => {
    for (const name of ["timeoutMs", "cwd", "env", "stdin", "shellMode", "signal", "onOutput", "onStdout", "onStderr"]) {
      const options = Object.defineProperty({}, name, { get: nasty, enumerable: true });
      assert.equal((await sandbox.execute("true", options)).exitCode, null, name);
      for (const value of [Symbol("it"), 7n, VALUES["a proxy that throws"], VALUES["an object that throws"]]) {
        const { exitCode } = await sandbox.execute("true", { [name]: value });
        assert.ok(exitCode === null || exitCode === 0 || exitCode === 126, `${name}: ${exitCode}`);
      }
    }
  });

  test("an output callback that throws an unprintable value ends the command", async () => {
    const { exitCode } = await sandbox.execute("echo x; sleep 0.1; echo y", { onOutput: nasty });
    assert.notEqual(exitCode, undefined);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });

  test("abandoned, aborted and unread streams cause no unhandled rejections", async () => {
    for await (const { text } of sandbox.executeStream("yes")) {
      assert.match(text, /^y/);
      break;
    }
    const controller = new AbortController();
    sandbox.executeStream("sleep 5", { signal: controller.signal });
    controller.abort(VALUES["an object that throws"]);
    sandbox.executeStream("true", { cwd: Symbol("it") });
    sandbox.execute("true", 7);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });
});
