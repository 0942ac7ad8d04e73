// WebAssembly of one's own as a command.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Sandbox, SandboxError } from "tidebox";

import { bodies, module } from "./modules.mjs";

/** Ends with the code that it is built with. */
const exits = (code) => module([0x41, code, 0x10, 0, 0x1a], { imports: [["wasi_snapshot_preview1", "proc_exit"]] });

async function sandbox(context, options) {
  const made = await Sandbox.create(options);
  context.after(() => made.close());
  return made;
}

describe("a module of one's own", () => {
  test("is a command by its name, before the one of that name", async (context) => {
    const one = await sandbox(context, { tools: { seven: exits(7), true: exits(9) } });
    const { output } = await one.execute("which seven; seven; echo $?; /usr/local/bin/true; echo $?; /bin/true; echo $?; stat -c '%a %U' /usr/local/bin/seven");
    assert.equal(output, "/usr/local/bin/seven\n7\n9\n0\n755 root\n");
  });

  test("cannot be changed or removed by the user, and is not charged", async (context) => {
    const one = await sandbox(context, { tools: { seven: exits(7) }, limits: { fileBytes: 10 } });
    assert.match((await one.execute("echo x > /usr/local/bin/seven")).output, /Permission denied/);
    assert.match((await one.execute("rm -f /usr/local/bin/seven")).output, /Permission denied|cannot remove/);
    assert.equal((await one.execute("seven")).exitCode, 7);
  });

  test("is copied to forks and kept by a restore", async (context) => {
    const one = await sandbox(context, { tools: { seven: exits(7) } });
    const fork = await one.fork();
    context.after(() => fork.close());
    const plain = await sandbox(context, {});
    await one.restore(await plain.snapshot());
    for (const each of [one, fork]) assert.equal((await each.execute("seven")).exitCode, 7);
    await plain.restore(await one.snapshot());
    assert.equal((await plain.execute("seven")).exitCode, 127);
  });

  test("that is uploaded or copied runs when it may be executed", async (context) => {
    const one = await sandbox(context, { files: { "five.wasm": exits(5) } });
    await one.uploadFiles([["/workspace/six", exits(6)]]);
    await one.write("/workspace/eight", exits(8));
    const { output } = await one.execute("./five.wasm; echo $?; ./six; echo $?; cp six copy; ./copy; echo $?; chmod -x copy; ./copy; echo $?");
    assert.equal(output, "5\n6\n6\nbash: line 1: ./copy: Permission denied\n126\n");
    assert.equal((await one.execute("chmod +x eight; ./eight")).exitCode, 8);
  });

  test("is bound by the limits", async (context) => {
    const one = await sandbox(context, { tools: { loop: module(bodies.loop), grow: module(bodies.grow) } });
    assert.equal((await one.execute("loop", { timeoutMs: 200 })).exitCode, 124);
    const small = await sandbox(context, { tools: { grow: module(bodies.grow) }, limits: { processMemoryBytes: 64 << 20 } });
    assert.ok((await small.execute("grow", { timeoutMs: 500 })).peakMemoryBytes <= 1 << 30);
  });

  test("that is not a module is rejected by name when the sandbox is created", async () => {
    for (const [bytes, words] of [
      [new TextEncoder().encode("(module)"), /text form/],
      [new Uint8Array(8), /not WebAssembly/],
    ]) {
      await assert.rejects(
        Sandbox.create({ tools: { bad: bytes } }),
        (error) => SandboxError.isInstance(error) && error.code === "INVALID_OPTIONS" && words.test(error.message),
      );
    }
  });
});
