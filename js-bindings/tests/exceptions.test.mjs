// Modules that throw and catch: a guest catches what it threw, and never its own end.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";
import { bodies, module } from "./modules.mjs";

/** Two ways to write `try body catch-all`: as the standard has it, and as it was before. Labels in the body count from one more in the first. */
const kinds = {
  standard: (body) => [0x02, 0x40, 0x1f, 0x40, 1, 2, 0, ...body, 0x0b, 0x0b],
  legacy: (body) => [0x06, 0x40, ...body, 0x19, 0x0b],
};

const THROW = [0x08, 0];
const forever = (body) => [0x03, 0x40, ...body, 0x0c, 0, 0x0b];
/** `drop(import0(7))` */
const call7 = [0x41, 7, 0x10, 0, 0x1a];
const EXIT = { imports: [["wasi_snapshot_preview1", "proc_exit"]] };

for (const [kind, catching] of Object.entries(kinds)) {
  const has = WebAssembly.validate(module(catching([])));

  describe(`${kind} exceptions`, { skip: has ? false : "this engine has none" }, () => {
    let sandbox;
    before(async () => {
      sandbox = await Sandbox.create();
    });
    after(() => sandbox.close());

    async function run(body, options, timeoutMs = 10_000) {
      await sandbox.uploadFiles([["/workspace/it", module(body, { tag: true, ...options })]]);
      const answer = await sandbox.execute("chmod +x it; ./it; echo $?", { timeoutMs });
      assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
      return answer;
    }

    const ends = (name, output, body, options) =>
      test(name, async () => assert.match((await run(body, options)).output, output));

    ends("a guest catches its own exceptions", /^0\n$/, catching(THROW));
    ends("uncaught exceptions abort", /it: uncaught exception\n(.*\n)?134\n$/, [...catching(THROW), ...THROW]);
    ends("a trap is not caught", /it: aborted\n(.*\n)?134\n$/, catching(bodies.unreachable));
    ends("a division by zero is not caught", /it: arithmetic fault\n(.*\n)?136\n$/, catching(bodies.division));
    ends("an access outside of memory is not caught", /out of bounds memory access\n(.*\n)?139\n$/, catching(bodies.outOfMemory));
    ends("an exit is not caught", /^7\n$/, forever(catching(call7)), EXIT);

    test("the end of the time is not caught", async () => {
      assert.equal((await run(forever(catching(bodies.loop)), {}, 300)).exitCode, 124);
      assert.equal((await run(forever(catching(forever(THROW))), {}, 300)).exitCode, 124);
    });

    test("a signal is not caught", { skip: jspi ? false : "guests run to completion without JSPI" }, async () => {
      await sandbox.uploadFiles([["/workspace/it", module(forever(catching(bodies.loop)), { tag: true })]]);
      const { output } = await sandbox.execute("chmod +x it; ./it & sleep 0.1; kill -9 $!; wait $!; echo $?");
      assert.match(output, /137\n$/);
    });

    test("recursion without end does not outlive its time", async () => {
      const { output, exitCode } = await run(catching(bodies.recursion), {}, 3000);
      assert.ok(exitCode === 124 || /^(0|(.*\n)*139)\n$/.test(output), output);
    });

    test("recursion that calls the sandbox at the end of its stack ends only itself", async () => {
      const deep = [...catching([0x10, 1]), ...call7];
      await run(deep, { imports: [["tidebox_v1", "getids"]] }, 3000);
      assert.equal((await sandbox.execute("seq 3 | wc -l | tr -d ' '")).output, "3\n");
    });
  });

  describe(`${kind} exceptions where there are none`, { skip: has ? "this engine has them" : false }, () => {
    test("a module that uses them is rejected with the reason", async (context) => {
      const sandbox = await Sandbox.create({ files: { it: module(catching(THROW), { tag: true }) } });
      context.after(() => sandbox.close());
      const { output } = await sandbox.execute("chmod +x it; ./it; echo $?");
      assert.match(output, /cannot execute: the module uses exceptions.*which this JavaScript engine does not have.*\n126\n$/);
    });
  });
}
